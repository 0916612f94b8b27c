//go:build integration

package mototest_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"
	"github.com/aws/smithy-go"

	"github.com/portico-platform/portico/test/awsproxy"
)

func (w *world) route53(key string) *route53.Client {
	return route53.NewFromConfig(config(w.operator, key, "us-east-1"))
}

// unhurried returns a world whose Route 53 has no request rate limit.
func unhurried(t *testing.T, change ...func(*awsproxy.Options)) *world {
	t.Helper()
	w := newWorld(t, change...)
	w.SetRoute53Rate(0)
	return w
}

// newZone creates a public zone and returns its ID.
func newZone(t *testing.T, c *route53.Client, name string) string {
	t.Helper()
	out, err := c.CreateHostedZone(t.Context(), &route53.CreateHostedZoneInput{
		Name: &name, CallerReference: aws.String(unique(t)),
	})
	must(t, err)
	return strings.TrimPrefix(*out.HostedZone.Id, "/hostedzone/")
}

func plain(action types.ChangeAction, kind types.RRType, name string, values ...string) types.Change {
	set := &types.ResourceRecordSet{Name: &name, Type: kind, TTL: aws.Int64(60)}
	for _, v := range values {
		set.ResourceRecords = append(set.ResourceRecords, types.ResourceRecord{Value: &v})
	}
	return types.Change{Action: action, ResourceRecordSet: set}
}

func alias(action types.ChangeAction, kind types.RRType, name, zone, target string) types.Change {
	return types.Change{Action: action, ResourceRecordSet: &types.ResourceRecordSet{
		Name: &name, Type: kind, AliasTarget: &types.AliasTarget{HostedZoneId: &zone, DNSName: &target},
	}}
}

func change(t *testing.T, c *route53.Client, zone string, changes ...types.Change) (*types.ChangeInfo, error) {
	t.Helper()
	out, err := c.ChangeResourceRecordSets(t.Context(), &route53.ChangeResourceRecordSetsInput{
		HostedZoneId: &zone, ChangeBatch: &types.ChangeBatch{Changes: changes},
	})
	if err != nil {
		return nil, err
	}
	return out.ChangeInfo, nil
}

// listed returns the zone's records in order, as "name type value,value".
func listed(t *testing.T, c *route53.Client, zone string) (out []string) {
	t.Helper()
	page, err := c.ListResourceRecordSets(t.Context(), &route53.ListResourceRecordSetsInput{HostedZoneId: &zone})
	must(t, err)
	for _, set := range page.ResourceRecordSets {
		if set.Type == types.RRTypeNs || set.Type == types.RRTypeSoa {
			continue
		}
		var values []string
		for _, r := range set.ResourceRecords {
			values = append(values, *r.Value)
		}
		if set.AliasTarget != nil {
			values = append(values, "alias "+*set.AliasTarget.DNSName)
		}
		out = append(out, fmt.Sprintf("%s %s %s", *set.Name, set.Type, strings.Join(values, ",")))
	}
	return out
}

const (
	creates = types.ChangeActionCreate
	upserts = types.ChangeActionUpsert
	removes = types.ChangeActionDelete
)

const balancer = "dualstack.web-1.eu-west-1.elb.amazonaws.com"

func TestRoute53RefusesWhatAWSRefuses(t *testing.T) {
	w := unhurried(t)
	c := w.route53(newAccount(w))
	zone := newZone(t, c, "Refuse.Example.com")
	_, err := change(t, c, zone,
		plain(creates, "A", "a.refuse.example.com", "192.0.2.1"),
		plain(creates, "CNAME", "c.refuse.example.com", "elsewhere.example.org"),
		plain(creates, "TXT", "*.refuse.example.com", `"one" "two; with \"quotes\""`))
	must(t, err)
	before := listed(t, c, zone)

	for name, tc := range map[string]struct {
		changes       []types.Change
		code, message string
	}{
		"a set that exists, in whatever spelling": {
			[]types.Change{plain(creates, "A", "A.Refuse.example.com.", "192.0.2.9")},
			"InvalidChangeBatch",
			"[Tried to create resource record set [name='a.refuse.example.com.', type='A'] but it already exists]",
		},
		"an asterisk is its escape": {
			[]types.Change{plain(creates, "TXT", `\052.refuse.example.com`, `"x"`)},
			"InvalidChangeBatch",
			`[Tried to create resource record set [name='\052.refuse.example.com.', type='TXT'] but it already exists]`,
		},
		"a CNAME beside another type": {
			[]types.Change{plain(upserts, "CNAME", "a.refuse.example.com", "x.example.org")},
			"InvalidChangeBatch",
			"[RRSet of type CNAME with DNS name a.refuse.example.com. is not permitted as it conflicts with other " +
				"records with the same DNS name in zone refuse.example.com.]",
		},
		"another type beside a CNAME": {
			[]types.Change{plain(creates, "A", "c.refuse.example.com", "192.0.2.1")},
			"InvalidChangeBatch",
			"[RRSet of type A with DNS name c.refuse.example.com. is not permitted because a conflicting RRSet of " +
				"type  CNAME with the same DNS name already exists in zone refuse.example.com.]",
		},
		"a CNAME beside what the same batch creates": {
			[]types.Change{
				plain(creates, "A", "new.refuse.example.com", "192.0.2.1"),
				plain(creates, "CNAME", "new.refuse.example.com", "x.example.org"),
			},
			"InvalidChangeBatch",
			"[RRSet of type CNAME with DNS name new.refuse.example.com. is not permitted as it conflicts with other " +
				"records with the same DNS name in zone refuse.example.com.]",
		},
		"a CNAME at the apex": {
			[]types.Change{plain(creates, "CNAME", "refuse.example.com", "x.example.org")},
			"InvalidChangeBatch",
			"[RRSet of type CNAME with DNS name refuse.example.com. is not permitted at apex in zone " +
				"refuse.example.com.]",
		},
		"a name outside the zone, though it ends alike": {
			[]types.Change{plain(creates, "A", "notrefuse.example.com", "192.0.2.1")},
			"InvalidChangeBatch",
			"[RRSet with DNS name notrefuse.example.com. is not permitted in zone refuse.example.com.]",
		},
		"the deletion of what is not there": {
			[]types.Change{plain(removes, "A", "none.refuse.example.com", "192.0.2.1")},
			"InvalidChangeBatch",
			"[Tried to delete resource record set [name='none.refuse.example.com.', type='A'] but it was not found]",
		},
		"the deletion with other values": {
			[]types.Change{plain(removes, "A", "a.refuse.example.com", "192.0.2.2")},
			"InvalidChangeBatch",
			"[Tried to delete resource record set [name='a.refuse.example.com.', type='A'] but the values provided " +
				"do not match the current values]",
		},
		"the deletion of the apex's NS": {
			[]types.Change{withTTL(172800, plain(removes, "NS", "refuse.example.com", "ns-2048.awsdns-64.com",
				"ns-2049.awsdns-65.net", "ns-2050.awsdns-66.org", "ns-2051.awsdns-67.co.uk"))},
			"InvalidChangeBatch",
			"[A HostedZone must contain at least one NS record for the zone itself.]",
		},
		"a set that is created twice in a batch": {
			[]types.Change{
				plain(creates, "A", "b.refuse.example.com", "192.0.2.1"),
				plain(creates, "A", "b.refuse.example.com", "192.0.2.2"),
			},
			"InvalidChangeBatch",
			"[The request contains an invalid set of changes for a resource record set 'A b.refuse.example.com.']",
		},
		"a text that is not quoted": {
			[]types.Change{plain(creates, "TXT", "t.refuse.example.com", "bare")},
			"InvalidChangeBatch",
			"[Invalid Resource Record: 'FATAL problem: InvalidCharacterString (Value should be enclosed in quotation " +
				"marks) encountered with 'bare'']",
		},
		"all that is wrong at once, and nothing of the batch is made": {
			[]types.Change{
				plain(creates, "A", "fine.refuse.example.com", "192.0.2.1"),
				plain(creates, "A", "a.refuse.example.com", "192.0.2.1"),
				plain(upserts, "A", "ip.refuse.example.com", "192.0.2"),
			},
			"InvalidChangeBatch",
			"[Tried to create resource record set [name='a.refuse.example.com.', type='A'] but it already exists, " +
				"Invalid Resource Record: 'FATAL problem: ARRDATAIllegalIPv4Address (Value is not a valid IPv4 " +
				"address) encountered with '192.0.2'']",
		},
		"an alias to a load balancer in the hosted zone of another region": {
			[]types.Change{alias(creates, "A", "w.refuse.example.com", "Z35SXDOTRQ7X7K", balancer)},
			"InvalidChangeBatch",
			"[Tried to create an alias that targets dualstack.web-1.eu-west-1.elb.amazonaws.com., type A in zone " +
				"Z35SXDOTRQ7X7K, but the alias target name does not lie within the target zone]",
		},
		"an alias without a hosted zone": {[]types.Change{alias(creates, "A", "w.refuse.example.com", "", balancer)}, "InvalidInput", ""},
		"neither alias nor values":       {[]types.Change{plain(creates, "A", "w.refuse.example.com")}, "InvalidInput", ""},
		"more than 1,000 records, of which an UPSERT counts twice": {
			manyTexts(upserts, 501, 1), "InvalidChangeBatch", "Number of records limit of 1000 exceeded.",
		},
		"more than 32,000 characters, of which an UPSERT counts twice": {
			manyTexts(upserts, 100, 159), "InvalidChangeBatch", "Number of characters limit of 32000 exceeded.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := change(t, c, zone, tc.changes...)
			wantCode(t, err, tc.code)
			var e smithy.APIError
			if errors.As(err, &e); tc.message != "" && e.ErrorMessage() != tc.message {
				t.Errorf("message %s\n   want %s", e.ErrorMessage(), tc.message)
			}
			if after := listed(t, c, zone); !slices.Equal(after, before) {
				t.Errorf("the zone has become %q", after)
			}
		})
	}
	_, err = change(t, c, "ZNONE", plain(creates, "A", "a.refuse.example.com", "192.0.2.1"))
	wantCode(t, err, "NoSuchHostedZone")
}

// manyTexts returns n changes whose texts have the given number of characters, with quotes.
func manyTexts(action types.ChangeAction, n, characters int) (out []types.Change) {
	for i := range n {
		out = append(out, plain(action, "TXT", fmt.Sprintf("t%d.refuse.example.com", i),
			`"`+strings.Repeat("x", characters)+`"`))
	}
	return out
}

func TestRoute53TakesWhatAWSTakes(t *testing.T) {
	w := unhurried(t)
	for name, tc := range map[string]struct {
		before, changes []types.Change
		want            []string
	}{
		"an alias is kept beside the alias of the other family": {
			changes: []types.Change{
				alias(creates, "A", "w.take.test", "Z32O12XQLNTSW2", strings.ToUpper(balancer)),
				alias(creates, "AAAA", "w.take.test", "Z32O12XQLNTSW2", balancer),
				plain(creates, "TXT", "_owner.w.take.test", `"a"`),
			},
			want: []string{"w.take.test. A alias " + balancer + ".", "w.take.test. AAAA alias " + balancer + ".", `_owner.w.take.test. TXT "a"`},
		},
		"an alias is deleted whatever the spelling of its target": {
			before: []types.Change{alias(creates, "A", "w.take.test", "Z32O12XQLNTSW2", balancer)},
			changes: []types.Change{alias(removes, "A", "w.take.test", "Z32O12XQLNTSW2", strings.ToUpper(balancer)+
				".")},
		},
		"compare-and-swap in a batch": {
			before: []types.Change{plain(creates, "A", "a.take.test", "192.0.2.1", "192.0.2.2")},
			changes: []types.Change{
				plain(removes, "A", "A.take.test", "192.0.2.2", "192.0.2.1"),
				plain(creates, "A", "a.take.test.", "192.0.2.3"),
			},
			want: []string{"a.take.test. A 192.0.2.3"},
		},
		"a CNAME takes the place of an A in a batch": {
			before: []types.Change{plain(creates, "A", "a.take.test", "192.0.2.1")},
			changes: []types.Change{
				plain(removes, "A", "a.take.test", "192.0.2.1"),
				plain(creates, "CNAME", "a.take.test", "b.take.test"),
			},
			want: []string{"a.take.test. CNAME b.take.test"},
		},
		"a set that was there before is created again": {
			before: []types.Change{
				plain(creates, "A", "a.take.test", "192.0.2.1"), plain(creates, "A", "b.take.test", "192.0.2.1"),
			},
			changes: []types.Change{
				plain(removes, "A", "a.take.test", "192.0.2.1"),
				plain(creates, "A", "a.take.test", "192.0.2.1"),
			},
			want: []string{"a.take.test. A 192.0.2.1", "b.take.test. A 192.0.2.1"},
		},
		"a set of one identifier goes alone": {
			before: []types.Change{
				weighted(creates, "a.take.test", "one"), weighted(creates, "a.take.test", "two"),
				weighted(creates, "b.take.test", "one"),
			},
			changes: []types.Change{weighted(removes, "a.take.test", "one")},
			want:    []string{"a.take.test. A 192.0.2.1", "b.take.test. A 192.0.2.1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := w.route53(newAccount(w))
			zone := newZone(t, c, "take.test")
			if tc.before != nil {
				_, err := change(t, c, zone, tc.before...)
				must(t, err)
			}
			_, err := change(t, c, zone, tc.changes...)
			must(t, err)
			if got := listed(t, c, zone); !slices.Equal(got, tc.want) {
				t.Errorf("listed %q\n  want %q", got, tc.want)
			}
		})
	}
}

func weighted(action types.ChangeAction, name, id string) types.Change {
	c := plain(action, "A", name, "192.0.2.1")
	c.ResourceRecordSet.SetIdentifier, c.ResourceRecordSet.Weight = &id, aws.Int64(10)
	return c
}

func withTTL(ttl int64, c types.Change) types.Change {
	c.ResourceRecordSet.TTL = &ttl
	return c
}

func TestABatchMayHaveAThousandRecords(t *testing.T) {
	w := unhurried(t)
	c := w.route53(newAccount(w))
	zone := newZone(t, c, "refuse.example.com")
	_, err := change(t, c, zone, manyTexts(creates, 1000, 10)...)
	must(t, err)
	got, err := c.GetHostedZone(t.Context(), &route53.GetHostedZoneInput{Id: &zone})
	must(t, err)
	if *got.HostedZone.ResourceRecordSetCount != 1002 {
		t.Errorf("%d sets", *got.HostedZone.ResourceRecordSetCount)
	}
}
