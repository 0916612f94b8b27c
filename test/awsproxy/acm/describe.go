package acm

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// describe serves DescribeCertificate.
func (s *Service) describe(ctx context.Context, x *wire.Exchange, next wire.Forward) (*wire.Reply, error) {
	r, err := next(ctx)
	if err != nil || r.Status != http.StatusOK {
		return r, err
	}
	var got struct{ Certificate map[string]any }
	if err := json.Unmarshal(r.Body, &got); err != nil {
		return nil, fmt.Errorf("read the simulator's certificate: %w", err)
	}
	if err := s.complete(ctx, x, got.Certificate); err != nil {
		return nil, err
	}
	return r, r.SetJSON(got)
}

// list serves ListCertificates, which moto neither filters by ACM's status nor pages.
func (s *Service) list(ctx context.Context, x *wire.Exchange, next wire.Forward) (*wire.Reply, error) {
	statuses, _ := x.JSON["CertificateStatuses"].([]any)
	limit, start, ok := jsonPage(x, 1000)
	if !ok {
		return x.Fail(http.StatusBadRequest, "ValidationException", "The NextToken, or MaxItems, is not valid."), nil
	}
	for _, name := range []string{"CertificateStatuses", "MaxItems", "NextToken"} {
		delete(x.JSON, name)
	}
	var err error
	if x.Body, err = json.Marshal(x.JSON); err != nil {
		return nil, err
	}
	r, err := next(ctx)
	if err != nil || r.Status != http.StatusOK {
		return r, err
	}
	var got struct {
		CertificateSummaryList []map[string]any
	}
	if err := json.Unmarshal(r.Body, &got); err != nil {
		return nil, fmt.Errorf("read the simulator's certificates: %w", err)
	}
	if err := s.complete(ctx, x, got.CertificateSummaryList...); err != nil {
		return nil, err
	}
	var page struct {
		CertificateSummaryList []map[string]any
		NextToken              string `json:",omitempty"`
	}
	for _, is := range got.CertificateSummaryList {
		if len(statuses) == 0 || slices.Contains(statuses, is["Status"]) {
			page.CertificateSummaryList = append(page.CertificateSummaryList, summary(is))
		}
	}
	found := len(page.CertificateSummaryList)
	if start+limit < found {
		page.NextToken = strconv.Itoa(start + limit)
	}
	page.CertificateSummaryList = page.CertificateSummaryList[min(start, found):min(start+limit, found)]
	return r, r.SetJSON(page)
}

// jsonPage reads the page size and the start of the requested page.
func jsonPage(x *wire.Exchange, most int) (limit, start int, ok bool) {
	limit = most
	switch n := x.JSON["MaxItems"].(type) {
	case float64:
		limit = min(most, int(n))
	case int: // set by limitPage
		limit = min(most, n)
	}
	if token, _ := x.JSON["NextToken"].(string); token != "" {
		n, err := strconv.Atoi(token)
		if err != nil || n < 0 {
			return 0, 0, false
		}
		start = n
	}
	return limit, start, limit > 0
}

// summary turns a description into an entry of a list.
func summary(is map[string]any) map[string]any {
	inUse, _ := is["InUseBy"].([]string)
	out := map[string]any{
		"SubjectAlternativeNameSummaries":      is["SubjectAlternativeNames"],
		"HasAdditionalSubjectAlternativeNames": false, "InUse": len(inUse) > 0, "Exported": false,
	}
	for _, name := range []string{
		"CertificateArn", "DomainName", "Status", "Type", "KeyAlgorithm", "RenewalEligibility", "NotBefore", "NotAfter",
		"CreatedAt", "IssuedAt", "ImportedAt",
	} {
		if value, ok := is[name]; ok {
			out[name] = value
		}
	}
	return out
}

// complete turns moto's descriptions into ACM's.
func (s *Service) complete(ctx context.Context, x *wire.Exchange, all ...map[string]any) error {
	used, err := s.balancer.Usage(ctx, x.Call.Account, x.Call.Region)
	if err != nil {
		return err
	}
	var certificates []*certificate
	for _, is := range all {
		if c := s.certificate(x.Call.Account, is); c != nil {
			certificates = append(certificates, c)
		}
	}
	if err := s.validate(ctx, certificates...); err != nil {
		return err
	}
	for _, is := range all {
		arn, _ := is["CertificateArn"].(string)
		is["InUseBy"] = append([]string{}, used[arn]...)
		if c := s.certificate(x.Call.Account, is); c != nil {
			s.overwrite(is, c, len(used[arn]) > 0)
		}
	}
	return nil
}

// overwrite replaces moto's fields with the facts, and removes the fields that only issued certificates have.
func (s *Service) overwrite(is map[string]any, c *certificate, inUse bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range []string{"IssuedAt", "NotBefore", "NotAfter", "Serial"} {
		if s.stage(c) != "ISSUED" && s.stage(c) != "EXPIRED" {
			delete(is, name)
		}
	}
	maps.Copy(is, s.facts(c, inUse))
}

// facts returns the fields that moto fills differently, or not at all. The caller holds s.mu.
func (s *Service) facts(c *certificate, inUse bool) map[string]any {
	status := s.stage(c)
	issued := status == "ISSUED" || status == "EXPIRED"
	out := map[string]any{
		"DomainName": c.domains[0], "Subject": "CN=" + c.domains[0], "SubjectAlternativeNames": c.domains,
		"Status":                  status,
		"DomainValidationOptions": s.options(c, issued), "RenewalEligibility": "INELIGIBLE",
	}
	if issued {
		out["IssuedAt"] = seconds(c.validated.Add(s.issueDelay))
		if inUse {
			out["RenewalEligibility"] = "ELIGIBLE"
		}
		out["NotBefore"], out["NotAfter"] = s.lifeOf(c)
	}
	if c.reason != "" {
		out["FailureReason"] = c.reason
	}
	if c.renewal != "" {
		out["RenewalSummary"] = map[string]any{
			"RenewalStatus": c.renewal, "UpdatedAt": seconds(c.renewed), "DomainValidationOptions": s.options(
				c, c.renewal == "SUCCESS"),
		}
	}
	return out
}

// lifeOf returns the validity of an issued certificate: from the day of issue, or up to the time that a test has set.
// The caller holds s.mu.
func (s *Service) lifeOf(c *certificate) (notBefore, notAfter float64) {
	if !c.notAfter.IsZero() {
		return seconds(c.notAfter.Add(-s.life)), seconds(c.notAfter)
	}
	begin := c.validated.Add(s.issueDelay).UTC().Truncate(24 * time.Hour)
	return seconds(begin), seconds(begin.Add(s.life - time.Second))
}

// options returns how each domain is, or was, validated. The caller holds s.mu.
func (s *Service) options(c *certificate, done bool) []map[string]any {
	status := "PENDING_VALIDATION"
	switch {
	case done:
		status = "SUCCESS"
	case s.stage(c) != "PENDING_VALIDATION" && s.stage(c) != "ISSUED":
		status = "FAILED"
	}
	var out []map[string]any
	for _, domain := range c.domains {
		option := map[string]any{
			"DomainName": domain, "ValidationDomain": domain, "ValidationStatus": status,
			"ValidationMethod": c.method,
		}
		if c.method == "DNS" && !s.now().Before(c.requested.Add(s.recordDelay)) {
			name, value := validationRecord(c.account, domain)
			option["ResourceRecord"] = map[string]string{"Name": name, "Type": "CNAME", "Value": value}
		}
		out = append(out, option)
	}
	return out
}

func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }
