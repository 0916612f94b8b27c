package awsproxy

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"
)

// The defaults of the settings that tests can change, and the limits of ACM.
const (
	defaultACMRecordDelay = 200 * time.Millisecond
	defaultACMIssueDelay  = 300 * time.Millisecond
	defaultACMLife        = 198 * 24 * time.Hour // since February 2026; until then 395 days
	acmTokenLife          = time.Hour
	acmValidationLife     = 72 * time.Hour
)

// acmService issues a certificate when, and only when, the records that validate its names are in public zones. It
// knows which load balancers use a certificate and refuses to delete one that is in use, and it accepts an
// idempotency token for the same request only.
type acmService struct {
	upstream *upstream
	dns      *route53Service
	balancer *elbService
	locks    locks // by account and region: shared for attaching a certificate, exclusive for deleting one
	now      func() time.Time

	mu          sync.Mutex
	recordDelay time.Duration
	issueDelay  time.Duration
	life        time.Duration
	tokens      map[string]tokenUse // by request
	known       map[string]*certificate
}

type tokenUse struct {
	arn     string
	expires time.Time
}

// certificate is the state of an ACM-issued certificate that moto does not hold.
type certificate struct {
	account   string
	domains   []string // the first is the certificate's name
	method    string   // DNS or EMAIL
	requested time.Time
	validated time.Time // when all records were first present

	status, reason string // forced by a test
	renewal        string
	renewed        time.Time
	notAfter       time.Time
}

func newACM(up *upstream, dns *route53Service, balancer *elbService, now func() time.Time) *acmService {
	s := &acmService{
		upstream: up, dns: dns, balancer: balancer, now: now, recordDelay: defaultACMRecordDelay,
		issueDelay: defaultACMIssueDelay, life: defaultACMLife,
		tokens: map[string]tokenUse{}, known: map[string]*certificate{},
	}
	dns.onRecordsChanged(s.recordsChanged)
	balancer.use(s)
	return s
}

func (s *acmService) around(ctx context.Context, x *exchange, next forward) (*reply, error) {
	arn, _ := x.json["CertificateArn"].(string)
	switch x.call.Operation {
	case "RequestCertificate":
		return s.request(ctx, x, next)
	case "DescribeCertificate":
		return s.describe(ctx, x, next)
	case "ListCertificates":
		return s.list(ctx, x, next)
	case "GetCertificate", "ExportCertificate":
		status, err := s.certificateStatus(ctx, x.call.Account, x.call.Region, arn)
		if err != nil {
			return nil, err
		}
		if status == "PENDING_VALIDATION" {
			return x.fail(http.StatusBadRequest, "RequestInProgressException", "Certificate request for "+arn+
				" is in progress: it has not been issued."), nil
		}
	case "DeleteCertificate":
		return s.remove(ctx, x, arn, next)
	}
	return next(ctx)
}

func (s *acmService) remove(ctx context.Context, x *exchange, arn string, next forward) (*reply, error) {
	defer s.locks.lock(x.call.Account+"/"+x.call.Region, true)()
	used, err := s.balancer.usage(ctx, x.call.Account, x.call.Region)
	if err != nil {
		return nil, err
	}
	if len(used[arn]) > 0 {
		return x.fail(http.StatusBadRequest, "ResourceInUseException",
			fmt.Sprintf("Certificate %s in account %s is in use.", arn, x.call.Account)), nil
	}
	r, err := next(ctx)
	if err == nil && r.status == http.StatusOK {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.known, arn)
	}
	return r, err
}

// keepCertificates keeps certificates of an account and region from being deleted, until unlock is called.
func (s *acmService) keepCertificates(place string) (unlock func()) {
	return s.locks.lock(place, false)
}

// stage returns the certificate's status. The caller holds s.mu.
func (s *acmService) stage(c *certificate) string {
	now := s.now()
	switch {
	case c.status != "":
		return c.status
	case c.validated.IsZero() && !now.Before(c.requested.Add(acmValidationLife)):
		return "VALIDATION_TIMED_OUT"
	case c.validated.IsZero() || now.Before(c.validated.Add(s.issueDelay)):
		return "PENDING_VALIDATION"
	case !c.notAfter.IsZero() && now.After(c.notAfter):
		return "EXPIRED"
	}
	return "ISSUED"
}

// certificateStatus returns the status of a certificate; "" if there is none in the account and region.
func (s *acmService) certificateStatus(ctx context.Context, account, region, arn string) (string, error) {
	is, err := s.ask(ctx, account, region, arn)
	if err != nil || is == nil {
		return "", err
	}
	c := s.certificate(account, is)
	if c == nil {
		status, _ := is["Status"].(string)
		return status, nil
	}
	if err := s.validate(ctx, c); err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stage(c), nil
}

// ask returns moto's description of a certificate; nil if there is none.
func (s *acmService) ask(ctx context.Context, account, region, arn string) (map[string]any, error) {
	body, err := json.Marshal(map[string]string{"CertificateArn": arn})
	if err != nil {
		return nil, err
	}
	r, err := s.upstream.ask(ctx, question{
		service: "acm", region: region, account: account, method: http.MethodPost, path: "/", body: string(body),
		header: map[string]string{
			"X-Amz-Target": "CertificateManager.DescribeCertificate",
			"Content-Type": "application/x-amz-json-1.1",
		},
	})
	if err != nil || r.status != http.StatusOK {
		return nil, err
	}
	var got struct{ Certificate map[string]any }
	if err := json.Unmarshal(r.body, &got); err != nil {
		return nil, fmt.Errorf("read certificate %s: %w", arn, err)
	}
	return got.Certificate, nil
}

// certificate returns the proxy's own state of a certificate, or nil for one that was imported or issued by a private
// authority.
func (s *acmService) certificate(account string, is map[string]any) *certificate {
	arn, _ := is["CertificateArn"].(string)
	if is["Type"] != "AMAZON_ISSUED" {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.entry(arn)
	if c.account == "" { // requested directly from moto
		created, _ := is["CreatedAt"].(float64)
		name, _ := is["DomainName"].(string)
		c.account, c.method, c.requested, c.domains = account, "DNS", time.Unix(int64(created), 0), []string{name}
		sans, _ := is["SubjectAlternativeNames"].([]any)
		for _, san := range sans {
			if san, ok := san.(string); ok && !slices.Contains(c.domains, san) {
				c.domains = append(c.domains, san)
			}
		}
	}
	return c
}

// entry returns the state of a certificate, and creates it if there is none. The caller holds s.mu.
func (s *acmService) entry(arn string) *certificate {
	if s.known[arn] == nil {
		s.known[arn] = &certificate{}
	}
	return s.known[arn]
}
