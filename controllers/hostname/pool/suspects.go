package pool

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
)

const (
	soon    = time.Second // a suspect is closed, or opened, by the next pass
	minLook = time.Second
	// memory is how long a namespace that was blamed is remembered.
	memory = 24 * time.Hour
	// mostRecords are two for each place on a load balancer: hostnames come and go.
	mostRecords = 2 * v1alpha1.PoolHostnames
)

var (
	// terms are how long a hostname stays closed when its namespace is to blame for the first time, the second, and
	// from then on. Whose routes have changed is closed for one term less: at once after the first time.
	terms = []time.Duration{0, 10 * time.Minute, time.Hour, 8 * time.Hour}
	// pauses are how long a load balancer stands still before all suspects are tried again: at first, after one search
	// that did not help, and from then on.
	pauses = []time.Duration{10 * time.Minute, 10 * time.Minute, time.Hour}
)

func isOf(claim string) func(v1alpha1.HostnameRoutes) bool {
	return func(r v1alpha1.HostnameRoutes) bool { return r.Claim == claim }
}

// host returns the hostname of a claim, nil if there is none any more.
func (s *search) host(claim string) *host {
	i := slices.IndexFunc(s.hosts, func(h host) bool { return h.claim == claim })
	if i < 0 {
		return nil
	}
	return &s.hosts[i]
}

func (s *search) changed(r v1alpha1.HostnameRoutes) bool { return s.host(r.Claim).digest != r.Digest }

// nextSuspects returns what is to be closed next: the hostnames of as many namespaces as have suspects, those that
// changed last, with the last change at the end. All hostnames of a namespace are closed together, because they may
// have routes in common.
func (s *search) nextSuspects() []v1alpha1.HostnameRoutes {
	var next []v1alpha1.HostnameRoutes
	had, taken := map[string]bool{}, map[string]bool{}
	for _, r := range s.Suspects {
		had[s.host(r.Claim).namespace] = true
	}
	for _, r := range slices.Backward(s.Seen) {
		of := s.host(r.Claim).namespace
		if s.isSuspicious(r) && (taken[of] || len(taken) < max(1, len(had))) {
			taken[of], next = true, append(next, r)
		}
	}
	slices.Reverse(next)
	return next
}

// isSuspicious reports whether these routes are none with which the load balancer followed, and were not tried yet. A
// hostname without routes stops nothing.
func (s *search) isSuspicious(r v1alpha1.HostnameRoutes) bool {
	return r.Digest != "" && !s.host(r.Claim).closed && !s.closes(r.Claim) && !slices.Contains(s.Followed, r) && !slices.Contains(s.Cleared, r)
}

// blame closes the hostname for a time, and with it what was closed together of its namespace: one trial for each would
// stop the load balancer as often. It is guilty if the load balancer stopped when it was opened.
func (s *search) blame(r v1alpha1.HostnameRoutes, guilty bool) {
	of := s.host(r.Claim).namespace
	ofSame := func(other v1alpha1.HostnameRoutes) bool { return s.host(other.Claim).namespace == of }
	for _, other := range s.Suspects {
		if ofSame(other) && other.Claim != r.Claim {
			s.Blamed = append(s.Blamed, other)
		}
	}
	s.Blamed, s.Suspects = append(s.Blamed, r), slices.DeleteFunc(s.Suspects, ofSame)
	s.Found = len(s.Suspects) > 0
	record := s.record(of)
	record.Times, record.Last, record.Guilty = record.Times+1, metav1.NewTime(s.now), guilty
}

// acquit notes that the load balancer follows with the hostname open. If all that were blamed are open again with the
// routes for which they were, it was another's trouble that ended when they were closed, and does not count.
func (s *search) acquit(r v1alpha1.HostnameRoutes) {
	of := s.host(r.Claim).namespace
	i := slices.IndexFunc(s.Namespaces, func(n v1alpha1.BlamedNamespace) bool { return n.Namespace == of })
	switch {
	case i >= 0 && s.changed(r):
		s.Namespaces[i].Guilty = true
	case s.changed(r):
	default:
		s.innocent = append(s.innocent, r.Claim)
		waits := slices.ContainsFunc(s.Blamed, func(b v1alpha1.HostnameRoutes) bool { return s.host(b.Claim).namespace == of })
		if i >= 0 && !waits && !s.Namespaces[i].Guilty {
			s.Namespaces[i].Times--
			s.Namespaces[i].Guilty = true // no more than once
		}
	}
}

// opens returns when a hostname that is blamed is opened again.
func (s *search) opens(r v1alpha1.HostnameRoutes) time.Time {
	record := s.record(s.host(r.Claim).namespace)
	term := record.Times
	if s.changed(r) {
		term--
	}
	return record.Last.Add(terms[min(max(term, 0), int64(len(terms)-1))])
}

func (s *search) isDue(r v1alpha1.HostnameRoutes) bool { return !s.opens(r).After(s.now) }

// record returns what is remembered of a namespace.
func (s *search) record(namespace string) *v1alpha1.BlamedNamespace {
	i := slices.IndexFunc(s.Namespaces, func(n v1alpha1.BlamedNamespace) bool { return n.Namespace == namespace })
	if i < 0 {
		i, s.Namespaces = len(s.Namespaces), append(s.Namespaces, v1alpha1.BlamedNamespace{Namespace: namespace, Last: metav1.NewTime(s.now)})
	}
	return &s.Namespaces[i]
}

// keepRecords makes one for each namespace with a hostname that an earlier version blamed, puts those of a clock that
// was ahead right, and forgets those that are old. Of too many the oldest go.
func (s *search) keepRecords() {
	blamed := map[string]bool{}
	for _, r := range s.Blamed {
		of := s.host(r.Claim).namespace
		if record := s.record(of); record.Times == 0 {
			record.Times = 1
		}
		blamed[of] = true
	}
	for i := range s.Namespaces {
		if n := &s.Namespaces[i]; n.Last.After(s.now) {
			n.Last = metav1.NewTime(s.now)
		}
	}
	s.Namespaces = slices.DeleteFunc(s.Namespaces, func(n v1alpha1.BlamedNamespace) bool {
		return !blamed[n.Namespace] && (n.Times <= 0 || s.now.Sub(n.Last.Time) > memory)
	})
	for len(s.Namespaces) >= mostRecords {
		oldest := slices.IndexFunc(s.Namespaces, func(n v1alpha1.BlamedNamespace) bool { return !blamed[n.Namespace] })
		for i, n := range s.Namespaces {
			if !blamed[n.Namespace] && n.Last.Before(&s.Namespaces[oldest].Last) {
				oldest = i
			}
		}
		s.Namespaces = slices.Delete(s.Namespaces, oldest, oldest+1)
	}
}
