//go:build integration

package integration

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/hostname/pool"
	"github.com/portico-platform/portico/test/tiers"
)

// neighbours creates hostnames of two teams on one load balancer, both Ready.
func neighbours(t *testing.T, c client.Client) (class string, offender, neighbour ghr) {
	t.Helper()
	class = otherClass(t, c)
	on := func(r ghr) { r.Spec.GatewayClass = class }
	ours, theirs := domainOf(t, c), domainOf(t, c)
	offender, neighbour = ours.request("shop."+ours.name, on), theirs.request("pay."+theirs.name, on)
	ready(t, c, offender)
	ready(t, c, neighbour)
	if offender.Status.Gateway != neighbour.Status.Gateway {
		t.Fatalf("they are on %s and %s", offender.Status.Gateway, neighbour.Status.Gateway)
	}
	return class, offender, neighbour
}

// gatewayOf returns the Gateway of a hostname.
func gatewayOf(t *testing.T, c client.Client, r ghr) *gatewayv1.Gateway {
	t.Helper()
	g := &gatewayv1.Gateway{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: gateways, Name: r.Status.Gateway}, g); err != nil {
		t.Fatal(err)
	}
	return g
}

// stopsAt waits until the load balancer controller has given up on the Gateway.
func stopsAt(t *testing.T, c client.Client, r ghr) {
	t.Helper()
	await(t, "the load balancer controller to stop", func() (bool, string) {
		conditions := gatewayOf(t, c, r).Status.Conditions
		return meta.IsStatusConditionFalse(conditions, "Accepted") && meta.IsStatusConditionTrue(
			conditions, "Programmed"), fmt.Sprint(conditions)
	})
}

// saysOf returns a condition as "Reason: message", or "" if it is not set.
func saysOf(t *testing.T, conditions []metav1.Condition, kind string) string {
	t.Helper()
	if c := meta.FindStatusCondition(conditions, kind); c != nil {
		return c.Reason + ": " + c.Message
	}
	return ""
}

// While the operator is down, a team's routes exceed the rules of a load balancer: the controller stops for all of its
// hostnames. The operator closes only that team's hostname, and names it; all others stay Ready, because they answer.
func TestATeamCannotFreezeASharedLoadBalancer(t *testing.T) {
	tiers.Long(t)
	c := admin(t)
	stop := startOperator(t, operatorOptions{})
	_, offender, neighbour := neighbours(t, c)
	stop()
	var routes []*gatewayv1.HTTPRoute
	for i := range 34 { // each of them is within the policy's limit
		r := matching(routeOf(offender.Namespace, fmt.Sprintf("r%02d", i), offender.Status.ParentRef,
			gatewayv1.Hostname(offender.Status.Hostname)), 3)
		create(t, c, r)
		routes = append(routes, r)
	}
	stopsAt(t, c, offender)

	startOperator(t, operatorOptions{})
	told := reason(t, c, offender, v1alpha1.ReasonOverBudget)
	if !strings.Contains(told.Message, "does not answer: its routes need 102 load balancer rules (3 are kept "+
		"for it)") || !strings.Contains(told.Message, "raise maxRules") {
		t.Errorf("%q", told.Message)
	}
	await(t, "the load balancer controller to go on", func() (bool, string) {
		conditions := gatewayOf(t, c, offender).Status.Conditions
		return meta.IsStatusConditionTrue(conditions, "Accepted"), fmt.Sprint(conditions)
	})
	g := poolGateway(t, c, offender.Status.Gateway)
	ready(t, c, g)
	if got := saysOf(t, g.Status.Conditions, pool.ConditionBudget); !strings.Contains(
		got, fmt.Sprintf("%s of namespace %s needs 102 load balancer rules", offender.Status.Hostname,
			offender.Namespace)) {
		t.Errorf("to admins: %q", got)
	}
	ready(t, c, neighbour)
	if since := meta.FindStatusCondition(
		neighbour.Status.Conditions, v1alpha1.ConditionReady).LastTransitionTime; !since.Time.Equal(
		neighbour.Status.FirstReadyTime.Time) {
		t.Errorf("it was not Ready for a while: since %s, first %s", since, neighbour.Status.FirstReadyTime)
	}

	for _, r := range routes[1:] {
		if err := erase(t, c, r); err != nil {
			t.Fatal(err)
		}
	}
	ready(t, c, offender)
	await(t, "the route to be taken again", func() (bool, string) {
		err := c.Get(t.Context(), client.ObjectKeyFromObject(routes[0]), routes[0])
		return err == nil && len(routes[0].Status.Parents) == 1 && meta.IsStatusConditionTrue(
			routes[0].Status.Parents[0].Conditions, "Accepted"), fmt.Sprint(routes[0].Status)
	})
}

// When the load balancer controller stops for any other reason, hostnames are served as before, and their status says
// that changes wait.
func TestAGatewayInTroubleServesOn(t *testing.T) {
	c := withOperator(t)
	class, one, other := neighbours(t, c)
	object := &gatewayv1.GatewayClass{ObjectMeta: metav1.ObjectMeta{Name: class}}
	nowhere := gatewayv1.Namespace(one.Namespace)
	edit(t, c, object, func(g *gatewayv1.GatewayClass) {
		g.Spec.ParametersRef = &gatewayv1.ParametersReference{
			Group: "gateway.k8s.aws", Kind: "LoadBalancerConfiguration", Name: "missing", Namespace: &nowhere,
		}
	})
	stopsAt(t, c, one)
	g := poolGateway(t, c, one.Status.Gateway)
	if got := reason(t, c, g, v1alpha1.ReasonChangesWait); !strings.Contains(
		got.Message, "what was served is served as before; changes wait: the load balancer controller says Invalid: ") {
		t.Errorf("to admins: %q", got.Message)
	}
	for _, r := range []ghr{one, other} {
		await(t, r.Name+" to tell that changes wait", func() (bool, string) {
			err := c.Get(t.Context(), client.ObjectKeyFromObject(r), r)
			text := saysOf(t, r.Status.Conditions, v1alpha1.StepListenerAttached)
			return err == nil && strings.Contains(text, "served as before; changes wait"), text
		})
		if !r.Status.Ready {
			t.Errorf("%s is not Ready: %+v", r.Name, r.Status.Conditions)
		}
	}
	edit(t, c, object, func(g *gatewayv1.GatewayClass) { g.Spec.ParametersRef = nil })
	ready(t, c, g)
	await(t, "the hostname to be as asked", func() (bool, string) {
		err := c.Get(t.Context(), client.ObjectKeyFromObject(one), one)
		text := saysOf(t, one.Status.Conditions, v1alpha1.StepListenerAttached)
		return err == nil && strings.Contains(text, "serves the certificate"), text
	})
}

// A request for a class that does not exist creates nothing, however often it is repeated, and can be deleted.
func TestAMadeUpClassMakesNothing(t *testing.T) {
	c := withOperator(t)
	d := domainOf(t, c)
	for i := range 5 {
		r := d.request(fmt.Sprintf("h%d.%s", i, d.name), func(r ghr) {
			r.Spec.GatewayClass = fmt.Sprintf("made-up-%d", i)
		})
		if got := reason(t, c, r, "ClassNotFound"); !strings.Contains(
			got.Message, fmt.Sprintf("there is no GatewayClass made-up-%d", i)) || r.Status.Claim != "" {
			t.Errorf("%q, claim %q", got.Message, r.Status.Claim)
		}
		gone(t, c, r)
	}
	pools := &v1alpha1.PoolGatewayList{}
	if err := c.List(t.Context(), pools); err != nil {
		t.Fatal(err)
	}
	for i := range pools.Items {
		if strings.HasPrefix(pools.Items[i].Spec.GatewayClass, "made-up") {
			t.Errorf("PoolGateway %s of class %s", pools.Items[i].Name, pools.Items[i].Spec.GatewayClass)
		}
	}
	if made := d.certificates(); len(made) > 0 || len(claimsOf(t, c, d.ns)) > 0 {
		t.Errorf("certificates %v, claims %v", made, claimsOf(t, c, d.ns))
	}

	edit(t, c, &v1alpha1.HostnameGrant{
		ObjectMeta: metav1.ObjectMeta{Namespace: d.ns, Name: v1alpha1.HostnameGrantName},
	},
		func(g *v1alpha1.HostnameGrant) { g.Spec.GatewayClasses = nil })
	r := d.request("other."+d.name, func(r ghr) { r.Spec.GatewayClass = otherClass(t, c) })
	if got := reason(t, c, r, "NotGranted"); !strings.Contains(
		got.Message, "Leave gatewayClass out for the platform's own") {
		t.Errorf("%q", got.Message)
	}
	gone(t, c, r)
}

// The class is deleted before the load balancer exists: a deletion does not wait for resources that were never created.
func TestADeletionDoesNotWaitForAGatewayThatNeverWas(t *testing.T) {
	c := withOperator(t)
	d := domainOf(t, c)
	world.LoadBalancers.Pause()
	defer world.LoadBalancers.Resume()
	class := otherClass(t, c)
	r := d.request("shop."+d.name, func(r ghr) { r.Spec.GatewayClass = class })
	await(t, "a place", func() (bool, string) {
		err := c.Get(t.Context(), client.ObjectKeyFromObject(r), r)
		return err == nil && r.Status.Claim != "", "none"
	})
	if err := c.Delete(t.Context(), &gatewayv1.GatewayClass{ObjectMeta: metav1.ObjectMeta{Name: class}}); err != nil {
		t.Fatal(err)
	}
	gone(t, c, r)
	awaitGone(t, c, &v1alpha1.PoolGateway{ObjectMeta: metav1.ObjectMeta{Namespace: gateways, Name: r.Status.Gateway}})
	if left := d.certificates(); len(left) > 0 {
		t.Errorf("certificates %v", left)
	}
}
