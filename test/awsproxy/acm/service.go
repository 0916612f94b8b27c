// Package acm is AWS Certificate Manager: a certificate is issued when the records that validate it are in public
// zones, and cannot be deleted while a load balancer uses it.
package acm

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/portico-platform/portico/test/awsproxy/elbv2"
	"github.com/portico-platform/portico/test/awsproxy/route53"
	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// The defaults of the settings that tests can change, and the limits of ACM.
const (
	defaultRecordDelay = 200 * time.Millisecond
	defaultIssueDelay  = 300 * time.Millisecond
	defaultLife        = 198 * 24 * time.Hour // since February 2026; until then 395 days
	tokenLife          = time.Hour
	validationLife     = 72 * time.Hour
)

// Service issues a certificate when, and only when, the records that validate its names are in public zones. It
// knows which load balancers use a certificate and refuses to delete one that is in use, and it accepts an
// idempotency token for the same request only.
type Service struct {
	upstream *wire.Upstream
	dns      *route53.Service
	balancer *elbv2.Service
	locks    wire.Locks // by account and region: shared for attaching a certificate, exclusive for deleting one
	now      func() time.Time

	mu          sync.Mutex
	recordDelay time.Duration
	issueDelay  time.Duration
	life        time.Duration
	tokens      map[string]tokenUse // by request
	known       map[string]*certificate
	issuer      Issuer // of names below .localhost; nil where ACM is as strict as in AWS
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

	pair *tls.Certificate // made when it is first asked for
}

// New returns ACM, which learns from Route 53 when records change, and from the load balancers which certificates they
// use.
func New(up *wire.Upstream, dns *route53.Service, balancer *elbv2.Service, now func() time.Time) *Service {
	s := &Service{
		upstream: up, dns: dns, balancer: balancer, now: now, recordDelay: defaultRecordDelay,
		issueDelay: defaultIssueDelay, life: defaultLife,
		tokens: map[string]tokenUse{}, known: map[string]*certificate{},
	}
	dns.OnRecordsChanged(s.recordsChanged)
	balancer.Use(s)
	return s
}

// Around serves the calls to ACM.
func (s *Service) Around(ctx context.Context, x *wire.Exchange, next wire.Forward) (*wire.Reply, error) {
	arn, _ := x.JSON["CertificateArn"].(string)
	switch x.Call.Operation {
	case "RequestCertificate":
		return s.request(ctx, x, next)
	case "DescribeCertificate":
		return s.describe(ctx, x, next)
	case "ListCertificates":
		return s.list(ctx, x, next)
	case "GetCertificate", "ExportCertificate":
		status, err := s.CertificateStatus(ctx, x.Call.Account, x.Call.Region, arn)
		if err != nil {
			return nil, err
		}
		if status == "PENDING_VALIDATION" {
			return x.Fail(http.StatusBadRequest, "RequestInProgressException", "Certificate request for "+arn+
				" is in progress: it has not been issued."), nil
		}
	case "DeleteCertificate":
		return s.remove(ctx, x, arn, next)
	}
	return next(ctx)
}

func (s *Service) remove(ctx context.Context, x *wire.Exchange, arn string, next wire.Forward) (*wire.Reply, error) {
	defer s.locks.Lock(x.Call.Account+"/"+x.Call.Region, true)()
	used, err := s.balancer.Usage(ctx, x.Call.Account, x.Call.Region)
	if err != nil {
		return nil, err
	}
	if len(used[arn]) > 0 {
		return x.Fail(http.StatusBadRequest, "ResourceInUseException",
			fmt.Sprintf("Certificate %s in account %s is in use.", arn, x.Call.Account)), nil
	}
	r, err := next(ctx)
	if err == nil && r.Status == http.StatusOK {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.known, arn)
	}
	return r, err
}

// KeepCertificates keeps certificates of an account and region from being deleted, until unlock is called.
func (s *Service) KeepCertificates(place string) (unlock func()) {
	return s.locks.Lock(place, false)
}

// stage returns the certificate's status. The caller holds s.mu.
func (s *Service) stage(c *certificate) string {
	now := s.now()
	switch {
	case c.status != "":
		return c.status
	case c.validated.IsZero() && !now.Before(c.requested.Add(validationLife)):
		return "VALIDATION_TIMED_OUT"
	case c.validated.IsZero() || now.Before(c.validated.Add(s.issueDelay)):
		return "PENDING_VALIDATION"
	case !c.notAfter.IsZero() && now.After(c.notAfter):
		return "EXPIRED"
	}
	return "ISSUED"
}

// CertificateStatus returns the status of a certificate; "" if there is none in the account and region.
func (s *Service) CertificateStatus(ctx context.Context, account, region, arn string) (string, error) {
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
func (s *Service) ask(ctx context.Context, account, region, arn string) (map[string]any, error) {
	body, err := json.Marshal(map[string]string{"CertificateArn": arn})
	if err != nil {
		return nil, err
	}
	r, err := s.upstream.Ask(ctx, wire.Question{
		Service: "acm", Region: region, Account: account, Method: http.MethodPost, Path: "/", Body: string(body),
		Header: map[string]string{
			"X-Amz-Target": "CertificateManager.DescribeCertificate",
			"Content-Type": "application/x-amz-json-1.1",
		},
	})
	if err != nil || r.Status != http.StatusOK {
		return nil, err
	}
	var got struct{ Certificate map[string]any }
	if err := json.Unmarshal(r.Body, &got); err != nil {
		return nil, fmt.Errorf("read certificate %s: %w", arn, err)
	}
	return got.Certificate, nil
}

// certificate returns the proxy's own state of a certificate, or nil for one that was imported or issued by a private
// authority.
func (s *Service) certificate(account string, is map[string]any) *certificate {
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
func (s *Service) entry(arn string) *certificate {
	if s.known[arn] == nil {
		s.known[arn] = &certificate{}
	}
	return s.known[arn]
}
