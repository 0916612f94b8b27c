package hostname

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"

	"github.com/portico-platform/portico/api/dnsname"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/hostname/dns"
)

// zone fakes a hosted zone whose changes propagate at once.
type zone struct {
	sets   []dns.Set
	sent   int
	refuse string // returned for every change; empty: valid changes are applied
}

func (*zone) GetHostedZone(context.Context, *route53.GetHostedZoneInput, ...func(*route53.Options)) (
	*route53.GetHostedZoneOutput, error,
) {
	return &route53.GetHostedZoneOutput{HostedZone: &types.HostedZone{Name: aws.String("example.com.")}}, nil
}

func (z *zone) ListResourceRecordSets(_ context.Context, in *route53.ListResourceRecordSetsInput,
	_ ...func(*route53.Options),
) (*route53.ListResourceRecordSetsOutput, error) {
	of := func(name *string) string { return dnsname.Canonical(aws.ToString(name)) }
	return &route53.ListResourceRecordSetsOutput{
		ResourceRecordSets: slices.DeleteFunc(slices.Clone(z.sets), func(s dns.Set) bool {
			return of(s.Name) != of(in.StartRecordName)
		}),
		IsTruncated: true, NextRecordName: aws.String("zzz.example.com."),
	}, nil
}

func (z *zone) ChangeResourceRecordSets(_ context.Context, in *route53.ChangeResourceRecordSetsInput,
	_ ...func(*route53.Options),
) (*route53.ChangeResourceRecordSetsOutput, error) {
	z.sent++
	if z.refuse != "" {
		return nil, &types.InvalidChangeBatch{Messages: []string{z.refuse}}
	}
	after := slices.Clone(z.sets)
	for _, c := range in.ChangeBatch.Changes {
		s := *c.ResourceRecordSet
		if c.Action == types.ChangeActionDelete {
			after = slices.DeleteFunc(after, func(have dns.Set) bool {
				return aws.ToString(have.Name) == aws.ToString(s.Name) && have.Type == s.Type &&
					aws.ToString(have.SetIdentifier) == aws.ToString(s.SetIdentifier)
			})
			continue
		}
		if slices.ContainsFunc(after, func(have dns.Set) bool {
			return aws.ToString(have.Name) == aws.ToString(s.Name) && have.Type == s.Type
		}) {
			return nil, &types.InvalidChangeBatch{Messages: []string{"it already exists"}}
		}
		after = append(after, s)
	}
	z.sets = after
	return &route53.ChangeResourceRecordSetsOutput{ChangeInfo: &types.ChangeInfo{Id: aws.String("C1")}}, nil
}

func (*zone) GetChange(context.Context, *route53.GetChangeInput, ...func(*route53.Options)) (
	*route53.GetChangeOutput, error,
) {
	return &route53.GetChangeOutput{ChangeInfo: &types.ChangeInfo{Status: types.ChangeStatusInsync}}, nil
}

// at returns a pass over shop.example.com, served by a load balancer, in the zone.
func at(t *testing.T, z *zone) *reconciliation {
	t.Helper()
	req := &v1alpha1.GatewayHostnameRequest{}
	req.UID, req.Status.Claim, req.Spec.ZoneID = "uid", "dc-1", "Z1"
	req.Status.Certificate = &v1alpha1.HostnameCertificate{ARN: "arn"}
	pg := &v1alpha1.PoolGateway{}
	pg.Status.LoadBalancer = &v1alpha1.PoolLoadBalancer{DNSName: "lb.elb.example", ZoneID: "ZLB"}
	return &reconciliation{
		req: req, pool: pg, pass: engine.NewPass(nil), name: parsed(t, "shop.example.com"),
		zone:    dns.Zone{ID: "Z1", Name: "example.com"},
		account: &Account{Cluster: "c1", Zones: dns.New(z, &dns.Queues{}, time.Now, time.Minute)},
	}
}

func weighted(id string) dns.Set {
	s := dns.Alias("shop.example.com", types.RRTypeA, "ZX", "other.elb.example")
	s.SetIdentifier, s.Weight = &id, aws.Int64(1)
	return s
}

// If the TXT record says that a hostname is ours, all conflicting records are replaced.
func TestWhatWasPutInPlaceOfOurRecordsIsReplaced(t *testing.T) {
	for name, instead := range map[string][]dns.Set{
		"nothing":            nil,
		"another target":     {dns.Alias("shop.example.com", types.RRTypeA, "ZX", "other.elb.example")},
		"one weighted set":   {weighted("a")},
		"two weighted sets":  {weighted("a"), weighted("b")},
		"a set of addresses": {{Name: aws.String("shop.example.com."), Type: types.RRTypeA, TTL: aws.Int64(60), ResourceRecords: []types.ResourceRecord{{Value: aws.String("192.0.2.1")}}}},
	} {
		z := &zone{}
		r := at(t, z)
		z.sets = append([]dns.Set{dns.Text(r.name.Ownership(), r.ownershipValue())}, instead...)
		if _, err := r.ensureAlias(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if len(z.sets) != 3 || z.sent != 1 || !slices.ContainsFunc(z.sets, func(s dns.Set) bool {
			return dns.Same(s, r.wantedRecords()[0])
		}) {
			t.Errorf("%s: %d sets after %d requests", name, len(z.sets), z.sent)
		}
		if err := at(t, z).deleteAlias(t.Context()); err != nil || len(z.sets) != 0 {
			t.Errorf("%s: %d sets are left: %v", name, len(z.sets), err)
		}
	}
}

func TestAURLNamesThePublicPortOfTheClass(t *testing.T) {
	for port, want := range map[int32]string{0: "https://shop.example.com", 8443: "https://shop.example.com:8443"} {
		z := &zone{}
		r := at(t, z)
		r.pool.Status.PublicPort = port
		if _, err := r.ensureAlias(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := r.req.Status.URL; got != want {
			t.Errorf("port %d: got %s, want %s", port, got, want)
		}
	}
}

// The zone may be full: a retry every second would not help.
func TestAChangeThatIsRefusedForItselfIsNotRepeatedAtOnce(t *testing.T) {
	z := &zone{refuse: "the zone has 10,000 records"}
	r := at(t, z)
	_, made := r.ensureAlias(t.Context())
	z.sets = []dns.Set{dns.Text(r.name.Ownership(), r.ownershipValue())}
	for what, err := range map[string]error{"made": made, "deleted": at(t, z).deleteAlias(t.Context())} {
		wait, ok := engine.AsWait(err)
		if !ok || wait.Reason != "Refused" || !wait.Stalled {
			t.Errorf("%s: error = %v, want Refused, stalled", what, err)
		}
		if !strings.Contains(fmt.Sprint(err), z.refuse) {
			t.Errorf("%s: error = %v, want %q in it", what, err, z.refuse)
		}
	}
}

// The status must not record a load balancer that the records do not point at.
func TestWhatDoesNotLeadThereIsNotNoted(t *testing.T) {
	for name, sets := range map[string][]dns.Set{"all were deleted by others": nil, "no note says that they are ours": {
		weighted("a"),
	}} {
		r := at(t, &zone{sets: sets})
		r.req.Status.LoadBalancer, r.req.Status.URL = "lb.elb.example", "https://shop.example.com"
		if err := r.deleteAlias(t.Context()); err != nil || r.req.Status.LoadBalancer != "" || r.req.Status.URL != "" {
			t.Errorf("%s: %v, %+v", name, err, r.req.Status)
		}
	}
}

// The records of a lost cluster are kept as they are: not even the TXT record is rewritten.
func TestARestoredRequestsRecordsStayAsTheyAre(t *testing.T) {
	z := &zone{}
	before := at(t, z)
	if _, err := before.ensureAlias(t.Context()); err != nil {
		t.Fatal(err)
	}
	z.sent = 0
	r := at(t, z)
	r.req.UID, r.req.Annotations = "new", map[string]string{v1alpha1.AnnotationFormerUID: "uid"}
	if _, err := r.ensureAlias(t.Context()); err != nil || z.sent != 0 ||
		r.req.Status.URL != "https://shop.example.com" {
		t.Errorf("%d changes, %v, %+v", z.sent, err, r.req.Status)
	}
	r = at(t, z)
	r.req.UID = "new"
	if _, err := r.ensureAlias(t.Context()); reasonOf(err) != "Conflict" || z.sent != 0 {
		t.Errorf("without an admin's word: %d changes, %v", z.sent, err)
	}
}
