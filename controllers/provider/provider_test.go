package provider

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/engine"
)

func TestMark(t *testing.T) {
	r := Reconciler{Now: func() time.Time { return time.Unix(1, 0) }}
	for _, x := range []struct {
		name   string
		was    bool // authenticated at this generation
		err    error
		status metav1.ConditionStatus
		reason string
	}{
		{"verified", false, nil, metav1.ConditionTrue, "Verified"},
		{"rejected", true, engine.Blocked("CredentialsRejected", "no"), metav1.ConditionFalse, "CredentialsRejected"},
		{"a lost call takes nothing away", true, errors.New("reset"), metav1.ConditionTrue, "Verified"},
		{"nor does a throttled one", true, engine.Wait("Throttled", time.Second, "slow"), metav1.ConditionTrue, "Verified"},
		{"and proves nothing new", false, errors.New("reset"), metav1.ConditionUnknown, "Checking"},
	} {
		t.Run(x.name, func(t *testing.T) {
			p := &v1alpha1.AWSProvider{ObjectMeta: metav1.ObjectMeta{Generation: 1}}
			if x.was {
				r.setAuthenticated(p, nil)
				p.Status.ObservedGeneration = 1
			}
			r.setAuthenticated(p, x.err)
			got := meta.FindStatusCondition(p.Status.Conditions, v1alpha1.ConditionAuthenticated)
			if got == nil || got.Status != x.status || got.Reason != x.reason {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestInUseNamesAFewAndIsStable(t *testing.T) {
	got := inUse([]string{"S3Bucket b/d", "S3Bucket a/a", "S3Bucket b/c", "S3Bucket a/b"})
	if got != "4 resources use this provider: S3Bucket a/a, S3Bucket a/b, S3Bucket b/c and 1 more" {
		t.Errorf("got %q", got)
	}
	if got := inUse([]string{"S3Bucket a/a"}); !strings.HasPrefix(got, "1 resource uses") {
		t.Errorf("got %q", got)
	}
}

// The cache may lack a reservation written at the moment when the provider was deleted.
func TestAProviderGoesWhenTheAPIServerKnowsOfNoUser(t *testing.T) {
	const user = "S3Bucket payments/invoices"
	for name, row := range map[string]struct {
		cached, live []string
		stays        bool
	}{
		"no user":                      {},
		"a user":                       {cached: []string{user}, stays: true},
		"a user that the cache misses": {live: []string{user}, stays: true},
		// until its deletion enqueues the provider
		"one that the cache still shows": {cached: []string{user}, stays: true},
	} {
		listed := func(all []string) func(context.Context, string) ([]string, error) {
			return func(context.Context, string) ([]string, error) { return all, nil }
		}
		r := Reconciler{
			Sessions: cloud.NewSessions(nil, "", "", nil), ListUsers: listed(row.cached),
			ListUsersUncached: listed(row.live),
			Now:               time.Now, Throttled: func(string) []string { return nil },
		}
		p := &v1alpha1.AWSProvider{}
		// no call to AWS
		p.Spec.AllowedNamespaces = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: "a", Operator: "Near"},
		}}
		err := r.Finalize(t.Context(), p, engine.NewPass(nil))
		if wait, _ := engine.AsWait(err); (wait != nil && wait.Reason == "InUse" &&
			strings.Contains(err.Error(), user)) != row.stays || (err != nil) != row.stays {
			t.Errorf("%s: %v", name, err)
		}
	}
}
