//go:build integration

package integration

import (
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/dnsname"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/stack"
)

// at returns a record set of the zone, or nil if there is none.
func (d domain) at(name string, kind types.RRType) *types.ResourceRecordSet {
	d.t.Helper()
	for _, s := range d.sets() {
		if dnsname.Canonical(aws.ToString(s.Name)) == name && s.Type == kind {
			return &s
		}
	}
	return nil
}

func deleted(s *types.ResourceRecordSet) types.Change {
	return types.Change{Action: types.ChangeActionDelete, ResourceRecordSet: s}
}

// F8: records edited or deleted outside Portico are restored, and the repair is reported, while the TXT record says
// that Portico owns them.
func TestOurRecordsAreRepaired(t *testing.T) {
	c := withOperator(t)
	d := domainOf(t, c)
	host := "shop." + d.name
	r := d.request(host)
	ready(t, c, r)
	a := d.at(host, types.RRTypeA)
	for name, change := range map[string][]types.Change{
		"a record that leads elsewhere": {deleted(a), set(host, types.RRTypeA, "192.0.2.66")},
		"a record that is gone":         {deleted(d.at(host, types.RRTypeAaaa))},
		"both gone":                     {deleted(a), deleted(d.at(host, types.RRTypeAaaa))},
	} {
		d.change(change...)
		nudging(t, c, r, name+" to be repaired", func() (bool, string) {
			now, v6 := d.at(host, types.RRTypeA), d.at(host, types.RRTypeAaaa)
			return now != nil && v6 != nil && now.AliasTarget != nil &&
				aws.ToString(now.AliasTarget.DNSName) == aws.ToString(a.AliasTarget.DNSName), "not repaired"
		})
		ready(t, c, r)
	}
	awaitEvent(t, c, r, "Repaired", "it was changed outside Portico")
}

// Records without Portico's TXT record are not changed, even if they look like Portico's, and not deleted with the
// request.
func TestRecordsThatAreNotOursAreLeftAlone(t *testing.T) {
	c := withOperator(t)
	d := domainOf(t, c)
	host := "shop." + d.name
	r := d.request(host)
	ready(t, c, r)
	note := d.at("_portico."+host, types.RRTypeTxt)

	d.change(deleted(note), set("_portico."+host, types.RRTypeTxt,
		`"heritage=portico,portico/cluster=other,portico/request=other"`))
	nudging(t, c, r, "the conflict", func() (bool, string) {
		err := c.Get(t.Context(), client.ObjectKeyFromObject(r), r)
		alias := meta.FindStatusCondition(r.Status.Conditions, v1alpha1.StepDNSAliasReady)
		return err == nil && alias != nil && alias.Reason == "Conflict", "no conflict"
	})
	before := d.records()
	gone(t, c, r)
	if got := d.records(); !slices.Equal(got, before) {
		t.Errorf("records %v, before %v", got, before)
	}
	if got := d.certificates(); len(got) != 0 {
		t.Errorf("certificates %v", got)
	}
}

// A hostname and its wildcard share one validation record, as does a later request for the same hostname. The record
// remains when one of them is deleted, and is restored when somebody deletes it.
func TestTheRecordThatProvesADomainStaysForOthers(t *testing.T) {
	c := withOperator(t)
	d := domainOf(t, c)
	one, all := d.request("shop."+d.name), d.request("*.shop."+d.name)
	ready(t, c, one)
	ready(t, c, all)
	if one.Status.Certificate.RecordName != all.Status.Certificate.RecordName ||
		one.Status.Certificate.ARN == all.Status.Certificate.ARN {
		t.Fatalf("certificates %+v and %+v", one.Status.Certificate, all.Status.Certificate)
	}
	record := one.Status.Certificate.RecordName
	gone(t, c, one)
	if d.at(record, types.RRTypeCname) == nil {
		t.Error("the record is gone with one of two")
	}
	d.change(deleted(d.at(record, types.RRTypeCname)))
	nudging(t, c, all, "the record", func() (bool, string) {
		return d.at(record, types.RRTypeCname) != nil, "gone"
	})
	ready(t, c, all)
	if got := d.records(); !slices.Equal(
		got, []string{`A *.shop.` + d.name, `AAAA *.shop.` + d.name, "TXT _portico-wildcard.shop." + d.name}) {
		t.Errorf("records %v", got)
	}
	gone(t, c, all)

	another := set(record, types.RRTypeCname, "elsewhere.example.")
	d.change(deleted(d.at(record, types.RRTypeCname)), another)
	third := d.request("shop."+d.name, func(r ghr) { r.Name = "third" })
	if got := reason(t, c, third, "Conflict"); !strings.Contains(got.Message, "another record at "+record) {
		t.Errorf("%q", got.Message)
	}
}

// An internal hostname is validated in the public zone and served from the private zone.
func TestAnInternalHostname(t *testing.T) {
	c := withOperator(t)
	public := domainOf(t, c)
	private := public
	private.zone = public.zoneOf(stack.Zone{Domain: public.name, Private: true})
	r := private.request("inner."+public.name, func(r ghr) {
		r.Spec.Visibility, r.Spec.ValidationZoneID = v1alpha1.Internal, v1alpha1.HostedZoneID(public.zone)
	})
	outer := public.request("inner."+public.name, func(r ghr) { r.Name = "outer" })
	ready(t, c, r)
	ready(t, c, outer)
	if r.Status.Gateway == outer.Status.Gateway || !strings.HasPrefix(r.Status.LoadBalancer, "internal-") {
		t.Errorf("%s on %s, and %s on %s", r.Status.LoadBalancer, r.Status.Gateway, outer.Status.LoadBalancer,
			outer.Status.Gateway)
	}
	want := []string{"A inner." + public.name, "AAAA inner." + public.name, "TXT _portico.inner." + public.name}
	if got := private.records(); !slices.Equal(got, want) {
		t.Errorf("the private zone has %v", got)
	}
	if got := public.records(); !slices.Equal(got, want) {
		t.Errorf("the public zone has %v", got)
	}
	gone(t, c, r)
	if got := public.records(); !slices.Equal(got, want) {
		t.Errorf("the public zone has %v after the other is gone", got)
	}
}

// Narrowing a grant removes nothing: the hostname is still maintained, and its status says that it is no longer
// granted.
func TestAGrantThatIsWithdrawnTakesNothingAway(t *testing.T) {
	c := withOperator(t)
	d := domainOf(t, c)
	host := "shop." + d.name
	r := d.request(host)
	ready(t, c, r)
	grant := &v1alpha1.HostnameGrant{ObjectMeta: metav1.ObjectMeta{Namespace: d.ns, Name: v1alpha1.HostnameGrantName}}
	edit(t, c, grant, func(g *v1alpha1.HostnameGrant) { g.Spec.Suffixes = []string{"other.example"} })
	if got := reason(t, c, r, "NotGranted"); !strings.Contains(got.Message, "is not below other.example") {
		t.Errorf("%q", got.Message)
	}
	if claimed := meta.FindStatusCondition(r.Status.Conditions, v1alpha1.StepClaimed); claimed.Reason != "NotGranted" ||
		!meta.IsStatusConditionTrue(r.Status.Conditions, v1alpha1.StepDNSAliasReady) {
		t.Errorf("conditions %+v", r.Status.Conditions)
	}
	d.change(deleted(d.at(host, types.RRTypeA)))
	nudging(t, c, r, "the record to be repaired", func() (bool, string) {
		return d.at(host, types.RRTypeA) != nil, "gone"
	})
	edit(t, c, grant, func(g *v1alpha1.HostnameGrant) { g.Spec.Suffixes = []string{d.name} })
	ready(t, c, r)
}
