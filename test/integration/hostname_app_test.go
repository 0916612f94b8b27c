//go:build integration

package integration

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/stack"
)

// A web app and its hostname can be requested at the same time, in any order, and the app answers at the hostname.
func TestAWebAppAnswersAtItsHostname(t *testing.T) {
	c := withOperator(t)
	d := domainOf(t, c)
	app := appOf(d.ns, "shop")
	app.Spec.Expose = &v1alpha1.WebAppExpose{Hostname: "shop"}
	create(t, c, app)
	reason(t, c, app, "HostnameNotFound")
	r := d.request("shop." + d.name)
	ready(t, c, app)
	if app.Status.URL != "https://shop."+d.name {
		t.Errorf("URL %s", app.Status.URL)
	}
	ready(t, c, r)
	route := child(t, c, app, &gatewayv1.HTTPRoute{})
	if !metav1.IsControlledBy(route, app) {
		t.Errorf("route %+v", route.ObjectMeta)
	}
	g := poolGateway(t, c, r.Status.Gateway)
	nudging(t, c, g, "the rule to be counted", func() (bool, string) {
		err := c.Get(t.Context(), client.ObjectKeyFromObject(g), g)
		// the redirect, the keeper and this
		return err == nil && g.Status.Rules >= 3 && g.Status.TargetGroups >= 1, "not counted"
	})

	// A rollout that fails takes no traffic away from the version that serves.
	good := app.Spec.Image
	edit(t, c, app, func(a *v1alpha1.WebApp) { a.Spec.Image = "registry.example.com/broken-crash:1.0.0" })
	reason(t, c, app, "CrashLoopBackOff")
	if app.Status.URL != "https://shop."+d.name ||
		!meta.IsStatusConditionTrue(app.Status.Conditions, v1alpha1.StepExposed) {
		t.Errorf("URL %s, conditions %+v", app.Status.URL, app.Status.Conditions)
	}

	edit(t, c, app, func(a *v1alpha1.WebApp) { a.Spec.Image, a.Spec.Expose = good, nil })
	ready(t, c, app)
	awaitGone(t, c, route)
	if app.Status.URL != "http://shop."+d.ns+".svc" {
		t.Errorf("URL %s", app.Status.URL)
	}
}

// F12: a request is not deleted while its account cannot be reached, and its status says why. It is deleted once the
// account can be reached.
func TestADeletionThatCannotGoOnSaysWhy(t *testing.T) {
	c := withOperator(t)
	d := domainOf(t, c)
	provider := &v1alpha1.AWSProvider{ObjectMeta: metav1.ObjectMeta{Name: stack.Provider}}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(provider), provider); err != nil {
		t.Fatal(err)
	}
	own := &v1alpha1.AWSProvider{ObjectMeta: metav1.ObjectMeta{Name: "own-" + d.ns}, Spec: provider.Spec}
	create(t, c, own)
	t.Cleanup(func() { _ = client.IgnoreNotFound(c.Delete(t.Context(), own)) })
	ready(t, c, own)
	r := d.request("shop."+d.name, func(r ghr) { r.Spec.ProviderRef.Name = own.Name })
	ready(t, c, r)
	if err := c.Delete(t.Context(), own); err != nil {
		t.Fatal(err)
	}
	reason(t, c, own, "InUse")
	edit(t, c, own, func(p *v1alpha1.AWSProvider) { p.Spec.AccessKeyIDRef.Key = "missing" })
	await(t, "the provider to be unusable", func() (bool, string) {
		err := c.Get(t.Context(), client.ObjectKeyFromObject(own), own)
		return err == nil && own.Status.ObservedGeneration == own.Generation, "old"
	})
	if err := erase(t, c, r); err != nil {
		t.Fatal(err)
	}
	reason(t, c, r, "ProviderNotReady")
	if got := d.records(); len(got) != 3 {
		t.Errorf("records %v", got)
	}
	edit(t, c, own, func(p *v1alpha1.AWSProvider) { p.Spec.AccessKeyIDRef.Key = "accessKeyID" })
	nudging(t, c, r, "the request to go", func() (bool, string) {
		err := c.Get(t.Context(), client.ObjectKeyFromObject(r), r)
		return client.IgnoreNotFound(err) == nil && err != nil, "there"
	})
	if got := d.records(); len(got) != 0 {
		t.Errorf("records %v", got)
	}
}
