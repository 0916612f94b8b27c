//go:build integration

package awsproxy_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/acm/types"
)

func TestARenewalIsAsTheTestSays(t *testing.T) {
	w, _ := timed(t)
	w.SetACMIssueDelay(0)
	key := newAccount(w)
	c, zones := w.acm(key, "eu-west-1"), w.route53(key)
	arn := request(t, c, certificate("renew.test"))
	_, err := change(t, zones, newZone(t, zones, "renew.test"), validation(creates, described(t, c, arn), 0))
	must(t, err)
	if got := described(t, c, arn); got.Status != types.CertificateStatusIssued || got.RenewalSummary != nil || got.RenewalEligibility != types.RenewalEligibilityIneligible {
		t.Errorf("unused: %s, renewal %s %+v", got.Status, got.RenewalEligibility, got.RenewalSummary)
	}
	again := request(t, c, certificate("*.renew.test"))
	if got := described(t, c, again); got.Status != types.CertificateStatusIssued {
		t.Errorf("with the record there from the start: %s", got.Status)
	}
	until := time.Now().Add(20 * 24 * time.Hour).Truncate(time.Second)
	w.SetRenewal(arn, "PENDING_VALIDATION", until)
	got := described(t, c, arn)
	if got.RenewalSummary.RenewalStatus != types.RenewalStatusPendingValidation || !got.NotAfter.Equal(until) {
		t.Errorf("renewal %+v until %s, want %s", got.RenewalSummary, got.NotAfter, until)
	}
	w.SetRenewal(arn, "FAILED", time.Now().Add(-time.Minute))
	if got := described(t, c, arn); got.Status != types.CertificateStatusExpired {
		t.Errorf("past its end: %s", got.Status)
	}
}
