//go:build integration

package integration

import (
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Whether a renewal is late depends on the certificate's lifetime, which ACM reports.
func TestALateRenewalIsToldByTheLifeOfTheCertificate(t *testing.T) {
	const day, usual = 24 * time.Hour, 198 * 24 * time.Hour
	c := withOperator(t)
	defer world.Proxy.SetACMLife(usual)
	d := domainOf(t, c)
	for name, life := range map[string]time.Duration{"old": 398 * day, "today": usual, "short": 47 * day} {
		r := d.request(name + "." + d.name)
		ready(t, c, r)
		arn := r.Status.Certificate.ARN
		world.Proxy.SetACMLife(life)
		for _, step := range []struct {
			renewal string
			left    time.Duration
			late    bool
		}{
			{"PENDING_AUTO_RENEWAL", life/8 + time.Hour, false},
			{"PENDING_VALIDATION", life/8 - time.Hour, true},
			{"SUCCESS", life, false},
		} {
			end := time.Now().Add(step.left).UTC().Truncate(time.Second)
			world.Proxy.SetRenewal(arn, step.renewal, end)
			nudging(t, c, r, step.renewal, func() (bool, string) {
				if err := c.Get(t.Context(), client.ObjectKeyFromObject(r), r); err != nil {
					t.Fatal(err)
				}
				return r.Status.Certificate.Renewal == step.renewal && r.Status.Certificate.NotAfter.Time.Equal(end),
					r.Status.Certificate.Renewal
			})
			got := r.Status.Certificate
			if got.RenewalLate != step.late || got.NotAfter.Sub(got.NotBefore.Time) != life {
				t.Errorf("%s, %s: %+v", name, step.renewal, got)
			}
		}
		awaitEvent(t, c, r, "RenewalLate", r.Status.Certificate.RecordName)
	}
}
