package pool

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// sight is what a pass has observed of the load balancer.
type sight int

const (
	unseen      sight = iota // unknown
	starting                 // it does not follow; the next check shows whether its controller runs
	follows                  // it has what the routes declare
	standsStill              // it does not follow, though its controller runs and AWS answers
	deserted                 // it does not follow, and its controller is away
)

// host is a hostname on the load balancer, with the digest of its routes. A hostname closed for another reason is not a
// suspect.
type host struct {
	claim, namespace, digest string
	closed                   bool
}

// search finds the hostnames whose routes block a load balancer. It is pure: its input is the status, so that a restart
// of the operator makes no difference, and what the pass has observed.
//
// It counts the time for which the load balancer was seen not to follow. After patience, suspects are closed: the
// hostnames of the namespace whose routes changed last since the load balancer followed. If that does not help, it
// closes one more namespace, then two, then four. Once the load balancer follows again, all suspects except one may be
// innocent: they are opened one at a time. The one that blocks the load balancer again is to blame, and so is the last
// one left. If no suspect is left to close, none was to blame: all are opened, and the search is repeated later.
//
// A blamed hostname is closed for a time that grows each time its namespace is to blame: a team that breaks its routes
// repeatedly does not block others for long, and one that was blamed for somebody else's fault is opened again.
type search struct {
	*v1alpha1.PoolFollowing
	now      time.Time
	patience time.Duration
	hosts    []host // sorted by name

	innocent []string // the claims that were found not to block the load balancer
}

// newSearch cleans the status of what an earlier version, a wrong clock or deleted hostnames have left there.
func newSearch(f *v1alpha1.PoolFollowing, now time.Time, patience time.Duration, hosts []host) *search {
	s := &search{PoolFollowing: f, now: now.Truncate(time.Second), patience: patience, hosts: hosts}
	if f.Suspect != nil {
		s.Suspects, f.Suspect = append(s.Suspects, f.Suspect.HostnameRoutes), nil
	}
	if s.LostSince != nil && s.LostSince.After(s.now) {
		s.LostSince = new(metav1.NewTime(s.now))
	}
	gone := func(r v1alpha1.HostnameRoutes) bool { return s.host(r.Claim) == nil }
	for _, list := range []*[]v1alpha1.HostnameRoutes{&s.Seen, &s.Followed, &s.Suspects, &s.Blamed} {
		*list = slices.DeleteFunc(*list, gone)
	}
	s.Cleared = slices.DeleteFunc(s.Cleared, func(r v1alpha1.HostnameRoutes) bool { return gone(r) || s.changed(r) })
	if s.Probe != nil && gone(*s.Probe) {
		s.Probe = nil
	}
	s.Found = s.Found && len(s.Suspects) > 0
	s.keepRecords()
	return s
}

// begin records the current routes, and opens a hostname if it is due.
func (s *search) begin() {
	for _, h := range s.hosts {
		now := v1alpha1.HostnameRoutes{Claim: h.claim, Digest: h.digest}
		if !slices.Contains(s.Seen, now) {
			s.Seen = append(slices.DeleteFunc(s.Seen, isOf(h.claim)), now)
		}
	}
	if s.LostSince != nil || s.Probe != nil { // one at a time, and only while the effect can be observed
		return
	}
	if len(s.Suspects) > 0 {
		s.Probe, s.Suspects = new(s.Suspects[0]), s.Suspects[1:]
		return
	}
	if i := slices.IndexFunc(s.Blamed, s.isDue); i >= 0 {
		s.Probe = new(s.Blamed[i])
		s.Blamed = slices.Delete(s.Blamed, i, i+1)
	}
}

// end processes what the pass has observed, and returns when to check again; 0 means no check is needed.
func (s *search) end(seen sight) time.Duration {
	switch seen {
	case follows:
		return s.settle()
	case standsStill:
		return s.wait()
	case deserted:
		s.giveUp()
	case unseen:
		if s.LookedAt != nil && s.now.Sub(s.LookedAt.Time) > s.patience {
			s.giveUp()
		}
		return 0
	case starting:
	}
	return s.look()
}

// giveUp opens the suspects, because the effect of closing them cannot be observed.
func (s *search) giveUp() { s.Suspects, s.Found, s.LookedAt, s.WaitedSeconds = nil, false, nil, 0 }

// closes reports whether the search keeps the hostname closed.
func (s *search) closes(claim string) bool { return s.isSuspect(claim) || s.isBlamed(claim) }

func (s *search) isSuspect(claim string) bool { return slices.ContainsFunc(s.Suspects, isOf(claim)) }

func (s *search) isBlamed(claim string) bool { return slices.ContainsFunc(s.Blamed, isOf(claim)) }

// helpedNobody reports whether all suspects were closed and the load balancer still did not follow.
func (s *search) helpedNobody() bool { return s.Searches > 0 && len(s.Suspects) == 0 }

// isUp reports whether the load balancer has been stuck for long enough to close or open a hostname. AWS must be read
// first.
func (s *search) isUp() bool { return s.LostSince != nil && s.waited()+s.gap() >= s.patience }

// settle records that the load balancer follows.
func (s *search) settle() time.Duration {
	s.LostSince, s.LookedAt, s.WaitedSeconds, s.Cleared, s.Searches = nil, nil, 0, nil, 0
	if s.Probe != nil {
		s.acquit(*s.Probe)
		s.Probe = nil
	}
	if len(s.Suspects) == 1 && !s.Found {
		s.blame(s.Suspects[0], false)
	}
	s.noteFollowed()
	if len(s.Suspects) > 0 {
		s.LookedAt = new(metav1.NewTime(s.now))
		return soon
	}
	var next time.Duration
	for _, b := range s.Blamed {
		if left := max(s.opens(b).Sub(s.now), soon); next == 0 || left < next {
			next = left
		}
	}
	return next
}

// noteFollowed records the routes of the open hostnames as ones with which the load balancer follows.
func (s *search) noteFollowed() {
	s.Followed = nil
	for _, h := range s.hosts {
		if !h.closed && !s.closes(h.claim) {
			s.Followed = append(s.Followed, v1alpha1.HostnameRoutes{Claim: h.claim, Digest: h.digest})
		}
	}
}

// wait counts the time, and closes or opens hostnames when patience is over.
func (s *search) wait() time.Duration {
	s.count()
	next := s.nextSuspects()
	switch {
	case s.waited() < s.patience:
		return min(s.patience-s.waited(), s.look())
	case s.Probe != nil:
		s.blame(*s.Probe, true)
		s.Probe = nil
	case len(next) > 0:
		s.Suspects = append(s.Suspects, next...)
	case len(s.Suspects) > 0: // it was none of them, or not they alone
		s.Cleared, s.Suspects, s.Found = append(s.Cleared, s.Suspects...), nil, false
		s.Searches++
	case s.waited() < pauses[min(s.Searches, int64(len(pauses)-1))]:
		return s.look()
	default:
		s.Cleared, s.Blamed = nil, slices.DeleteFunc(s.Blamed, s.isDue)
	}
	s.WaitedSeconds = 0
	return soon
}

// count adds the time since the last check. A gap longer than patience resets it, because the state in between is
// unknown.
func (s *search) count() {
	if s.LostSince == nil {
		s.LostSince, s.WaitedSeconds, s.LookedAt = new(metav1.NewTime(s.now)), 0, nil
	}
	gap := s.gap()
	if gap > s.patience {
		s.WaitedSeconds, gap = 0, 0
	}
	s.WaitedSeconds += int64(gap / time.Second)
	s.LookedAt = new(metav1.NewTime(s.now))
}

// gap returns the time since the last check, at most half of patience, so that two checks alone prove nothing. A gap
// longer than patience is returned unchanged; a check in the future counts as 0.
func (s *search) gap() time.Duration {
	if s.LookedAt == nil {
		return 0
	}
	gap := max(s.now.Sub(s.LookedAt.Time), 0)
	if gap > s.patience {
		return gap
	}
	return min(gap, s.patience/2)
}

func (s *search) waited() time.Duration { return time.Duration(s.WaitedSeconds) * time.Second }

// look returns how soon to check a stuck load balancer again.
func (s *search) look() time.Duration { return max(s.patience/4, minLook) }
