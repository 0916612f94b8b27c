package engine

import (
	"context"
	"errors"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/portico-platform/portico/api/spoken"
	"github.com/portico-platform/portico/api/v1alpha1"
)

// pollPriority sorts resyncs and polls after requested work of the same team, and limits them to their share of turns:
// see fair.Queue. It must be below the −100 that controller-runtime gives to the initial list, or a restart starves
// behind steady polling.
const pollPriority = -200

// verdict is the meaning of an outcome for the object.
type verdict struct {
	status       metav1.ConditionStatus
	reason       string
	message      string
	reconciling  bool // Reconciling: it proceeds without help
	stalled      bool // Stalled: somebody must act
	requeueAfter time.Duration
	immediate    bool // the work continues at once, and is not a poll
}

func (v verdict) failed() bool {
	return v.reason == v1alpha1.ReasonFailed || v.reason == v1alpha1.ReasonTimedOut
}

// judge maps an outcome to a verdict; it is a pure function. everReady and deleting are properties of the object.
func judge(outcome error, everReady, deleting bool, schedule Schedule) verdict {
	if outcome == nil {
		return verdict{
			status: metav1.ConditionTrue, reason: v1alpha1.ReasonInSync,
			message: "everything is as the spec asks", requeueAfter: schedule.Resync,
		}
	}
	v := verdict{
		status: metav1.ConditionFalse, reason: v1alpha1.ReasonFailed, message: spoken.Stable(outcome.Error()),
		reconciling: true,
	}
	wait, ok := AsWait(outcome)
	switch {
	case ok && wait.Stalled:
		v.reason, v.reconciling, v.stalled, v.requeueAfter = wait.Reason, false, true, min(wait.After, schedule.Resync)
	case ok:
		v.reason, v.requeueAfter, v.immediate = wait.Reason, wait.After, wait.After < time.Second
		if !everReady && !deleting {
			v.status = metav1.ConditionUnknown
		}
	case errors.Is(outcome, context.DeadlineExceeded):
		v.reason = v1alpha1.ReasonTimedOut
	}
	return v
}

// next returns when to check again; stood is how long the verdict has been unchanged. A failure is left to the queue's
// back-off.
func (v verdict) next(schedule Schedule, stood time.Duration) ctrl.Result {
	low := pollPriority
	spread := func(d time.Duration) time.Duration {
		return time.Duration(float64(d) * (0.9 + 0.2*schedule.Jitter()))
	}
	switch {
	case v.failed():
		return ctrl.Result{}
	case v.stalled:
		return ctrl.Result{RequeueAfter: spread(min(max(stood, soonRetry), v.requeueAfter)), Priority: &low}
	case v.reason == v1alpha1.ReasonInSync:
		return ctrl.Result{RequeueAfter: spread(v.requeueAfter), Priority: &low}
	case v.immediate:
		return ctrl.Result{RequeueAfter: max(v.requeueAfter, min(stood, slowRetry), time.Millisecond)}
	}
	return ctrl.Result{RequeueAfter: schedule.poll(v.requeueAfter), Priority: &low} // a poll: users' requests go first
}
