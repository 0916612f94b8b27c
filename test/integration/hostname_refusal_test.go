//go:build integration

package integration

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/awsproxy"
	"github.com/portico-platform/portico/test/stack"
)

type ghr = *v1alpha1.GatewayHostnameRequest

func set(name string, kind types.RRType, values ...string) types.Change {
	s := &types.ResourceRecordSet{Name: aws.String(name), Type: kind, TTL: aws.Int64(60)}
	for _, v := range values {
		s.ResourceRecords = append(s.ResourceRecords, types.ResourceRecord{Value: aws.String(v)})
	}
	return types.Change{Action: types.ChangeActionCreate, ResourceRecordSet: s}
}

func removed(c types.Change) types.Change {
	c.Action = types.ChangeActionDelete
	return c
}

// Every refusal says what is wrong and what to do, sets the condition Claimed and no later one, and writes nothing to
// AWS.
func TestARequestThatCannotBeServedIsRefused(t *testing.T) {
	c := withOperator(t)
	d := domainOf(t, c)
	private := d.zoneOf(stack.Zone{Domain: d.name, Private: true})
	other := d.zoneOf(stack.Zone{Domain: "other-" + d.name})
	grant := &v1alpha1.HostnameGrant{ObjectMeta: metav1.ObjectMeta{Namespace: d.ns, Name: v1alpha1.HostnameGrantName}}
	edit(t, c, grant, func(g *v1alpha1.HostnameGrant) {
		g.Spec.Wildcards = false
		g.Spec.Zones = []v1alpha1.HostedZoneID{
			v1alpha1.HostedZoneID(d.zone), v1alpha1.HostedZoneID(private),
			v1alpha1.HostedZoneID(other), "ZMISSING",
		}
		g.Spec.Environments = []v1alpha1.Environment{v1alpha1.EnvironmentDev}
	})
	d.change(set("sub."+d.name, types.RRTypeNs, "ns1.elsewhere.example."),
		set("guarded."+d.name, types.RRTypeCaa, `0 issue "letsencrypt.org"`),
		set("old."+d.name, types.RRTypeA, "192.0.2.1"), set("www."+d.name, types.RRTypeCname, "elsewhere.example."))

	zone := func(id string) func(ghr) { return func(r ghr) { r.Spec.ZoneID = v1alpha1.HostedZoneID(id) } }
	internal := func(r ghr) { r.Spec.Visibility = v1alpha1.Internal }
	m := world.Proxy.Mark()
	for i, row := range []struct {
		name   string
		host   string
		change []func(ghr)
		reason string
		says   string
	}{
		{"outside the grant", "shop.example.com", nil, "NotGranted", "is not below " + d.name},
		{"a suffix is no string", "x" + d.name, nil, "NotGranted", "is not below"},
		{"a wildcard", "*." + d.name, nil, "NotGranted", "it has no wildcards"},
		{"another environment", "env." + d.name, []func(ghr){func(r ghr) { r.Spec.Environment = v1alpha1.EnvironmentProd }}, "NotGranted", "environment prod is none of [dev]"},
		{"a zone that is not granted", "zoned." + d.name, []func(ghr){zone("ZOTHER")}, "NotGranted", "the zone ZOTHER is none of"},
		{"a zone that is not there", "lost." + d.name, []func(ghr){zone("ZMISSING")}, "NotInZone", "has no hosted zone ZMISSING"},
		{"a zone of another domain", "far." + d.name, []func(ghr){zone(other)}, "NotInZone", "in which far."},
		{"a private zone for the internet", "priv." + d.name, []func(ghr){zone(private)}, "PrivateZone", "which the internet does not see"},
		{"a private zone without validation", "inner." + d.name, []func(ghr){zone(private), internal}, "NoValidationZone", "validationZoneId"},
		{"a validation zone that is private", "deep." + d.name, []func(ghr){zone(private), internal, func(r ghr) {
			r.Spec.ValidationZoneID = v1alpha1.HostedZoneID(d.zoneOf(stack.Zone{Domain: d.name, Private: true}))
		}}, "PrivateZone", "is private too"},
		{"a validation zone that is not needed", "extra." + d.name, []func(ghr){func(r ghr) { r.Spec.ValidationZoneID = "ZOTHER" }}, "InvalidSpec", "request the hostname without validationZoneId"},
		{"below a delegation", "a.sub." + d.name, nil, "Delegated", "sub." + d.name + " is delegated"},
		{"where Amazon may issue nothing", "a.guarded." + d.name, nil, "NotAuthorized", "the CAA records of guarded." + d.name},
		{"where somebody's address is", "old." + d.name, nil, "Conflict", "has address records of old." + d.name + " already"},
		{"where somebody's CNAME is", "www." + d.name, nil, "Conflict", "has a CNAME record of www." + d.name},
		{"a name that is none", "-x." + d.name, nil, "InvalidHostname", "begins or ends with a hyphen"},
		{"a name too long for a certificate", strings.Repeat("abcdefgh.", 7) + d.name, nil, "InvalidHostname", "a certificate can name at most 64"},
		{"another provider", "prov." + d.name, []func(ghr){func(r ghr) { r.Spec.ProviderRef.Name = "nobody" }}, "ProviderNotFound", "there is no AWSProvider nobody"},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := d.request(row.host, append(row.change, func(r ghr) { r.Name = fmt.Sprintf("case-%d", i) })...)
			got := reason(t, c, r, row.reason)
			if !strings.Contains(got.Message, row.says) {
				t.Errorf("%q does not say %q", got.Message, row.says)
			}
			if claimed := meta.FindStatusCondition(r.Status.Conditions, v1alpha1.StepClaimed); claimed == nil ||
				claimed.Status != metav1.ConditionFalse || claimed.Reason != row.reason {
				t.Errorf("Claimed is %+v", claimed)
			}
			if later := meta.FindStatusCondition(
				r.Status.Conditions, v1alpha1.StepCertificateRequested); later == nil ||
				later.Status != metav1.ConditionUnknown {
				t.Errorf("the next step is %+v", later)
			}
		})
	}
	if got := claimsOf(t, c, d.ns); len(got) != 0 {
		t.Errorf("claims %v", got)
	}
	if n := world.Proxy.CallsSince(m, awsproxy.By(awsproxy.Operator), awsproxy.Writes); len(n) != 0 {
		t.Errorf("AWS was written: %v", n)
	}
	if r := d.request("ungranted.example.com", func(r ghr) { r.Namespace = team(t, c) }); !strings.Contains(
		reason(t, c, r, "NotGranted").Message, "ask a platform admin for a HostnameGrant") {
		t.Error("a namespace without a grant is not told whom to ask")
	}
}

// A refused request is served once the reason is gone: by a watch, or on request.
func TestARefusedRequestIsServedWhenTheReasonGoes(t *testing.T) {
	c := withOperator(t)
	d := domainOf(t, c)
	first := d.request("*." + d.name)
	ready(t, c, first)
	if first.Status.URL != "" {
		t.Errorf("a wildcard has the URL %s", first.Status.URL)
	}

	rival := domainOf(t, c)
	edit(t, c, &v1alpha1.HostnameGrant{
		ObjectMeta: metav1.ObjectMeta{Namespace: rival.ns, Name: v1alpha1.HostnameGrantName},
	},
		func(g *v1alpha1.HostnameGrant) {
			g.Spec.Suffixes = []string{d.name}
		})
	second := rival.request("a.b."+d.name, func(r ghr) { r.Spec.ZoneID = v1alpha1.HostedZoneID(d.zone) })
	got := reason(t, c, second, "Taken")
	if !strings.Contains(got.Message, "another team has *."+d.name) || strings.Contains(got.Message, d.ns+"/") {
		t.Errorf("%q", got.Message)
	}
	gone(t, c, first)
	ready(t, c, second) // by the watch

	blocked := set("x."+d.name, types.RRTypeA, "192.0.2.1")
	d.change(blocked)
	third := d.request("x." + d.name)
	reason(t, c, third, "Conflict")
	d.change(removed(blocked))
	// These records may have been read moments ago together with another name's, so the conflict is reported before the
	// claim or after it.
	nudging(t, c, third, "the records to be free", func() (bool, string) {
		err := c.Get(t.Context(), client.ObjectKeyFromObject(third), third)
		return err == nil && third.Status.Ready, "not ready"
	})
}
