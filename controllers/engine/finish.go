package engine

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/portico-platform/portico/api/spoken"
	"github.com/portico-platform/portico/api/v1alpha1"
)

// finish writes the outcome into status, events and result; nothing else does.
func (r *Reconciler[T]) finish(ctx context.Context, before, obj T, pass *Pass, outcome error) (ctrl.Result, error) {
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctrl.Result{}, ctx.Err() // the operator is stopping, which says nothing about the object
	}
	status, now := obj.Common(), r.Schedule.Now()
	schedule := r.scheduleFor(obj, &pass.Events)
	v := judge(outcome, status.FirstReadyTime != nil, !obj.GetDeletionTimestamp().IsZero(), pass.hasten(schedule))
	old := readyCondition(before)
	born := old.Status == "" && v.reason == v1alpha1.ReasonInSync
	if born {
		pass.dropNormal()
	}
	r.setConditions(obj, v, now, pass.conditions)
	over := passResult{
		at: now, reason: v.reason, message: v.message, failed: v.failed(), routine: IsRoutine(ctx), audit: IsAudit(ctx),
		plan: pass.plan, ineffective: pass.ineffective, refused: pass.refused,
	}
	result := v.next(schedule, r.Records.unchangedFor(r.Kind, obj, over))
	over.next = result.RequeueAfter
	r.Records.add(r.Kind, obj, over)
	// Before the save: actions in AWS are done, and a repeated pass would not report them.
	r.sendEvents(obj, &pass.Events)
	if err := r.patchStatus(ctx, before, obj); err != nil {
		again, err := requeueOnConflict(err)
		return again, ignoreConflict(err)
	}
	if before.Common().FirstReadyTime == nil && status.FirstReadyTime != nil {
		timeToReady.WithLabelValues(r.Kind).Observe(now.Sub(obj.GetCreationTimestamp().Time).Seconds())
	}
	if !born && (old.Status != v.status || old.Reason != v.reason) {
		kind := corev1.EventTypeNormal
		if v.stalled || v.failed() {
			kind = corev1.EventTypeWarning
		}
		r.Events.Eventf(obj, nil, kind, v.reason, "Reconcile", "%s", truncate(v.message))
	}
	if _, waiting := AsWait(outcome); waiting {
		outcome = nil
	}
	return result, outcome
}

// setConditions writes v into the status. A fresh pass clears Paused: paused objects never get here.
func (r *Reconciler[T]) setConditions(obj T, v verdict, now time.Time, marks []conditionChange) {
	status := obj.Common()
	c := conditionWriter{status: status, generation: obj.GetGeneration(), now: now}
	for _, m := range marks {
		if m.status == "" {
			meta.RemoveStatusCondition(&status.Conditions, m.kind)
			continue
		}
		c.set(m.kind, m.status, m.reason, m.message)
	}
	c.set(v1alpha1.ConditionReady, v.status, v.reason, v.message)
	c.toggle(v1alpha1.ConditionReconciling, v.reconciling, v.reason, v.message)
	c.toggle(v1alpha1.ConditionStalled, v.stalled, v.reason, v.message)
	meta.RemoveStatusCondition(&status.Conditions, v1alpha1.ConditionPaused)
	status.ObservedGeneration = obj.GetGeneration()
	status.Ready = v.status == metav1.ConditionTrue
	if status.Ready && status.FirstReadyTime == nil {
		status.FirstReadyTime = &metav1.Time{Time: now}
	}
}

// shortestAudit keeps a single object from using up the account's call rate.
const shortestAudit = time.Minute

// scheduleFor returns the schedule for obj, which its annotation may change.
func (r *Reconciler[T]) scheduleFor(obj T, e *Events) Schedule {
	schedule, text := r.Schedule, obj.GetAnnotations()[v1alpha1.AnnotationAuditInterval]
	if text == "" {
		return schedule
	}
	d, err := time.ParseDuration(text)
	if err == nil && d >= shortestAudit {
		schedule.Resync = d
		return schedule
	}
	if last, ok := r.Records.last(r.Kind, obj); !ok || last.triggers != triggersOf(obj) { // reported once
		e.Warning(v1alpha1.ReasonInvalidAnnotation, "Reconcile", "%s: %q is not a duration of at least %s, such as "+
			"10m; the operator's default of %s holds",
			v1alpha1.AnnotationAuditInterval, text, shortestAudit, schedule.Resync)
	}
	return schedule
}

func (r *Reconciler[T]) sendEvents(obj T, e *Events) {
	for _, n := range e.list {
		if n.repair {
			driftRepaired.WithLabelValues(r.Kind).Inc()
		}
	}
	for _, n := range e.merged() {
		r.Events.Eventf(obj, nil, n.kind, n.reason, n.action, "%s", n.message)
	}
	e.list = nil
}

// conditionWriter writes the conditions of one object with one timestamp.
type conditionWriter struct {
	status     *v1alpha1.CommonStatus
	generation int64
	now        time.Time
}

// longestMessage is the maximum length of a condition's message, in bytes: it may quote a server or a team, and every
// watcher receives it. The API server would reject the whole status if a message exceeds 32 KiB.
const longestMessage = 4096

func (c conditionWriter) set(kind string, status metav1.ConditionStatus, reason, message string) {
	meta.SetStatusCondition(&c.status.Conditions, metav1.Condition{
		Type: kind, Status: status, Reason: reason, Message: spoken.Cut(spoken.Stable(message), longestMessage),
		ObservedGeneration: c.generation, LastTransitionTime: metav1.Time{Time: c.now},
	})
}

// toggle writes an abnormal-true condition as kstatus expects: True, or absent.
func (c conditionWriter) toggle(kind string, on bool, reason, message string) {
	if !on {
		meta.RemoveStatusCondition(&c.status.Conditions, kind)
		return
	}
	c.set(kind, metav1.ConditionTrue, reason, message)
}

func setPaused[T Object](obj T, now time.Time) {
	conditionWriter{obj.Common(), obj.GetGeneration(), now}.set(v1alpha1.ConditionPaused, metav1.ConditionTrue,
		v1alpha1.ReasonPaused,
		"the annotation "+v1alpha1.AnnotationPaused+" stops all work on this object; remove it to go on")
}

func readyCondition[T Object](obj T) metav1.Condition {
	if c := meta.FindStatusCondition(obj.Common().Conditions, v1alpha1.ConditionReady); c != nil {
		return *c
	}
	return metav1.Condition{}
}
