//go:build integration

package integration

import (
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
)

func TestAHostnameIsServedAndLeavesNothing(t *testing.T) {
	c := withOperator(t)
	d := domainOf(t, c)
	r := d.request("shop." + d.name)
	ready(t, c, r)

	s := r.Status
	for _, step := range []string{
		v1alpha1.StepClaimed, v1alpha1.StepCertificateRequested, v1alpha1.StepDNSValidated,
		v1alpha1.StepCertificateIssued,
		v1alpha1.StepListenerAttached, v1alpha1.StepDNSAliasReady, v1alpha1.ConditionReady,
	} {
		if !meta.IsStatusConditionTrue(s.Conditions, step) {
			t.Errorf("%s is %+v", step, meta.FindStatusCondition(s.Conditions, step))
		}
	}
	got := []string{s.URL, s.Hostname, s.Zone, s.Certificate.Status}
	if want := []string{"https://shop." + d.name, "shop." + d.name, d.name, "ISSUED"}; !slices.Equal(got, want) {
		t.Errorf("URL, Hostname, Zone, Certificate.Status = %q, want %q", got, want)
	}
	if got, want := d.records(), []string{"A shop." + d.name, "AAAA shop." + d.name, "TXT _portico.shop." +
		d.name}; !slices.Equal(got, want) {
		t.Errorf("records %v, want %v", got, want)
	}
	if got := served(t, s.LoadBalancer); !slices.Contains(got, s.Certificate.ARN) {
		t.Errorf("the load balancer %s serves %v, not %s", s.LoadBalancer, got, s.Certificate.ARN)
	}
	set := &gatewayv1.ListenerSet{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: s.ParentRef.Namespace, Name: s.ParentRef.Name},
		set); err != nil {
		t.Fatal(err)
	}
	if got := claimsOf(t, c, d.ns); !slices.Equal(got, []string{"shop." + d.name}) {
		t.Errorf("claims %v", got)
	}
	grant := &v1alpha1.HostnameGrant{ObjectMeta: metav1.ObjectMeta{Namespace: d.ns, Name: v1alpha1.HostnameGrantName}}
	await(t, "the grant to list it", func() (bool, string) {
		err := c.Get(t.Context(), client.ObjectKeyFromObject(grant), grant)
		return err == nil && slices.Equal(grant.Status.InUse, []string{"shop." + d.name}), "not listed"
	})

	gone(t, c, r)
	if got := d.records(); len(got) > 0 {
		t.Errorf("records %v are left", got)
	}
	if got := d.certificates(); len(got) > 0 {
		t.Errorf("certificates %v are left", got)
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(set), set); !apierrors.IsNotFound(err) {
		t.Errorf("the ListenerSet is left: %v", err)
	}
	if got := claimsOf(t, c, d.ns); len(got) > 0 {
		t.Errorf("claims %v are left", got)
	}
}
