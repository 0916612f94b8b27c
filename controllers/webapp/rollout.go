package webapp

import (
	"context"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// Reasons of the rollout, beside those of a cause.
const (
	reasonRollingOut       = "RollingOut"
	reasonRolledOut        = "RolledOut"
	reasonDeadlineExceeded = "ProgressDeadlineExceeded"
)

// rolledOut tells whether everything runs as asked, and if not, why.
func (r *run) rolledOut(ctx context.Context) (string, error) {
	p, err := r.look(ctx)
	if err != nil {
		return "", err
	}
	progress, complete := p.progress()
	if complete {
		return fmt.Sprintf("%s of %s", replicas(p.wanted()), r.app.Spec.Image), nil
	}
	c := p.cause(&r.app.Spec)
	text := progress
	if c.text != "" {
		text += "; " + c.text
	}
	if image := p.serving(); image != "" && image != r.app.Spec.Image {
		text += "; " + image + " still serves"
	}
	switch {
	case c.stalled:
		return "", engine.Blocked(c.reason, "%s", text)
	case p.hangs() != nil:
		return "", engine.Blocked(reasonDeadlineExceeded, "no progress in %d seconds: %s", progressDeadline, text)
	}
	return "", engine.Wait(reasonRollingOut, again, "%s", text)
}

// progress is how far the rollout is, in words.
func (p picture) progress() (string, bool) {
	d, n := &p.deployment, p.wanted()
	if d.Status.ObservedGeneration < d.Generation {
		return "the new version is being prepared", false
	}
	updated, available := d.Status.UpdatedReplicas, d.Status.AvailableReplicas
	switch {
	case updated < n:
		return fmt.Sprintf("%d of %s updated", updated, replicas(n)), false
	case d.Status.Replicas > updated:
		return fmt.Sprintf("%s updated, %d old to go", replicas(updated), d.Status.Replicas-updated), false
	case available < updated:
		return fmt.Sprintf("%d of %s available", available, replicas(n)), false
	}
	return "", true
}

// hangs is what the Deployment controller says of a rollout that makes no progress; nil, if it does, or is not looked at.
func (p picture) hangs() *appsv1.DeploymentCondition {
	c := p.condition(appsv1.DeploymentProgressing)
	if c == nil || c.Status != corev1.ConditionFalse || p.deployment.Status.ObservedGeneration < p.deployment.Generation {
		return nil
	}
	return c
}

func (p picture) condition(of appsv1.DeploymentConditionType) *appsv1.DeploymentCondition {
	for i := range p.deployment.Status.Conditions {
		if p.deployment.Status.Conditions[i].Type == of {
			return &p.deployment.Status.Conditions[i]
		}
	}
	return nil
}

// report writes what runs into the status, however far the steps came. It speaks of what is there, not of what is asked.
func (r *run) report(ctx context.Context, pass *engine.Pass) error {
	p, err := r.look(ctx)
	if err != nil {
		return err
	}
	s, d := &r.app.Status, &p.deployment.Status
	s.Replicas, s.UpdatedReplicas, s.AvailableReplicas = d.Replicas, d.UpdatedReplicas, d.AvailableReplicas
	s.Selector = metav1.FormatLabelSelector(&metav1.LabelSelector{MatchLabels: selector(r.app)})
	s.Image, s.Revisions = p.serving(), p.revisions()
	s.URL = r.url(pass)
	wanted := replicasOf(r.app)
	if p.deployment.UID != "" {
		wanted = p.wanted()
	}
	s.Availability = fmt.Sprintf("%d/%d", d.AvailableReplicas, wanted)
	r.markAvailable(p, pass)
	r.markProgressing(pass)
	return nil
}

func (r *run) markAvailable(p picture, pass *engine.Pass) {
	s := &r.app.Status
	text := strings.Replace(s.Availability, "/", " of ", 1) + " replicas available"
	if c := p.condition(appsv1.DeploymentAvailable); c != nil && c.Status == corev1.ConditionTrue && s.AvailableReplicas > 0 {
		pass.Mark(v1alpha1.ConditionAvailable, metav1.ConditionTrue, "MinimumReplicasAvailable", text)
		return
	}
	pass.Mark(v1alpha1.ConditionAvailable, metav1.ConditionFalse, "MinimumReplicasUnavailable", text)
}

// markProgressing says of a rollout what the step found, in the words of a Deployment.
func (r *run) markProgressing(pass *engine.Pass) {
	switch status, reason, text := pass.Marked(StepRolledOut); {
	case status == "": // as it was
	case status == metav1.ConditionTrue:
		pass.Mark(v1alpha1.ConditionProgressing, metav1.ConditionTrue, reasonRolledOut, text)
	case reason == reasonRollingOut:
		pass.Mark(v1alpha1.ConditionProgressing, metav1.ConditionTrue, reason, text)
	default:
		pass.Mark(v1alpha1.ConditionProgressing, status, reason, text)
	}
}
