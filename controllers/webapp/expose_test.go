package webapp_test

import (
	"context"
	"errors"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/steps/stepstest"
	"github.com/portico-platform/portico/controllers/webapp"
)

// isExposed exposes the application at a hostname.
func isExposed(s *v1alpha1.WebAppSpec) { s.Expose = &v1alpha1.WebAppExpose{Hostname: "shop"} }

// route returns the app's route, nil if there is none.
func (l *life) route() *gatewayv1.HTTPRoute {
	l.t.Helper()
	r := &gatewayv1.HTTPRoute{}
	err := l.Others.Get(l.t.Context(), client.ObjectKeyFromObject(l.app), r)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		l.t.Fatal(err)
	}
	return r
}

// through reconciles with other hostnames than the default ones.
func (l *life) through(r webapp.Routes) error {
	l.t.Helper()
	rec := work(l.Cluster).(webapp.Reconciler)
	rec.Routes = r
	return l.with(rec)
}

// serving returns an app that is reachable at its hostname, and bound to a queue.
func serving(t *testing.T) *life {
	t.Helper()
	l := begin(t, shop(func(s *v1alpha1.WebAppSpec) {
		isExposed(s)
		s.Bindings = []v1alpha1.WebAppBinding{{Kind: "SQSQueue", Name: "orders"}}
	}))
	_ = l.sync()
	accept(t, l.Cluster)
	if err := l.sync(); err != nil || l.app.Status.URL != "https://shop.example.com" {
		t.Fatalf("%v, URL %s", err, l.app.Status.URL)
	}
	return l
}

func TestTheURLStaysWhileTrafficFlows(t *testing.T) {
	const url, inCluster = "https://shop.example.com", "http://shop.payments.svc"
	const answers, rolled = "True Done it answers at shop.example.com",
		"True Done 1 replica of registry.example.com/shop:1.0.0"
	leaving := func(_ context.Context, _, _, _ string) (webapp.BoundResource, error) {
		return webapp.BoundResource{Named: webapp.Named{Found: true, Deleting: true}}, nil
	}
	address := webapp.Address{
		Named: webapp.Named{Found: true, Ready: true}, Hostname: "shop.example.com", URL: url,
		Parent: listener,
	}
	for name, row := range map[string]struct {
		happens  func(*life, *webapp.Reconciler)
		reason   string
		url      string
		exposed  string
		rolled   string
		deployed string
	}{
		"a rollout fails": {
			func(l *life, _ *webapp.Reconciler) {
				l.app.Generation++
				l.app.Spec.Image = "registry.example.com/shop:bad"
				_ = l.sync() // creates it
				hangs := appsv1.DeploymentCondition{
					Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse,
					Reason: "ProgressDeadlineExceeded",
				}
				l.controller("2", appsv1.DeploymentStatus{
					Replicas: 2, UpdatedReplicas: 1, AvailableReplicas: 1,
					Conditions: []appsv1.DeploymentCondition{hangs},
				})
			},
			"ProgressDeadlineExceeded", url, answers,
			"False ProgressDeadlineExceeded no progress in 300 seconds: 1 replica updated, 1 old to go",
			"True Done the Deployment asks for registry.example.com/shop:bad",
		},
		"a binding is being deleted": {
			func(_ *life, w *webapp.Reconciler) { w.Bound = leaving },
			"BindingNotFound", url, answers, rolled,
			"True Done the Deployment asks for registry.example.com/shop:1.0.0",
		},
		"a binding is being deleted, and the Pods fail without it": {
			func(l *life, w *webapp.Reconciler) {
				w.Bound = leaving
				l.controller("1", appsv1.DeploymentStatus{Replicas: 1, UpdatedReplicas: 1})
			},
			"BindingNotFound", url, "False MinimumReplicasUnavailable shop.example.com leads to it; it answers as " +
				"soon as a replica is available", "False RollingOut 0 of 1 replica available",
			"True Done the Deployment asks for registry.example.com/shop:1.0.0",
		},
		"a binding is being deleted while another image is asked for": {
			func(l *life, w *webapp.Reconciler) {
				w.Bound = leaving
				l.app.Generation++
				l.app.Spec.Image = "registry.example.com/shop:2.0.0"
			},
			"BindingNotFound", url, answers, "Unknown Waiting waiting for BindingsReady",
			"Unknown Waiting waiting for BindingsReady",
		},
		"the API server fails early": {
			func(l *life, _ *webapp.Reconciler) {
				l.Before = func(c stepstest.Call) error {
					if c.Kind == "ServiceAccount" {
						return errors.New("boom")
					}
					return nil
				}
			},
			"", url, answers, rolled, "True Done the Deployment asks for registry.example.com/shop:1.0.0",
		},
		"the API server fails early, and at the route": {
			func(l *life, _ *webapp.Reconciler) {
				l.Before = func(c stepstest.Call) error {
					if c.Kind == "ServiceAccount" || c.Kind == "HTTPRoute" {
						return errors.New("boom")
					}
					return nil
				}
			},
			"", url, answers, rolled, "True Done the Deployment asks for registry.example.com/shop:1.0.0",
		},
		"the hostname cannot be looked up": {
			func(_ *life, w *webapp.Reconciler) {
				w.Routes.Address = func(context.Context, string, string) (webapp.Address, error) {
					return webapp.Address{}, errors.New("boom")
				}
			},
			"", url, answers, rolled, "True Done the Deployment asks for registry.example.com/shop:1.0.0",
		},
		"the hostname is not Ready for a while": {
			func(_ *life, w *webapp.Reconciler) {
				address := address
				address.Ready, address.State = false, "ACM renews the certificate"
				w.Routes = routes(address)
			},
			"WaitingForHostname", url, "False WaitingForHostname waiting for the GatewayHostnameRequest shop: ACM " +
				"renews the certificate", rolled,
			"True Done the Deployment asks for registry.example.com/shop:1.0.0",
		},
		"the hostname is being deleted": {
			func(_ *life, w *webapp.Reconciler) {
				w.Routes = routes(webapp.Address{Named: webapp.Named{Found: true, Deleting: true}})
			},
			"HostnameNotFound", inCluster, "Unknown Waiting waiting for RouteReady", rolled,
			"True Done the Deployment asks for registry.example.com/shop:1.0.0",
		},
		"the route is refused": {
			func(l *life, _ *webapp.Reconciler) {
				r := l.route()
				says(r, metav1.ConditionFalse)
				if err := l.Others.Status().Update(l.t.Context(), r); err != nil {
					l.t.Fatal(err)
				}
			},
			"RouteRefused", inCluster, "False RouteRefused the load balancer controller refuses the route: " +
				"NotAllowedByListeners: no", rolled,
			"True Done the Deployment asks for registry.example.com/shop:1.0.0",
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := serving(t)
			rec := work(l.Cluster).(webapp.Reconciler)
			row.happens(l, &rec)
			err := l.with(rec)
			reason := ""
			if wait, ok := engine.AsWait(err); ok {
				reason = wait.Reason
			}
			if err == nil || reason != row.reason {
				t.Errorf("error = %v, want the reason %s", err, row.reason)
			}
			if l.app.Status.URL != row.url {
				t.Errorf("the URL is %s, want %s", l.app.Status.URL, row.url)
			}
			for step, want := range map[string]string{
				v1alpha1.StepExposed:   row.exposed,
				v1alpha1.StepRolledOut: row.rolled, v1alpha1.StepDeployment: row.deployed,
			} {
				if got := l.told(step); got != want {
					t.Errorf("%s is %q, want %q", step, got, want)
				}
			}
		})
	}
}

func TestAHostnameThatCannotBeUsedIsExplained(t *testing.T) {
	ready := webapp.Address{
		Named: webapp.Named{Found: true, Ready: true}, Hostname: "shop.example.com",
		URL: "https://shop.example.com", Parent: listener,
	}
	for name, row := range map[string]struct {
		routes       webapp.Routes
		reason, text string
		route        bool
	}{
		"no hostnames in this cluster": {
			webapp.Routes{DisabledReason: func() string { return "it lacks ListenerSet" }},
			"HostnamesOff",
			"this cluster gives no hostnames: it lacks ListenerSet. Ask a platform admin, or remove expose", false,
		},
		"no such request": {
			routes(webapp.Address{}), "HostnameNotFound",
			"there is no GatewayHostnameRequest shop in this namespace; request it, or remove expose", false,
		},
		"one that is being deleted": {
			routes(webapp.Address{Named: webapp.Named{Found: true, Deleting: true}}), "HostnameNotFound",
			"the GatewayHostnameRequest shop is being deleted; name another one, or remove expose", false,
		},
		"one without a listener": {
			routes(webapp.Address{Named: webapp.Named{Found: true, State: "ACM looks for the record"}}),
			"WaitingForHostname",
			"waiting for the GatewayHostnameRequest shop: ACM looks for the record", false,
		},
		"a route that nobody has looked at": {
			routes(ready), "RoutePending", "the load balancer controller has not taken up the route yet", true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := begin(t, shop(isExposed))
			_ = l.through(row.routes) // creates the Deployment if it gets that far
			rollOut(t, l.Cluster)
			err := l.through(row.routes)
			l.is(err, row.reason, row.text)
			if (l.route() != nil) != row.route {
				t.Errorf("route %v", l.route())
			}
		})
	}
	boom := errors.New("boom")
	l := begin(t, shop(isExposed))
	failing := routes(ready)
	failing.Address = func(context.Context, string, string) (webapp.Address, error) { return ready, boom }
	if err := l.through(failing); !errors.Is(err, boom) || l.route() != nil {
		t.Errorf("%v, route %v", err, l.route())
	}
}

func TestTheURLIsTheHostnameOnceItAnswers(t *testing.T) {
	l := begin(t, shop(isExposed))
	_ = l.sync()
	rollOut(t, l.Cluster)
	_ = l.sync()
	if l.app.Status.URL != "http://shop.payments.svc" {
		t.Errorf("before the route is accepted: %s", l.app.Status.URL)
	}
	r := l.route()
	says(r, metav1.ConditionFalse)
	if err := l.Others.Status().Update(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	l.is(l.sync(), "RouteRefused", "the load balancer controller refuses the route: NotAllowedByListeners: no")
	accept(t, l.Cluster)
	if err := l.sync(); err != nil || l.app.Status.URL != "https://shop.example.com" {
		t.Errorf("%v, URL %s", err, l.app.Status.URL)
	}
	if len(r.Spec.Hostnames) != 1 || r.Spec.Hostnames[0] != "shop.example.com" ||
		string(r.Spec.ParentRefs[0].Name) != listener.Name {
		t.Errorf("route %+v", r.Spec)
	}
}

// The deletion of an unwanted route must not wait for a rollout that is stuck.
func TestTheRouteGoesThoughTheRolloutHangs(t *testing.T) {
	l := begin(t, shop(isExposed))
	_ = l.sync()
	if l.route() == nil {
		t.Fatal("there is no route")
	}
	l.app.Spec.Expose = nil
	if err := l.sync(); err == nil || l.route() != nil {
		t.Errorf("%v, route %v", err, l.route())
	}
}

func TestWithoutGatewayAPIAWebAppRunsAsBefore(t *testing.T) {
	l := begin(t, shop(nil))
	off := webapp.Routes{DisabledReason: func() string { return "it lacks HTTPRoute" }}
	_ = l.through(off)
	rollOut(t, l.Cluster)
	if err := l.through(off); err != nil {
		t.Error(err)
	}
}
