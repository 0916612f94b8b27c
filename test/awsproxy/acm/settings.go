package acm

import (
	"time"
)

// SetACMRecordDelay sets how long the description of a new certificate lacks its validation records: 200 ms unless
// set.
func (s *Service) SetACMRecordDelay(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recordDelay = d
}

// SetACMIssueDelay sets how long after its records exist a certificate is issued: 300 ms unless set. It applies to
// certificates that have been requested already, too.
func (s *Service) SetACMIssueDelay(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.issueDelay = d
}

// SetACMLife sets how long certificates are valid, existing ones included: 198 days unless set, as AWS announced in
// February 2026 because of the limit of the CA/Browser Forum; it was 395 before, and will be 47 in 2029.
func (s *Service) SetACMLife(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.life = d
}

// IssueCertificate issues the certificate now, regardless of DNS.
func (s *Service) IssueCertificate(arn string) {
	now := s.now()
	s.change(arn, func(c *certificate) { c.validated = now.Add(-s.issueDelay) })
}

// FailCertificate forces the certificate's status, such as FAILED with a reason like CAA_ERROR, or
// VALIDATION_TIMED_OUT without a reason. An empty status ends that. For an issued certificate use IssueCertificate.
func (s *Service) FailCertificate(arn, status, reason string) {
	s.change(arn, func(c *certificate) { c.status, c.reason = status, reason })
}

// SetRenewal sets the status of the certificate's renewal, such as PENDING_VALIDATION, and the certificate's expiry
// unless it is zero: its validity then began earlier by the time that SetACMLife sets.
func (s *Service) SetRenewal(arn, status string, notAfter time.Time) {
	now := s.now()
	s.change(arn, func(c *certificate) {
		c.renewal, c.renewed = status, now
		if !notAfter.IsZero() {
			c.notAfter = notAfter
		}
	})
}

func (s *Service) change(arn string, change func(*certificate)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s.entry(arn))
}
