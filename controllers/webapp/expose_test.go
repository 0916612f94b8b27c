package webapp_test

import (
	"context"
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/webapp"
)

// at a hostname.
func exposed(s *v1alpha1.WebAppSpec) { s.Expose = &v1alpha1.WebAppExpose{Hostname: "shop"} }

// route is the app's; nil, if there is none.
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

// through runs the work with other hostnames than the ones that are always there.
func (l *life) through(r webapp.Routes) error {
	l.t.Helper()
	w := work(l.Cluster).(webapp.Work)
	w.Routes = r
	l.pass = engine.NewPass(nil)
	return w.Sync(l.t.Context(), l.app, l.pass)
}

func TestAHostnameThatCannotBeUsedIsExplained(t *testing.T) {
	ready := webapp.Address{Found: true, Ready: true, Hostname: "shop.example.com", URL: "https://shop.example.com", Parent: listener}
	for name, row := range map[string]struct {
		routes       webapp.Routes
		reason, text string
		route        bool
	}{
		"no hostnames in this cluster": {
			webapp.Routes{Off: func() string { return "it lacks ListenerSet" }},
			"HostnamesOff",
			"this cluster gives no hostnames: it lacks ListenerSet. Ask a platform admin, or remove expose", false,
		},
		"no such request": {
			routes(webapp.Address{}), "HostnameNotFound",
			"there is no GatewayHostnameRequest shop in this namespace; request it, or remove expose", false,
		},
		"one that is being deleted": {
			routes(webapp.Address{Found: true, Leaving: true}), "HostnameNotFound",
			"the GatewayHostnameRequest shop is being deleted; name another one, or remove expose", false,
		},
		"one without a listener": {
			routes(webapp.Address{Found: true, State: "ACM looks for the record"}), "WaitingForHostname",
			"waiting for the GatewayHostnameRequest shop: ACM looks for the record", false,
		},
		"a route that nobody has looked at": {
			routes(ready), "RoutePending", "the load balancer controller has not taken up the route yet", true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := begin(t, shop(exposed))
			_ = l.through(row.routes) // makes the Deployment, if it comes so far
			rollOut(t, l.Cluster)
			err := l.through(row.routes)
			l.is(err, row.reason, row.text)
			if (l.route() != nil) != row.route {
				t.Errorf("route %v", l.route())
			}
		})
	}
	boom := errors.New("boom")
	l := begin(t, shop(exposed))
	failing := routes(ready)
	failing.Address = func(context.Context, string, string) (webapp.Address, error) { return ready, boom }
	if err := l.through(failing); !errors.Is(err, boom) || l.route() != nil {
		t.Errorf("%v, route %v", err, l.route())
	}
}

func TestTheURLIsTheHostnameOnceItAnswers(t *testing.T) {
	l := begin(t, shop(exposed))
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
	if len(r.Spec.Hostnames) != 1 || r.Spec.Hostnames[0] != "shop.example.com" || string(r.Spec.ParentRefs[0].Name) != listener.Name {
		t.Errorf("route %+v", r.Spec)
	}
}

// What is not to be reached any more must not wait for a rollout that hangs.
func TestTheRouteGoesThoughTheRolloutHangs(t *testing.T) {
	l := begin(t, shop(exposed))
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
	off := webapp.Routes{Off: func() string { return "it lacks HTTPRoute" }}
	_ = l.through(off)
	rollOut(t, l.Cluster)
	if err := l.through(off); err != nil {
		t.Error(err)
	}
}
