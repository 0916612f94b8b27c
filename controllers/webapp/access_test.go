package webapp

import (
	"context"
	"errors"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

func TestWhatPorticoKnowsOfRightsThatItDoesNotGive(t *testing.T) {
	bound := v1alpha1.WebAppBinding{Kind: "SQSQueue", Name: "orders", Access: v1alpha1.AccessWrite}
	object := &v1alpha1.SQSQueue{}
	object.Spec.ProviderRef.Name, object.Status.ARN = "main", "arn:aws:sqs:eu-west-1:111111111111:pay-orders"
	for name, row := range map[string]struct {
		bindings []v1alpha1.WebAppBinding
		role     string
		status   metav1.ConditionStatus
		reason   string
		says     []string
	}{
		"no identity": {
			[]v1alpha1.WebAppBinding{bound, {Kind: "RDSInstance", Name: "db"}},
			"", metav1.ConditionFalse, "NoIdentity",
			[]string{
				"calls to SQSQueue orders are refused", "the AWSProvider main has no workloadIdentity", "pay/shop",
				"status.accessPolicy", "spec.identity.awsRoleARN",
			},
		},
		"a role of somebody else's": {
			[]v1alpha1.WebAppBinding{bound},
			"arn:aws:iam::111111111111:role/shop", metav1.ConditionUnknown, "RoleNotChecked",
			[]string{"role/shop", "does not look at its policies", "SQSQueue orders"},
		},
		"no rights in AWS": {[]v1alpha1.WebAppBinding{{Kind: "RDSInstance", Name: "db"}}, "", "", "", nil},
		"no bindings":      {},
	} {
		app := &v1alpha1.WebApp{
			ObjectMeta: metav1.ObjectMeta{Namespace: "pay", Name: "shop"},
			Spec:       v1alpha1.WebAppSpec{Bindings: row.bindings},
		}
		if row.role != "" {
			app.Spec.Identity = &v1alpha1.WebAppIdentity{AWSRoleARN: row.role}
		}
		r := &reconciliation{app: app, Reconciler: Reconciler{GivesRights: func(context.Context, string) (bool, error) {
			return false, nil
		}}}
		for _, b := range row.bindings {
			one := foundBinding{BoundResource{Named: Named{Found: true}, Object: &v1alpha1.RDSInstance{}}, b}
			if b.Kind == "SQSQueue" {
				one.Object = object
				app.Status.AccessPolicy = "sqs:SendMessage"
			}
			r.found = append(r.found, one)
		}
		plan, err := r.planAccess(t.Context())
		if err != nil || plan.provider != "" {
			t.Fatalf("%s: %+v, %v", name, plan, err)
		}
		pass := engine.NewPass(nil)
		pass.SetCondition(v1alpha1.ConditionAWSAccess, metav1.ConditionTrue, "Earlier", "")
		r.tellOfNoRights(pass, plan)
		status, reason, text := pass.Condition(v1alpha1.ConditionAWSAccess)
		if status != row.status || reason != row.reason {
			t.Errorf("%s: %s %s", name, status, reason)
		}
		for _, part := range row.says {
			if !strings.Contains(text, part) {
				t.Errorf("%s: %q does not speak of %q", name, text, part)
			}
		}
	}
}

// If the bindings cannot be read, rights stay as they are.
func TestRightsStayWhileTheBindingsAreNotKnown(t *testing.T) {
	boom := errors.New("the API server is away")
	app := &v1alpha1.WebApp{Spec: v1alpha1.WebAppSpec{
		Bindings: []v1alpha1.WebAppBinding{{Kind: "SQSQueue", Name: "orders"}},
	}}
	r := &reconciliation{app: app, rights: &v1alpha1.AccessBinding{}, Reconciler: Reconciler{
		Bound: func(context.Context, string, string, string) (BoundResource, error) { return BoundResource{}, boom },
	}} // without objects: a write would panic
	pass := engine.NewPass(nil)
	if _, err := r.ensureBindings(t.Context(), pass); !errors.Is(err, boom) {
		t.Errorf("%v", err)
	}
	if status, _, _ := pass.Condition(v1alpha1.ConditionAWSAccess); status != "" || r.rights == nil {
		t.Errorf("condition %s", status)
	}
}

func TestWhoseRightsAnApplicationGets(t *testing.T) {
	of := func(provider, name string) foundBinding {
		q := &v1alpha1.SQSQueue{}
		q.Spec.ProviderRef.Name = provider
		return foundBinding{BoundResource{Named: Named{Found: provider != ""}, Object: q}, v1alpha1.WebAppBinding{
			Kind: "SQSQueue", Name: name,
		}}
	}
	seen := of("main", "seen")
	seen.Object.(*v1alpha1.SQSQueue).Spec.ManagementPolicy = v1alpha1.ManagementObserve
	foreign := of("main", "theirs")
	foreign.Object.(*v1alpha1.SQSQueue).Status.ARN = "arn:aws:sqs:eu-west-1:111111111111:theirs" // only observed
	has := &v1alpha1.AccessBinding{}
	has.Spec.ProviderRef.Name = "other"
	for name, row := range map[string]struct {
		found    []foundBinding
		has      *v1alpha1.AccessBinding
		provider string
		given    string
		without  string
	}{
		"nothing":                       {},
		"one account":                   {[]foundBinding{of("main", "a"), of("main", "b")}, nil, "main", "a b", ""},
		"two accounts":                  {[]foundBinding{of("main", "a"), of("other", "b")}, nil, "main", "a", "SQSQueue b is of the AWSProvider other"},
		"two accounts, the second's":    {[]foundBinding{of("main", "a"), of("other", "b")}, has, "other", "b", "SQSQueue a is of the AWSProvider main"},
		"all are another account's now": {[]foundBinding{of("main", "a")}, has, "main", "a", ""},
		"all are gone":                  {[]foundBinding{of("", "a")}, has, "other", "a", ""},
		"somebody else's":               {[]foundBinding{seen, of("main", "a")}, nil, "main", "a", "SQSQueue seen is somebody else's"},
		"what was only observed":        {[]foundBinding{foreign, of("main", "a")}, nil, "main", "a", "SQSQueue theirs names in AWS is not its own"},
		"only somebody else's":          {[]foundBinding{seen}, has, "", "", "SQSQueue seen is somebody else's"},
	} {
		r := &reconciliation{app: &v1alpha1.WebApp{}, found: row.found, rights: row.has, Reconciler: Reconciler{
			GivesRights: func(context.Context, string) (bool, error) { return true, nil },
		}}
		plan, err := r.planAccess(t.Context())
		var given []string
		for _, g := range plan.given {
			given = append(given, g.Name)
		}
		if err != nil || plan.provider != row.provider || strings.Join(given, " ") != row.given {
			t.Errorf("%s: provider = %q, given %q, %v; want %q, %s", name, plan.provider, given, err, row.provider,
				row.given)
		}
		without := strings.Join(plan.without, "; ")
		if (without == "") != (row.without == "") || !strings.Contains(without, row.without) {
			t.Errorf("%s: without %q, want %q", name, without, row.without)
		}
	}
}
