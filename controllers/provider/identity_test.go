package provider

import (
	"errors"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// Only repeated failure over 15 minutes turns a provider off: a single failure never does, nor one long after an
// earlier failure that was followed by a success.
func TestOnlyRepeatedFailureToVerifyTheIdentityTurnsAProviderOff(t *testing.T) {
	no := engine.Wait("IdentityNotVerified", 15*time.Second, "STS AssumeRoleWithWebIdentity: InvalidIdentityToken")
	lost, throttled := errors.New("connection reset"), engine.Wait("Throttled", time.Second, "slow")
	type check struct {
		after time.Duration
		err   error
	}
	for name, row := range map[string]struct {
		checks []check
		status metav1.ConditionStatus
		reason string
		since  bool // whether the condition is set already
	}{
		"one":                                 {[]check{{0, no}}, metav1.ConditionTrue, "Verified", true},
		"several, for a short time":           {[]check{{0, no}, {5 * time.Minute, no}, {9 * time.Minute, no}}, metav1.ConditionTrue, "Verified", true},
		"several, for long":                   {[]check{{0, no}, {5 * time.Minute, no}, {10 * time.Minute, no}}, metav1.ConditionFalse, "IdentityNotVerified", true},
		"two, long apart and passed":          {[]check{{0, no}, {5 * time.Minute, nil}, {time.Hour, no}}, metav1.ConditionTrue, "Verified", true},
		"for long, and nothing known between": {[]check{{0, no}, {5 * time.Minute, lost}, {5 * time.Minute, throttled}, {5 * time.Minute, no}}, metav1.ConditionFalse, "IdentityNotVerified", true},
		"what is not known is no failure":     {[]check{{0, no}, {time.Hour, lost}}, metav1.ConditionTrue, "Verified", true},
		"for long, and then verified":         {[]check{{0, no}, {15 * time.Minute, no}, {5 * time.Minute, nil}}, metav1.ConditionTrue, "Verified", false},
		"rejected, which is certain":          {[]check{{0, engine.Blocked("CredentialsRejected", "no")}}, metav1.ConditionFalse, "CredentialsRejected", false},
	} {
		now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		r := Reconciler{Now: func() time.Time { return now }}
		p := &v1alpha1.AWSProvider{ObjectMeta: metav1.ObjectMeta{Generation: 1}}
		r.setAuthenticated(p, nil)
		p.Status.ObservedGeneration = 1
		for _, c := range row.checks {
			now = now.Add(c.after)
			r.setAuthenticated(p, r.judgeIdentity(p, c.err))
		}
		got := meta.FindStatusCondition(p.Status.Conditions, v1alpha1.ConditionAuthenticated)
		if got.Status != row.status || got.Reason != row.reason ||
			(meta.FindStatusCondition(p.Status.Conditions, conditionIdentityVerified) != nil) != row.since {
			t.Errorf("%s: %+v", name, p.Status.Conditions)
		}
		if off := got.Reason == "IdentityNotVerified"; off &&
			(!strings.Contains(got.Message, "since 2026-01-02 03:04 UTC: ask a platform admin to check the cluster's "+
				"OIDC provider in IAM") || strings.Contains(got.Message, "often passes")) {
			t.Errorf("%s: %q", name, got.Message)
		}
	}
}

// A provider that never worked is reported as being checked until the failure is permanent.
func TestANewProviderWhoseIdentityIsNotVerifiedIsBeingChecked(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	r := Reconciler{Now: func() time.Time { return now }}
	p := &v1alpha1.AWSProvider{ObjectMeta: metav1.ObjectMeta{Generation: 1}}
	no := engine.Wait("IdentityNotVerified", 15*time.Second, "STS AssumeRoleWithWebIdentity: InvalidIdentityToken")
	for _, want := range []metav1.ConditionStatus{
		metav1.ConditionUnknown, metav1.ConditionUnknown, metav1.ConditionFalse,
	} {
		r.setAuthenticated(p, r.judgeIdentity(p, no))
		if got := meta.FindStatusCondition(p.Status.Conditions, v1alpha1.ConditionAuthenticated); got.Status != want {
			t.Errorf("at %s: %+v", now, got)
		}
		now = now.Add(8 * time.Minute)
	}
}
