//go:build integration

package integration

import (
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// appOf returns a WebApp with only an image.
func appOf(ns, name string) *v1alpha1.WebApp {
	return &v1alpha1.WebApp{ObjectMeta: meta1(ns, name), Spec: v1alpha1.WebAppSpec{
		Image: "registry.example.com/shop:1.0.0",
	}}
}

// child reads the object of into's type that has the app's name.
func child[T client.Object](t *testing.T, c client.Client, app *v1alpha1.WebApp, into T) T {
	t.Helper()
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(app), into); err != nil {
		t.Fatal(err)
	}
	return into
}

func conditionOf(app *v1alpha1.WebApp, kind string) metav1.Condition {
	if c := meta.FindStatusCondition(app.Status.Conditions, kind); c != nil {
		return *c
	}
	return metav1.Condition{}
}

func TestAWebAppFromImageToReady(t *testing.T) {
	c := withOperator(t)
	ns := team(t, c)
	restrict(t, c, ns)
	app := appOf(ns, "shop")
	app.Spec.Replicas = new(int32(2))
	createReady(t, c, app)

	d := child(t, c, app, &appsv1.Deployment{})
	if got := d.Spec.Template.Spec.Containers[0].Image; got != app.Spec.Image || *d.Spec.Replicas != 2 {
		t.Errorf("the Deployment runs %d of %s", *d.Spec.Replicas, got)
	}
	for _, obj := range []client.Object{&corev1.Service{}, &corev1.ServiceAccount{}, &policyv1.PodDisruptionBudget{}} {
		if !metav1.IsControlledBy(child(t, c, app, obj), app) {
			t.Errorf("the %T does not belong to the WebApp", obj)
		}
	}
	s := app.Status
	if s.Availability != "2/2" || len(s.Revisions) != 1 {
		t.Errorf("Availability = %q, Revisions = %+v, want 2/2, one", s.Availability, s.Revisions)
	}
	if url := "http://shop." + ns + ".svc"; s.Image != app.Spec.Image || s.URL != url {
		t.Errorf("Image = %q, URL = %q, want %s, %s", s.Image, s.URL, app.Spec.Image, url)
	}
	for _, kind := range []string{
		v1alpha1.StepService, v1alpha1.StepDeployment, v1alpha1.StepRolledOut,
		v1alpha1.ConditionAvailable, v1alpha1.ConditionProgressing,
	} {
		if got := conditionOf(app, kind); got.Status != metav1.ConditionTrue {
			t.Errorf("condition %s: %+v", kind, got)
		}
	}
	if got := conditionOf(app, v1alpha1.StepAutoscaler); got.Type != "" {
		t.Errorf("a step that nobody asked for has the condition %+v", got)
	}
	gone(t, c, app)
	await(t, "everything to go with it", func() (bool, string) {
		err := c.Get(t.Context(), client.ObjectKey{Namespace: ns, Name: "shop"}, &appsv1.Deployment{})
		return apierrors.IsNotFound(err), fmt.Sprint(err)
	})
}

// restrict enforces the restricted Pod Security Standard in the namespace.
func restrict(t *testing.T, c client.Client, ns string) {
	t.Helper()
	edit(t, c, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}, func(n *corev1.Namespace) {
		n.Labels["pod-security.kubernetes.io/enforce"] = "restricted"
	})
}

func TestEveryEditOfAWebAppRollsOut(t *testing.T) {
	c := withOperator(t)
	app := appOf(team(t, c), "shop")
	app.Spec.Env = []v1alpha1.WebAppEnv{{Name: "FIRST", Value: "x"}}
	createReady(t, c, app)
	edits := []struct {
		name string
		edit func(*v1alpha1.WebAppSpec)
		done func(*corev1.PodSpec) bool
	}{
		{"what it was made with is removed", func(s *v1alpha1.WebAppSpec) { s.Env = nil }, func(p *corev1.PodSpec) bool { return len(p.Containers[0].Env) == 0 }},
		{
			"image", func(s *v1alpha1.WebAppSpec) { s.Image = "registry.example.com/shop:2.0.0" },
			func(p *corev1.PodSpec) bool {
				return p.Containers[0].Image == "registry.example.com/shop:2.0.0"
			},
		},
		{"port", func(s *v1alpha1.WebAppSpec) { s.Port = 9090 }, func(p *corev1.PodSpec) bool {
			return len(p.Containers[0].Ports) == 1 && p.Containers[0].Ports[0].ContainerPort == 9090 &&
				p.Containers[0].ReadinessProbe.TCPSocket.Port.IntVal == 9090
		}},
		{"a variable added", func(s *v1alpha1.WebAppSpec) {
			s.Env = []v1alpha1.WebAppEnv{{Name: "LEVEL", Value: "info"}, {Name: "EMPTY"}}
		}, func(p *corev1.PodSpec) bool { return len(p.Containers[0].Env) == 2 }},
		{"a variable removed", func(s *v1alpha1.WebAppSpec) { s.Env = s.Env[:1] }, func(p *corev1.PodSpec) bool { return len(p.Containers[0].Env) == 1 }},
		{"command and arguments", func(s *v1alpha1.WebAppSpec) {
			s.Command, s.Args = []string{"/app"}, []string{"-v", "serve"}
		}, func(p *corev1.PodSpec) bool {
			return strings.Join(append(p.Containers[0].Command, p.Containers[0].Args...), " ") == "/app -v serve"
		}},
		{
			"command removed", func(s *v1alpha1.WebAppSpec) { s.Command, s.Args = nil, nil },
			func(p *corev1.PodSpec) bool {
				return len(p.Containers[0].Command)+len(p.Containers[0].Args) == 0
			},
		},
		{"a probe by HTTP", func(s *v1alpha1.WebAppSpec) {
			s.Probes = &v1alpha1.WebAppProbes{Readiness: &v1alpha1.WebAppProbe{Path: "/healthz"}}
		}, func(p *corev1.PodSpec) bool {
			return p.Containers[0].ReadinessProbe.HTTPGet != nil && p.Containers[0].ReadinessProbe.TCPSocket == nil
		}},
		{"back to TCP", func(s *v1alpha1.WebAppSpec) { s.Probes = nil }, func(p *corev1.PodSpec) bool {
			return p.Containers[0].ReadinessProbe.HTTPGet == nil && p.Containers[0].ReadinessProbe.TCPSocket != nil
		}},
	}
	for _, e := range edits {
		t.Run(e.name, func(t *testing.T) {
			edit(t, c, app, func(a *v1alpha1.WebApp) { e.edit(&a.Spec) })
			ready(t, c, app)
			d := child(t, c, app, &appsv1.Deployment{})
			if !e.done(&d.Spec.Template.Spec) {
				t.Errorf("the Deployment has %+v", d.Spec.Template.Spec)
			}
		})
	}
	if d := child(t, c, app, &appsv1.Deployment{}); *d.Spec.RevisionHistoryLimit != 5 {
		t.Errorf("limit of the history: %d, want 5", *d.Spec.RevisionHistoryLimit)
	}
	await(t, "Kubernetes deletes the oldest ReplicaSets, and the history follows", func() (bool, string) {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(app), app); err != nil {
			t.Fatal(err)
		}
		return len(app.Status.Revisions) <= 6, fmt.Sprintf("history of %d, want 6 at most", len(app.Status.Revisions))
	})
}

func TestWhatRunsForAWebAppIsRepaired(t *testing.T) {
	c := withOperator(t)
	app := appOf(team(t, c), "shop")
	app.Spec.Replicas = new(int32(2))
	createReady(t, c, app)
	repaired := func(what string, ok func() bool) {
		t.Helper()
		await(t, what, func() (bool, string) { return ok(), "not yet" })
	}

	old := child(t, c, app, &corev1.Service{}).UID
	if err := c.Delete(t.Context(), &corev1.Service{ObjectMeta: meta1(app.Namespace, app.Name)}); err != nil {
		t.Fatal(err)
	}
	repaired("the Service to come back", func() bool {
		var s corev1.Service
		return c.Get(t.Context(), client.ObjectKeyFromObject(app), &s) == nil && s.UID != old
	})

	edit(t, c, child(t, c, app, &appsv1.Deployment{}), func(d *appsv1.Deployment) {
		d.Spec.Template.Spec.Containers[0].Image = "evil.example.com/miner:1"
		d.Spec.Replicas = new(int32(7))
		d.Spec.Template.Annotations = map[string]string{"kubectl.kubernetes.io/restartedAt": "2026-01-02T03:04:05Z"}
		d.Labels["team"] = "payments"
	})
	repaired("image and replicas to be ours again", func() bool {
		d := child(t, c, app, &appsv1.Deployment{})
		return d.Spec.Template.Spec.Containers[0].Image == app.Spec.Image && *d.Spec.Replicas == 2
	})
	d := child(t, c, app, &appsv1.Deployment{})
	if d.Spec.Template.Annotations["kubectl.kubernetes.io/restartedAt"] == "" || d.Labels["team"] == "" {
		t.Error("what others declared was taken away")
	}
	awaitEvent(t, c, app, "Repaired", "image", "evil.example.com/miner:1")

	edit(t, c, child(t, c, app, &corev1.ServiceAccount{}), func(a *corev1.ServiceAccount) {
		delete(a.Labels, "app.kubernetes.io/managed-by")
	})
	repaired("the label to come back", func() bool {
		return child(t, c, app, &corev1.ServiceAccount{}).Labels["app.kubernetes.io/managed-by"] != ""
	})
	ready(t, c, app)
}

func TestAWebAppTakesNothingThatIsNotItsOwn(t *testing.T) {
	c := withOperator(t)
	for name, foreign := range map[string]client.Object{
		"Deployment": &appsv1.Deployment{Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: "registry.example.com/other:1"}}},
			},
		}},
		"Service":        &corev1.Service{Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}},
		"ServiceAccount": &corev1.ServiceAccount{},
	} {
		t.Run(name, func(t *testing.T) {
			app := appOf(team(t, c), "shop")
			foreign.SetNamespace(app.Namespace)
			foreign.SetName(app.Name)
			create(t, c, foreign)
			before := foreign.GetResourceVersion()
			create(t, c, app)
			got := reason(t, c, app, "Conflict")
			if !containsAll(got.Message, []string{name + " shop exists already", "Portico did not make it"}) {
				t.Errorf("message %q", got.Message)
			}
			now := child(t, c, app, foreign)
			if len(now.GetOwnerReferences()) > 0 || name != "Deployment" && now.GetResourceVersion() != before {
				t.Errorf("the %s was touched: %+v", name, now)
			}
			gone(t, c, app)
			child(t, c, app, foreign)
		})
	}
}

func TestTheAutoscalerOwnsTheReplicas(t *testing.T) {
	c := withOperator(t)
	app := appOf(team(t, c), "shop")
	app.Spec.Replicas = new(int32(3))
	createReady(t, c, app)
	edit(t, c, app, func(a *v1alpha1.WebApp) {
		a.Spec.Autoscaling = &v1alpha1.WebAppAutoscaling{Min: 2, Max: 5, TargetCPU: 70}
	})
	ready(t, c, app)
	if d := child(t, c, app, &appsv1.Deployment{}); *d.Spec.Replicas != 3 {
		t.Errorf("%d replicas: the change to autoscaling must not change them", *d.Spec.Replicas)
	}
	hpa := child(t, c, app, &autoscalingv2.HorizontalPodAutoscaler{})
	if *hpa.Spec.MinReplicas != 2 || hpa.Spec.MaxReplicas != 5 {
		t.Errorf("autoscaler %+v", hpa.Spec)
	}
	// The autoscaler does this.
	edit(t, c, child(t, c, app, &appsv1.Deployment{}), func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(4)) })
	await(t, "4 replicas", func() (bool, string) {
		_ = c.Get(t.Context(), client.ObjectKeyFromObject(app), app)
		return app.Status.Availability == "4/4" && app.Status.Ready, app.Status.Availability
	})
	edit(t, c, child(t, c, app, &appsv1.Deployment{}), func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(9)) })
	await(t, "no more than max", func() (bool, string) {
		d := child(t, c, app, &appsv1.Deployment{})
		return *d.Spec.Replicas == 5, fmt.Sprint(*d.Spec.Replicas)
	})
	edit(t, c, app, func(a *v1alpha1.WebApp) { a.Spec.Autoscaling = nil })
	await(t, "the spec's replicas, and no autoscaler", func() (bool, string) {
		d := child(t, c, app, &appsv1.Deployment{})
		err := c.Get(t.Context(), client.ObjectKeyFromObject(app), &autoscalingv2.HorizontalPodAutoscaler{})
		return *d.Spec.Replicas == 3 && apierrors.IsNotFound(err), fmt.Sprint(*d.Spec.Replicas, err)
	})
	ready(t, c, app)
}

func quantity(text string) *resource.Quantity { return new(resource.MustParse(text)) }
