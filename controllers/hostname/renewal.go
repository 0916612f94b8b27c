package hostname

import (
	"cmp"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/acm/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/hostname/cert"
)

// Deadlines are fractions of a certificate's lifetime, because public authorities shorten it: 395 days until 2026, 198
// since, 47 from 2029. ACM begins to renew 60 days before the end of 395, and 45 days before the end of 198; an eighth
// is 49 days of 395, 25 of 198 and 6 of 47.
const (
	latePart   = 8  // less than this part is left and it is not renewed: people must act
	urgentPart = 16 // less than this part is left: most urgent

	// usualLife is the assumed lifetime of a certificate whose start is not in the status, as an older version wrote
	// it.
	usualLife = 198 * 24 * time.Hour
)

// lateFrom returns the time from which a certificate that is not renewed is late.
func lateFrom(c *v1alpha1.HostnameCertificate) time.Time { return c.NotAfter.Add(-life(c) / latePart) }

// urgentFrom returns the time from which the end of a certificate is near.
func urgentFrom(c *v1alpha1.HostnameCertificate) time.Time {
	return c.NotAfter.Add(-life(c) / urgentPart)
}

func life(c *v1alpha1.HostnameCertificate) time.Duration {
	if c.NotBefore == nil {
		return usualLife
	}
	return c.NotAfter.Sub(c.NotBefore.Time)
}

// checkRenewal reports a late renewal, once.
func (r *reconciliation) checkRenewal(c *v1alpha1.HostnameCertificate, seen *cert.Certificate) {
	c.Renewal = seen.Renewal
	if seen.NotAfter == nil {
		return
	}
	c.NotBefore, c.NotAfter = wholeSeconds(seen.NotBefore), wholeSeconds(seen.NotAfter)
	late := seen.Renewal == string(types.RenewalStatusFailed) || r.Now().After(lateFrom(c))
	if late && !c.RenewalLate {
		r.pass.Warning(v1alpha1.ReasonRenewalLate, "DescribeCertificate",
			"the certificate ends on %s and ACM has not renewed it (%s): the record %s must be in public DNS",
			c.NotAfter.UTC().Format(time.DateOnly), cmp.Or(seen.Renewal, "not started"), seen.Record.Name)
	}
	c.RenewalLate = late
}

// wholeSeconds returns a time at the precision of a status; nil stays nil.
func wholeSeconds(at *time.Time) *metav1.Time {
	if at == nil {
		return nil
	}
	return &metav1.Time{Time: at.UTC().Truncate(time.Second)}
}
