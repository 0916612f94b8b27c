package acm

import (
	"context"
	"crypto/tls"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws/arn"
)

// Issuer makes a certificate for names below .localhost, with its key.
type Issuer func(names []string) (*tls.Certificate, error)

// IssueLocally makes ACM accept names below .localhost. AWS fails them: they are in no public zone of anybody.
func (s *Service) IssueLocally(by Issuer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.issuer = by
}

// LocalCertificate returns what a load balancer presents for a certificate that is issued, the same until it is
// deleted. It needs IssueLocally, and names below .localhost.
func (s *Service) LocalCertificate(ctx context.Context, of string) (*tls.Certificate, error) {
	parsed, err := arn.Parse(of)
	if err != nil {
		return nil, err
	}
	status, err := s.CertificateStatus(ctx, parsed.AccountID, parsed.Region, of)
	if err != nil {
		return nil, err
	}
	if status != "ISSUED" {
		return nil, fmt.Errorf("the certificate %s is %s, not ISSUED", of, status)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.entry(of)
	if c.pair == nil && s.issuer != nil {
		c.pair, err = s.issuer(c.domains)
	}
	if c.pair == nil && err == nil {
		err = fmt.Errorf("nobody issues the certificate %s", of)
	}
	return c.pair, err
}

// local reports whether a name is below .localhost.
func local(domain string) bool { return strings.HasSuffix(domain, ".localhost") }
