package webapp

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// finishRollout removes what only older Pods used, once all of them are gone.
func (r *reconciliation) finishRollout(ctx context.Context) (string, error) {
	text, err := r.checkRollout(ctx)
	if err == nil {
		err = r.dropUsers(ctx)
	}
	return text, err
}

// checkRollout returns nil when everything runs as wanted, or a version that is out gets more Pods; else why not.
func (r *reconciliation) checkRollout(ctx context.Context) (string, error) {
	state, err := r.observe(ctx)
	if err != nil {
		return "", err
	}
	progress, complete := state.progress()
	found := r.problem(ctx, state)
	out := state.rolledOut()
	switch {
	case complete && !found.stalled:
		return fmt.Sprintf("%s of %s", replicas(state.wantedReplicas()), r.app.Spec.Image), nil
	case out && found.rank() <= rankStarting && state.deployment.Status.AvailableReplicas > 0:
		r.lookAgain = found.until // they start for so long, and no object changes then
		return fmt.Sprintf("%s of %s, %d still starting", replicas(state.wantedReplicas()), r.app.Spec.Image,
			state.wantedReplicas()-state.deployment.Status.AvailableReplicas), nil
	}
	if out && found.stalled {
		progress = "" // it changes in each phase of a loop
	}
	text := strings.Join(slices.DeleteFunc([]string{progress, found.text, r.older(state)},
		func(s string) bool { return s == "" }), "; ")
	switch {
	case found.stalled:
		return "", r.wait(engine.Blocked(found.reason, "%s", text), found)
	case out:
		reason := cmp.Or(found.reason, v1alpha1.ReasonMinimumReplicasUnavailable)
		return "", r.wait(engine.Wait(reason, engine.WatchFallback, "%s", text), found)
	case state.stuckCondition() != nil:
		return "", engine.Blocked(v1alpha1.ReasonProgressDeadlineExceeded, "no progress in %d seconds: %s",
			progressDeadline, text)
	}
	reason := v1alpha1.ReasonRollingOut
	if found.reason == v1alpha1.ReasonUnschedulable { // no version can go on without a node
		reason = found.reason
	}
	return "", r.wait(engine.Wait(reason, engine.WatchFallback, "%s", text), found)
}

// older says which other image serves meanwhile; empty if none does.
func (r *reconciliation) older(state runtimeState) string {
	if image := state.servingImage(); image != "" && image != r.app.Spec.Image {
		return image + " still serves"
	}
	return ""
}

// wait makes the next pass come when the problem may be over, if that is sooner: nothing else would cause one.
func (r *reconciliation) wait(outcome error, found problem) error {
	if w, ok := engine.AsWait(outcome); ok && !found.until.IsZero() {
		w.After = min(w.After, max(found.until.Sub(r.Now()), time.Second))
	}
	return outcome
}

// progress returns what is missing as text, and whether nothing is.
func (s runtimeState) progress() (string, bool) {
	d, n := &s.deployment, s.wantedReplicas()
	if !s.observed() {
		return "the new version is being prepared", false
	}
	updated, available := d.Status.UpdatedReplicas, s.available()
	switch {
	case updated < n && !s.rolledOut():
		return fmt.Sprintf("%d of %s updated", updated, replicas(n)), false
	case d.Status.Replicas > updated:
		return fmt.Sprintf("%s updated, %d old to go", replicas(updated), d.Status.Replicas-updated), false
	case available < n:
		return fmt.Sprintf("%d of %s available", available, replicas(n)), false
	}
	return "", true
}

// stuckCondition returns the Deployment controller's condition of a rollout without progress; nil if it makes progress,
// or if that controller has not observed the template.
func (s runtimeState) stuckCondition() *appsv1.DeploymentCondition {
	c := s.condition(appsv1.DeploymentProgressing)
	if c == nil || c.Status != corev1.ConditionFalse || !s.observed() {
		return nil
	}
	return c
}

func (s runtimeState) condition(of appsv1.DeploymentConditionType) *appsv1.DeploymentCondition {
	for i := range s.deployment.Status.Conditions {
		if s.deployment.Status.Conditions[i].Type == of {
			return &s.deployment.Status.Conditions[i]
		}
	}
	return nil
}

// report writes the observed state into the status, whatever step the pass reached.
func (r *reconciliation) report(ctx context.Context, pass *engine.Pass) error {
	state, err := r.observe(ctx)
	if err != nil {
		return err
	}
	s, d := &r.app.Status, &state.deployment.Status
	s.Replicas, s.UpdatedReplicas, s.AvailableReplicas = d.Replicas, d.UpdatedReplicas, state.available()
	s.Selector = metav1.FormatLabelSelector(&metav1.LabelSelector{MatchLabels: selector(r.app)})
	s.Image, s.Revisions = state.servingImage(), state.revisions(s.Revisions)
	s.URL = r.url(pass)
	wanted := replicasOf(r.app)
	if state.deployment.UID != "" {
		wanted = state.wantedReplicas()
	}
	s.Availability = fmt.Sprintf("%d/%d", s.AvailableReplicas, wanted)
	r.setAvailable(state, wanted, pass)
	r.setProgressing(pass)
	return nil
}

func (r *reconciliation) setAvailable(state runtimeState, wanted int32, pass *engine.Pass) {
	s := &r.app.Status
	text := fmt.Sprintf("%d of %d replicas available", s.AvailableReplicas, wanted)
	c := state.condition(appsv1.DeploymentAvailable)
	enough := c != nil && c.Status == corev1.ConditionTrue || s.AvailableReplicas >= wanted
	if enough && s.AvailableReplicas > 0 {
		pass.SetCondition(v1alpha1.ConditionAvailable, metav1.ConditionTrue, v1alpha1.ReasonMinimumReplicasAvailable,
			text)
		return
	}
	pass.SetCondition(v1alpha1.ConditionAvailable, metav1.ConditionFalse, v1alpha1.ReasonMinimumReplicasUnavailable,
		text)
}

// setProgressing sets the condition Progressing from the step, with a Deployment's reasons.
func (r *reconciliation) setProgressing(pass *engine.Pass) {
	switch status, reason, text := pass.Condition(v1alpha1.StepRolledOut); {
	case status == "": // unchanged
	case status == metav1.ConditionTrue:
		pass.SetCondition(v1alpha1.ConditionProgressing, metav1.ConditionTrue, v1alpha1.ReasonRolledOut, text)
	case reason == v1alpha1.ReasonRollingOut:
		pass.SetCondition(v1alpha1.ConditionProgressing, metav1.ConditionTrue, reason, text)
	default:
		pass.SetCondition(v1alpha1.ConditionProgressing, status, reason, text)
	}
}
