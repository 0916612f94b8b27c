package engine

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// pollPriority puts resyncs and polls behind what users ask for. It must be below the −100 that
// controller-runtime gives to the initial list, or a restart starves behind steady polling.
const pollPriority = -200

// Reasons that judge itself gives.
const (
	ReasonInSync   = "InSync"
	ReasonFailed   = "Failed"
	ReasonTimedOut = "TimedOut"
)

// verdict is what an outcome means for the object.
type verdict struct {
	status  metav1.ConditionStatus
	reason  string
	message string
	moving  bool // Reconciling: it will get on by itself
	stalled bool // Stalled: somebody must act
	after   time.Duration
	atOnce  bool // the work goes on, and is no poll
}

func (v verdict) failed() bool { return v.reason == ReasonFailed || v.reason == ReasonTimedOut }

// judge is a pure table from outcome to verdict. everReady and deleting are facts of the object.
func judge(outcome error, everReady, deleting bool, pace Pace) verdict {
	if outcome == nil {
		return verdict{status: metav1.ConditionTrue, reason: ReasonInSync, message: "everything is as the spec asks", after: pace.Resync}
	}
	v := verdict{status: metav1.ConditionFalse, reason: ReasonFailed, message: outcome.Error(), moving: true}
	pause, ok := AsPause(outcome)
	switch {
	case ok && pause.Stalled:
		v.reason, v.moving, v.stalled, v.after = pause.Reason, false, true, min(pause.After, pace.Resync)
	case ok:
		v.reason, v.after, v.atOnce = pause.Reason, pause.After, pause.After < time.Second
		if !everReady && !deleting {
			v.status = metav1.ConditionUnknown
		}
	case errors.Is(outcome, context.DeadlineExceeded):
		v.reason = ReasonTimedOut
	}
	return v
}

// next is when to look again; stood is how long the verdict has been the same. A failure is left to the queue's back-off.
func (v verdict) next(pace Pace, stood time.Duration) ctrl.Result {
	low := pollPriority
	spread := func(d time.Duration) time.Duration {
		return time.Duration(float64(d) * (0.9 + 0.2*pace.Jitter()))
	}
	switch {
	case v.failed():
		return ctrl.Result{}
	case v.stalled:
		return ctrl.Result{RequeueAfter: spread(min(max(stood, soonRetry), v.after)), Priority: &low}
	case v.reason == ReasonInSync:
		return ctrl.Result{RequeueAfter: spread(v.after), Priority: &low}
	case v.atOnce:
		return ctrl.Result{RequeueAfter: max(v.after, min(stood, slowRetry), time.Millisecond)}
	}
	return ctrl.Result{RequeueAfter: v.after, Priority: &low} // a poll: what users ask for goes first
}

// finish turns the outcome into status, events and result: the only place that does.
func (r *Reconciler[T]) finish(ctx context.Context, before, obj T, pass *Pass, outcome error) (ctrl.Result, error) {
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctrl.Result{}, ctx.Err() // we are shutting down: that says nothing about the object
	}
	status, now := obj.Common(), r.Pace.Now()
	pace := r.paceOf(obj, &pass.Notes)
	v := judge(outcome, status.FirstReadyTime != nil, !obj.GetDeletionTimestamp().IsZero(), pace)
	old := readyOf(before)
	born := old.Status == "" && v.reason == ReasonInSync
	if born {
		pass.dropNormal()
	}
	r.record(obj, v, now, pass.marks)
	over := ended{at: now, reason: v.reason, message: v.message, failed: v.failed(), routine: IsRoutine(ctx), plan: pass.plan, unkept: pass.unkept}
	result := v.next(pace, r.Records.stood(r.Kind, obj, over))
	over.next = result.RequeueAfter
	r.Records.ended(r.Kind, obj, over)
	r.send(obj, &pass.Notes) // before the save: what was done in AWS is done, and a repeated pass would not tell of it
	if err := r.save(ctx, before, obj); err != nil {
		again, err := retry(err)
		return again, quiet(err)
	}
	if before.Common().FirstReadyTime == nil && status.FirstReadyTime != nil {
		timeToReady.WithLabelValues(r.Kind).Observe(now.Sub(obj.GetCreationTimestamp().Time).Seconds())
	}
	if !born && (old.Status != v.status || old.Reason != v.reason) {
		kind := corev1.EventTypeNormal
		if v.stalled || v.failed() {
			kind = corev1.EventTypeWarning
		}
		r.Events.Eventf(obj, nil, kind, v.reason, "Reconcile", "%s", brief(v.message))
	}
	if _, paused := AsPause(outcome); paused {
		outcome = nil
	}
	return result, outcome
}

// record writes v into the status. A fresh pass clears Paused: paused objects never come here.
func (r *Reconciler[T]) record(obj T, v verdict, now time.Time, marks []mark) {
	status := obj.Common()
	c := condition{status: status, generation: obj.GetGeneration(), now: now}
	for _, m := range marks {
		if m.status == "" {
			meta.RemoveStatusCondition(&status.Conditions, m.kind)
			continue
		}
		c.set(m.kind, m.status, m.reason, m.message)
	}
	c.set(v1alpha1.ConditionReady, v.status, v.reason, v.message)
	c.toggle(v1alpha1.ConditionReconciling, v.moving, v.reason, v.message)
	c.toggle(v1alpha1.ConditionStalled, v.stalled, v.reason, v.message)
	meta.RemoveStatusCondition(&status.Conditions, v1alpha1.ConditionPaused)
	status.ObservedGeneration = obj.GetGeneration()
	status.Ready = v.status == metav1.ConditionTrue
	if status.Ready && status.FirstReadyTime == nil {
		status.FirstReadyTime = &metav1.Time{Time: now}
	}
}

// shortestAudit keeps a single object from eating up the account's calls.
const shortestAudit = time.Minute

// paceOf is the pace for obj: its annotation may ask for another one.
func (r *Reconciler[T]) paceOf(obj T, notes *Notes) Pace {
	pace, text := r.Pace, obj.GetAnnotations()[v1alpha1.AnnotationAuditInterval]
	if text == "" {
		return pace
	}
	d, err := time.ParseDuration(text)
	if err == nil && d >= shortestAudit {
		pace.Resync = d
		return pace
	}
	if last, ok := r.Records.last(r.Kind, obj); !ok || last.asked != askedOf(obj) { // told once
		notes.Warning("InvalidAnnotation", "Reconcile", "%s: %q is not a duration of at least %s, such as 10m; the operator's default of %s holds",
			v1alpha1.AnnotationAuditInterval, text, shortestAudit, pace.Resync)
	}
	return pace
}

func (r *Reconciler[T]) send(obj T, notes *Notes) {
	for _, n := range notes.list {
		r.Events.Eventf(obj, nil, n.kind, n.reason, n.action, "%s", n.message)
		if n.repair {
			driftRepaired.WithLabelValues(r.Kind).Inc()
		}
	}
	notes.list = nil
}

// condition writes conditions of one object at one moment.
type condition struct {
	status     *v1alpha1.CommonStatus
	generation int64
	now        time.Time
}

func (c condition) set(kind string, status metav1.ConditionStatus, reason, message string) {
	meta.SetStatusCondition(&c.status.Conditions, metav1.Condition{
		Type: kind, Status: status, Reason: reason, Message: message,
		ObservedGeneration: c.generation, LastTransitionTime: metav1.Time{Time: c.now},
	})
}

// toggle keeps kstatus's abnormal-true conditions: there and True, or absent.
func (c condition) toggle(kind string, on bool, reason, message string) {
	if !on {
		meta.RemoveStatusCondition(&c.status.Conditions, kind)
		return
	}
	c.set(kind, metav1.ConditionTrue, reason, message)
}

func setPaused[T Object](obj T, now time.Time) {
	condition{obj.Common(), obj.GetGeneration(), now}.set(v1alpha1.ConditionPaused, metav1.ConditionTrue, "Paused",
		"the annotation "+v1alpha1.AnnotationPaused+" stops all work on this object; remove it to go on")
}

func readyOf[T Object](obj T) metav1.Condition {
	if c := meta.FindStatusCondition(obj.Common().Conditions, v1alpha1.ConditionReady); c != nil {
		return *c
	}
	return metav1.Condition{}
}
