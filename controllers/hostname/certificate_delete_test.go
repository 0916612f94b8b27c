package hostname

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/acm/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/hostname/cert"
)

// withdraw undoes what the steps of the certificate have created.
func (d *desk) withdraw() error {
	no := func(*v1alpha1.GatewayHostnameRequest) map[string]string { return nil }
	nowhere := func(*v1alpha1.GatewayHostnameRequest) map[string][]string { return nil }
	r := &reconciliation{
		Reconciler: Reconciler{Now: func() time.Time { return d.now }, AllowCertificate: unpaced}, req: d.req,
		pass: engine.NewPass(nil), name: parsed(d.t, "shop.example.com"),
		account: &Account{
			Certs: cert.Certificates{ACM: d.authority, Tags: d.authority}, Tags: no, SearchTags: nowhere,
			Settling: time.Minute,
		},
	}
	return r.deleteCertificate(d.t.Context())
}

// The requested certificate is deleted, even if the response was lost just before the deletion; a certificate in use is
// waited for.
func TestACertificateIsWithdrawn(t *testing.T) {
	for name, row := range map[string]struct {
		before   func(*desk)
		reason   string
		left     int
		deleted  int
		searches int
	}{
		"as usual": {func(*desk) {}, "", 0, 1, 0},
		"in use":   {func(d *desk) { d.certificate().InUseBy = []string{"arn:lb"} }, "Detaching", 1, 0, 0},
		"gone already": {func(d *desk) {
			delete(d.all, d.req.Status.Certificate.ARN)
			d.now = d.now.Add(2 * time.Minute)
		}, "", 0, 0, 0},
		"not shown yet":                          {func(d *desk) { d.hidden = true }, "Settling", 1, 0, 0},
		"not shown yet, and its answer was lost": {func(d *desk) { d.hidden, d.req.Status.Certificate.ARN = true, "" }, "Settling", 1, 0, 0},
		"lost just before the token's end": {func(d *desk) {
			d.req.Status.Certificate.ARN, d.now = "", d.now.Add(cert.TokenLife+time.Minute)
		}, "Settling", 1, 0, 1},
		"its answer was lost": {func(d *desk) { d.req.Status.Certificate.ARN = "" }, "", 0, 1, 0},
		"lost long ago": {func(d *desk) {
			d.byTag, d.req.Status.Certificate.ARN, d.now = []string{d.req.Status.Certificate.ARN}, "",
				d.now.Add(2*time.Hour)
		}, "", 0, 1, 1},
		"nothing was requested": {func(d *desk) { d.all, d.req.Status.Certificate = map[string]*types.CertificateDetail{}, nil }, "", 0, 0, 0},
	} {
		d := newDesk(t)
		_ = d.pass()
		row.before(d)
		err := d.withdraw()
		if (err == nil) != (row.reason == "") || err != nil && reasonOf(err) != row.reason {
			t.Errorf("%s: error = %v, want %q", name, err, row.reason)
		}
		got, want := []int{len(d.all), len(d.deleted), d.searches}, []int{row.left, row.deleted, row.searches}
		if !slices.Equal(got, want) {
			t.Errorf("%s: left, deleted, searches = %d, want %d", name, got, want)
		}
	}
	d := newDesk(t)
	_ = d.pass()
	if d.fails = errors.New("boom"); !errors.Is(d.withdraw(), d.fails) || len(d.all) != 1 {
		t.Errorf("an error is absence: %v", d.all)
	}
}

// While ACM refuses requests it is unknown whether an unanswered request succeeded, and new tags are found late.
func TestACertificateThatMayBeThereIsWaitedFor(t *testing.T) {
	refused := &smithy.OperationError{
		ServiceID: "ACM", OperationName: "RequestCertificate",
		Err: &awshttp.ResponseError{
			RequestID: "4711", ResponseError: &smithyhttp.ResponseError{
				Response: &smithyhttp.Response{Response: &http.Response{StatusCode: 400}}, Err: &smithy.GenericAPIError{
					Code: "AccessDeniedException", Message: "not authorized",
				},
			},
		},
	}
	for name, row := range map[string]struct {
		fails   error
		waits   bool          // indefinitely
		found   time.Duration // when its tags are found; 0: never
		deleted int
	}{
		"refused, and never found":           {refused, false, 0, 0},
		"refused, and found later":           {refused, false, 3 * time.Minute, 1},
		"a failure that will pass":           {errors.New("connection reset"), true, 0, 0},
		"one after which the tags are found": {errors.New("connection reset"), true, 3 * time.Minute, 1},
	} {
		d := newDesk(t)
		_ = d.pass()
		arn := d.req.Status.Certificate.ARN
		d.req.Status.Certificate.ARN, d.refuses = "", row.fails
		if first := d.withdraw(); reasonOf(first) == "Settling" &&
			(first.Error() != d.withdraw().Error() || strings.Contains(first.Error(), "RequestID")) {
			t.Errorf("%s: the text changes, or has what only AWS understands: %v", name, first)
		}
		began, passes := d.now, 0
		for ; d.now.Sub(began) < 20*time.Minute; d.now = d.now.Add(10 * time.Second) {
			if row.found > 0 && d.now.Sub(began) >= row.found {
				d.byTag = []string{arn}
			}
			if d.withdraw() == nil {
				break
			}
			passes++
		}
		took := d.now.Sub(began)
		least, most := 20*time.Minute, 21*time.Minute
		switch {
		case row.found > 0:
			least, most = row.found, row.found
		case !row.waits:
			least, most = 5*time.Minute+10*time.Second, 5*time.Minute+10*time.Second
		}
		if took < least || took > most {
			t.Errorf("%s: it took %s, want %s", name, took, least)
		}
		if len(d.deleted) != row.deleted {
			t.Errorf("%s: deleted %v", name, d.deleted)
		}
	}
}

// The clock was hours ahead when the certificate was requested, and somebody has deleted it since: its deletion waits
// only for as long as ACM may not show it yet.
func TestADeletionDoesNotWaitForATimeThatLiesAhead(t *testing.T) {
	d := newDesk(t)
	_ = d.pass()
	clear(d.all)
	d.now = d.now.Add(-3 * time.Hour)
	_ = d.withdraw()
	d.now = d.now.Add(time.Hour)
	if err := d.withdraw(); err != nil {
		t.Errorf("an hour later: %v", err)
	}
}
