package pool

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
)

const (
	soon    = time.Second // the next pass closes or opens a suspect
	minLook = time.Second
	// memory is how long a blamed namespace is remembered.
	memory = 24 * time.Hour
	// mostRecords is two for each place on a load balancer, because hostnames come and go.
	mostRecords = 2 * v1alpha1.PoolHostnames
)

var (
	// terms are how long a hostname stays closed when its namespace is to blame for the first time, the second time,
	// and from then on; the index is the count. If its routes have changed it is closed for one term less: for no time
	// at all after the first time.
	terms = []time.Duration{0, 10 * time.Minute, time.Hour, 8 * time.Hour}
	// pauses are how long a load balancer stays stuck before all suspects are tried again: at first, after one search
	// that did not help, and from then on.
	pauses = []time.Duration{10 * time.Minute, 10 * time.Minute, time.Hour}
)

func isOf(claim string) func(v1alpha1.HostnameRoutes) bool {
	return func(r v1alpha1.HostnameRoutes) bool { return r.Claim == claim }
}

// host returns the hostname of a claim, nil if it does not exist any more.
func (s *search) host(claim string) *host {
	i := slices.IndexFunc(s.hosts, func(h host) bool { return h.claim == claim })
	if i < 0 {
		return nil
	}
	return &s.hosts[i]
}

func (s *search) changed(r v1alpha1.HostnameRoutes) bool { return s.host(r.Claim).digest != r.Digest }

// nextSuspects returns what to close next: hostnames of as many namespaces as are suspects already, those that changed
// last, with the latest change at the end. All hostnames of a namespace are closed together, because they may share
// routes.
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

// isSuspicious reports whether the load balancer has not followed with these routes, and they were not tried yet. A
// hostname without routes cannot block it.
func (s *search) isSuspicious(r v1alpha1.HostnameRoutes) bool {
	return r.Digest != "" && !s.host(r.Claim).closed && !s.closes(r.Claim) && !slices.Contains(s.Followed, r) &&
		!slices.Contains(s.Cleared, r)
}

// blame closes the hostname for a time, together with the other suspects of its namespace: trying each one would block
// the load balancer as many times. guilty means that the load balancer stopped when the hostname was opened.
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

// acquit records that the load balancer follows with the hostname open. If all blamed hostnames of the namespace are
// open again with unchanged routes, the cause was somebody else, and the blame does not count.
func (s *search) acquit(r v1alpha1.HostnameRoutes) {
	of := s.host(r.Claim).namespace
	i := slices.IndexFunc(s.Namespaces, func(n v1alpha1.BlamedNamespace) bool { return n.Namespace == of })
	switch {
	case i >= 0 && s.changed(r):
		s.Namespaces[i].Guilty = true
	case s.changed(r):
	default:
		s.innocent = append(s.innocent, r.Claim)
		waits := slices.ContainsFunc(s.Blamed, func(b v1alpha1.HostnameRoutes) bool {
			return s.host(b.Claim).namespace == of
		})
		if i >= 0 && !waits && !s.Namespaces[i].Guilty {
			s.Namespaces[i].Times--
			s.Namespaces[i].Guilty = true // at most once
		}
	}
}

// opens returns when a blamed hostname is opened again.
func (s *search) opens(r v1alpha1.HostnameRoutes) time.Time {
	record := s.record(s.host(r.Claim).namespace)
	term := record.Times
	if s.changed(r) {
		term--
	}
	return record.Last.Add(terms[min(max(term, 0), int64(len(terms)-1))])
}

func (s *search) isDue(r v1alpha1.HostnameRoutes) bool { return !s.opens(r).After(s.now) }

// record returns the record of a namespace, and creates it if needed.
func (s *search) record(namespace string) *v1alpha1.BlamedNamespace {
	i := slices.IndexFunc(s.Namespaces, func(n v1alpha1.BlamedNamespace) bool { return n.Namespace == namespace })
	if i < 0 {
		i, s.Namespaces = len(s.Namespaces),
			append(s.Namespaces, v1alpha1.BlamedNamespace{Namespace: namespace, Last: metav1.NewTime(s.now)})
	}
	return &s.Namespaces[i]
}

// keepRecords creates a record for each namespace with a hostname that an earlier version blamed, corrects times in the
// future, and drops old records. Above the limit it drops the oldest.
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
