package acm

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/portico-platform/portico/test/awsproxy/wire"
)

var (
	domainPattern = regexp.MustCompile(
		`^(\*\.)?([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z0-9][A-Za-z0-9-]{0,61}[A-Za-z0-9]$`)
	tokenPattern = regexp.MustCompile(`^\w{1,32}$`)
)

// request serves RequestCertificate.
func (s *Service) request(ctx context.Context, x *wire.Exchange, next wire.Forward) (*wire.Reply, error) {
	domains := requestedDomains(x)
	if refusal := refuseRequest(x, domains); refusal != nil {
		return refusal, nil
	}
	token, _ := x.JSON["IdempotencyToken"].(string)
	method, _ := x.JSON["ValidationMethod"].(string)
	method = cmp.Or(method, "EMAIL")
	use := strings.Join([]string{x.Call.Account, x.Call.Region, token, method, strings.Join(domains, ",")}, "/")
	defer s.locks.Lock("token "+use, true)()
	before, err := s.requestedBefore(ctx, x, token, use)
	if err != nil {
		return nil, err
	}
	if before != "" {
		x.Call.Resource += "," + before
		body, err := json.Marshal(map[string]string{"CertificateArn": before})
		return &wire.Reply{Status: http.StatusOK, Body: body, Header: http.Header{
			"Content-Type": {"application/x-amz-json-1.1"},
		}}, err
	}
	delete(x.JSON, "IdempotencyToken") // moto applies the token regardless of the domain
	if x.Body, err = json.Marshal(x.JSON); err != nil {
		return nil, err
	}
	r, err := next(ctx)
	if err != nil || r.Status != http.StatusOK {
		return r, err
	}
	var made struct{ CertificateArn string }
	if err := json.Unmarshal(r.Body, &made); err != nil {
		return nil, fmt.Errorf("read the new certificate's ARN: %w", err)
	}
	x.Call.Resource += "," + made.CertificateArn
	c := &certificate{account: x.Call.Account, domains: domains, method: method, requested: s.now()}
	s.mu.Lock()
	if s.issuer == nil && slices.ContainsFunc(domains, local) {
		c.status, c.reason = "FAILED", "INVALID_PUBLIC_DOMAIN"
	}
	s.known[made.CertificateArn] = c
	s.tokens[use] = tokenUse{arn: made.CertificateArn, expires: s.now().Add(tokenLife)}
	s.mu.Unlock()
	_ = s.validate(ctx, c) // the request succeeded; describing the certificate validates again
	return r, nil
}

// requestedBefore returns the ARN that the same request with the same token returned, or "" if that was too long ago
// or the certificate is deleted.
func (s *Service) requestedBefore(ctx context.Context, x *wire.Exchange, token, use string) (arn string, err error) {
	s.mu.Lock()
	before, ok := s.tokens[use]
	s.mu.Unlock()
	if token == "" || !ok || s.now().After(before.expires) {
		return "", nil
	}
	is, err := s.ask(ctx, x.Call.Account, x.Call.Region, before.arn)
	if err != nil || is == nil {
		return "", err
	}
	return before.arn, nil
}

// requestedDomains returns the names of the certificate without duplicates, the domain name first.
func requestedDomains(x *wire.Exchange) []string {
	name, _ := x.JSON["DomainName"].(string)
	domains := []string{strings.ToLower(name)}
	sans, _ := x.JSON["SubjectAlternativeNames"].([]any)
	for _, san := range sans {
		if san, ok := san.(string); ok && !slices.Contains(domains, strings.ToLower(san)) {
			domains = append(domains, strings.ToLower(san))
		}
	}
	return domains
}

func refuseRequest(x *wire.Exchange, domains []string) *wire.Reply {
	invalid := func(value, name, constraint string) *wire.Reply {
		return x.Fail(http.StatusBadRequest, "ValidationException",
			fmt.Sprintf("1 validation error detected: Value '%s' at '%s' failed to satisfy constraint: Member must %s",
				value, name, constraint))
	}
	for i, domain := range domains {
		name := "subjectAlternativeNames"
		if i == 0 {
			name = "domainName"
		}
		switch {
		case !domainPattern.MatchString(domain):
			return invalid(domain, name, "satisfy regular expression pattern: "+domainPattern.String())
		case len(domain) > 253:
			return invalid(domain, name, "have length less than or equal to 253")
		case i == 0 && len(domain) > 64: // it becomes the common name
			return invalid(domain, name, "have length less than or equal to 64")
		}
	}
	if token, ok := x.JSON["IdempotencyToken"].(string); ok && !tokenPattern.MatchString(token) {
		return invalid(token, "idempotencyToken", "satisfy regular expression pattern: \\w+, and have length less "+
			"than or equal to 32")
	}
	return nil
}
