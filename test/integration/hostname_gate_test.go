//go:build integration

package integration

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers"
	"github.com/portico-platform/portico/test/stack"
	"github.com/portico-platform/portico/test/tiers"
)

// In a cluster without Gateway API everything else works, one line of the log says what is missing, and hostnames are
// served as soon as it is installed.
func TestHostnamesWaitForGatewayAPI(t *testing.T) {
	tiers.Long(t)
	bare, err := stack.Start(context.Background(),
		stack.Options{Root: "../..", Parts: stack.ControlPlane | stack.AWS, Progress: os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	bare.Proxy.SetRoute53Rate(0)
	usual := world
	world = bare
	t.Cleanup(func() { // after all other cleanups of the test
		world = usual
		_ = bare.Close()
	})

	c, err := client.New(bare.Admin, client.Options{Scheme: controllers.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	said := &lines{}
	startOperatorAs(t, operatorsOwn(t),
		operatorOptions{log: funcr.New(func(_, args string) { said.add(args) }, funcr.Options{})})
	d := domainOf(t, c)
	bucket := bucketOf(d.ns, "works")
	createReady(t, c, bucket)
	app := appOf(d.ns, "shop")
	app.Spec.Expose = &v1alpha1.WebAppExpose{Hostname: "shop"}
	create(t, c, app)
	if got := reason(t, c, app, "HostnamesOff"); !strings.Contains(
		got.Message, "the cluster lacks GRPCRoute of gateway.networking.k8s.io/v1, Gateway of "+
			"gateway.networking.k8s.io/v1") {
		t.Errorf("%q", got.Message)
	}
	r := d.request("shop." + d.name)
	atRest(t, c, r)
	if r.Status.Claim != "" {
		t.Errorf("status %+v", r.Status)
	}
	if n := said.count("the feature is off"); n != 1 {
		t.Errorf("it is said %d times:\n%s", n, said)
	}

	if err := bare.StartGateways(t.Context()); err != nil {
		t.Fatal(err)
	}
	ready(t, c, r)
	if n := said.count("the feature is on"); n != 1 {
		t.Errorf("it is said %d times that hostnames are on:\n%s", n, said)
	}
	nudging(t, c, app, "the route of the web app", func() (bool, string) {
		err := c.Get(t.Context(), client.ObjectKeyFromObject(app), app)
		route := meta.FindStatusCondition(app.Status.Conditions, v1alpha1.StepRoute) // no Pods run here
		return err == nil && route != nil && route.Message == "shop."+d.name+" leads to the Service" &&
			!strings.Contains(reasonNow(app), "HostnamesOff"), fmt.Sprint(route, reasonNow(app))
	})
	gone(t, c, app) // otherwise the hostname is in use
	await(t, "the hostname to be of no use", func() (bool, string) {
		err := client.IgnoreNotFound(c.Delete(t.Context(), r))
		return err == nil, fmt.Sprint(err)
	})
	awaitGone(t, c, r)
	if err := c.Get(t.Context(), client.ObjectKey{Name: gateways},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{}}); err != nil {
		t.Error(err)
	}
}

// operatorsOwn returns the operator's configuration for access to the test cluster.
func operatorsOwn(t *testing.T) *rest.Config {
	t.Helper()
	cfg, err := world.ServiceAccountConfig(t.Context(), stack.Namespace, "portico-operator")
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func reasonNow(app *v1alpha1.WebApp) string {
	if c := meta.FindStatusCondition(app.Status.Conditions, v1alpha1.ConditionReady); c != nil {
		return c.Reason
	}
	return ""
}

// lines holds the lines of a log. Safe for concurrent use.
type lines struct {
	mu  sync.Mutex
	all []string
}

func (l *lines) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, line)
}

func (l *lines) count(part string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, line := range l.all {
		if strings.Contains(line, part) {
			n++
		}
	}
	return n
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.all, "\n")
}
