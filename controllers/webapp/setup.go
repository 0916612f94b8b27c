package webapp

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	k8slabels "k8s.io/apimachinery/pkg/labels"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/apply"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
	"github.com/portico-platform/portico/controllers/watch"
)

// CachedObjects returns the cache settings for the Kubernetes objects of WebApps: only those with our label, and of
// Pods and ReplicaSets only the fields in use.
func CachedObjects() map[client.Object]cache.ByObject {
	ours := k8slabels.SelectorFromSet(k8slabels.Set{apply.Label: apply.LabelValue})
	all := map[client.Object]cache.ByObject{
		&corev1.Pod{}:        {Label: ours, Transform: stripUnused},
		&appsv1.ReplicaSet{}: {Label: ours, Transform: stripUnused},
	}
	for _, obj := range []client.Object{
		&appsv1.Deployment{}, &corev1.Service{}, &corev1.ServiceAccount{}, &policyv1.PodDisruptionBudget{},
		&autoscalingv2.HorizontalPodAutoscaler{},
	} {
		all[obj] = cache.ByObject{Label: ours}
	}
	return all
}

// stripUnused drops the fields that webapp does not use. client-go may call it more than once for an object, as with
// lists that are streamed.
func stripUnused(in any) (any, error) {
	switch o := in.(type) {
	case *corev1.Pod:
		o.ManagedFields, o.Annotations = nil, nil
		o.Spec = corev1.PodSpec{NodeName: o.Spec.NodeName, InitContainers: onlySidecars(o.Spec.InitContainers)}
	case *appsv1.ReplicaSet:
		o.ManagedFields = nil
		digest := o.Annotations[annotationTemplate]
		if o.Spec.Template.Spec.RestartPolicy != "" { // every template has one, until it is stripped
			digest = templateDigest(&o.Spec.Template)
		}
		o.Annotations = map[string]string{
			RevisionAnnotation: o.Annotations[RevisionAnnotation], annotationTemplate: digest,
		}
		images := o.Spec.Template.Spec.Containers
		for i := range images {
			images[i] = corev1.Container{Name: images[i].Name, Image: images[i].Image}
		}
		o.Spec.Template = corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: images}}
	}
	return in, nil
}

// onlySidecars keeps of the init containers which of them run beside the others.
func onlySidecars(all []corev1.Container) []corev1.Container {
	var out []corev1.Container
	for i := range all {
		if all[i].RestartPolicy != nil {
			out = append(out, corev1.Container{Name: all[i].Name, RestartPolicy: all[i].RestartPolicy})
		}
	}
	return out
}

// appKey returns the WebApp of a Pod or ReplicaSet, from its label.
func appKey(obj client.Object) client.ObjectKey {
	return client.ObjectKey{Namespace: obj.GetNamespace(), Name: obj.GetLabels()[v1alpha1.LabelWebApp]}
}

func appOf(obj client.Object) []string {
	if name := obj.GetLabels()[v1alpha1.LabelWebApp]; name != "" {
		return []string{name}
	}
	return nil
}

// Options are what the controller of WebApps needs.
type Options struct {
	Engine engine.Options
	// Bindable are the kinds that publish connection details, by name.
	Bindable map[string]client.Object
	// HostnamesOff returns why the cluster has no hostnames; empty if it has.
	HostnamesOff func() string
}

// Setup registers the controller with the manager, and returns it: routes are watched once the cluster has them.
func Setup(ctx context.Context, mgr ctrl.Manager, o Options) (controller.Controller, error) {
	for _, obj := range []client.Object{&corev1.Pod{}, &appsv1.ReplicaSet{}} {
		if err := watch.Index(ctx, mgr, obj, Index, appOf); err != nil {
			return nil, err
		}
	}
	reconciler := Reconciler{
		Applier: apply.Applier{Client: mgr.GetClient(), APIReader: mgr.GetAPIReader()},
		Bound:   boundIn(mgr, o.Bindable), GivesRights: givesRightsIn(mgr), Routes: routesIn(mgr, o.HostnamesOff),
		Team: teamIn(mgr), Kills: NewKills(mgr.GetAPIReader()), Missing: NewMissing(),
		Now: o.Engine.Now,
	}
	return engine.Build(mgr, &v1alpha1.WebApp{}, reconciler, o.Engine, func(b *builder.Builder) {
		b.Owns(&appsv1.Deployment{}, builder.WithPredicates(watch.NotCreated()))
		b.Owns(&corev1.Service{}, builder.WithPredicates(watch.NotCreated()))
		b.Owns(&corev1.ServiceAccount{}, builder.WithPredicates(watch.NotCreated()))
		b.Owns(&policyv1.PodDisruptionBudget{}, builder.WithPredicates(watch.NotCreated(), watch.SpecChanged()))
		b.Owns(&autoscalingv2.HorizontalPodAutoscaler{},
			builder.WithPredicates(watch.NotCreated(), watch.SpecChanged()))
		b.Owns(&v1alpha1.AccessBinding{}, builder.WithPredicates(watch.NotCreated(), rightsChanged()))
		b.Owns(&v1alpha1.DatabaseUser{}, builder.WithPredicates(watch.NotCreated(), userChanged()))
		b.Watches(&v1alpha1.AWSProvider{}, watch.EnqueueMatching(mgr, &v1alpha1.WebApp{}, everywhere, isBound),
			builder.WithPredicates(identityChanged()))
		// deleted ones are no longer in lists
		b.Watches(&appsv1.ReplicaSet{}, watch.EnqueueKey(appKey),
			builder.WithPredicates(watch.NotCreated(), replicaSetChanged()))
		b.Watches(&corev1.Pod{}, watch.EnqueueKey(appKey),
			builder.WithPredicates(watch.NotCreated(), podStatusChanged(), failuresGo()))
		b.Watches(&v1alpha1.GatewayHostnameRequest{},
			watch.EnqueueNaming(mgr, &v1alpha1.WebApp{}, &v1alpha1.GatewayHostnameRequest{}),
			builder.WithPredicates(hostnameChanged()))
		b.Watches(&v1alpha1.Team{}, watch.EnqueueTeam(mgr, &v1alpha1.WebApp{}),
			builder.WithPredicates(watch.TeamRulesChanged()))
		b.WatchesMetadata(&corev1.Namespace{}, watch.EnqueueNamespace(mgr, &v1alpha1.WebApp{}),
			builder.WithPredicates(watch.NamespaceChanged()))
		for _, proto := range o.Bindable {
			b.Watches(proto, watch.EnqueueNaming(mgr, &v1alpha1.WebApp{}, proto),
				builder.WithPredicates(bindingChanged()))
		}
	})
}

// boundIn returns a function that reads the resources to which WebApps can be bound: every kind that publishes
// connection details.
func boundIn(mgr ctrl.Manager, bindable map[string]client.Object) func(
	ctx context.Context, kind, namespace, name string) (BoundResource, error) {
	return func(ctx context.Context, kind, namespace, name string) (BoundResource, error) {
		proto, ok := bindable[kind]
		if !ok {
			return BoundResource{}, nil
		}
		obj := proto.DeepCopyObject().(external.Object)
		found, err := find(ctx, mgr, namespace, name, obj)
		_, status := obj.AWS()
		return BoundResource{found, status.Binding, obj}, err
	}
}

// find reads an object that a WebApp refers to.
func find(ctx context.Context, mgr ctrl.Manager, namespace, name string, obj engine.Object) (Named, error) {
	if err := mgr.GetClient().Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, obj); err != nil {
		return Named{}, client.IgnoreNotFound(err)
	}
	found := Named{
		Found: true, Deleting: obj.GetDeletionTimestamp() != nil, Ready: obj.Common().Ready,
		State: "it is not checked yet",
	}
	if ready := meta.FindStatusCondition(obj.Common().Conditions, v1alpha1.ConditionReady); ready != nil {
		found.State = ready.Message
	}
	return found, nil
}

// givesRightsIn returns a function that reports whether Portico gives AWS rights to the Pods of an AWSProvider's
// applications.
func givesRightsIn(mgr ctrl.Manager) func(ctx context.Context, provider string) (bool, error) {
	return func(ctx context.Context, name string) (bool, error) {
		provider := &v1alpha1.AWSProvider{}
		found, err := engine.Find(ctx, mgr.GetClient(), client.ObjectKey{Name: name}, provider)
		return found && provider.Spec.WorkloadIdentity.GivesRights(), err
	}
}
