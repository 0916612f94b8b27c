//go:build integration

package integration

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/portico-platform/portico/test/awsproxy"
	"github.com/portico-platform/portico/test/campaign"
	"github.com/portico-platform/portico/test/tiers"
)

// callsOf counts the operator's calls since a mark, by operation, without calls to STS, which belong to the provider,
// and without calls that failed because AWS had just ended the session.
func callsOf(m awsproxy.Mark) map[string]int {
	all := map[string]int{}
	for _, call := range world.Proxy.CallsSince(m, awsproxy.By(awsproxy.Operator)) {
		if call.Service != "sts" && !strings.HasPrefix(call.ErrorCode, "ExpiredToken") {
			all[call.Operation]++
		}
	}
	return all
}

func told(counts map[string]int) string {
	var parts []string
	for _, op := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%s %d", op, counts[op]))
	}
	return strings.Join(parts, ", ")
}

// The AWS calls of one hostname from the request to Ready, at rest, and for its deletion, with the usual cache of
// reads. Polling (for the certificate, for the change of the zone) is not limited.
func TestCallsOfAHostname(t *testing.T) {
	c := admin(t)
	startOperator(t, operatorOptions{timeScale: 1})
	d := domainOf(t, c)
	ready(t, c, d.request("first."+d.name)) // the load balancer exists, and the zone has been read
	m := world.Proxy.Mark()
	r := d.request("shop." + d.name)
	ready(t, c, r)
	born := callsOf(m)
	t.Logf("request to Ready: %s", told(born))
	for op, most := range map[string]int{
		"RequestCertificate": 1, "ChangeResourceRecordSets": 2, "GetHostedZone": 0,
		// one read returns the name, its TXT record and ACM's record; the names above it have been read
		"ListResourceRecordSets": 1,
		"GetResources":           0, "ListCertificates": 0, "ListHostedZones": 0,
	} {
		if born[op] > most {
			t.Errorf("%s was called %d times, at most %d", op, born[op], most)
		}
	}
	atRest(t, c, r)
	m = world.Proxy.Mark()
	time.Sleep(quiet)
	if at := callsOf(m); len(at) != 0 {
		t.Errorf("calls at rest, between audits: %s", told(at))
	}
	m = world.Proxy.Mark()
	gone(t, c, r)
	died := callsOf(m)
	t.Logf("deletion: %s", told(died))
	if died["ChangeResourceRecordSets"] != 1 || died["DeleteCertificate"] != 1 {
		t.Errorf("writes of a deletion: %s", told(died))
	}
}

// F10: an audit reads one hostname in a few calls and writes nothing.
func TestAHostnameAtRestIsOnlyRead(t *testing.T) {
	c := admin(t)
	kube := newCut(0, awsproxy.Before)
	startOperator(t, operatorOptions{resync: 500 * time.Millisecond, providerResync: time.Hour, newClient: kube.kube})
	d := domainOf(t, c)
	r := d.request("shop." + d.name)
	ready(t, c, r)
	atRest(t, c, r)
	m, wrote := world.Proxy.Mark(), kube.seen.Load()
	await(t, "ten audits", func() (bool, string) {
		n := callsOf(m)["DescribeCertificate"]
		return n >= 10, fmt.Sprint(n)
	})
	at := callsOf(m)
	t.Logf("ten audits of one hostname and its Gateway: %s", told(at))
	if n := kube.seen.Load() - wrote; n != 0 {
		t.Errorf("%d Kubernetes writes at rest", n)
	}
	if n := world.Proxy.CallsSince(m, awsproxy.By(awsproxy.Operator), awsproxy.Writes); len(n) != 0 {
		t.Errorf("AWS writes at rest: %v", n)
	}
}

// Many hostnames at once stay within Route 53's limit of five requests a second per account, and share their changes.
func TestManyHostnamesKeepToTheRateOfRoute53(t *testing.T) {
	tiers.Long(t)
	c := admin(t)
	world.Proxy.SetRoute53Rate(5)
	defer world.Proxy.SetRoute53Rate(0)
	startOperator(t, operatorOptions{paced: true, timeScale: 1, gather: time.Second})
	d := domainOf(t, c)
	m := world.Proxy.Mark()
	var all []ghr
	for i := range 12 {
		all = append(all, d.request(fmt.Sprintf("h%02d.%s", i, d.name)))
	}
	for _, r := range all {
		ready(t, c, r)
	}
	var times []time.Time
	for _, call := range world.Proxy.CallsSince(m, awsproxy.By(awsproxy.Operator)) {
		if call.Service == "route53" {
			times = append(times, call.Time)
		}
	}
	if most := campaign.Busiest(times); most > 5 {
		t.Errorf("%d requests in one second", most)
	}
	counts := callsOf(m)
	t.Logf("%d hostnames: %s", len(all), told(counts))
	if n := counts["ChangeResourceRecordSets"]; n > len(all)*3/2 { // without sharing there would be two for each
		t.Errorf("%d changes for %d hostnames: they do not share", n, len(all))
	}
}

// A certificate that AWS gives up on is reported with advice, and is not retried in a loop.
func TestACertificateThatFailsIsExplained(t *testing.T) {
	c := admin(t)
	world.Proxy.SetACMIssueDelay(time.Hour)
	defer world.Proxy.SetACMIssueDelay(300 * time.Millisecond)
	startOperator(t, operatorOptions{})
	d := domainOf(t, c)
	r := d.request("shop." + d.name)
	reason(t, c, r, "CertificatePending")
	world.Proxy.FailCertificate(r.Status.Certificate.ARN, "FAILED", "CAA_ERROR")
	wakeNow(t, c, r)
	got := reason(t, c, r, "CertificateFailed")
	if !strings.Contains(got.Message, "FAILED CAA_ERROR") ||
		!strings.Contains(got.Message, "let the CAA records of the domain") {
		t.Errorf("%q", got.Message)
	}
	m := world.Proxy.Mark()
	wakeNow(t, c, r)
	atRest(t, c, r)
	if n := callsOf(m)["RequestCertificate"]; n != 0 {
		t.Errorf("%d requests", n)
	}
	world.Proxy.SetACMIssueDelay(0)
	gone(t, c, r)
	d.assertNothingLeft("", r.Status.Claim)
}
