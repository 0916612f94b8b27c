package apply_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	appsac "k8s.io/client-go/applyconfigurations/apps/v1"
	coreac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/apply"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/steps/stepstest"
)

// bench is one owner in a cluster.
type bench struct {
	*stepstest.Cluster
	t     *testing.T
	owner *v1alpha1.WebApp
	pass  *engine.Pass
	saved int
	save  error
}

func newBench(t *testing.T) *bench {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, appsv1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	b := &bench{Cluster: stepstest.NewCluster(s, nil), t: t}
	b.owner = &v1alpha1.WebApp{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "shop", UID: "shop-uid"}}
	b.Cached = func(o client.Object) bool { return o.GetLabels()[apply.Label] == apply.LabelValue }
	return b
}

// objects starts a new pass over the owner.
func (b *bench) objects() *apply.Objects {
	b.t.Helper()
	b.pass = engine.NewPass(func(context.Context) error {
		b.saved++
		return b.save
	})
	o, err := apply.Applier{Client: b.Client(), APIReader: b.APIReader()}.For(b.owner, b.pass)
	if err != nil {
		b.t.Fatal(err)
	}
	return o
}

func account(secret string) *coreac.ServiceAccountApplyConfiguration {
	return coreac.ServiceAccount("shop", "n").WithAutomountServiceAccountToken(false).WithAnnotations(
		map[string]string{"note": secret})
}

func (b *bench) apply() error {
	b.t.Helper()
	return b.objects().Apply(b.t.Context(), account("one"), &corev1.ServiceAccount{})
}

func (b *bench) read() *corev1.ServiceAccount {
	b.t.Helper()
	obj := &corev1.ServiceAccount{}
	if err := b.Others.Get(b.t.Context(), client.ObjectKey{Namespace: "n", Name: "shop"}, obj); client.IgnoreNotFound(
		err) != nil {
		b.t.Fatal(err)
	}
	return obj
}

// edit changes the object as another client.
func (b *bench) edit(do func(*corev1.ServiceAccount)) {
	b.t.Helper()
	is := b.read()
	before := is.DeepCopy()
	do(is)
	if err := b.Others.Patch(b.t.Context(), is, client.MergeFrom(before), client.FieldOwner("somebody")); err != nil {
		b.t.Fatal(err)
	}
}

// is checks that err is a WaitError with this reason.
func (b *bench) is(err error, reason string) {
	b.t.Helper()
	if wait, ok := engine.AsWait(err); !ok || wait.Reason != reason {
		b.t.Errorf("outcome %v, want %s", err, reason)
	}
}

func TestApplyMakesRepairsAndTells(t *testing.T) {
	b := newBench(t)
	if err := b.apply(); err != nil {
		t.Fatal(err)
	}
	if made := b.read(); !metav1.IsControlledBy(made, b.owner) || made.Labels[apply.Label] != apply.LabelValue ||
		made.Annotations[apply.AnnotationApplied] == "" {
		t.Errorf("made %+v", made.ObjectMeta)
	}
	if told := b.pass.Strings(); !slices.Equal(told, []string{"Created: the ServiceAccount shop"}) || b.saved != 1 {
		t.Errorf("told %q, saved %d times", told, b.saved)
	}
	if err := b.apply(); err != nil || b.saved != 1 || len(b.pass.Strings()) != 0 {
		t.Errorf("at rest: %v, saved %d times, told %q", err, b.saved, b.pass.Strings())
	}
	b.edit(func(a *corev1.ServiceAccount) { a.Annotations["note"], a.Annotations["theirs"] = "hunter2", "x" })
	if err := b.apply(); err != nil {
		t.Fatal(err)
	}
	if told := b.pass.Strings(); len(told) != 1 ||
		told[0] != "Repaired: the ServiceAccount shop: metadata.annotations.note; it was changed outside Portico" {
		t.Errorf("told %q", told)
	}
	if is := b.read(); is.Annotations["note"] != "one" || is.Annotations["theirs"] != "x" {
		t.Errorf("annotations %v", is.Annotations)
	}
	into := &corev1.ServiceAccount{}
	if err := b.objects().Apply(t.Context(), account("two"), into); err != nil || into.Annotations["note"] != "two" {
		t.Errorf("%v, into %+v", err, into)
	}
	if told := b.pass.Strings(); len(told) != 1 ||
		!strings.HasPrefix(told[0], "Updated: the ServiceAccount shop: metadata.annotations.note") {
		t.Errorf("an edit of ours is told as %q", told)
	}
}

func TestWhatIsNotDeclaredAnyMoreGoes(t *testing.T) {
	b := newBench(t)
	if err := b.apply(); err != nil {
		t.Fatal(err)
	}
	if err := b.objects().Apply(t.Context(), coreac.ServiceAccount("shop", "n"), &corev1.ServiceAccount{}); err != nil {
		t.Fatal(err)
	}
	if is := b.read(); is.Annotations["note"] != "" || is.AutomountServiceAccountToken != nil {
		t.Errorf("it still has %+v", is)
	}
	if told := b.pass.Strings(); len(told) != 1 || !strings.Contains(told[0], "what the spec no longer asks for") {
		t.Errorf("told %q", told)
	}
}

func TestRefusalsSayWhatToDo(t *testing.T) {
	kind, object := schema.GroupKind{Kind: "ServiceAccount"}, schema.GroupResource{Resource: "serviceaccounts"}
	for name, row := range map[string]struct {
		err    error
		reason string
	}{
		"forbidden by quota or policy": {apierrors.NewForbidden(object, "shop", errors.New("exceeded quota: q")), "Refused"},
		"invalid":                      {apierrors.NewInvalid(kind, "shop", nil), "Invalid"},
		"an error of the server":       {apierrors.NewInternalError(errors.New("etcd")), ""},
	} {
		t.Run(name, func(t *testing.T) {
			for _, update := range []bool{false, true} {
				b := newBench(t)
				if update {
					_ = b.apply()
					b.edit(func(a *corev1.ServiceAccount) { a.Annotations["note"] = "x" })
				}
				b.Before = func(c stepstest.Call) error {
					if c.Write() {
						return row.err
					}
					return nil
				}
				err := b.apply()
				wait, ok := engine.AsWait(err)
				if err == nil || ok != (row.reason != "") {
					t.Fatalf("update %v: error = %v, want a pause: %v", update, err, row.reason != "")
				}
				if ok && (wait.Reason != row.reason || !wait.Stalled) {
					t.Errorf("update %v: reason = %s, stalled %v, want %s, stalled", update, wait.Reason, wait.Stalled,
						row.reason)
				}
				if !errors.Is(err, row.err) {
					t.Errorf("update %v: the cluster's own words are lost in %v", update, err)
				}
			}
		})
	}
}

func TestNothingIsWrittenForAnOwnerThatChanged(t *testing.T) {
	b := newBench(t)
	b.save = errors.New("stale")
	if err := b.apply(); !errors.Is(err, b.save) || len(b.Writes()) > 0 {
		t.Errorf("%v, writes %v", err, b.Writes())
	}
	b.save = nil
	if err := b.apply(); err != nil {
		t.Fatal(err)
	}
	b.save = errors.New("stale")
	b.edit(func(a *corev1.ServiceAccount) { a.Annotations["note"] = "x" })
	b.Forget()
	err := b.apply()
	removed := b.objects().Delete(t.Context(), b.read())
	if !errors.Is(err, b.save) || !errors.Is(removed, b.save) || len(b.Writes()) > 0 {
		t.Errorf("%v, %v, writes %v", err, removed, b.Writes())
	}
}

func TestAPassWithAnOldOwnerWritesNothingAfterTheFirstError(t *testing.T) {
	b := newBench(t)
	b.save = errors.New("stale")
	objects := b.objects()
	for range 2 { // the steps of a Team go on after an error of one of them
		if err := objects.Apply(t.Context(), account("one"), &corev1.ServiceAccount{}); !errors.Is(err, b.save) {
			t.Errorf("got %v, want %v", err, b.save)
		}
	}
	if writes := b.Writes(); len(writes) > 0 {
		t.Errorf("wrote %v, want nothing", writes)
	}
}

func replicas(n int32) *appsac.DeploymentApplyConfiguration {
	return appsac.Deployment("shop", "n").WithSpec(appsac.DeploymentSpec().WithReplicas(n))
}

func TestAPartIsKeptWhenItIsNotDeclaredAnyMore(t *testing.T) {
	b := newBench(t)
	whole := appsac.Deployment("shop", "n").WithSpec(appsac.DeploymentSpec().WithRevisionHistoryLimit(3))
	into := &appsv1.Deployment{}
	apply := func() *apply.Objects {
		t.Helper()
		o := b.objects()
		if err := o.Apply(t.Context(), whole, into); err != nil {
			t.Fatal(err)
		}
		return o
	}
	set := func(n int32) {
		t.Helper()
		if err := apply().ApplyPart(t.Context(), "scale", replicas(n), into); err != nil || *into.Spec.Replicas != n ||
			*into.Spec.RevisionHistoryLimit != 3 {
			t.Fatalf("%v, into %+v", err, into.Spec)
		}
	}
	set(4)
	if told := b.pass.Strings(); len(told) != 2 || told[1] != "Updated: the Deployment shop: spec.replicas" {
		t.Errorf("told %q", told)
	}
	b.Forget()
	if set(4); len(b.Writes()) > 0 {
		t.Errorf("at rest there was %v", b.Writes())
	}
	whole.Spec.WithRevisionHistoryLimit(5)
	if apply(); *into.Spec.Replicas != 4 || *into.Spec.RevisionHistoryLimit != 5 {
		t.Errorf("without the part: %+v", into.Spec)
	}
	b.save = errors.New("stale")
	if err := apply().ApplyPart(t.Context(), "scale", replicas(9), into); !errors.Is(err, b.save) {
		t.Errorf("for a stale owner: %v", err)
	}
}

func TestAnOwnerMustBeOfTheScheme(t *testing.T) {
	b := newBench(t)
	w := apply.Applier{Client: stepstest.NewCluster(runtime.NewScheme(), nil).Client()}
	if _, err := w.For(b.owner, engine.NewPass(nil)); err == nil {
		t.Error("an unknown owner may own")
	}
}
