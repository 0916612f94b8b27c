package acm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/portico-platform/portico/test/awsproxy/route53"
)

// validationRecord returns the CNAME that proves a domain. Within an account it
// is the same for all certificates and regions, and for a wildcard and its base.
func validationRecord(account, domain string) (name, value string) {
	base := strings.TrimPrefix(domain, "*.")
	sum := sha256.Sum256([]byte(account + "/" + base))
	text := hex.EncodeToString(sum[:])
	letters := make([]byte, 10)
	for i := range letters {
		letters[i] = 'a' + sum[i]%26
	}
	return "_" + text[:32] + "." + base + ".", "_" + text[32:] + "." + string(letters) + ".acm-validations.aws."
}

// validate records which of the pending certificates have all their records in public zones now. A validated
// certificate stays validated.
func (s *Service) validate(ctx context.Context, certificates ...*certificate) error {
	s.mu.Lock()
	pending := slices.DeleteFunc(slices.Clone(certificates), func(c *certificate) bool {
		return c.method != "DNS" || !c.validated.IsZero() || s.stage(c) != "PENDING_VALIDATION"
	})
	s.mu.Unlock()
	if len(pending) == 0 {
		return nil
	}
	dns, err := s.dns.PublicDNS(ctx)
	if err != nil {
		return err
	}
	for _, c := range pending {
		published, err := published(ctx, dns, c)
		if err != nil {
			return err
		}
		if published {
			s.mu.Lock()
			c.validated = s.now()
			s.mu.Unlock()
		}
	}
	return nil
}

// recordsChanged validates at once the certificates that wait for one of the names. If moto fails, the next
// description validates again.
func (s *Service) recordsChanged(ctx context.Context, names []string) {
	var concerned []*certificate
	s.mu.Lock()
	for _, c := range s.known {
		if slices.ContainsFunc(c.domains, func(domain string) bool {
			name, _ := validationRecord(c.account, domain)
			return slices.Contains(names, name)
		}) {
			concerned = append(concerned, c)
		}
	}
	s.mu.Unlock()
	_ = s.validate(ctx, concerned...)
}

// published reports whether all records of a certificate are in public zones.
func published(ctx context.Context, dns *route53.PublicDNS, c *certificate) (bool, error) {
	for _, domain := range c.domains {
		name, value := validationRecord(c.account, domain)
		if has, err := dns.Has(ctx, name, value); err != nil || !has {
			return false, err
		}
	}
	return true, nil
}
