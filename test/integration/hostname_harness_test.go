//go:build integration

package integration

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/acm"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/portico-platform/portico/api/dnsname"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/hostname/albconfig"
	"github.com/portico-platform/portico/test/stack"
)

// gateways is the namespace of the pool.
const gateways = "portico-gateways"

// domain is a hosted zone of one test, and the namespace that can request names in it.
type domain struct {
	t    *testing.T
	c    client.Client
	ns   string
	name string
	zone string
	dns  *route53.Client
}

// domainOf creates a team with its own public zone and a grant for all names in it.
func domainOf(t *testing.T, c client.Client) domain {
	t.Helper()
	ns := team(t, c)
	d := domain{t: t, c: c, ns: ns, name: ns + ".example", dns: route53.NewFromConfig(world.OutsideAWS())}
	d.zone = d.zoneOf(stack.Zone{Domain: d.name})
	t.Cleanup(func() {
		if t.Failed() {
			d.tell()
		}
	})
	create(t, c, &v1alpha1.HostnameGrant{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: v1alpha1.HostnameGrantName},
		Spec:       v1alpha1.HostnameGrantSpec{Suffixes: []string{d.name}, Wildcards: true, GatewayClasses: []string{v1alpha1.AnyGatewayClass}, MaxHostnames: 100},
	})
	return d
}

// tell logs the hostname, pool and Gateway API objects, to help understand a failure.
func (d domain) tell() {
	for _, list := range []client.ObjectList{
		&v1alpha1.GatewayHostnameRequestList{}, &v1alpha1.PoolGatewayList{},
		&gatewayv1.GatewayList{}, &gatewayv1.ListenerSetList{}, &albconfig.LoadBalancerConfigurationList{},
	} {
		if err := d.c.List(context.Background(), list); err != nil { // the test's own context is cancelled
			d.t.Log(err)
		}
		_ = meta.EachListItem(list, func(o runtime.Object) error {
			obj := o.(client.Object)
			obj.SetManagedFields(nil)
			text, _ := json.Marshal(obj)
			d.t.Logf("%T %s", obj, text)
			return nil
		})
	}
}

func (d domain) zoneOf(z stack.Zone) string {
	d.t.Helper()
	id, err := world.MakeZone(d.t.Context(), z)
	if err != nil {
		d.t.Fatal(err)
	}
	return id
}

// request requests a hostname in the zone; the object is named after its first label.
func (d domain) request(host string, change ...func(
	*v1alpha1.GatewayHostnameRequest),
) *v1alpha1.GatewayHostnameRequest {
	d.t.Helper()
	name, _, _ := strings.Cut(strings.Replace(host, "*", "any", 1), ".")
	r := &v1alpha1.GatewayHostnameRequest{
		ObjectMeta: metav1.ObjectMeta{Namespace: d.ns, Name: name},
		Spec: v1alpha1.GatewayHostnameRequestSpec{
			ProviderRef: v1alpha1.LocalRef{Name: stack.Provider}, Hostname: host, ZoneID: v1alpha1.HostedZoneID(d.zone),
		},
	}
	for _, c := range change {
		c(r)
	}
	create(d.t, d.c, r)
	return r
}

// isValidation reports whether a record proves to ACM that the name is ours.
func isValidation(s types.ResourceRecordSet) bool {
	return s.Type == types.RRTypeCname && strings.Contains(aws.ToString(s.ResourceRecords[0].Value), "acm-validations")
}

// records returns the zone's record sets as "TYPE name", sorted, without the zone's own and the validation records.
func (d domain) records() []string {
	d.t.Helper()
	var all []string
	for _, s := range d.sets() {
		name := dnsname.Canonical(aws.ToString(s.Name))
		ofZone := name == d.name && (s.Type == types.RRTypeNs || s.Type == types.RRTypeSoa)
		if ofZone || isValidation(s) {
			continue
		}
		all = append(all, string(s.Type)+" "+name)
	}
	slices.Sort(all)
	return all
}

func (d domain) sets() []types.ResourceRecordSet {
	d.t.Helper()
	var all []types.ResourceRecordSet
	pages := route53.NewListResourceRecordSetsPaginator(d.dns, &route53.ListResourceRecordSetsInput{
		HostedZoneId: &d.zone,
	})
	for pages.HasMorePages() {
		out, err := pages.NextPage(d.t.Context())
		if err != nil {
			d.t.Fatal(err)
		}
		all = append(all, out.ResourceRecordSets...)
	}
	return all
}

// change edits the zone, bypassing the operator.
func (d domain) change(changes ...types.Change) {
	d.t.Helper()
	_, err := d.dns.ChangeResourceRecordSets(d.t.Context(), &route53.ChangeResourceRecordSetsInput{
		HostedZoneId: &d.zone, ChangeBatch: &types.ChangeBatch{Changes: changes},
	})
	if err != nil {
		d.t.Fatal(err)
	}
}

// certificates returns the ARNs of the domain's certificates.
func (d domain) certificates() []string {
	d.t.Helper()
	var all []string
	pages := acm.NewListCertificatesPaginator(acm.NewFromConfig(world.OutsideAWS()), &acm.ListCertificatesInput{})
	for pages.HasMorePages() {
		out, err := pages.NextPage(d.t.Context())
		if err != nil {
			d.t.Fatal(err)
		}
		for _, c := range out.CertificateSummaryList {
			if name := aws.ToString(c.DomainName); name == d.name || strings.HasSuffix(name, "."+d.name) {
				all = append(all, aws.ToString(c.CertificateArn))
			}
		}
	}
	return all
}

// served returns the certificates on the HTTPS listener of the load balancer with this DNS name.
func served(t *testing.T, dnsName string) []string {
	t.Helper()
	api := elasticloadbalancingv2.NewFromConfig(world.OutsideAWS())
	var all []string
	balancers, err := api.DescribeLoadBalancers(t.Context(), &elasticloadbalancingv2.DescribeLoadBalancersInput{})
	if err != nil {
		t.Fatal(err)
	}
	for _, lb := range balancers.LoadBalancers {
		if aws.ToString(lb.DNSName) != dnsName {
			continue
		}
		listeners, err := api.DescribeListeners(t.Context(), &elasticloadbalancingv2.DescribeListenersInput{
			LoadBalancerArn: lb.LoadBalancerArn,
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range listeners.Listeners {
			if aws.ToInt32(l.Port) != 443 {
				continue
			}
			out, err := api.DescribeListenerCertificates(
				t.Context(), &elasticloadbalancingv2.DescribeListenerCertificatesInput{ListenerArn: l.ListenerArn})
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range out.Certificates {
				all = append(all, aws.ToString(c.CertificateArn))
			}
		}
	}
	slices.Sort(all) // the default one is listed twice
	return slices.Compact(all)
}

// claimsOf returns the hostnames that a namespace has claimed, sorted.
func claimsOf(t *testing.T, c client.Client, ns string) []string {
	t.Helper()
	list := &v1alpha1.DomainClaimList{}
	if err := c.List(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	var all []string
	for i := range list.Items {
		if list.Items[i].Spec.Holder.Namespace == ns {
			all = append(all, list.Items[i].Spec.Hostname)
		}
	}
	slices.Sort(all)
	return all
}

// nudging waits as await does, and triggers a reconcile every second: the operator uses what it read for about as long.
func nudging(t *testing.T, c client.Client, obj client.Object, what string, ok func() (bool, string)) {
	t.Helper()
	var last time.Time
	await(t, what, func() (bool, string) {
		done, why := ok()
		if done || time.Since(last) < time.Second {
			return done, why
		}
		last = time.Now()
		wake := client.RawPatch("application/merge-patch+json",
			[]byte(`{"metadata":{"annotations":{"`+v1alpha1.AnnotationReconcileRequestedAt+`":"`+
				strconv.FormatInt(counter.Add(1), 10)+`"}}}`))
		if err := c.Patch(t.Context(), obj, wake); client.IgnoreNotFound(err) != nil { // it may be deleted already
			t.Fatal(err)
		}
		return false, why
	})
}
