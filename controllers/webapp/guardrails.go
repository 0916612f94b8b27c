package webapp

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/guardrails"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/guardrail"
)

// teamIn finds the Team of a namespace in the cache.
func teamIn(mgr ctrl.Manager) func(context.Context, string) (*v1alpha1.Team, error) {
	return func(ctx context.Context, namespace string) (*v1alpha1.Team, error) {
		ns := &metav1.PartialObjectMetadata{}
		ns.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
		if err := mgr.GetCache().Get(ctx, client.ObjectKey{Name: namespace}, ns); err != nil {
			return nil, fmt.Errorf("read the namespace %s: %w", namespace, err)
		}
		return guardrail.TeamOf(ctx, mgr.GetCache(), ns)
	}
}

// checkGuardrails records why the namespace's team refuses the image.
func (r *reconciliation) checkGuardrails(ctx context.Context) error {
	if r.Team == nil {
		return nil
	}
	team, err := r.Team(ctx, r.app.Namespace)
	if err != nil {
		return err
	}
	r.refused = guardrail.Refuse(guardrails.Check(v1alpha1.KindWebApp, guardrails.Spec(r.app), guardrails.OfTeam(team)))
	return nil
}

// admitImage admits an image that the guardrails refuse only if it already runs.
func (r *reconciliation) admitImage(ctx context.Context) error {
	if r.refused == nil {
		return nil
	}
	live := &appsv1.Deployment{}
	err := r.Applier.Client.Get(ctx, r.objects.Key(r.app.Name), live)
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("read the Deployment %s: %w", r.app.Name, err)
	}
	for _, c := range live.Spec.Template.Spec.Containers {
		if metav1.IsControlledBy(live, r.app) && c.Image == r.app.Spec.Image {
			return nil
		}
	}
	return r.refused
}
