// Package webapp reconciles WebApps: a list of named steps over Kubernetes objects that the WebApp owns.
package webapp

import (
	"cmp"
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/portico-platform/portico/api/access"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/apply"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/steps"
)

// Named is an object that a WebApp refers to, as cached.
type Named struct {
	Found    bool
	Deleting bool   // being deleted
	Ready    bool   // now
	State    string // why it is not Ready
}

// BoundResource is a resource that a WebApp can be bound to.
type BoundResource struct {
	Named
	Binding *v1alpha1.Binding
	Object  client.Object // of the resource's kind
}

// Reconciler reconciles WebApps. It implements engine.KindReconciler.
type Reconciler struct {
	Applier apply.Applier
	// Bound looks up a resource in the cache.
	Bound func(ctx context.Context, kind, namespace, name string) (BoundResource, error)
	// GivesRights reports whether Pods get rights in the account of an AWSProvider.
	GivesRights func(ctx context.Context, provider string) (bool, error)
	Routes      Routes
	// Team returns the Team of a namespace, nil without one.
	Team func(ctx context.Context, namespace string) (*v1alpha1.Team, error)
	// Kills finds out whether a probe stopped a container; nil if that stays unknown.
	Kills *Kills
	// Missing remembers since when Pods are missing; nil if nobody does.
	Missing *Missing
	Now     func() time.Time
}

// reconciliation is one pass over one WebApp.
type reconciliation struct {
	Reconciler
	app     *v1alpha1.WebApp
	objects *apply.Objects
	// deployment is the Deployment in the cluster; empty until the step has read or created it.
	deployment   appsv1.Deployment
	given        projection // of bindings
	found        []foundBinding
	grants       []access.Grant
	rights       *v1alpha1.AccessBinding // that the application has; nil: none
	bindingsSay  string
	bindingsFail error
	address      Address // at which it is exposed
	http         gatewayv1.HTTPRoute
	observed     *runtimeState
	refused      error     // why the guardrails refuse the image
	lookAgain    time.Time // when another pass must come although this one succeeds; zero: whenever it comes
}

// Reconcile implements engine.KindReconciler.
func (rec Reconciler) Reconcile(ctx context.Context, app *v1alpha1.WebApp, pass *engine.Pass) error {
	if err := rec.rollBack(ctx, app, pass); err != nil {
		return err
	}
	objects, err := rec.Applier.For(app, pass)
	if err != nil {
		return err
	}
	r := &reconciliation{Reconciler: rec, app: app, objects: objects}
	if err := cmp.Or(r.checkGuardrails(ctx), r.readRights(ctx)); err != nil {
		return err
	}
	r.bindingsSay, r.bindingsFail = r.ensureBindings(ctx, pass) // first: rights are removed whatever is waited for
	outcome := cmp.Or(r.steps().Reconcile(ctx, app, pass), r.refused)
	if !r.lookAgain.IsZero() {
		pass.LookAgain(max(r.lookAgain.Sub(rec.Now()), time.Second))
	}
	if err := r.report(ctx, pass); err != nil && outcome == nil {
		return err
	}
	return outcome
}

// GarbageCollected implements engine.GarbageCollected: the WebApp owns everything, and it is deleted with the WebApp.
func (Reconciler) GarbageCollected() {}

// Finalize implements engine.KindReconciler.
func (Reconciler) Finalize(context.Context, *v1alpha1.WebApp, *engine.Pass) error { return nil }

func (r *reconciliation) steps() steps.List {
	spec := &r.app.Spec
	return steps.List{
		{Name: v1alpha1.StepServiceAccount, Do: r.ensureServiceAccount},
		{Name: v1alpha1.StepService, Do: r.ensureService},
		{Name: v1alpha1.StepDisruptionBudget, Do: r.ensureDisruptionBudget, Unwanted: !multipleReplicas(r.app)},
		{Name: v1alpha1.StepRoute, Do: r.ensureRoute, Unwanted: spec.Expose == nil},
		{Name: v1alpha1.StepBindings, Do: func(context.Context) (string, error) { return r.bindingsSay, r.bindingsFail }, Unwanted: len(spec.Bindings) == 0},
		{Name: v1alpha1.StepDeployment, Do: r.ensureDeployment},
		{Name: v1alpha1.StepScaled, Do: r.scale},
		{Name: v1alpha1.StepAutoscaler, Do: r.ensureAutoscaler, Unwanted: spec.Autoscaling == nil},
		{Name: v1alpha1.StepRolledOut, Do: r.finishRollout, Watches: v1alpha1.StepScaled},
		{Name: v1alpha1.StepExposed, Do: r.checkExposed, Watches: v1alpha1.StepRoute, Unwanted: spec.Expose == nil},
	}
}

// multipleReplicas reports whether there is always more than one Pod: then one may be evicted at a time.
func multipleReplicas(app *v1alpha1.WebApp) bool {
	if a := app.Spec.Autoscaling; a != nil {
		return a.Min > 1
	}
	return replicasOf(app) > 1
}

// replicasOf returns the number of replicas in the spec; with autoscaling it has no effect.
func replicasOf(app *v1alpha1.WebApp) int32 {
	if app.Spec.Replicas == nil {
		return 1
	}
	return *app.Spec.Replicas
}

func (r *reconciliation) ensureServiceAccount(ctx context.Context) (string, error) {
	if err := r.objects.Apply(ctx, serviceAccount(r.app, r.role()), &corev1.ServiceAccount{}); err != nil {
		return "", err
	}
	if role := r.role(); role != "" {
		return "the Pods may assume " + role, nil
	}
	return "the Pods have an identity of their own", nil
}

func (r *reconciliation) ensureService(ctx context.Context) (string, error) {
	if err := r.objects.Apply(ctx, service(r.app), &corev1.Service{}); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s leads to port %d of the Pods", clusterURL(r.app), r.app.Spec.Port), nil
}

func (r *reconciliation) ensureDisruptionBudget(ctx context.Context) (string, error) {
	budget := &policyv1.PodDisruptionBudget{}
	if !multipleReplicas(r.app) {
		budget.Name = r.app.Name
		return "", r.objects.Delete(ctx, budget)
	}
	return "maintenance takes one Pod at a time", r.objects.Apply(ctx, disruptionBudget(r.app), budget)
}

func (r *reconciliation) ensureDeployment(ctx context.Context) (string, error) {
	if err := r.admitImage(ctx); err != nil {
		return "", err
	}
	if err := r.objects.Apply(ctx, deployment(r.app, r.given), &r.deployment); err != nil {
		r.deployment = appsv1.Deployment{}
		return "", err
	}
	r.app.Status.Bindings = r.bound()
	return "the Deployment asks for " + r.app.Spec.Image, nil
}

// scale sets the number of Pods. With autoscaling it only moves the number between the limits, which the autoscaler
// would do 15 seconds later.
func (r *reconciliation) scale(ctx context.Context) (string, error) {
	want, have := replicasOf(r.app), int32(1)
	if n := r.deployment.Spec.Replicas; n != nil {
		have = *n
	}
	if a := r.app.Spec.Autoscaling; a != nil {
		if want = min(max(have, a.Min), a.Max); want == have {
			return fmt.Sprintf("the autoscaler asks for %s", replicas(want)), nil
		}
	}
	if err := r.objects.ApplyPart(ctx, "scale", scaled(r.app, want), &r.deployment); err != nil {
		return "", err
	}
	return fmt.Sprintf("the Deployment asks for %s", replicas(want)), nil
}

func (r *reconciliation) ensureAutoscaler(ctx context.Context) (string, error) {
	hpa, a := &autoscalingv2.HorizontalPodAutoscaler{}, r.app.Spec.Autoscaling
	if a == nil {
		hpa.Name = r.app.Name
		return "", r.objects.Delete(ctx, hpa)
	}
	return fmt.Sprintf("from %d to %s, at %d %% of the CPU requested", a.Min, replicas(a.Max), a.TargetCPU),
		r.objects.Apply(ctx, autoscaler(r.app), hpa)
}

// replicas returns the number as text.
func replicas(n int32) string {
	if n == 1 {
		return "1 replica"
	}
	return fmt.Sprintf("%d replicas", n)
}
