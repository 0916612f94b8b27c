package apply_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	coreac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/apply"
	"github.com/portico-platform/portico/controllers/steps/stepstest"
)

// Another client creates the object after the live read and before the write.
func TestACreationThatSomebodyElseWins(t *testing.T) {
	for name, theirs := range map[string]*corev1.ServiceAccount{
		"with other fields": {AutomountServiceAccountToken: new(true)},
		"with equal fields": {AutomountServiceAccountToken: new(false)},
		"with none of ours": {Secrets: []corev1.ObjectReference{{Name: "x"}}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			theirs.Namespace, theirs.Name = "n", "shop"
			b.Before = func(c stepstest.Call) error {
				if c.Write() && theirs.ResourceVersion == "" {
					return b.Create(t.Context(), theirs)
				}
				return nil
			}
			b.is(b.apply(), v1alpha1.ReasonMadeAtTheSameTime)
			is := b.read()
			if len(is.OwnerReferences) > 0 || is.UID != theirs.UID {
				t.Errorf("OwnerReferences = %v, UID = %s; want none, %s", is.OwnerReferences, is.UID, theirs.UID)
			}
			if mark := is.Labels[apply.Label] + is.Annotations[apply.AnnotationApplied]; mark != "" {
				t.Errorf("it was marked as ours: %s", mark)
			}
			if a := theirs.AutomountServiceAccountToken; a != nil && (is.AutomountServiceAccountToken == nil ||
				*is.AutomountServiceAccountToken != *a) {
				t.Errorf("what they set was lost: %+v", is)
			}
			for _, m := range is.ManagedFields {
				if m.Manager == apply.FieldManager {
					t.Errorf("we still declare %s", m.FieldsV1)
				}
			}
			b.is(b.apply(), v1alpha1.ReasonConflict)
		})
	}
}

// Another client deletes the object and creates it again after the live read.
func TestAnUpdateMeansTheObjectThatWasRead(t *testing.T) {
	b := newBench(t)
	if err := b.apply(); err != nil {
		t.Fatal(err)
	}
	b.edit(func(a *corev1.ServiceAccount) { a.Annotations["note"] = "x" })
	b.Before = func(c stepstest.Call) error {
		if c.Verb == "apply" {
			b.Before = nil
			b.replace()
		}
		return nil
	}
	b.is(b.apply(), v1alpha1.ReasonChangedAtTheSameTime)
	if is := b.read(); is.Annotations["theirs"] != "yes" || len(is.OwnerReferences) > 0 {
		t.Errorf("another object of the name was written: %+v", is.ObjectMeta)
	}
}

// excluding makes the fake reject, as the API server does, a port whose name another port has.
func (b *bench) excluding() {
	b.Before = func(c stepstest.Call) error {
		if ports := b.service().Spec.Ports; c.Verb == "apply" && (len(ports) != 1 || ports[0].Port != 80) {
			return apierrors.NewInvalid(schema.GroupKind{Kind: "Service"}, "shop", nil)
		}
		return nil
	}
}

func (b *bench) service() *corev1.Service {
	b.t.Helper()
	obj := &corev1.Service{}
	if err := b.Others.Get(b.t.Context(), client.ObjectKey{Namespace: "n", Name: "shop"}, obj); client.IgnoreNotFound(
		err) != nil {
		b.t.Fatal(err)
	}
	return obj
}

func TestWhatExcludesOursIsReplaced(t *testing.T) {
	b := newBench(t)
	apply := func(target int32) error {
		t.Helper()
		port := coreac.ServicePort().WithName("http").WithPort(80).WithProtocol(corev1.ProtocolTCP).WithTargetPort(
			intstr.FromInt32(target))
		return b.objects().Apply(t.Context(), coreac.Service("shop", "n").WithSpec(
			coreac.ServiceSpec().WithPorts(port)), &corev1.Service{})
	}
	if err := apply(8080); err != nil {
		t.Fatal(err)
	}
	theirs := b.service()
	before := theirs.DeepCopy()
	theirs.Spec.Ports[0].Port, theirs.Spec.SessionAffinity, theirs.Labels["team"] = 81, corev1.ServiceAffinityClientIP,
		"payments"
	if err := b.Others.Patch(t.Context(), theirs, client.MergeFrom(before), client.FieldOwner("somebody")); err != nil {
		t.Fatal(err)
	}
	b.excluding()
	b.is(apply(9090), "Invalid") // our own edit: the error is reported
	if got := b.service().Spec.Ports[0].Port; got != 81 {
		t.Errorf("an edit that is refused changed the port to %d", got)
	}
	if err := apply(8080); err != nil {
		t.Fatal(err)
	}
	is := b.service()
	if ports := is.Spec.Ports; len(ports) != 1 || ports[0].Port != 80 {
		t.Errorf("Ports = %+v, want 80", ports)
	}
	if is.Spec.SessionAffinity != corev1.ServiceAffinityClientIP || is.Labels["team"] != "payments" {
		t.Errorf("SessionAffinity = %s, label team = %q; want what they set: ClientIP, payments",
			is.Spec.SessionAffinity, is.Labels["team"])
	}
	if told := b.pass.Strings(); len(told) != 1 ||
		!strings.HasPrefix(told[0], "Repaired: the Service shop: spec.ports") {
		t.Errorf("told %q", told)
	}
	b.Before = nil
	if err := apply(9090); err != nil || len(b.service().Spec.Ports) != 1 {
		t.Errorf("%v, ports %v", err, b.service().Spec.Ports)
	}
}

func (b *bench) replace() {
	b.t.Helper()
	if err := b.Others.Delete(b.t.Context(), b.read()); err != nil {
		b.t.Fatal(err)
	}
	theirs := &corev1.ServiceAccount{
		ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "shop", Annotations: map[string]string{"theirs": "yes"}},
	}
	if err := b.Create(b.t.Context(), theirs); err != nil {
		b.t.Fatal(err)
	}
}

func TestRemove(t *testing.T) {
	for name, row := range map[string]struct {
		before func(*bench)
		stays  bool
		told   int
	}{
		"ours goes":                     {told: 1},
		"what is not there is no error": {before: func(b *bench) { _ = b.Others.Delete(b.t.Context(), b.read()) }},
		"what is not ours stays":        {before: func(b *bench) { b.edit(func(a *corev1.ServiceAccount) { a.OwnerReferences = nil }) }, stays: true},
		"what was replaced stays": {before: func(b *bench) {
			b.Before = func(c stepstest.Call) error {
				if c.Verb == "delete" {
					b.replace()
				}
				return nil
			}
		}, stays: true},
		"what is going already is left": {before: func(b *bench) {
			b.edit(func(a *corev1.ServiceAccount) { a.Finalizers = []string{"example.com/wait"} })
			_ = b.Others.Delete(b.t.Context(), b.read())
		}, stays: true},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			if err := b.apply(); err != nil {
				t.Fatal(err)
			}
			if row.before != nil {
				row.before(b)
			}
			gone := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}
			if err := b.objects().Delete(t.Context(), gone); err != nil {
				t.Fatal(err)
			}
			if stays := b.read().Name != ""; stays != row.stays {
				t.Errorf("it stays: %v", stays)
			}
			if told := b.pass.Strings(); len(told) != row.told {
				t.Errorf("told %q", told)
			}
		})
	}
}

func TestWhatIsLeavingIsWaitedFor(t *testing.T) {
	b := newBench(t)
	if err := b.apply(); err != nil {
		t.Fatal(err)
	}
	b.edit(func(a *corev1.ServiceAccount) { a.Finalizers = []string{"example.com/wait"} })
	if err := b.Others.Delete(t.Context(), b.read()); err != nil {
		t.Fatal(err)
	}
	b.is(b.apply(), v1alpha1.ReasonWaitingForDeletion)
	b.edit(func(a *corev1.ServiceAccount) { a.Finalizers = nil })
	if err := b.apply(); err != nil || b.read().DeletionTimestamp != nil {
		t.Errorf("%v, it is not made again", err)
	}
}
