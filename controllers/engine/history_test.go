package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// archive is a cluster with the histories of objects; fail is the error of writes, nil for none.
type archive struct {
	t      *testing.T
	client client.Client
	calls  []string
	fail   error
}

func newArchive(t *testing.T, live client.Object) *archive {
	t.Helper()
	s := runtime.NewScheme()
	if err := errors.Join(v1alpha1.AddToScheme(s), appsv1.AddToScheme(s)); err != nil {
		t.Fatal(err)
	}
	a := &archive{t: t}
	a.client = fake.NewClientBuilder().WithScheme(s).WithObjects(live).WithReturnManagedFields().WithInterceptorFuncs(
		interceptor.Funcs{
			Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
				if a.calls = append(a.calls, "create "+o.GetName()); a.fail != nil {
					return a.fail
				}
				return c.Create(ctx, o, opts...)
			},
			Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object,
				opts ...client.GetOption,
			) error {
				a.calls = append(a.calls, "get "+key.Name)
				return c.Get(ctx, key, o, opts...)
			},
			List: func(ctx context.Context, c client.WithWatch, l client.ObjectList, opts ...client.ListOption) error {
				a.calls = append(a.calls, "list")
				return c.List(ctx, l, opts...)
			},
			Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
				a.calls = append(a.calls, "delete "+o.GetName())
				return c.Delete(ctx, o, opts...)
			},
		}).Build()
	return a
}

func (a *archive) history() *History { return &History{Client: a.client, APIReader: a.client} }

func (a *archive) revisions() map[int64]appsv1.ControllerRevision {
	a.t.Helper()
	all := &appsv1.ControllerRevisionList{}
	if err := a.client.List(a.t.Context(), all); err != nil {
		a.t.Fatal(err)
	}
	out := map[int64]appsv1.ControllerRevision{}
	for _, r := range all.Items {
		out[r.Revision] = r
	}
	return out
}

// ownedFields returns a managed fields entry of the main resource, or of the subresource sub.
func ownedFields(manager, sub, fields string, at time.Time) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{
		Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, Subresource: sub,
		APIVersion: v1alpha1.GroupVersion.String(),
		Time:       &metav1.Time{Time: at}, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields),
	}
}

// changed returns a bucket of a generation that somebody changed with kubectl edit, at noon.
func changed(generation int64) *v1alpha1.S3Bucket {
	b := &v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{
		Namespace: "n", Name: "b", UID: "u", Generation: generation,
		Annotations: map[string]string{
			v1alpha1.AnnotationChangedBy:         "oidc:jane",
			v1alpha1.AnnotationChangedGeneration: fmt.Sprint(generation),
		},
		ManagedFields: []metav1.ManagedFieldsEntry{
			ownedFields("portico-portal", "", `{"f:spec":{}}`, noon.Add(-time.Hour)),
			ownedFields("kubectl-edit", "", `{"f:spec":{"f:tags":{}}}`, noon),
			ownedFields("portico-operator", "", `{"f:metadata":{"f:finalizers":{}}}`, noon.Add(time.Minute)),
			ownedFields("portico-operator", "status", `{"f:spec":{}}`, noon.Add(time.Minute)),
		},
	}}
	b.Spec.Tags = v1alpha1.Tags{"generation": v1alpha1.TagValue(fmt.Sprint(generation))}
	return b
}

func TestAGenerationIsRecordedOnce(t *testing.T) {
	obj := changed(2)
	a := newArchive(t, obj)
	for range 3 {
		if err := a.history().record(t.Context(), "S3Bucket", obj); err != nil {
			t.Fatal(err)
		}
	}
	if got := fmt.Sprint(a.calls); got != "[create portico-u-2]" {
		t.Errorf("calls %s", got)
	}
	r, ok := a.revisions()[2]
	owner := metav1.GetControllerOf(&r)
	if !ok || owner == nil {
		t.Fatalf("recorded %+v, want an owner", r.ObjectMeta)
	}
	got := []string{string(owner.UID), owner.Kind, owner.Name, r.Labels[v1alpha1.LabelHistoryOf]}
	if diff := cmp.Diff([]string{"u", "S3Bucket", "b", "u"}, got); diff != "" {
		t.Fatalf("UID, Kind and Name of the owner, label (-want +got):\n%s", diff)
	}
	want := "map[portico.dev/changed-at:2026-01-02T12:00:00Z portico.dev/changed-by:oidc:jane " +
		"portico.dev/changed-with:kubectl-edit]"
	if got := fmt.Sprint(r.Annotations); got != want {
		t.Errorf("annotations %s, want %s", got, want)
	}
	if !strings.Contains(string(r.Data.Raw), `"tags":{"generation":"2"}`) ||
		strings.Contains(string(r.Data.Raw), "status") {
		t.Errorf("data %s", r.Data.Raw)
	}
}

func TestAnOperatorThatWasCutOffBeforeItNotedARecordGoesOn(t *testing.T) {
	a := newArchive(t, changed(2))
	for range 2 { // the second does not see what the first saved
		obj := changed(2)
		if err := a.history().record(t.Context(), "S3Bucket", obj); err != nil || obj.Status.RecordedGeneration != 2 {
			t.Fatalf("%v, recorded %d", err, obj.Status.RecordedGeneration)
		}
	}
	if n := len(a.revisions()); n != 1 {
		t.Errorf("%d records", n)
	}
}

func TestTheOldestRecordsGo(t *testing.T) {
	a := newArchive(t, changed(1))
	for g := range int64(25) {
		if err := a.history().record(t.Context(), "S3Bucket", changed(g+1)); err != nil {
			t.Fatal(err)
		}
	}
	all := a.revisions()
	if len(all) != v1alpha1.HistoryLimit {
		t.Errorf("%d records", len(all))
	}
	for g := int64(16); g <= 25; g++ {
		if _, ok := all[g]; !ok {
			t.Errorf("generation %d is not among them", g)
		}
	}
}

func TestWhoIsNotKnownIsNotNamed(t *testing.T) {
	for name, row := range map[string]struct {
		change func(*v1alpha1.S3Bucket)
		want   string
	}{
		"stamped": {func(*v1alpha1.S3Bucket) {}, "oidc:jane"},
		"no stamp": {func(b *v1alpha1.S3Bucket) {
			b.Annotations = nil
		}, ""},
		"a stamp of the generation before": {func(b *v1alpha1.S3Bucket) {
			b.Annotations[v1alpha1.AnnotationChangedGeneration] = "1"
		}, ""},
		"changed through the subresource scale, of which no policy knows": {func(b *v1alpha1.S3Bucket) {
			b.Annotations[v1alpha1.AnnotationChangedGeneration] = "1"
			scaled := ownedFields("kubectl", "scale", `{"f:spec":{"f:replicas":{}}}`, noon)
			scaled.Time = nil
			b.ManagedFields = append(b.ManagedFields, scaled)
		}, ""},
		"the first one, before changes were stamped": {func(b *v1alpha1.S3Bucket) {
			b.Generation, b.Annotations = 1, map[string]string{v1alpha1.AnnotationRequestedBy: "oidc:ann"}
		}, "oidc:ann"},
	} {
		obj := changed(2)
		row.change(obj)
		a := newArchive(t, obj)
		if err := a.history().record(t.Context(), "S3Bucket", obj); err != nil {
			t.Fatal(err)
		}
		r, ok := a.revisions()[obj.Generation]
		if got := r.Annotations[v1alpha1.AnnotationChangedBy]; !ok || got != row.want {
			t.Errorf("%s: recorded %v, by %q, want %q", name, ok, got, row.want)
		}
		if got := r.Annotations[v1alpha1.AnnotationChangedWith]; (got == "") != strings.Contains(name, "scale") {
			t.Errorf("%s: with %q", name, got)
		}
	}
}

func TestOfTwoChangesWithinASecondTheWayIsNotKnown(t *testing.T) {
	obj := changed(2)
	obj.ManagedFields = append(obj.ManagedFields, ownedFields("argocd", "", `{"f:spec":{}}`, noon))
	a := newArchive(t, obj)
	if err := a.history().record(t.Context(), "S3Bucket", obj); err != nil {
		t.Fatal(err)
	}
	want := "map[portico.dev/changed-at:2026-01-02T12:00:00Z portico.dev/changed-by:oidc:jane]"
	if got := fmt.Sprint(a.revisions()[2].Annotations); got != want {
		t.Errorf("annotations %s, want %s", got, want)
	}
	if obj.ManagedFields[1].Manager != "kubectl-edit" {
		t.Error("the object itself was changed")
	}
	obj.Generation, obj.Annotations[v1alpha1.AnnotationChangedWith] = 3, "portico-portal"
	obj.Annotations[v1alpha1.AnnotationChangedGeneration] = "3"
	if err := a.history().record(t.Context(), "S3Bucket", obj); err != nil {
		t.Fatal(err)
	}
	if got := a.revisions()[3].Annotations; got[v1alpha1.AnnotationChangedWith] != "portico-portal" ||
		got[v1alpha1.AnnotationChangedGeneration] != "3" {
		t.Errorf("admission has noted the way: %v", got)
	}
}

func TestWhatTheCacheDoesNotHaveIsAsked(t *testing.T) {
	live := changed(2)
	a := newArchive(t, live)
	for name, row := range map[string]struct {
		generation int64
		recorded   bool
	}{"of the latest": {2, true}, "of an older one, of which nobody can tell": {1, false}} {
		obj := changed(row.generation)
		obj.ManagedFields = nil
		if err := a.history().record(t.Context(), "S3Bucket", obj); err != nil {
			t.Fatal(err)
		}
		r, ok := a.revisions()[row.generation]
		if ok != row.recorded || ok && r.Annotations[v1alpha1.AnnotationChangedWith] != "kubectl-edit" {
			t.Errorf("%s: recorded %v with %v", name, ok, r.Annotations)
		}
	}
}

func TestASpecThatIsTooLargeIsNotRecorded(t *testing.T) {
	obj := changed(2)
	obj.Spec.Tags["large"] = v1alpha1.TagValue(strings.Repeat("x", maxRecorded))
	a := newArchive(t, obj)
	if err := a.history().record(t.Context(), "S3Bucket", obj); err != nil || len(a.revisions()) != 0 ||
		obj.Status.RecordedGeneration != 2 {
		t.Errorf("%v, %d records, recorded %d", err, len(a.revisions()), obj.Status.RecordedGeneration)
	}
}

func TestAHistoryThatCannotBeWrittenIsToldAndTriedAgain(t *testing.T) {
	b := newBench(t, nil)
	obj := b.read()
	a := newArchive(t, obj)
	b.loop.History = a.history()
	a.fail = errors.New("exceeded quota: history")
	obj = b.pass(nil)
	if !obj.Status.Ready || obj.Status.RecordedGeneration != 0 || obj.Status.ObservedGeneration != obj.Generation {
		t.Errorf("the pass went on with %+v", obj.Status)
	}
	told := b.told()
	if len(told) != 1 || !strings.HasPrefix(told[0], "Warning HistoryNotRecorded") ||
		!strings.Contains(told[0], "exceeded quota") {
		t.Errorf("told %q", told)
	}
	a.fail = nil
	if obj = b.pass(nil); obj.Status.RecordedGeneration != obj.Generation || len(a.revisions()) != 1 ||
		len(b.told()) != 0 {
		t.Errorf("recorded %d, %d records", obj.Status.RecordedGeneration, len(a.revisions()))
	}
	b.writes, a.calls = 0, nil
	if b.pass(nil); b.writes != 0 || len(a.calls) != 0 {
		t.Errorf("at rest: %d writes, calls %v", b.writes, a.calls)
	}
}

func TestWhatChangesWhilePausedIsRecorded(t *testing.T) {
	b := newBench(t, func(o *v1alpha1.S3Bucket) {
		o.Annotations = map[string]string{v1alpha1.AnnotationPaused: "true"}
	})
	a := newArchive(t, b.read())
	b.loop.History = a.history()
	if obj := b.pass(nil); obj.Status.RecordedGeneration != 3 || len(a.revisions()) != 1 || b.work.synced != 0 {
		t.Errorf("recorded %d, %d records, %d passes of the kind", obj.Status.RecordedGeneration, len(a.revisions()),
			b.work.synced)
	}
}

func TestWhatIsBeingDeletedIsNotRecorded(t *testing.T) {
	b := newBench(t, func(o *v1alpha1.S3Bucket) {
		o.Finalizers, o.DeletionTimestamp = []string{Finalizer, "example.org/hold"}, &metav1.Time{Time: noon}
	})
	a := newArchive(t, changed(1))
	b.loop.History = a.history()
	b.pass(nil)
	if len(a.calls) != 0 || b.work.released != 1 {
		t.Errorf("calls %v, released %d times", a.calls, b.work.released)
	}
}
