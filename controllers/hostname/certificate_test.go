package hostname

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/acm"
	"github.com/aws/aws-sdk-go-v2/service/acm/types"
	"github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi"
	tagging "github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi/types"
	"github.com/aws/smithy-go"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/hostname/cert"
)

// authority fakes ACM: one certificate for each token.
type authority struct {
	tokens   []string // of requests, in order
	all      map[string]*types.CertificateDetail
	byTag    []string // results of a search by tags
	deleted  []string
	fails    error
	refuses  error // of requests only
	hidden   bool  // ACM does not show requested certificates yet
	searches int
}

func (a *authority) RequestCertificate(_ context.Context, in *acm.RequestCertificateInput, _ ...func(*acm.Options)) (
	*acm.RequestCertificateOutput, error,
) {
	if err := cmp.Or(a.fails, a.refuses); err != nil {
		return nil, err
	}
	token := aws.ToString(in.IdempotencyToken)
	a.tokens = append(a.tokens, token)
	arn := "arn:" + token
	if a.all[arn] == nil {
		a.all[arn] = &types.CertificateDetail{Status: types.CertificateStatusPendingValidation}
	}
	return &acm.RequestCertificateOutput{CertificateArn: &arn}, nil
}

func (a *authority) DescribeCertificate(_ context.Context, in *acm.DescribeCertificateInput, _ ...func(*acm.Options)) (
	*acm.DescribeCertificateOutput, error,
) {
	if a.fails != nil {
		return nil, a.fails
	}
	d := a.all[aws.ToString(in.CertificateArn)]
	if d == nil || a.hidden {
		return nil, &smithy.GenericAPIError{Code: "ResourceNotFoundException"}
	}
	return &acm.DescribeCertificateOutput{Certificate: d}, nil
}

func (a *authority) DeleteCertificate(_ context.Context, in *acm.DeleteCertificateInput, _ ...func(*acm.Options)) (
	*acm.DeleteCertificateOutput, error,
) {
	if a.fails != nil {
		return nil, a.fails
	}
	a.deleted = append(a.deleted, aws.ToString(in.CertificateArn))
	delete(a.all, aws.ToString(in.CertificateArn))
	return &acm.DeleteCertificateOutput{}, nil
}

func (a *authority) GetResources(context.Context, *resourcegroupstaggingapi.GetResourcesInput,
	...func(*resourcegroupstaggingapi.Options),
) (*resourcegroupstaggingapi.GetResourcesOutput, error) {
	a.searches++
	out := &resourcegroupstaggingapi.GetResourcesOutput{}
	for _, arn := range a.byTag {
		out.ResourceTagMappingList = append(out.ResourceTagMappingList, tagging.ResourceTagMapping{ResourceARN: &arn})
	}
	return out, a.fails
}

// desk is one request, the authority and the clock.
type desk struct {
	*authority
	t     *testing.T
	now   time.Time
	req   *v1alpha1.GatewayHostnameRequest
	notes []string
	saves int
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	return &desk{
		authority: &authority{all: map[string]*types.CertificateDetail{}}, t: t,
		now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		req: &v1alpha1.GatewayHostnameRequest{ObjectMeta: metav1.ObjectMeta{UID: "uid"}},
	}
}

// unpaced lets every certificate be requested.
func unpaced(context.Context, string, time.Time) error { return nil }

// pass runs the steps of the certificate; status changes are kept if the pass saves or ends.
func (d *desk) pass() error {
	d.t.Helper()
	no := func(*v1alpha1.GatewayHostnameRequest) map[string]string { return nil }
	nowhere := func(*v1alpha1.GatewayHostnameRequest) map[string][]string { return nil }
	pass := engine.NewPass(func(context.Context) error {
		d.saves++
		*d.req = *d.req.DeepCopy() // the server's response replaces the object
		return nil
	})
	r := &reconciliation{
		Reconciler: Reconciler{Now: func() time.Time { return d.now }, AllowCertificate: unpaced}, req: d.req,
		pass: pass, name: parsed(d.t, "shop.example.com"),
		account: &Account{Certs: cert.Certificates{ACM: d.authority, Tags: d.authority}, Tags: no, SearchTags: nowhere},
	}
	_, err := r.requestCertificate(d.t.Context())
	if err == nil {
		_, err = r.checkIssued(d.t.Context())
	}
	d.notes = append(d.notes, pass.Strings()...)
	return err
}

func (d *desk) certificate() *types.CertificateDetail {
	d.t.Helper()
	c := d.all[d.req.Status.Certificate.ARN]
	if c == nil {
		d.t.Fatalf("no certificate %+v", d.req.Status.Certificate)
	}
	return c
}

func reasonOf(err error) string {
	if p, ok := engine.AsWait(err); ok {
		return p.Reason
	}
	return fmt.Sprint(err)
}

func TestACertificateIsRequestedOnce(t *testing.T) {
	d := newDesk(t)
	for range 3 {
		if got := reasonOf(d.pass()); got != "CertificatePending" {
			t.Fatal(got)
		}
		d.now = d.now.Add(2 * time.Hour)
	}
	d.certificate().Status = types.CertificateStatusIssued
	if err := d.pass(); err != nil || len(d.tokens) != 1 || d.saves != 1 { // before the request
		t.Errorf("%v, %d requests, %d saves", err, len(d.tokens), d.saves)
	}
	if len(d.tokens[0]) != 32 {
		t.Errorf("the token %q has not 32 characters", d.tokens[0])
	}
}

// The operator loses the ARN: within an hour the same token returns the certificate, after that its tags find it.
func TestALostAnswerIsFoundAgain(t *testing.T) {
	d := newDesk(t)
	_ = d.pass()
	arn := d.req.Status.Certificate.ARN
	d.req.Status.Certificate.ARN = ""
	d.now = d.now.Add(50 * time.Minute)
	if _ = d.pass(); d.req.Status.Certificate.ARN != arn || d.searches != 0 {
		t.Errorf("within the hour: %s, %d searches", d.req.Status.Certificate.ARN, d.searches)
	}
	d.req.Status.Certificate.ARN = ""
	d.now, d.byTag = d.now.Add(time.Hour), []string{arn}
	if _ = d.pass(); d.req.Status.Certificate.ARN != arn || len(d.tokens) != 2 {
		t.Errorf("later: %s, %d requests", d.req.Status.Certificate.ARN, len(d.tokens))
	}
	d.req.Status.Certificate.ARN, d.byTag = "", nil
	if _ = d.pass(); d.req.Status.Certificate.Attempt != 2 || len(d.all) != 2 || d.tokens[2] == d.tokens[0] {
		t.Errorf("never made: %+v, tokens %v", d.req.Status.Certificate, d.tokens)
	}
}

// Each failure waits longer: 1, 2, 4, up to 32 hours. A failed call is not a failure of the certificate.
func TestAFailedCertificateIsRequestedAgainLater(t *testing.T) {
	d := newDesk(t)
	_ = d.pass()
	for attempt, hours := range []int{1, 2, 4, 8, 16, 32, 32} {
		d.certificate().Status, d.certificate().FailureReason = types.CertificateStatusFailed,
			types.FailureReasonCaaError
		failed := d.req.Status.Certificate.ARN
		err := d.pass()
		due := d.now.Add(time.Duration(hours) * time.Hour)
		if reasonOf(err) != "CertificateFailed" || !strings.Contains(err.Error(), due.Format("2006-01-02 15:04")) ||
			!strings.Contains(err.Error(), "CAA records") {
			t.Fatalf("%d: %v", attempt, err)
		}
		d.now = due.Add(-time.Second)
		if again := d.pass(); again == nil || again.Error() != err.Error() || len(d.tokens) != attempt+1 {
			t.Errorf("%d: a second before: %v, %d requests", attempt, again, len(d.tokens))
		}
		d.now = due
		d.fails = errors.New("boom")
		if err := d.pass(); !errors.Is(err, d.fails) {
			t.Errorf("%d: %v", attempt, err)
		}
		d.fails = nil
		if got := reasonOf(d.pass()); got != "CertificatePending" || !slices.Contains(d.deleted, failed) {
			t.Errorf("%d: %s, deleted %v", attempt, got, d.deleted)
		}
		_ = d.pass()
		if len(d.tokens) != attempt+2 || len(d.all) != 1 {
			t.Errorf("%d: %d requests, certificates %v", attempt, len(d.tokens), d.all)
		}
	}
}

// The certificate of a lost cluster is found by its tags at once; only if there is none, one is requested.
func TestARestoredRequestTakesItsCertificateBack(t *testing.T) {
	for name, row := range map[string]struct {
		annotation        string
		searches, request int
	}{
		"restored":     {"former", 1, 0},
		"its own UID":  {"uid", 0, 1},
		"not restored": {"", 0, 1},
	} {
		d := newDesk(t)
		d.req.Annotations = map[string]string{v1alpha1.AnnotationFormerUID: row.annotation}
		d.all["arn:kept"], d.byTag = &types.CertificateDetail{Status: types.CertificateStatusIssued},
			[]string{"arn:kept"}
		_ = d.pass()
		if d.searches != row.searches || len(d.tokens) != row.request ||
			(d.req.Status.Certificate.ARN == "arn:kept") != (row.request == 0) {
			t.Errorf("%s: %d searches, %d requests, %+v", name, d.searches, len(d.tokens), d.req.Status.Certificate)
		}
	}
	d := newDesk(t)
	d.req.Annotations = map[string]string{v1alpha1.AnnotationFormerUID: "former"}
	if _ = d.pass(); d.searches != 1 || len(d.tokens) != 1 || d.tokens[0] != cert.Token("former", 1) {
		t.Errorf("there is none: %d searches, requests %v", d.searches, d.tokens)
	}
	d = newDesk(t)
	d.req.Annotations, d.fails = map[string]string{v1alpha1.AnnotationFormerUID: "former"}, errors.New("boom")
	if err := d.pass(); !errors.Is(err, d.fails) || len(d.tokens) != 0 {
		t.Errorf("not known: %v, requests %v", err, d.tokens)
	}
}
