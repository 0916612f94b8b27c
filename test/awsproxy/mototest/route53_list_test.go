//go:build integration

package mototest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"

	"github.com/portico-platform/portico/test/awsproxy"
)

func TestSetsComeInTheOrderOfRoute53(t *testing.T) {
	w := unhurried(t)
	c := w.route53(newAccount(w))
	zone := newZone(t, c, "order.test")
	for _, name := range []string{"b", "a", "x.a", "a-b", "*", "*.a", "_x.a"} {
		_, err := change(t, c, zone, plain(creates, "A", name+".order.test", "192.0.2.1"))
		must(t, err)
	}
	_, err := change(t, c, zone, plain(creates, "AAAA", "a.order.test", "2001:db8::1"))
	must(t, err)
	order := []string{
		"order.test. NS", "order.test. SOA", `\052.order.test. A`, "a-b.order.test. A", "a.order.test. A",
		"a.order.test. AAAA",
		`\052.a.order.test. A`, "_x.a.order.test. A", "x.a.order.test. A", "b.order.test. A",
	}
	for name, tc := range map[string]struct {
		in   route53.ListResourceRecordSetsInput
		want []string
		next string
	}{
		"all":                           {want: order},
		"a page":                        {in: route53.ListResourceRecordSetsInput{MaxItems: aws.Int32(2)}, want: order[:2], next: `\052.order.test. A`},
		"from a name":                   {in: route53.ListResourceRecordSetsInput{StartRecordName: aws.String("X.a.order.test")}, want: order[8:]},
		"from a name that is not there": {in: route53.ListResourceRecordSetsInput{StartRecordName: aws.String("a-c.order.test")}, want: order[4:]},
		"from a wildcard":               {in: route53.ListResourceRecordSetsInput{StartRecordName: aws.String("*.a.order.test"), MaxItems: aws.Int32(1)}, want: order[6:7], next: "_x.a.order.test. A"},
		"from a type": {
			in:   route53.ListResourceRecordSetsInput{StartRecordName: aws.String("a.order.test"), StartRecordType: types.RRTypeAaaa, MaxItems: aws.Int32(1)},
			want: order[5:6], next: `\052.a.order.test. A`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			tc.in.HostedZoneId = &zone
			out, err := c.ListResourceRecordSets(t.Context(), &tc.in)
			must(t, err)
			var got []string
			for _, set := range out.ResourceRecordSets {
				got = append(got, fmt.Sprintf("%s %s", *set.Name, set.Type))
			}
			next := strings.TrimSpace(fmt.Sprintf("%s %s", aws.ToString(out.NextRecordName), out.NextRecordType))
			if !slices.Equal(got, tc.want) || next != tc.next || out.IsTruncated != (tc.next != "") {
				t.Errorf("got %q, then %q (%t)\nwant %q, then %q", got, next, out.IsTruncated, tc.want, tc.next)
			}
		})
	}
	_, err = c.ListResourceRecordSets(t.Context(), &route53.ListResourceRecordSetsInput{
		HostedZoneId: &zone, StartRecordType: types.RRTypeA,
	})
	wantCode(t, err, "InvalidInput")
	_, err = c.ListResourceRecordSets(t.Context(), &route53.ListResourceRecordSetsInput{
		HostedZoneId: aws.String("ZNONE"),
	})
	wantCode(t, err, "NoSuchHostedZone")
	out, err := c.ListResourceRecordSets(t.Context(), &route53.ListResourceRecordSetsInput{HostedZoneId: &zone})
	must(t, err)
	if soa := *out.ResourceRecordSets[1].ResourceRecords[0].Value; strings.ContainsAny(soa, "{'") {
		t.Errorf("the SOA is %s", soa)
	}
}

func TestAZoneWithAVPCIsPrivate(t *testing.T) {
	w := unhurried(t)
	c := w.route53(newAccount(w))
	vpc := &types.VPC{VPCId: aws.String("vpc-1"), VPCRegion: "eu-west-1"}
	ask := func(name string, vpc *types.VPC, private bool) (*route53.CreateHostedZoneOutput, error) {
		return c.CreateHostedZone(t.Context(), &route53.CreateHostedZoneInput{
			Name: &name, CallerReference: aws.String(name + fmt.Sprint(private)), VPC: vpc,
			HostedZoneConfig: &types.HostedZoneConfig{PrivateZone: private, Comment: aws.String("kept")},
		})
	}
	_, err := ask("private.test", nil, true)
	wantCode(t, err, "InvalidInput")
	made, err := ask("private.test", vpc, false)
	must(t, err)
	_, err = ask("private.test", vpc, false)
	wantCode(t, err, "HostedZoneAlreadyExists")
	_, err = ask("before.test", nil, false)
	must(t, err)
	got, err := c.GetHostedZone(t.Context(), &route53.GetHostedZoneInput{Id: made.HostedZone.Id})
	must(t, err)
	if !got.HostedZone.Config.PrivateZone || *got.HostedZone.Config.Comment != "kept" || len(got.VPCs) != 1 {
		t.Errorf("%+v in %+v", got.HostedZone.Config, got.VPCs)
	}
	named, err := c.ListHostedZonesByName(t.Context(), &route53.ListHostedZonesByNameInput{
		DNSName: aws.String("c.test"), MaxItems: aws.Int32(1),
	})
	must(t, err)
	zones := named.HostedZones
	if len(zones) != 1 || *zones[0].Id != *made.HostedZone.Id {
		t.Fatalf("from c.test on %+v", zones)
	}
	if !zones[0].Config.PrivateZone || named.IsTruncated {
		t.Errorf("from c.test on %+v", zones)
	}
	if calls := w.Calls(awsproxy.To("route53", "CreateHostedZone"),
		awsproxy.About(strings.TrimPrefix(*made.HostedZone.Id, "/hostedzone/"))); len(calls) != 1 || !calls[0].Write {
		t.Errorf("the journal has %+v of the zone", calls)
	}
}

func TestRoute53TakesFewRequestsASecondFromTheOperator(t *testing.T) {
	w := newWorld(t)
	key := newAccount(w)
	c := w.route53(key)
	outside := route53.NewFromConfig(config(w.outside, key, "us-east-1"))
	list := func(c *route53.Client) error {
		_, err := c.ListHostedZones(t.Context(), &route53.ListHostedZonesInput{})
		return err
	}
	w.SetRoute53Rate(3)
	for range 5 {
		must(t, list(outside))
	}
	var refused error
	for range 50 { // within a second: a slow machine makes fewer requests
		if refused = list(c); refused != nil {
			break
		}
	}
	wantCode(t, refused, "Throttling")
	wantStatus(t, refused, 400)
	must(t, list(w.route53(newAccount(w))))
	w.SetRoute53Rate(0)
	must(t, list(c))
}

func TestAChangeTakesItsTime(t *testing.T) {
	later := time.Duration(0)
	w := unhurried(t, func(o *awsproxy.Options) { o.Now = standing(&later) })
	w.SetDNSDelay(time.Minute)
	c := w.route53(keyOne)
	made, err := c.CreateHostedZone(t.Context(), &route53.CreateHostedZoneInput{
		Name: aws.String("time.test"), CallerReference: aws.String(unique(t)),
	})
	must(t, err)
	info, err := change(t, c, *made.HostedZone.Id, plain(creates, "A", "a.time.test", "192.0.2.1"))
	must(t, err)
	for _, step := range []struct {
		later time.Duration
		want  types.ChangeStatus
	}{
		{0, types.ChangeStatusPending},
		{59 * time.Second, types.ChangeStatusPending},
		{61 * time.Second, types.ChangeStatusInsync},
	} {
		later = step.later
		for _, id := range []*string{info.Id, made.ChangeInfo.Id} {
			got, err := c.GetChange(t.Context(), &route53.GetChangeInput{Id: id})
			must(t, err)
			if got.ChangeInfo.Status != step.want || *got.ChangeInfo.Id != *id {
				t.Errorf("after %s %s is %s", later, *id, got.ChangeInfo.Status)
			}
		}
	}
	_, err = c.GetChange(t.Context(), &route53.GetChangeInput{Id: aws.String("CNONE")})
	wantCode(t, err, "NoSuchChange")
	_, err = w.route53(keyTwo).GetChange(t.Context(), &route53.GetChangeInput{Id: info.Id})
	wantCode(t, err, "NoSuchChange")
}

func privateZone(t *testing.T, name string) *route53.CreateHostedZoneInput {
	t.Helper()
	return &route53.CreateHostedZoneInput{
		Name: &name, CallerReference: aws.String(unique(t)),
		VPC: &types.VPC{VPCId: aws.String("vpc-1"), VPCRegion: "eu-west-1"},
	}
}
