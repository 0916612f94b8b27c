//go:build integration

package integration

import (
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/awsproxy"
	"github.com/portico-platform/portico/test/tiers"
)

// appLife is one WebApp under test.
type appLife struct {
	client.Client
	t   *testing.T
	app *v1alpha1.WebApp
}

func bornApp(t *testing.T, c client.Client, ns, name string) appLife {
	t.Helper()
	app := appOf(ns, name)
	app.Spec.Replicas = new(int32(2))
	create(t, c, app)
	return appLife{c, t, app}
}

func (l appLife) isReady() bool {
	err := l.Get(l.t.Context(), client.ObjectKeyFromObject(l.app), l.app)
	return err == nil && l.app.Status.Ready && l.app.Status.ObservedGeneration == l.app.Generation
}

// assertWhole checks that each object exists exactly once, and that there were no unnecessary rollouts.
func (l appLife) assertWhole(when string, revisions int) {
	l.t.Helper()
	for _, obj := range []client.Object{
		&appsv1.Deployment{}, &corev1.Service{}, &corev1.ServiceAccount{},
		&policyv1.PodDisruptionBudget{},
	} {
		if !metav1.IsControlledBy(child(l.t, l.Client, l.app, obj), l.app) {
			l.t.Errorf("%s: the %T does not belong to the WebApp", when, obj)
		}
	}
	d := child(l.t, l.Client, l.app, &appsv1.Deployment{})
	if got := d.Spec.Template.Spec.Containers[0].Image; got != l.app.Spec.Image || *d.Spec.Replicas != 2 {
		l.t.Errorf("%s: %d of %s", when, *d.Spec.Replicas, got)
	}
	if n := len(l.app.Status.Revisions); n != revisions {
		l.t.Errorf("%s: %d revisions, want %d", when, n, revisions)
	}
}

// F1: the operator dies right after every write for a WebApp, and a new one takes over. The deletion has no writes, and
// the tests of controllers/webapp cover deaths before every write.
func TestAWebAppSurvivesDeathAtEveryWrite(t *testing.T) {
	tiers.Long(t)
	c := admin(t)
	ns := team(t, c)
	for _, g := range []struct {
		name      string
		start     func(appLife)
		birth     bool
		revisions int
	}{
		{name: "birth", start: func(appLife) {}, birth: true, revisions: 1},
		{name: "edit", start: func(l appLife) {
			edit(t, c, l.app, func(a *v1alpha1.WebApp) { a.Spec.Image = "registry.example.com/shop:2.0.0" })
		}, revisions: 2},
	} {
		dies := func(name string, k *cut) {
			l := bornApp(t, c, ns, name)
			if !g.birth {
				stop := startOperator(t, operatorOptions{})
				ready(t, c, l.app)
				stop()
			}
			g.start(l)
			if k.live(t, l.isReady); k.at > 0 && !k.died() {
				return // fewer status writes this time: the number of reconciles depends on the Deployment controller
			}
			stop := startOperator(t, operatorOptions{})
			defer stop()
			ready(t, c, l.app)
			l.assertWhole(name, g.revisions)
			gone(t, c, l.app)
		}
		count := newCut(0, awsproxy.After)
		dies(g.name+"-count", count)
		writes := count.seen.Load()
		t.Logf("%s: %d writes", g.name, writes)
		if writes < 2 {
			t.Fatalf("only %d writes were counted in %s", writes, g.name)
		}
		for _, at := range deathsAmong(writes, g.name) {
			dies(fmt.Sprintf("%s-%d", g.name, at), newCut(at, awsproxy.After))
		}
	}
}

// F3: the cache shows an earlier WebApp with this name.
func TestAnOldPictureOfAWebAppWritesNothing(t *testing.T) {
	c := admin(t)
	old := &stale{}
	stop := startOperator(t, operatorOptions{})
	ns := team(t, c)
	first := bornApp(t, c, ns, "twice")
	ready(t, c, first.app)
	before := first.app.DeepCopy()
	gone(t, c, first.app)
	second := appOf(ns, "twice")
	second.Spec.Image = "registry.example.com/shop:9.0.0"
	createReady(t, c, second)
	stop()
	version := child(t, c, second, &appsv1.Deployment{}).Generation
	old.serve(before)
	startOperator(t, operatorOptions{newClient: old.kube})
	old.awaitUse(t, func() { annotate(t, c, second, v1alpha1.AnnotationReconcileRequestedAt, "now") })
	if d := child(t, c, second, &appsv1.Deployment{}); d.Generation != version || !metav1.IsControlledBy(d, second) {
		t.Errorf("the Deployment was written for a WebApp that is gone: %+v", d.ObjectMeta)
	}
}

// F4: a WebApp that was edited and deleted while no operator ran.
func TestAWebAppThatNobodySawIsCleanedUp(t *testing.T) {
	c := admin(t)
	stop := startOperator(t, operatorOptions{})
	l := bornApp(t, c, team(t, c), "brief")
	ready(t, c, l.app)
	stop()
	edit(t, c, l.app, func(a *v1alpha1.WebApp) { a.Spec.Port = 9000 })
	if err := erase(t, c, l.app); err != nil {
		t.Fatal(err)
	}
	startOperator(t, operatorOptions{})
	awaitGone(t, c, l.app)
	await(t, "the Deployment to go", func() (bool, string) {
		err := c.Get(t.Context(), client.ObjectKeyFromObject(l.app), &appsv1.Deployment{})
		return apierrors.IsNotFound(err), fmt.Sprint(err)
	})
}

// F5 and F10: two operators agree, and write nothing at rest, in any number of reconciles.
func TestAWebAppAtRestIsLeftAlone(t *testing.T) {
	c := admin(t)
	one, two := newCut(0, awsproxy.Before), newCut(0, awsproxy.Before)
	startOperator(t, operatorOptions{resync: 100 * time.Millisecond, newClient: one.kube})
	startOperator(t, operatorOptions{resync: 100 * time.Millisecond, newClient: two.kube})
	ns := team(t, c)
	create(t, c, queueOf(ns, "orders"))
	app := fullApp(ns, "full")
	create(t, c, app)
	plain := bornApp(t, c, ns, "plain")
	for _, l := range []appLife{{c, t, app}, plain} {
		ready(t, c, l.app)
		atRest(t, c, l.app)
		l.assertRevision()
	}
	wrote := one.seen.Load() + two.seen.Load()
	from := passesOf(t, "webapp")
	await(t, "forty passes", func() (bool, string) {
		n := passesOf(t, "webapp") - from
		return n >= 40, fmt.Sprint(n)
	})
	if n := one.seen.Load() + two.seen.Load() - wrote; n != 0 {
		t.Errorf("%d Kubernetes writes at rest", n)
	}
}

// passesOf returns the number of reconciles of a controller in this process so far.
func passesOf(t *testing.T, controller string) int {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	total := 0.0
	for _, f := range families {
		if f.GetName() != "controller_runtime_reconcile_total" {
			continue
		}
		for _, m := range f.GetMetric() {
			for _, label := range m.GetLabel() {
				if label.GetName() == "controller" && label.GetValue() == controller {
					total += m.GetCounter().GetValue()
				}
			}
		}
	}
	return int(total)
}

func (l appLife) assertRevision() {
	l.t.Helper()
	if n := len(l.app.Status.Revisions); n != 1 {
		l.t.Errorf("%s: %d revisions", l.app.Name, n)
	}
}

// fullApp returns a WebApp that sets every field.
func fullApp(ns, name string) *v1alpha1.WebApp {
	app := appOf(ns, name)
	probe := &v1alpha1.WebAppProbe{
		Path: "/healthz", Port: 9090, PeriodSeconds: 7, TimeoutSeconds: 2,
		FailureThreshold: 4,
	}
	app.Spec = v1alpha1.WebAppSpec{
		Image: "registry.example.com/shop:1.0.0", Port: 9090, Command: []string{"/app"}, Args: []string{"serve", "-v"},
		Env: []v1alpha1.WebAppEnv{
			{Name: "LEVEL", Value: "info"},
			{Name: "EMPTY"},
			{Name: "TOKEN", ValueFrom: &v1alpha1.WebAppEnvSource{SecretKeyRef: &v1alpha1.SecretKeyRef{Name: "token", Key: "token"}}},
			{Name: "MODE", ValueFrom: &v1alpha1.WebAppEnvSource{ConfigMapKeyRef: &v1alpha1.ConfigMapKeyRef{Name: "modes", Key: "mode"}}},
		},
		EnvFrom: []v1alpha1.WebAppEnvFrom{
			{SecretRef: &v1alpha1.LocalRef{Name: "more"}},
			{ConfigMapRef: &v1alpha1.LocalRef{Name: "modes"}, Prefix: "M_"},
		},
		Resources: &v1alpha1.WebAppResources{
			Requests: &v1alpha1.WebAppQuantities{CPU: quantity("0.25"), Memory: quantity("1024Mi")},
			Limits:   &v1alpha1.WebAppQuantities{CPU: quantity("1000m"), Memory: quantity("2048Mi")},
		},
		Probes:           &v1alpha1.WebAppProbes{Readiness: probe, Liveness: probe, Startup: probe},
		Autoscaling:      &v1alpha1.WebAppAutoscaling{Min: 2, Max: 4, TargetCPU: 60},
		Bindings:         []v1alpha1.WebAppBinding{{Kind: "SQSQueue", Name: "orders", Prefix: "MAIL"}},
		ImagePullSecrets: []v1alpha1.LocalRef{{Name: "registry"}},
		Identity:         &v1alpha1.WebAppIdentity{AWSRoleARN: "arn:aws:iam::123456789012:role/shop"},
	}
	return app
}
