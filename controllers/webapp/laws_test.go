package webapp_test

import (
	"context"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/apply"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/steps/stepstest"
	"github.com/portico-platform/portico/controllers/webapp"
)

type (
	app  = *v1alpha1.WebApp
	edit = stepstest.Edit[app]
)

func at(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "payments", Name: name} }

// schemeOf returns a scheme with only the types in use: the fake client visits all of them for every write.
func schemeOf(t *testing.T) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	for group, types := range map[schema.GroupVersion][]runtime.Object{
		corev1.SchemeGroupVersion: {
			&corev1.Pod{}, &corev1.PodList{}, &corev1.Service{}, &corev1.ServiceList{}, &corev1.ServiceAccount{},
			&corev1.ServiceAccountList{}, &corev1.Secret{},
		},
		appsv1.SchemeGroupVersion:        {&appsv1.Deployment{}, &appsv1.DeploymentList{}, &appsv1.ReplicaSet{}, &appsv1.ReplicaSetList{}},
		policyv1.SchemeGroupVersion:      {&policyv1.PodDisruptionBudget{}, &policyv1.PodDisruptionBudgetList{}},
		autoscalingv2.SchemeGroupVersion: {&autoscalingv2.HorizontalPodAutoscaler{}, &autoscalingv2.HorizontalPodAutoscalerList{}},
		v1alpha1.GroupVersion: {
			&v1alpha1.WebApp{}, &v1alpha1.WebAppList{},
			&v1alpha1.AccessBinding{}, &v1alpha1.AccessBindingList{}, &v1alpha1.DatabaseUser{},
			&v1alpha1.DatabaseUserList{},
		},
		{Group: gatewayv1.GroupName, Version: "v1"}: {&gatewayv1.HTTPRoute{}, &gatewayv1.HTTPRouteList{}},
	} {
		s.AddKnownTypes(group, types...)
		metav1.AddToGroupVersion(s, group)
	}
	return s
}

// indexed adds the indexes that the operator's cache has.
func indexed(b *fake.ClientBuilder) {
	of := func(o client.Object) []string { return []string{o.GetLabels()[v1alpha1.LabelWebApp]} }
	b.WithIndex(&corev1.Pod{}, webapp.Index, of).WithIndex(
		&appsv1.ReplicaSet{}, webapp.Index, of).WithStatusSubresource(&v1alpha1.WebApp{}, &v1alpha1.AccessBinding{},
		&v1alpha1.DatabaseUser{}, &gatewayv1.HTTPRoute{})
}

// topic returns a topic of this AWSProvider that exists in AWS.
func topic(provider string) *v1alpha1.SNSTopic {
	one := &v1alpha1.SNSTopic{}
	one.Spec.ProviderRef.Name, one.Status.ARN = provider, "arn:aws:sns:eu-west-1:111111111111:payments-news"
	one.Status.LastSyncTime = &metav1.Time{Time: time.Unix(1, 0)}
	return one
}

// work returns a reconciler that finds every bound resource; topics are in an account that gives rights.
func work(c *stepstest.Cluster) engine.KindReconciler[app] {
	return webapp.Reconciler{
		Applier: apply.Applier{Client: c.Client(), APIReader: c.APIReader()},
		Bound: func(_ context.Context, kind, _, name string) (webapp.BoundResource, error) {
			found := webapp.BoundResource{Named: webapp.Named{Found: true, Ready: true}, Binding: &v1alpha1.Binding{
				Name: name + "-binding", Keys: []string{"arn", "url"}, ResourceVersion: "7",
			}}
			if kind == v1alpha1.KindSNSTopic {
				found.Object = topic("main")
			}
			return found, nil
		},
		GivesRights: func(context.Context, string) (bool, error) { return true, nil },
		Now:         func() time.Time { return time.Unix(1_000_000, 0) },
		Routes: routes(webapp.Address{
			Named: webapp.Named{Found: true, Ready: true}, Hostname: "shop.example.com",
			URL: "https://shop.example.com", Parent: listener,
		}),
	}
}

var listener = &v1alpha1.HostnameParentRef{
	Group: gatewayv1.GroupName, Kind: "ListenerSet",
	Namespace: "portico-gateways", Name: "dc-1", SectionName: "https",
}

// routes returns the same address for every name.
func routes(a webapp.Address) webapp.Routes {
	return webapp.Routes{
		DisabledReason: func() string { return "" },
		Address:        func(context.Context, string, string) (webapp.Address, error) { return a, nil },
	}
}

// accept acts as the load balancer controller.
func accept(t *testing.T, c *stepstest.Cluster) {
	t.Helper()
	rollOut(t, c)
	var all gatewayv1.HTTPRouteList
	if err := c.Others.List(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	for i := range all.Items {
		r := &all.Items[i]
		before := r.DeepCopy()
		says(r, metav1.ConditionTrue)
		if equality.Semantic.DeepEqual(r.Status, before.Status) {
			continue
		}
		if err := c.Others.Status().Patch(t.Context(), r, client.MergeFrom(before)); err != nil {
			t.Fatal(err)
		}
	}
}

func says(r *gatewayv1.HTTPRoute, accepted metav1.ConditionStatus) {
	r.Status.Parents = nil
	for _, p := range r.Spec.ParentRefs {
		r.Status.Parents = append(r.Status.Parents, gatewayv1.RouteParentStatus{
			ParentRef: p, ControllerName: "gateway.k8s.aws/alb", Conditions: []metav1.Condition{{
				Type: string(gatewayv1.RouteConditionAccepted), Status: accepted, ObservedGeneration: r.Generation,
				Reason: "NotAllowedByListeners", Message: "no",
			}},
		})
	}
}

// rollOut acts as the Deployment controller.
func rollOut(t *testing.T, c *stepstest.Cluster) {
	t.Helper()
	var all appsv1.DeploymentList
	if err := c.Others.List(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	for i := range all.Items {
		d := &all.Items[i]
		before := d.DeepCopy()
		n := int32(1)
		if d.Spec.Replicas != nil {
			n = *d.Spec.Replicas
		}
		d.Status = appsv1.DeploymentStatus{
			Replicas: n, UpdatedReplicas: n, ReadyReplicas: n, AvailableReplicas: n,
			Conditions: []appsv1.DeploymentCondition{{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue}},
		}
		if equality.Semantic.DeepEqual(d.Status, before.Status) {
			continue
		}
		if err := c.Others.Status().Patch(t.Context(), d, client.MergeFrom(before)); err != nil {
			t.Fatal(err)
		}
	}
}

var (
	account    = &corev1.ServiceAccount{ObjectMeta: at("shop")}
	service    = &corev1.Service{ObjectMeta: at("shop")}
	deployment = &appsv1.Deployment{ObjectMeta: at("shop")}
	budget     = &policyv1.PodDisruptionBudget{ObjectMeta: at("shop")}
	scaler     = &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: at("shop")}
	httpRoute  = &gatewayv1.HTTPRoute{ObjectMeta: at("shop")}
)

func shop(change func(*v1alpha1.WebAppSpec)) app {
	a := &v1alpha1.WebApp{ObjectMeta: at("shop"), Spec: v1alpha1.WebAppSpec{
		Image: "registry.example.com/shop:1.0.0", Replicas: new(int32(1)), Port: 8080,
	}}
	a.UID = "shop-uid"
	if change != nil {
		change(&a.Spec)
	}
	return a
}

// everything sets every field of the spec.
func everything(s *v1alpha1.WebAppSpec) {
	key := &v1alpha1.SecretKeyRef{Name: "settings", Key: "token"}
	s.Replicas, s.Port = new(int32(3)), 9090
	s.Env = []v1alpha1.WebAppEnv{
		{Name: "LEVEL", Value: "info"},
		{Name: "EMPTY"},
		{Name: "TOKEN", ValueFrom: &v1alpha1.WebAppEnvSource{SecretKeyRef: key}},
		{Name: "COLOUR", ValueFrom: &v1alpha1.WebAppEnvSource{ConfigMapKeyRef: &v1alpha1.ConfigMapKeyRef{Name: "settings", Key: "token"}}},
	}
	s.EnvFrom = []v1alpha1.WebAppEnvFrom{
		{SecretRef: &v1alpha1.LocalRef{Name: "all"}, Prefix: "ALL_"},
		{ConfigMapRef: &v1alpha1.LocalRef{Name: "more"}},
	}
	s.Bindings = []v1alpha1.WebAppBinding{{Kind: "SQSQueue", Name: "orders"}}
	s.Resources = &v1alpha1.WebAppResources{
		Requests: &v1alpha1.WebAppQuantities{
			CPU: new(resource.MustParse("1500m")), Memory: new(resource.MustParse("1024Mi")),
		},
		Limits: &v1alpha1.WebAppQuantities{
			CPU: new(resource.MustParse("2000m")), Memory: new(resource.MustParse("2048Mi")),
		},
	}
	s.Probes = &v1alpha1.WebAppProbes{
		Readiness: &v1alpha1.WebAppProbe{Path: "/ready"}, Liveness: &v1alpha1.WebAppProbe{Port: 9091},
		Startup: &v1alpha1.WebAppProbe{Path: "/start", FailureThreshold: 9},
	}
	s.Command, s.Args = []string{"/app"}, []string{"-v", "serve"}
	s.ImagePullSecrets = []v1alpha1.LocalRef{{Name: "registry"}, {Name: "mirror"}}
	s.Identity = &v1alpha1.WebAppIdentity{AWSRoleARN: "arn:aws:iam::111122223333:role/shop"}
}

func TestAWebAppKeepsTheLawsOfSteps(t *testing.T) {
	t.Parallel()
	image := edit{Do: func(a app) { a.Spec.Image = "registry.example.com/shop:2.0.0" }}
	bare := edit{Do: func(a app) { a.Spec = shop(nil).Spec }, Gone: []client.Object{budget}}
	restart := edit{Do: func(a app) {
		a.Annotations = map[string]string{v1alpha1.AnnotationRestartRequestedAt: "2026-01-02T03:04:05Z"}
	}}
	for name, c := range map[string]stepstest.Case[app]{
		"only a name and an image": {
			Owner: shop(nil), Makes: []client.Object{account, service, deployment}, Repaired: []client.Object{
				account, service, deployment,
			},
			Edits: map[string]edit{"another image": image, "a restart": restart},
		},
		"everything": {
			Owner: shop(everything), Makes: []client.Object{account, service, deployment, budget},
			Edits: map[string]edit{"another image": image, "nothing of it": bare},
		},
		"autoscaled": {
			Owner: shop(func(s *v1alpha1.WebAppSpec) {
				s.Autoscaling = &v1alpha1.WebAppAutoscaling{Min: 2, Max: 5, TargetCPU: 70}
			}),
			Makes: []client.Object{account, service, deployment, budget, scaler}, Repaired: []client.Object{
				account, service, deployment,
			},
			Edits: map[string]edit{
				"other limits": {Do: func(a app) { a.Spec.Autoscaling.Max, a.Spec.Autoscaling.TargetCPU = 9, 50 }},
				"by hand":      {Do: func(a app) { a.Spec.Autoscaling, a.Spec.Replicas = nil, new(int32(2)) }, Gone: []client.Object{scaler}},
			},
		},
		"bound": {
			Owner: shop(func(s *v1alpha1.WebAppSpec) {
				s.Bindings = []v1alpha1.WebAppBinding{
					{Kind: "SQSQueue", Name: "orders"},
					{Kind: "S3Bucket", Name: "invoices", Prefix: "FILES"},
				}
			}),
			Makes: []client.Object{account, service, deployment}, Repaired: []client.Object{
				account, service, deployment,
			},
			Edits: map[string]edit{"unbound": {Do: func(a app) { a.Spec.Bindings = nil }}},
		},
		"exposed": {
			Owner: shop(func(s *v1alpha1.WebAppSpec) { s.Expose = &v1alpha1.WebAppExpose{Hostname: "shop"} }),
			Makes: []client.Object{account, service, httpRoute, deployment}, Repaired: []client.Object{
				account, service, httpRoute, deployment,
			},
			Edits: map[string]edit{"not any more": {Do: func(a app) { a.Spec.Expose = nil }, Gone: []client.Object{
				httpRoute,
			}}},
		},
	} {
		c.Scheme, c.Build, c.Reconciler, c.Settle = schemeOf(t), indexed, work, accept
		c.Cached = func(o client.Object) bool { return o.GetLabels()[apply.Label] == apply.LabelValue }
		t.Run(name, func(t *testing.T) { stepstest.Laws(t, c) })
	}
}
