package engine

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/fair"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func TestJudge(t *testing.T) {
	pace := Schedule{Resync: time.Hour, Now: func() time.Time { return noon }, Jitter: func() float64 { return .5 }}
	poll := pollPriority
	for _, x := range []struct {
		name          string
		outcome       error
		ready, dying  bool
		status        metav1.ConditionStatus
		reason        string
		moving, stuck bool
		result        ctrl.Result
	}{
		{"in sync", nil, true, false, metav1.ConditionTrue, v1alpha1.ReasonInSync, false, false, ctrl.Result{RequeueAfter: time.Hour, Priority: &poll}},
		{"waiting while it is made", Wait("Creating", 5*time.Second, "x"), false, false, metav1.ConditionUnknown, "Creating", true, false, ctrl.Result{RequeueAfter: 5 * time.Second, Priority: &poll}},
		{"waiting after it was ready", Wait("Busy", time.Second, "x"), true, false, metav1.ConditionFalse, "Busy", true, false, ctrl.Result{RequeueAfter: time.Second, Priority: &poll}},
		{"waiting while it goes", Wait("Deleting", time.Second, "x"), false, true, metav1.ConditionFalse, "Deleting", true, false, ctrl.Result{RequeueAfter: time.Second, Priority: &poll}},
		{"waiting for no time", Wait("Emptying", 0, "x"), true, true, metav1.ConditionFalse, "Emptying", true, false, ctrl.Result{RequeueAfter: time.Millisecond}},
		{"blocked", Blocked("AccessDenied", "x"), false, false, metav1.ConditionFalse, "AccessDenied", false, true, ctrl.Result{RequeueAfter: soonRetry, Priority: &poll}},
		{"failed", errors.New("x"), true, false, metav1.ConditionFalse, v1alpha1.ReasonFailed, true, false, ctrl.Result{}},
		{"out of time", context.DeadlineExceeded, true, false, metav1.ConditionFalse, v1alpha1.ReasonTimedOut, true, false, ctrl.Result{}},
		{"wrapped", errors.Join(errors.New("y"), Blocked("InvalidSpec", "x")), true, false, metav1.ConditionFalse, "InvalidSpec", false, true, ctrl.Result{RequeueAfter: soonRetry, Priority: &poll}},
	} {
		t.Run(x.name, func(t *testing.T) {
			v := judge(x.outcome, x.ready, x.dying, pace)
			if diff := cmp.Diff(
				[]any{x.status, x.reason, x.moving, x.stuck},
				[]any{v.status, v.reason, v.reconciling, v.stalled},
			); diff != "" {
				t.Errorf("status, reason, reconciling, stalled (-want +got):\n%s", diff)
			}
			if got := v.next(pace, 0); got.RequeueAfter != x.result.RequeueAfter ||
				(got.Priority == nil) != (x.result.Priority == nil) {
				t.Errorf("result %+v, want %+v", got, x.result)
			}
		})
	}
}

// work returns the test's outcome, and counts calls.
type work struct {
	sync, release    error
	synced, released int
	note             string
	made             string
	save             bool
	again            time.Duration // LookAgain
	acted            int
	routine          bool            // the last Reconcile was
	unkept           []PlannedAction // the ineffective actions that each Reconcile plans
	lastLook         time.Time
	teams            []string // the teams of the passes
}

func (w *work) Reconcile(ctx context.Context, obj *v1alpha1.S3Bucket, pass *Pass) error {
	w.synced++
	w.routine, w.lastLook = IsRoutine(ctx), LastObserved(ctx)
	w.teams = append(w.teams, fair.TeamOf(ctx))
	pass.RecordPlan(w.unkept...)
	pass.LookAgain(w.again)
	for _, action := range w.unkept {
		pass.CountIneffective(action)
	}
	if w.note != "" {
		pass.Warning("Repaired", "Put", "%s", w.note)
	}
	if w.made != "" {
		pass.Normal("Created", "Create", "%s", w.made)
	}
	if w.save {
		obj.Status.BucketName = "reserved"
		if err := pass.SaveStatus(ctx); err != nil {
			return err
		}
		w.acted++
	}
	return w.sync
}

func (w *work) Finalize(ctx context.Context, _ *v1alpha1.S3Bucket, _ *Pass) error {
	w.released++
	w.teams = append(w.teams, fair.TeamOf(ctx))
	return w.release
}

type bench struct {
	t      *testing.T
	client client.Client
	events *events.FakeRecorder
	work   *work
	writes int
	loop   *Reconciler[*v1alpha1.S3Bucket]
	key    client.ObjectKey
}

func newBench(t *testing.T, change func(*v1alpha1.S3Bucket)) *bench {
	t.Helper()
	s := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	obj := &v1alpha1.S3Bucket{
		ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "b", Generation: 3, CreationTimestamp: metav1.Time{
			Time: noon.Add(-time.Minute),
		}},
	}
	if change != nil {
		change(obj)
	}
	b := &bench{t: t, events: events.NewFakeRecorder(50), work: &work{}, key: client.ObjectKeyFromObject(obj)}
	b.client = fake.NewClientBuilder().WithScheme(s).WithObjects(obj).WithStatusSubresource(obj).WithInterceptorFuncs(
		interceptor.Funcs{
			Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch,
				opts ...client.PatchOption,
			) error {
				b.writes++
				return c.Patch(ctx, o, p, opts...)
			},
			SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch,
				opts ...client.SubResourcePatchOption,
			) error {
				b.writes++
				return c.SubResource(sub).Patch(ctx, o, p, opts...)
			},
		}).Build()
	b.loop = &Reconciler[*v1alpha1.S3Bucket]{
		Kind: "S3Bucket", Client: b.client, Events: b.events, KindReconciler: b.work,
		Schedule: Schedule{Resync: time.Hour, Now: func() time.Time { return noon }, Jitter: func() float64 { return 0 }},
	}
	return b
}

func (b *bench) read() *v1alpha1.S3Bucket {
	b.t.Helper()
	obj := &v1alpha1.S3Bucket{}
	if err := b.client.Get(b.t.Context(), b.key, obj); err != nil {
		b.t.Fatal(err)
	}
	return obj
}

// pass runs one reconcile with the outcome and returns the object after it.
func (b *bench) pass(outcome error) *v1alpha1.S3Bucket {
	b.t.Helper()
	b.work.sync = outcome
	_, err := b.loop.Reconcile(b.t.Context(), b.read())
	if _, paused := AsWait(outcome); (err != nil) != (outcome != nil && !paused) {
		b.t.Fatalf("outcome %v gave error %v", outcome, err)
	}
	return b.read()
}

func (b *bench) told() []string {
	var all []string
	for {
		select {
		case e := <-b.events.Events:
			all = append(all, e)
		default:
			return all
		}
	}
}

func TestTheFirstPassWritesFinalizerAndStatus(t *testing.T) {
	b := newBench(t, nil)
	obj := b.pass(nil)
	if len(obj.Finalizers) != 1 || !obj.Status.Ready || obj.Status.ObservedGeneration != 3 {
		t.Errorf("object %+v", obj)
	}
	if !obj.Status.FirstReadyTime.Time.Equal(noon) {
		t.Errorf("first ready %v", obj.Status.FirstReadyTime)
	}
	if told := b.told(); b.writes != 2 || len(told) != 0 {
		t.Errorf("%d writes, events %q", b.writes, told)
	}
	b.writes = 0
	b.pass(nil)
	if b.writes != 0 || len(b.told()) != 0 {
		t.Errorf("%d writes at rest", b.writes)
	}
}

func TestEventsTellChangesOnly(t *testing.T) {
	b := newBench(t, nil)
	b.pass(Blocked("AccessDenied", "no"))
	b.pass(Blocked("AccessDenied", "no, still"))
	obj := b.pass(Blocked("QuotaExceeded", "full"))
	if told := b.told(); len(told) != 2 || !strings.HasPrefix(told[0], "Warning AccessDenied") {
		t.Errorf("events %q", told)
	}
	if !meta.IsStatusConditionTrue(obj.Status.Conditions, v1alpha1.ConditionStalled) ||
		obj.Status.ObservedGeneration != 3 {
		t.Errorf("status %+v", obj.Status)
	}
	obj = b.pass(errors.New("boom"))
	if meta.FindStatusCondition(obj.Status.Conditions, v1alpha1.ConditionStalled) != nil ||
		!meta.IsStatusConditionTrue(obj.Status.Conditions, v1alpha1.ConditionReconciling) {
		t.Errorf("conditions %+v", obj.Status.Conditions)
	}
}

func TestSaveInTheMiddleOfAPass(t *testing.T) {
	b := newBench(t, nil)
	b.work.save = true
	obj := b.pass(errors.New("died after the act"))
	if obj.Status.BucketName != "reserved" || b.work.acted != 1 {
		t.Errorf("status %+v, acted %d times", obj.Status, b.work.acted)
	}
	if obj = b.pass(nil); !obj.Status.Ready || b.work.acted != 2 {
		t.Errorf("status %+v, acted %d times", obj.Status, b.work.acted)
	}
}

// A pass over an outdated object, with its finalizer set, must end before it acts.
func TestNothingIsDoneForAnOldPicture(t *testing.T) {
	b := newBench(t, nil)
	old := b.pass(nil)
	edited := old.DeepCopy()
	edited.Labels = map[string]string{"newer": "yes"}
	if err := b.client.Update(t.Context(), edited); err != nil {
		t.Fatal(err)
	}
	b.told()
	b.work.save, b.work.sync = true, nil
	result, err := b.loop.Reconcile(t.Context(), old)
	if err != nil || result.RequeueAfter != conflictRetry {
		t.Errorf("RequeueAfter = %s, %v, want %s", result.RequeueAfter, err, conflictRetry)
	}
	if told := b.told(); b.work.acted != 0 || len(told) != 0 {
		t.Errorf("acted %d times, events %q; want none", b.work.acted, told)
	}
	if err := b.client.Get(t.Context(), b.key, edited); err != nil {
		t.Fatal(err)
	}
	edited.Finalizers = nil
	if err := b.client.Update(t.Context(), edited); err != nil {
		t.Fatal(err)
	}
	if err := b.client.Delete(t.Context(), edited); err != nil {
		t.Fatal(err)
	}
	if _, err := b.loop.Reconcile(t.Context(), old); err != nil || b.work.acted != 0 {
		t.Errorf("error %v, acted %d times for an object that is gone", err, b.work.acted)
	}
}

func TestPauseStopsWorkAndKeepsReady(t *testing.T) {
	b := newBench(t, nil)
	obj := b.pass(nil)
	obj.Annotations = map[string]string{v1alpha1.AnnotationPaused: "true"}
	if err := b.client.Update(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	obj = b.pass(nil)
	if b.work.synced != 1 || !obj.Status.Ready ||
		!meta.IsStatusConditionTrue(obj.Status.Conditions, v1alpha1.ConditionPaused) {
		t.Errorf("synced %d times, status %+v", b.work.synced, obj.Status)
	}
	obj.Annotations = nil
	if err := b.client.Update(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	if obj = b.pass(nil); meta.FindStatusCondition(obj.Status.Conditions, v1alpha1.ConditionPaused) != nil {
		t.Error("still Paused")
	}
}

func TestDeletionKeepsTheFinalizerUntilReleased(t *testing.T) {
	now := metav1.Time{Time: noon}
	b := newBench(t, func(o *v1alpha1.S3Bucket) {
		o.Finalizers, o.DeletionTimestamp = []string{Finalizer}, &now
		o.Annotations = map[string]string{v1alpha1.AnnotationPaused: "true"} // deletion runs anyway
	})
	b.work.release = Blocked("BucketNotEmpty", "objects are left")
	if _, err := b.loop.Reconcile(t.Context(), b.read()); err != nil {
		t.Fatal(err)
	}
	if obj := b.read(); len(obj.Finalizers) != 1 || obj.Status.Conditions[0].Reason != "BucketNotEmpty" {
		t.Errorf("object %+v", obj)
	}
	b.work.release = nil
	if _, err := b.loop.Reconcile(t.Context(), b.read()); err != nil {
		t.Fatal(err)
	}
	if err := b.client.Get(t.Context(), b.key, &v1alpha1.S3Bucket{}); err == nil || b.work.synced != 0 {
		t.Errorf("the object is still there, synced %d times", b.work.synced)
	}
}

// TestWhatWasReleasedIsNotReleasedAgain: a status written a moment ago delays the removal of the finalizer. Only the
// pass that requested a deletion knows that AWS has confirmed it.
func TestWhatWasReleasedIsNotReleasedAgain(t *testing.T) {
	now := metav1.Time{Time: noon}
	b := newBench(t, func(o *v1alpha1.S3Bucket) { o.Finalizers, o.DeletionTimestamp = []string{Finalizer}, &now })
	b.loop.Records = &Records{}
	behind := func() *v1alpha1.S3Bucket {
		old := b.read()
		newer := old.DeepCopy()
		newer.Labels = map[string]string{"version": old.ResourceVersion}
		if err := b.client.Update(t.Context(), newer); err != nil {
			t.Fatal(err)
		}
		return old
	}
	if result, err := b.loop.Reconcile(t.Context(), behind()); err != nil || result.RequeueAfter != conflictRetry ||
		b.work.released != 1 {
		t.Fatalf("result %+v, error %v, released %d times", result, err, b.work.released)
	}
	edited := behind()
	edited.Generation++ // perhaps another policy
	if _, err := b.loop.Reconcile(t.Context(), edited); err != nil || b.work.released != 2 {
		t.Errorf("after an edit: error %v, released %d times", err, b.work.released)
	}
	b.work.release = errors.New("it cannot be seen any more")
	last := b.read()
	last.Generation++
	if _, err := b.loop.Reconcile(t.Context(), last); err != nil || b.work.released != 2 {
		t.Errorf("error %v, released %d times", err, b.work.released)
	}
	if err := b.client.Get(t.Context(), b.key, &v1alpha1.S3Bucket{}); !apierrors.IsNotFound(err) {
		t.Errorf("the object is still there: %v", err)
	}
	if _, known := b.loop.Records.Get("S3Bucket", b.key); known {
		t.Error("what is gone is still remembered")
	}
}

func TestAStaleObjectIsLeftAlone(t *testing.T) {
	b := newBench(t, nil)
	old := b.read()
	old.ResourceVersion = "1"
	result, err := b.loop.Reconcile(t.Context(), old)
	if err != nil || result.RequeueAfter != conflictRetry || b.work.synced != 0 {
		t.Errorf("result %+v, error %v, synced %d times", result, err, b.work.synced)
	}
}

func TestShutdownSaysNothingAboutTheObject(t *testing.T) {
	b := newBench(t, nil)
	b.pass(nil)
	b.told()
	ctx, cancel := context.WithCancel(t.Context())
	b.work.sync = errors.New("context canceled")
	obj := b.read()
	cancel()
	if _, err := b.loop.Reconcile(ctx, obj); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if obj := b.read(); !obj.Status.Ready || len(b.told()) != 0 {
		t.Errorf("status %+v", obj.Status)
	}
}

func TestTheStatusIsSavedWhenTimeIsUp(t *testing.T) {
	b := newBench(t, nil)
	b.pass(nil)
	ctx, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	b.work.sync = ctx.Err()
	if _, err := b.loop.Reconcile(ctx, b.read()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	if obj := b.read(); obj.Status.Conditions[0].Reason != v1alpha1.ReasonTimedOut {
		t.Errorf("conditions %+v", obj.Status.Conditions)
	}
}

func TestNotesBecomeEvents(t *testing.T) {
	b := newBench(t, nil)
	b.work.note = "versioning Suspended → Enabled"
	b.pass(Blocked("AccessDenied", "no"))
	if told := b.told(); len(told) != 2 || !strings.Contains(told[0], "Repaired versioning Suspended → Enabled") {
		t.Errorf("events %q", told)
	}
}
