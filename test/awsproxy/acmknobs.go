package awsproxy

import "time"

// SetACMRecordDelay sets how long a new certificate does not say yet by which
// records it is validated: 200 ms unless set.
func (p *Proxy) SetACMRecordDelay(d time.Duration) {
	p.certificates.mu.Lock()
	defer p.certificates.mu.Unlock()
	p.certificates.recordDelay = d
}

// SetACMIssueDelay sets how long after its records are there a certificate,
// also one requested before, is issued: 300 ms unless set.
func (p *Proxy) SetACMIssueDelay(d time.Duration) {
	p.certificates.mu.Lock()
	defer p.certificates.mu.Unlock()
	p.certificates.issueDelay = d
}

// SetACMLife sets how long certificates live, also those that there are: 198 days unless set, as AWS announced in
// February 2026 for the limit that the CA/Browser Forum has set; it was 395, and is to be 47 in 2029.
func (p *Proxy) SetACMLife(d time.Duration) {
	p.certificates.mu.Lock()
	defer p.certificates.mu.Unlock()
	p.certificates.life = d
}

// IssueCertificate issues the certificate now, whatever DNS says.
func (p *Proxy) IssueCertificate(arn string) {
	now := p.now()
	p.certificates.change(arn, func(c *certificate) { c.validated = now.Add(-p.certificates.issueDelay) })
}

// FailCertificate forces the certificate's status, such as FAILED with a reason
// like CAA_ERROR, or VALIDATION_TIMED_OUT without. An empty one ends that.
// For an issued certificate there is IssueCertificate.
func (p *Proxy) FailCertificate(arn, status, reason string) {
	p.certificates.change(arn, func(c *certificate) { c.status, c.reason = status, reason })
}

// SetRenewal sets the status of the certificate's renewal, such as
// PENDING_VALIDATION, and unless it is zero when the certificate expires: its life
// began as long before as SetACMLife says.
func (p *Proxy) SetRenewal(arn, status string, notAfter time.Time) {
	now := p.now()
	p.certificates.change(arn, func(c *certificate) {
		c.renewal, c.renewed = status, now
		if !notAfter.IsZero() {
			c.notAfter = notAfter
		}
	})
}

func (s *acmService) change(arn string, change func(*certificate)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s.entry(arn))
}
