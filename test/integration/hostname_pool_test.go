//go:build integration

package integration

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/hostname/albconfig"
	"github.com/portico-platform/portico/test/tiers"
)

func poolGateway(t *testing.T, c client.Client, name string) *v1alpha1.PoolGateway {
	t.Helper()
	g := &v1alpha1.PoolGateway{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: gateways, Name: name}, g); err != nil {
		t.Fatal(err)
	}
	return g
}

// A hostname that does not fit on a Gateway is placed on the next one, and no Gateway has more than PoolHostnames.
func TestTheNextHostnameGoesOnTheNextGateway(t *testing.T) {
	tiers.Long(t)
	c := withOperator(t)
	d := domainOf(t, c)
	class := otherClass(t, c)
	var all []ghr
	for i := range v1alpha1.PoolHostnames + 2 {
		all = append(all, d.request(fmt.Sprintf("h%02d.%s", i, d.name), func(r ghr) { r.Spec.GatewayClass = class }))
	}
	on := map[string]int{}
	for _, r := range all {
		ready(t, c, r)
		on[r.Status.Gateway]++
	}
	if len(on) != 2 {
		t.Errorf("places %v", on)
	}
	for name, n := range on {
		g := poolGateway(t, c, name)
		ready(t, c, g)
		if n > v1alpha1.PoolHostnames || int(g.Status.Certificates) != n || int(g.Status.Hostnames) != n {
			t.Errorf("%s has %d hostnames; its status %+v", name, n, g.Status)
		}
	}
	var deletions sync.WaitGroup
	for _, r := range all {
		deletions.Go(func() { gone(t, c, r) })
	}
	deletions.Wait()
	for name := range on {
		for _, left := range []client.Object{&gatewayv1.Gateway{}, &v1alpha1.PoolGateway{}} { // unused ones are deleted
			left.SetNamespace(gateways)
			left.SetName(name)
			awaitGone(t, c, left)
		}
	}
}

// otherClass creates a GatewayClass for this test only, so that no other test uses its Gateways.
func otherClass(t *testing.T, c client.Client) string {
	t.Helper()
	class := &gatewayv1.GatewayClass{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("class-%d", counter.Add(1))},
		Spec:       gatewayv1.GatewayClassSpec{ControllerName: albconfig.ControllerName},
	}
	create(t, c, class)
	return class.Name
}

// F8: changes of the pool's objects are reverted, and a Gateway in use is not deleted.
func TestThePoolIsKept(t *testing.T) {
	c := withOperator(t)
	d := domainOf(t, c)
	class := otherClass(t, c)
	r := d.request("shop."+d.name, func(r ghr) { r.Spec.GatewayClass = class })
	ready(t, c, r)
	g := poolGateway(t, c, r.Status.Gateway)

	set := &gatewayv1.ListenerSet{ObjectMeta: metav1.ObjectMeta{Namespace: gateways, Name: r.Status.Claim}}
	edit(t, c, set, func(s *gatewayv1.ListenerSet) {
		everybody := gatewayv1.NamespacesFromAll
		s.Spec.Listeners[0].AllowedRoutes = &gatewayv1.AllowedRoutes{
			Namespaces: &gatewayv1.RouteNamespaces{From: &everybody},
		}
	})
	await(t, "the listener to be for its namespace alone", func() (bool, string) {
		err := c.Get(t.Context(), client.ObjectKeyFromObject(set), set)
		return err == nil && *set.Spec.Listeners[0].AllowedRoutes.Namespaces.From == gatewayv1.NamespacesFromSelector,
			"open"
	})
	config := &albconfig.LoadBalancerConfiguration{ObjectMeta: metav1.ObjectMeta{Namespace: gateways, Name: g.Name}}
	edit(t, c, config, func(l *albconfig.LoadBalancerConfiguration) { l.Spec.Scheme = "internal" })
	await(t, "the scheme", func() (bool, string) {
		err := c.Get(t.Context(), client.ObjectKeyFromObject(config), config)
		return err == nil && config.Spec.Scheme == "internet-facing", config.Spec.Scheme
	})
	if err := c.Delete(t.Context(), &gatewayv1.HTTPRoute{
		ObjectMeta: metav1.ObjectMeta{Namespace: gateways, Name: g.Name + "-keeper"},
	}); err != nil {
		t.Fatal(err)
	}
	await(t, "the keeper", func() (bool, string) {
		err := c.Get(t.Context(), client.ObjectKey{Namespace: gateways, Name: g.Name + "-keeper"},
			&gatewayv1.HTTPRoute{})
		return err == nil, fmt.Sprint(err)
	})

	if err := erase(t, c, g); err != nil {
		t.Fatal(err)
	}
	if got := reason(t, c, g, "InUse"); !strings.Contains(got.Message, "1 hostnames have a place on this Gateway") {
		t.Errorf("%q", got.Message)
	}
	gone(t, c, r)
	awaitGone(t, c, g)
}

// Ready depends on the load balancer in AWS, not on a Gateway that was programmed before.
func TestReadyWaitsForTheLoadBalancerItself(t *testing.T) {
	c := withOperator(t)
	d := domainOf(t, c)
	class := otherClass(t, c)
	first := d.request("first."+d.name, func(r ghr) { r.Spec.GatewayClass = class })
	ready(t, c, first)
	world.LoadBalancers.Pause()
	defer world.LoadBalancers.Resume()
	second := d.request("second."+d.name, func(r ghr) { r.Spec.GatewayClass = class })
	await(t, "the certificate to be issued", func() (bool, string) {
		err := c.Get(t.Context(), client.ObjectKeyFromObject(second), second)
		return err == nil && meta.IsStatusConditionFalse(second.Status.Conditions, v1alpha1.StepListenerAttached),
			"waiting"
	})
	if atRest(t, c, second); second.Status.Ready || len(d.records()) != 3 {
		t.Errorf("status %+v, records %v", second.Status, d.records())
	}
	world.LoadBalancers.Resume()
	ready(t, c, second)
	if got := served(t, second.Status.LoadBalancer); len(got) != 2 {
		t.Errorf("certificates %v", got)
	}
}

// A configuration of the class that overrides Portico's, and with it the certificates, is reported.
func TestAClassThatOverridesIsTold(t *testing.T) {
	c := withOperator(t)
	d := domainOf(t, c)
	name := otherClass(t, c)
	config := &albconfig.LoadBalancerConfiguration{
		ObjectMeta: metav1.ObjectMeta{Namespace: d.ns, Name: name},
		Spec:       albconfig.LoadBalancerConfigurationSpec{Scheme: "internal"},
	}
	create(t, c, config)
	namespace := gatewayv1.Namespace(d.ns)
	edit(t, c, &gatewayv1.GatewayClass{ObjectMeta: metav1.ObjectMeta{Name: name}}, func(g *gatewayv1.GatewayClass) {
		g.Spec.ParametersRef = &gatewayv1.ParametersReference{
			Group: "gateway.k8s.aws", Kind: "LoadBalancerConfiguration", Name: name, Namespace: &namespace,
		}
	})
	r := d.request("shop."+d.name, func(r ghr) { r.Spec.GatewayClass = name })
	if got := reason(t, c, r, "ClassOverrides"); !strings.Contains(got.Message, "wins over those of its Gateways") ||
		r.Status.Claim != "" {
		t.Errorf("%q, claim %q", got.Message, r.Status.Claim)
	}
	edit(t, c, config, func(l *albconfig.LoadBalancerConfiguration) { l.Spec.MergingMode = albconfig.PreferGateway })
	wakeNow(t, c, r)
	ready(t, c, r)
}

// Exactly one of a hundred requests for a name gets it, in any namespaces.
func TestOneOfAHundredRequestsWins(t *testing.T) {
	tiers.Long(t)
	c := withOperator(t)
	d := domainOf(t, c)
	var all []ghr
	var made sync.WaitGroup
	var mu sync.Mutex
	for range 10 {
		ns := team(t, c)
		create(t, c, &v1alpha1.HostnameGrant{
			ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: v1alpha1.HostnameGrantName}, Spec: v1alpha1.HostnameGrantSpec{Suffixes: []string{d.name}},
		})
		for i := range 10 {
			made.Go(func() {
				r := d.request("shop."+d.name, func(r ghr) { r.Namespace, r.Name = ns, fmt.Sprintf("r%d", i) })
				mu.Lock()
				defer mu.Unlock()
				all = append(all, r)
			})
		}
	}
	made.Wait()
	winners := 0
	for _, r := range all {
		await(t, r.Namespace+"/"+r.Name+" to be judged", func() (bool, string) {
			err := c.Get(t.Context(), client.ObjectKeyFromObject(r), r)
			claimed := meta.FindStatusCondition(r.Status.Conditions, v1alpha1.StepClaimed)
			return err == nil && claimed != nil &&
				(claimed.Reason == "Taken" || claimed.Status == metav1.ConditionTrue), fmt.Sprint(claimed)
		})
		if meta.IsStatusConditionTrue(r.Status.Conditions, v1alpha1.StepClaimed) {
			winners++
			ready(t, c, r)
		}
	}
	if winners != 1 {
		t.Errorf("%d winners", winners)
	}
}
