//go:build integration

package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/external"
	"github.com/portico-platform/portico/test/awsproxy"
	"github.com/portico-platform/portico/test/tiers"
)

// in sets an object's provider, and its region if one is given.
func in(o external.Object, provider, region string) external.Object {
	spec, _ := o.AWS()
	spec.ProviderRef.Name, spec.Region = provider, region
	return o
}

// Two providers side by side: one namespace has the same resource in two accounts and two regions, each only there.
func TestTwoAccountsAndRegionsSideBySide(t *testing.T) {
	each(t, func(t *testing.T, s specimen) {
		c := admin(t)
		startOperator(t, operatorOptions{})
		homes := []string{"240000000001", "240000000002"}
		ns := team(t, c)
		for i, home := range homes {
			p := account(t, c, home)
			edit(t, c, p, func(p *v1alpha1.AWSProvider) { p.Spec.AllowedRegions = []string{"eu-west-1", "us-east-1"} })
			ready(t, c, p)
			for _, region := range []string{"", "us-east-1"} {
				o := in(s.object(ns, fmt.Sprintf("twin-%d-%s", i, strings.Join([]string{"x", region}, ""))), p.Name,
					region)
				m := world.Proxy.Mark()
				createReady(t, c, o)
				want := "eu-west-1"
				if region != "" {
					want = region
				}
				if _, status := o.AWS(); status.AccountID != home || status.Region != want {
					t.Errorf("it is in %s, %s; want %s, %s", status.AccountID, status.Region, home, want)
				}
				for _, call := range world.Proxy.CallsSince(m, awsproxy.By(awsproxy.Operator), awsproxy.To(s.service),
					awsproxy.Writes) {
					if call.Account != home || call.Region != want {
						t.Errorf("%s went to %s, %s; want %s, %s", call.Operation, call.Account, call.Region, home,
							want)
					}
				}
				gone(t, c, o)
			}
		}
	})
}

// F9: the keys are revoked, then belong to another account. Every kind reports it and does nothing; deletion with a
// policy that keeps the resource finishes nevertheless, and other deletions wait until the account is back.
func TestLostAndForeignCredentialsDeleteNothing(t *testing.T) {
	each(t, func(t *testing.T, s specimen) {
		c := admin(t)
		startOperator(t, operatorOptions{
			providerResync: 500 * time.Millisecond, resync: 500 * time.Millisecond,
			sweep: 300 * time.Millisecond,
		})
		const home, other = "240000000003", "240000000004"
		p := keyed(t, c, home)
		ns := team(t, c)
		stays, kept := in(s.object(ns, "stays"), p.Name, ""), in(s.object(ns, "kept"), p.Name, "")
		retain(kept)
		for _, o := range []external.Object{stays, kept} {
			createReady(t, c, o)
		}
		m := world.Proxy.Mark()
		world.Proxy.RevokeKey(p.Name)
		if got := reason(t, c, stays, "ProviderNotReady"); !strings.Contains(got.Message, "renew") {
			t.Errorf("the message %q does not say what to do", got.Message)
		}
		world.Proxy.MapKey(p.Name, other)
		await(t, "the other account to be noticed", func() (bool, string) {
			got := reason(t, c, stays, "ProviderNotReady")
			return strings.Contains(got.Message, home) && strings.Contains(got.Message, other), got.Message
		})
		gone(t, c, kept)
		if err := erase(t, c, stays); err != nil {
			t.Fatal(err)
		}
		reason(t, c, stays, "ProviderNotReady")
		if n := s.writes(m); len(n) != 0 {
			t.Errorf("with wrong credentials it called %v", n)
		}
		world.Proxy.MapKey(p.Name, home)
		awaitGone(t, c, stays)
	})
}

// The provider's status counts its users and reports throttling; each changes only when its facts do.
func TestAProviderTellsOfItsResourcesAndThrottling(t *testing.T) {
	calm(t)
	c := admin(t)
	startOperator(t, operatorOptions{providerResync: 300 * time.Millisecond})
	p := account(t, c, "240000000005")
	o := in(buckets.object(team(t, c), "counted"), p.Name, "")
	createReady(t, c, o)
	await(t, "the count", func() (bool, string) {
		ready(t, c, p)
		return p.Status.Resources == 1, fmt.Sprint(p.Status.Resources)
	})
	version := p.ResourceVersion
	m := world.Proxy.Mark()
	await(t, "checks of the credentials", func() (bool, string) {
		n := len(world.Proxy.CallsSince(m, awsproxy.To("sts", "GetCallerIdentity")))
		return n >= 4, fmt.Sprint(n)
	})
	if ready(t, c, p); p.ResourceVersion != version {
		t.Error("the provider was written at rest")
	}
	defer world.Proxy.Inject(awsproxy.Fault{Service: "s3", Kind: awsproxy.Throttle, Times: 3})()
	wakeNow(t, c, o)
	await(t, "the condition", func() (bool, string) {
		ready(t, c, p)
		found := meta.FindStatusCondition(p.Status.Conditions, "Throttled")
		return found != nil && strings.Contains(found.Message, "S3 in eu-west-1"), fmt.Sprint(p.Status.Conditions)
	})
}

// A changed Secret triggers passes of the objects that its old content had stopped.
func TestNewCredentialsWakeWhatWaitedForThem(t *testing.T) {
	c := withOperator(t)
	p := keyed(t, c, "240000000006")
	o := in(queues.object(team(t, c), "woken"), p.Name, "")
	createReady(t, c, o)
	remove := world.Proxy.Inject(awsproxy.Fault{Service: "sqs", Kind: awsproxy.Denied, Account: "240000000006"})
	wakeNow(t, c, o)
	reason(t, c, o, "AccessDenied")
	remove()
	world.Proxy.MapKey(p.Name+"-new", "240000000006")
	rotate(t, c, p.Name)
	ready(t, c, o)
}

// F7: a third of the calls is throttled. Everything converges with at most about twice the calls in addition to the
// refused ones, nothing is created twice, and a user's edit does not wait for the rest.
func TestThrottlingSlowsAndStopsNothing(t *testing.T) {
	tiers.Long(t)
	each(t, func(t *testing.T, s specimen) {
		c := admin(t)
		startOperator(t, operatorOptions{})
		ns := team(t, c)
		many := 5
		if tiers.EveryCase() {
			many = 10
		}
		run := func(name string) int {
			m := world.Proxy.Mark()
			var all []life
			for i := range many {
				all = append(all, s.born(t, c, ns, fmt.Sprintf("%s-%d", name, i), true))
			}
			for _, l := range all {
				ready(t, c, l.Object)
				l.assertWhole(name)
			}
			edit(t, c, all[0].Object, func(o external.Object) { retain(o) })
			ready(t, c, all[0].Object)
			taken := s.calls(m, func(c awsproxy.Call) bool { return c.Fault != string(awsproxy.Throttle) })
			return len(slices.DeleteFunc(taken, func(op string) bool {
				return op == s.list && !slices.Contains(s.rest, op)
			}))
		}
		ideal := run("ideal")
		defer world.Proxy.Inject(awsproxy.Fault{Service: s.service, Kind: awsproxy.Throttle, Probability: .3})()
		throttled := run("throttled")
		t.Logf("%d calls without throttling, with it %d that were taken", ideal, throttled)
		if throttled > 2*ideal+many { // further reads after a refusal, and while AWS is working
			t.Errorf("%d calls were taken with throttling, want at most twice the %d without, and %d", throttled, ideal,
				many)
		}
	})
}
