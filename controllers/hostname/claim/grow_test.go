package claim

import (
	"context"
	"errors"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/portico-platform/portico/api/v1alpha1"
)

func budget(rules, groups int32) v1alpha1.LoadBalancerBudget {
	return v1alpha1.LoadBalancerBudget{Rules: rules, TargetGroups: groups}
}

func TestANamespaceHasSoManyHostnamesAtATime(t *testing.T) {
	c := claims(cluster(t, interceptor.Funcs{}))
	for _, name := range []string{"a.example.com", "b.example.com"} {
		w := want(t, "payments", name)
		w.Most = 2
		if _, err := c.Take(t.Context(), w); err != nil {
			t.Fatal(err)
		}
	}
	third := want(t, "payments", "c.example.com")
	third.Most = 2
	if _, err := c.Take(t.Context(), third); reasonOf(err) != "TooManyHostnames" ||
		!strings.Contains(err.Error(), "has 2 hostnames, and its HostnameGrant allows 2") {
		t.Errorf("%v", err)
	}
	other := want(t, "search", "d.example.com")
	other.Most = 1
	if _, err := c.Take(t.Context(), other); err != nil {
		t.Errorf("another namespace: %v", err)
	}
	if err := c.Release(t.Context(), want(t, "payments", "a.example.com").Holder); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Take(t.Context(), third); err != nil {
		t.Errorf("after one was given back: %v", err)
	}
}

func TestAClaimGrowsIntoTheRoomThatThereIs(t *testing.T) {
	for name, row := range map[string]struct {
		has, wanted, others, gets v1alpha1.LoadBalancerBudget
	}{
		"as much as is wanted":                 {budget(3, 4), budget(10, 10), budget(3, 4), budget(10, 10)},
		"no more than there is":                {budget(3, 4), budget(60, 60), budget(30, 30), budget(43, 50)},
		"nothing where there is none":          {budget(3, 4), budget(10, 10), budget(70, 76), budget(3, 4)},
		"never less than it has":               {budget(9, 9), budget(3, 4), budget(3, 4), budget(9, 9)},
		"one of before there were budgets":     {budget(0, 0), budget(3, 4), budget(3, 4), budget(3, 4)},
		"one of before, with more in use":      {budget(0, 0), budget(9, 4), budget(3, 4), budget(9, 4)},
		"one of before, and no room for more":  {budget(0, 0), budget(90, 4), budget(70, 4), budget(3, 4)},
		"one thing grows and the other cannot": {budget(3, 4), budget(5, 8), budget(3, 76), budget(5, 4)},
	} {
		one := &v1alpha1.DomainClaim{
			ObjectMeta: metav1.ObjectMeta{Name: "dc-1", UID: "1"},
			Spec:       v1alpha1.DomainClaimSpec{Gateway: "gw-00", Budget: row.has},
		}
		other := &v1alpha1.DomainClaim{
			ObjectMeta: metav1.ObjectMeta{Name: "dc-2", UID: "2"},
			Spec:       v1alpha1.DomainClaimSpec{Gateway: "gw-00", Budget: row.others},
		}
		apart := &v1alpha1.DomainClaim{
			ObjectMeta: metav1.ObjectMeta{Name: "dc-3", UID: "3"},
			Spec:       v1alpha1.DomainClaimSpec{Gateway: "gw-01", Budget: budget(70, 70)},
		}
		kube := cluster(t, interceptor.Funcs{}, one, other, apart)
		if err := kube.Get(t.Context(), client.ObjectKeyFromObject(one), one); err != nil {
			t.Fatal(err)
		}
		got, err := claims(kube).Grow(t.Context(), one, row.wanted)
		if err != nil || got.Spec.Budget != row.gets {
			t.Errorf("%s: %+v, %v", name, got, err)
			continue
		}
		if err := kube.Get(t.Context(), client.ObjectKeyFromObject(one), one); err != nil ||
			one.Spec.Budget != row.gets {
			t.Errorf("%s: the API server has %+v, %v", name, one.Spec.Budget, err)
		}
	}
}

// While a growth is being written, other claims count it, though the cache does not show it.
func TestAGrowthIsCountedWhileItIsWritten(t *testing.T) {
	one := &v1alpha1.DomainClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "dc-1", UID: "1"},
		Spec:       v1alpha1.DomainClaimSpec{Gateway: "gw-00", Budget: budget(3, 4)},
	}
	var c *Registry
	counted := budget(0, 0)
	kube := cluster(t, interceptor.Funcs{
		Patch: func(ctx context.Context, kube client.WithWatch, obj client.Object, p client.Patch,
			o ...client.PatchOption,
		) error {
			w := want(t, "payments", "a.example.com")
			w.Place = func(_ context.Context, all []v1alpha1.DomainClaimSpec) (string, error) {
				counted = all[0].Budget
				return "gw-01", nil
			}
			if _, err := c.Take(ctx, w); err != nil {
				t.Error(err)
			}
			return kube.Patch(ctx, obj, p, o...)
		},
	}, one)
	c = claims(kube)
	if err := kube.Get(t.Context(), client.ObjectKeyFromObject(one), one); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Grow(t.Context(), one, budget(10, 10)); err != nil || counted != budget(10, 10) {
		t.Errorf("%+v was counted, %v", counted, err)
	}
}

// TestAClaimThatWasGivenBackDoesNotGrow keeps the announcement of another holder, which the cache does not show yet.
func TestAClaimThatWasGivenBackDoesNotGrow(t *testing.T) {
	one := &v1alpha1.DomainClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "dc-1", UID: "1"},
		Spec:       v1alpha1.DomainClaimSpec{Gateway: "gw-00", Budget: budget(3, 4)},
	}
	c := claims(cluster(t, interceptor.Funcs{}, one))
	if _, err := c.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	theirs := &pending{spec: v1alpha1.DomainClaimSpec{Holder: v1alpha1.ClaimHolder{UID: "other"}}, state: announced}
	c.pending["dc-1"] = theirs
	if _, err := c.Grow(t.Context(), one, budget(10, 10)); reasonOf(err) != v1alpha1.ReasonClaiming {
		t.Errorf("error %v, want it to wait", err)
	}
	if c.pending["dc-1"] != theirs {
		t.Errorf("pending is %+v, want the announcement", c.pending["dc-1"])
	}
}

// TestABudgetThatIsRefusedIsTakenBack puts back what was known of the claim before.
func TestABudgetThatIsRefusedIsTakenBack(t *testing.T) {
	one := &v1alpha1.DomainClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "dc-1", UID: "1"},
		Spec:       v1alpha1.DomainClaimSpec{Gateway: "gw-00", Budget: budget(3, 4)},
	}
	refusal := errors.New("refused")
	c := claims(cluster(t, interceptor.Funcs{
		Patch: func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
			return refusal
		},
	}, one))
	if _, err := c.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := &pending{spec: one.Spec, state: created, uid: "1", generation: 7}
	c.pending["dc-1"] = before
	if _, err := c.Grow(t.Context(), one, budget(10, 10)); !errors.Is(err, refusal) {
		t.Errorf("error %v, want %v", err, refusal)
	}
	if c.pending["dc-1"] != before {
		t.Errorf("pending is %+v, want what it was", c.pending["dc-1"])
	}
}
