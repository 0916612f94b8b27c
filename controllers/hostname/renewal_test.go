package hostname

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/acm/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
)

const day = 24 * time.Hour

// late counts the reports of a late renewal.
func (d *desk) late() int {
	return len(slices.DeleteFunc(slices.Clone(d.notes), func(n string) bool {
		return !strings.HasPrefix(n, "RenewalLate")
	}))
}

// issue gives the request a certificate that is valid from now on.
func (d *desk) issue(life time.Duration) *types.CertificateDetail {
	d.t.Helper()
	_ = d.pass()
	c := d.certificate()
	c.Status = types.CertificateStatusIssued
	c.NotBefore, c.NotAfter = aws.Time(d.now), aws.Time(d.now.Add(life))
	return c
}

// A renewal is late when less than an eighth of the certificate's lifetime is left, however long that is. It is
// reported once, and not when ACM has just begun.
func TestARenewalThatIsLateIsTold(t *testing.T) {
	for _, row := range []struct{ days, begins, late float64 }{
		{398, 60, 49.75}, {198, 45, 24.75}, {47, 10, 5.875}, // ACM's behaviour for 47 days is not known
	} {
		d := newDesk(t)
		c := d.issue(time.Duration(row.days) * day)
		end := *c.NotAfter
		look := func(left float64) {
			t.Helper()
			d.now = end.Add(-time.Duration(left * float64(day)))
			for range 2 {
				if err := d.pass(); err != nil {
					t.Fatal(err)
				}
			}
		}
		look(row.days - 1)
		if got := d.req.Status.Certificate; d.late() != 0 || !got.NotBefore.Time.Equal(*c.NotBefore) ||
			!got.NotAfter.Time.Equal(end) {
			t.Errorf("%v days: new: notes %v, %+v", row.days, d.notes, got)
		}
		c.RenewalSummary = &types.RenewalSummary{RenewalStatus: types.RenewalStatusPendingAutoRenewal}
		look(row.begins)
		look(row.late + 0.1)
		if d.late() != 0 || d.req.Status.Certificate.RenewalLate {
			t.Errorf("%v days: before %v are left: notes %v", row.days, row.late, d.notes)
		}
		look(row.late - 0.1)
		if d.late() != 1 {
			t.Errorf("%v days: %v left: told %d times", row.days, row.late-0.1, d.late())
		}
		look(1)
		if d.late() != 1 || !d.req.Status.Certificate.RenewalLate {
			t.Errorf("%v days: told %d times: %v", row.days, d.late(), d.notes)
		}
		c.RenewalSummary.RenewalStatus = types.RenewalStatusSuccess
		c.NotBefore, c.NotAfter = aws.Time(d.now), aws.Time(d.now.Add(47*day))
		if err := d.pass(); err != nil || d.late() != 1 {
			t.Errorf("%v days: renewed: %v, late %v, want 1", row.days, err, d.late())
		}
		if c := d.req.Status.Certificate; c.Renewal != "SUCCESS" || c.RenewalLate {
			t.Errorf("%v days: Renewal = %s, RenewalLate = %v, want SUCCESS, false", row.days, c.Renewal, c.RenewalLate)
		}
	}
}

// A failed renewal is late at once; an expired certificate is not replaced automatically.
func TestARenewalThatFailedIsTold(t *testing.T) {
	d := newDesk(t)
	c := d.issue(198 * day)
	c.RenewalSummary = &types.RenewalSummary{RenewalStatus: types.RenewalStatusFailed}
	d.now = d.now.Add(150 * day)
	if err := d.pass(); err != nil || d.late() != 1 {
		t.Errorf("%v, notes %v", err, d.notes)
	}
	c.Status = types.CertificateStatusExpired
	if err := d.pass(); reasonOf(err) != "CertificateOver" || len(d.tokens) != 1 {
		t.Errorf("over: %v, %d requests", err, len(d.tokens))
	}
}

// The end is near at a sixteenth of the lifetime. The status of an older version does not have the lifetime.
func TestTheEndIsNearByTheCertificatesLife(t *testing.T) {
	begin := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for days, left := range map[int]time.Duration{
		398: 597 * time.Hour, 198: 297 * time.Hour, 47: 70*time.Hour + 30*time.Minute,
	} {
		end := begin.Add(time.Duration(days) * day)
		c := &v1alpha1.HostnameCertificate{NotBefore: &metav1.Time{Time: begin}, NotAfter: &metav1.Time{Time: end}}
		if got := end.Sub(urgentFrom(c)); got != left {
			t.Errorf("%d days: urgent %s before the end, want %s", days, got, left)
		}
		c.NotBefore = nil
		if got := end.Sub(urgentFrom(c)); got != 297*time.Hour {
			t.Errorf("%d days, without a beginning: urgent %s before the end", days, got)
		}
	}
}
