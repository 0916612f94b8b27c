package rds

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

type fataler interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

func observe(t fataler, a *instance, obj *v1alpha1.RDSInstance) *instanceState {
	t.Helper()
	seen, err := a.Observe(context.Background(), obj)
	if err != nil {
		t.Fatal(err)
	}
	return seen
}

// pass runs one pass as external does: it resolves, then observes, plans and acts until nothing is left. The error says
// what remains.
func pass(t fataler, f *fakeRDS, v *fakeVault, obj *v1alpha1.RDSInstance, others ...client.Object) (
	map[string]string, []string, error,
) {
	t.Helper()
	a := adapterOf(f, v, others...)
	if err := a.Resolve(context.Background(), obj); err != nil {
		return nil, nil, err
	}
	var taken []string
	for range 4 {
		seen := observe(t, a, obj)
		actions, rest := a.Plan(obj, seen)
		if len(actions) == 0 {
			return a.Report(obj, seen), taken, rest
		}
		for _, s := range actions {
			if err := s.Do(context.Background()); err != nil {
				return nil, taken, err
			}
			taken = append(taken, s.Name+" ("+s.Why+")")
		}
	}
	t.Fatalf("not settled after %v", taken)
	return nil, nil, nil
}

// settled runs passes until nothing is left, and returns the connection details.
func settled(t fataler, f *fakeRDS, v *fakeVault, obj *v1alpha1.RDSInstance,
	others ...client.Object,
) map[string]string {
	t.Helper()
	details, _, err := pass(t, f, v, obj, others...)
	if err != nil {
		t.Fatal(err)
	}
	obj.Status.ManagedFields = adapterOf(f, v).Declared(obj)
	obj.Status.ObservedGeneration = obj.Generation
	obj.Status.FirstReadyTime = &metav1.Time{}
	return details
}

// paused returns the reason of a WaitError, and whether somebody must act.
func paused(err error) string {
	wait, ok := engine.AsWait(err)
	switch {
	case !ok:
		return ""
	case wait.Stalled:
		return wait.Reason + "!"
	}
	return wait.Reason
}
