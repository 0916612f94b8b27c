package awsproxy

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

var (
	acmDomain = regexp.MustCompile(
		`^(\*\.)?([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z0-9][A-Za-z0-9-]{0,61}[A-Za-z0-9]$`)
	acmToken = regexp.MustCompile(`^\w{1,32}$`)
)

// request serves RequestCertificate.
func (s *acmService) request(ctx context.Context, x *exchange, next forward) (*reply, error) {
	domains := requestedDomains(x)
	if refusal := refuseRequest(x, domains); refusal != nil {
		return refusal, nil
	}
	token, _ := x.json["IdempotencyToken"].(string)
	method, _ := x.json["ValidationMethod"].(string)
	method = cmp.Or(method, "EMAIL")
	use := strings.Join([]string{x.call.Account, x.call.Region, token, method, strings.Join(domains, ",")}, "/")
	defer s.locks.lock("token "+use, true)()
	before, err := s.requestedBefore(ctx, x, token, use)
	if err != nil {
		return nil, err
	}
	if before != "" {
		x.call.Resource += "," + before
		body, err := json.Marshal(map[string]string{"CertificateArn": before})
		return &reply{status: http.StatusOK, body: body, header: http.Header{
			"Content-Type": {"application/x-amz-json-1.1"},
		}}, err
	}
	delete(x.json, "IdempotencyToken") // moto applies the token regardless of the domain
	if x.body, err = json.Marshal(x.json); err != nil {
		return nil, err
	}
	r, err := next(ctx)
	if err != nil || r.status != http.StatusOK {
		return r, err
	}
	var made struct{ CertificateArn string }
	if err := json.Unmarshal(r.body, &made); err != nil {
		return nil, fmt.Errorf("read the new certificate's ARN: %w", err)
	}
	x.call.Resource += "," + made.CertificateArn
	c := &certificate{account: x.call.Account, domains: domains, method: method, requested: s.now()}
	s.mu.Lock()
	s.known[made.CertificateArn] = c
	s.tokens[use] = tokenUse{arn: made.CertificateArn, expires: s.now().Add(acmTokenLife)}
	s.mu.Unlock()
	_ = s.validate(ctx, c) // the request succeeded; describing the certificate validates again
	return r, nil
}

// requestedBefore returns the ARN that the same request with the same token returned, or "" if that was too long ago
// or the certificate is deleted.
func (s *acmService) requestedBefore(ctx context.Context, x *exchange, token, use string) (arn string, err error) {
	s.mu.Lock()
	before, ok := s.tokens[use]
	s.mu.Unlock()
	if token == "" || !ok || s.now().After(before.expires) {
		return "", nil
	}
	is, err := s.ask(ctx, x.call.Account, x.call.Region, before.arn)
	if err != nil || is == nil {
		return "", err
	}
	return before.arn, nil
}

// requestedDomains returns the names of the certificate without duplicates, the domain name first.
func requestedDomains(x *exchange) []string {
	name, _ := x.json["DomainName"].(string)
	domains := []string{strings.ToLower(name)}
	sans, _ := x.json["SubjectAlternativeNames"].([]any)
	for _, san := range sans {
		if san, ok := san.(string); ok && !slices.Contains(domains, strings.ToLower(san)) {
			domains = append(domains, strings.ToLower(san))
		}
	}
	return domains
}

func refuseRequest(x *exchange, domains []string) *reply {
	invalid := func(value, name, constraint string) *reply {
		return x.fail(http.StatusBadRequest, "ValidationException",
			fmt.Sprintf("1 validation error detected: Value '%s' at '%s' failed to satisfy constraint: Member must %s",
				value, name, constraint))
	}
	for i, domain := range domains {
		name := "subjectAlternativeNames"
		if i == 0 {
			name = "domainName"
		}
		switch {
		case !acmDomain.MatchString(domain):
			return invalid(domain, name, "satisfy regular expression pattern: "+acmDomain.String())
		case len(domain) > 253:
			return invalid(domain, name, "have length less than or equal to 253")
		case i == 0 && len(domain) > 64: // it becomes the common name
			return invalid(domain, name, "have length less than or equal to 64")
		}
	}
	if token, ok := x.json["IdempotencyToken"].(string); ok && !acmToken.MatchString(token) {
		return invalid(token, "idempotencyToken", "satisfy regular expression pattern: \\w+, and have length less "+
			"than or equal to 32")
	}
	return nil
}
