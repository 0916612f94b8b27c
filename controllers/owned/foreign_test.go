package owned_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/controllers/owned"
	"github.com/portico-platform/portico/controllers/steps/stepstest"
)

// Somebody makes the object after the live read, and before the write.
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
			b.is(b.apply(), owned.ReasonMade)
			is := b.read()
			if len(is.OwnerReferences) > 0 || is.Labels[owned.Label] != "" || is.Annotations[owned.Applied] != "" || is.UID != theirs.UID {
				t.Errorf("it was touched: %+v", is.ObjectMeta)
			}
			if a := theirs.AutomountServiceAccountToken; a != nil && (is.AutomountServiceAccountToken == nil || *is.AutomountServiceAccountToken != *a) {
				t.Errorf("what they set was lost: %+v", is)
			}
			for _, m := range is.ManagedFields {
				if m.Manager == owned.Manager {
					t.Errorf("we still declare %s", m.FieldsV1)
				}
			}
			b.is(b.apply(), owned.ReasonConflict)
		})
	}
}

// The object is deleted and made again by somebody else after the live read.
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
	b.is(b.apply(), owned.ReasonLeaving)
	if is := b.read(); is.Annotations["theirs"] != "yes" || len(is.OwnerReferences) > 0 {
		t.Errorf("another object of the name was written: %+v", is.ObjectMeta)
	}
}

func (b *bench) replace() {
	b.t.Helper()
	if err := b.Others.Delete(b.t.Context(), b.read()); err != nil {
		b.t.Fatal(err)
	}
	theirs := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "shop", Annotations: map[string]string{"theirs": "yes"}}}
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
			if err := b.pass().Remove(t.Context(), gone); err != nil {
				t.Fatal(err)
			}
			if stays := b.read().Name != ""; stays != row.stays {
				t.Errorf("it stays: %v", stays)
			}
			if told := b.run.Strings(); len(told) != row.told {
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
	b.is(b.apply(), owned.ReasonLeaving)
	b.edit(func(a *corev1.ServiceAccount) { a.Finalizers = nil })
	if err := b.apply(); err != nil || b.read().DeletionTimestamp != nil {
		t.Errorf("%v, it is not made again", err)
	}
}
