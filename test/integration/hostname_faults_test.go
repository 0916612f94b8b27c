//go:build integration

package integration

import (
	"fmt"
	"slices"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/awsproxy"
	"github.com/portico-platform/portico/test/tiers"
)

// hasty removes the simulated delays of Route 53 and ACM until the test ends.
func hasty(t *testing.T) {
	t.Helper()
	const usual, record = 300 * time.Millisecond, 200 * time.Millisecond
	world.Proxy.SetDNSDelay(0)
	world.Proxy.SetACMIssueDelay(0)
	world.Proxy.SetACMRecordDelay(0)
	t.Cleanup(func() {
		world.Proxy.SetDNSDelay(usual)
		world.Proxy.SetACMIssueDelay(usual)
		world.Proxy.SetACMRecordDelay(record)
	})
}

func isReady(t *testing.T, c client.Client, r ghr) bool {
	t.Helper()
	return c.Get(t.Context(), client.ObjectKeyFromObject(r), r) == nil && r.Status.Ready
}

// assertServed checks that each resource of a served hostname exists exactly once.
func (d domain) assertServed(when string, r ghr) {
	d.t.Helper()
	host := r.Spec.Hostname
	if got := d.records(); !slices.Equal(got, []string{"A " + host, "AAAA " + host, "TXT _portico." + host}) {
		d.t.Errorf("%s: records %v", when, got)
	}
	if got := d.certificates(); !slices.Equal(got, []string{r.Status.Certificate.ARN}) {
		d.t.Errorf("%s: certificates %v, want %s", when, got, r.Status.Certificate.ARN)
	}
	if got := served(d.t, r.Status.LoadBalancer); !slices.Contains(got, r.Status.Certificate.ARN) {
		d.t.Errorf("%s: %s serves %v", when, r.Status.LoadBalancer, got)
	}
	if got := claimsOf(d.t, d.c, d.ns); !slices.Equal(got, []string{host}) {
		d.t.Errorf("%s: claims %v", when, got)
	}
}

// assertNothingLeft checks that a deletion left no records, certificates, claims or ListenerSet behind.
func (d domain) assertNothingLeft(when string, claim string) {
	d.t.Helper()
	err := d.c.Get(d.t.Context(), client.ObjectKey{Namespace: gateways, Name: claim}, &gatewayv1.ListenerSet{})
	if got := slices.Concat(d.records(), d.certificates(), claimsOf(d.t, d.c, d.ns)); len(got) > 0 ||
		(claim != "" && !apierrors.IsNotFound(err)) {
		d.t.Errorf("%s: left behind: %v, ListenerSet %v", when, got, err)
	}
}

// F1: the operator dies after every write, to AWS or to Kubernetes, while it creates a hostname, and a new one takes
// over: each resource exists exactly once at the end.
func TestAHostnameSurvivesDeathAtEveryWriteOfItsBirth(t *testing.T) {
	tiers.Long(t)
	hostnameDies(t, "birth", func(d keptDomain, name string, k *cut) {
		r := d.request(name + "." + d.name)
		k.live(t, func() bool { return isReady(t, d.c, r) })
		defer startOperator(t, operatorOptions{})()
		ready(t, d.c, r)
		d.assertServed(name, r)
		gone(t, d.c, r)
		d.assertNothingLeft(name, r.Status.Claim)
	})
}

// F1 for the deletion of a hostname, which must leave nothing behind.
func TestAHostnameSurvivesDeathAtEveryWriteOfItsDeath(t *testing.T) {
	tiers.Long(t)
	hostnameDies(t, "death", func(d keptDomain, name string, k *cut) {
		r := d.request(name + "." + d.name)
		stop := startOperator(t, operatorOptions{})
		ready(t, d.c, r)
		stop()
		if err := erase(t, d.c, r); err != nil {
			t.Fatal(err)
		}
		k.live(t, func() bool { return apierrors.IsNotFound(d.c.Get(t.Context(), client.ObjectKeyFromObject(r), r)) })
		defer startOperator(t, operatorOptions{})()
		awaitGone(t, d.c, r)
		d.assertNothingLeft(name, r.Status.Claim)
	})
}

// hostnameDies counts the writes of a stage, then runs the stage once per write, with an operator that dies after it.
func hostnameDies(t *testing.T, stage string, dies func(d keptDomain, name string, k *cut)) {
	t.Helper()
	hasty(t)
	c := admin(t)
	d := keeperOf(t, c, domainOf(t, c)) // so that the load balancer is not created and deleted each time
	count := newCut(0, awsproxy.After)
	dies(d, stage+"-count", count)
	writes := count.seen.Load()
	t.Logf("%s: %d writes", stage, writes)
	if writes < 5 {
		t.Fatalf("only %d writes were counted in %s", writes, stage)
	}
	for _, at := range deathsAmong(writes, stage) {
		dies(d, fmt.Sprintf("%s-%d", stage, at), newCut(at, awsproxy.After))
	}
}

// keptDomain is a domain in a pool whose load balancer exists throughout the test, because it serves another hostname
// too.
type keptDomain struct{ domain }

// keeperOf serves one hostname of another domain, so that the pool has a load balancer.
func keeperOf(t *testing.T, c client.Client, d domain) keptDomain {
	t.Helper()
	other := domainOf(t, c)
	stop := startOperator(t, operatorOptions{})
	ready(t, c, other.request("keeper."+other.name))
	stop()
	return keptDomain{d}
}

// F2: AWS commits and the reply is lost: no certificate is requested twice, and Portico still recognises its own
// records.
func TestLostRepliesAboutAHostname(t *testing.T) {
	hasty(t)
	c := withOperator(t)
	d := domainOf(t, c)
	for i, operation := range []string{"RequestCertificate", "ChangeResourceRecordSets", "DeleteCertificate"} {
		stopLosing := world.Proxy.Inject(awsproxy.Fault{Operation: operation, Kind: awsproxy.LostReply, Times: 4})
		m := world.Proxy.Mark()
		r := d.request(fmt.Sprintf("h%d.%s", i, d.name))
		ready(t, c, r)
		d.assertServed(operation, r)
		gone(t, c, r)
		d.assertNothingLeft(operation, r.Status.Claim)
		lost := world.Proxy.CallsSince(m, func(call awsproxy.Call) bool {
			return call.Fault == string(awsproxy.LostReply)
		})
		if len(lost) == 0 {
			t.Errorf("%s: no reply was lost", operation)
		}
		stopLosing()
	}
}

// F3: the cache shows an earlier request with this name, as being deleted and as existing.
func TestAnOldPictureOfAHostnameTakesNothingAway(t *testing.T) {
	hasty(t)
	c := admin(t)
	old := &stale{}
	startOperator(t, operatorOptions{newClient: old.kube})
	d := domainOf(t, c)
	first := d.request("shop." + d.name)
	ready(t, c, first)
	before := first.DeepCopy()
	gone(t, c, first)
	second := d.request("shop." + d.name)
	ready(t, c, second)
	dying := before.DeepCopy()
	now := metav1.Now()
	dying.DeletionTimestamp = &now
	m := world.Proxy.Mark()
	old.serve(dying)
	old.awaitUse(t, func() { wakeNow(t, c, second) })
	if n := world.Proxy.CallsSince(m, awsproxy.By(awsproxy.Operator), awsproxy.Writes, func(call awsproxy.Call) bool {
		return call.Operation != "DeleteCertificate"
	}); len(n) != 0 {
		t.Errorf("%v for a request that is gone", n)
	}
	old.serve(before) // its state before its deletion
	old.awaitUse(t, func() { wakeNow(t, c, second) })
	old.serve(nil)
	wakeNow(t, c, second)
	ready(t, c, second)
	d.assertServed("the second", second)
}

// F4: a request that was created and deleted while no operator ran.
func TestAHostnameThatNobodySawIsCleanedUp(t *testing.T) {
	hasty(t)
	c := admin(t)
	d := domainOf(t, c)
	stop := startOperator(t, operatorOptions{})
	r := d.request("shop." + d.name)
	await(t, "the certificate to be requested", func() (bool, string) {
		err := c.Get(t.Context(), client.ObjectKeyFromObject(r), r)
		return err == nil && meta.IsStatusConditionTrue(r.Status.Conditions, v1alpha1.StepCertificateRequested),
			"not yet"
	})
	stop()
	if err := erase(t, c, r); err != nil {
		t.Fatal(err)
	}
	brief := d.request("brief." + d.name)
	if err := erase(t, c, brief); err != nil {
		t.Fatal(err)
	}
	startOperator(t, operatorOptions{})
	awaitGone(t, c, r)
	awaitGone(t, c, brief)
	d.assertNothingLeft("", "")
}

// F5: two operators at the same time, and F10: quiet afterwards.
func TestTwoLeadersServeAHostnameOnce(t *testing.T) {
	tiers.Long(t)
	hasty(t)
	c := admin(t)
	startOperator(t, operatorOptions{resync: 500 * time.Millisecond})
	startOperator(t, operatorOptions{resync: 500 * time.Millisecond})
	d := domainOf(t, c)
	var all []ghr
	for i := range 5 {
		all = append(all, d.request(fmt.Sprintf("h%d.%s", i, d.name)))
	}
	for _, r := range all {
		ready(t, c, r)
	}
	// Until then an operator can use a read from before the other's write, for a second plus the time of its change;
	// AWS refuses that change.
	last, since := world.Proxy.Mark(), time.Now()
	await(t, "no change of AWS for two seconds", func() (bool, string) {
		if n := len(world.Proxy.CallsSince(last, awsproxy.By(awsproxy.Operator), awsproxy.Writes)); n > 0 {
			last, since = world.Proxy.Mark(), time.Now()
		}
		return time.Since(since) > 2*time.Second, "changes"
	})
	for _, r := range all {
		ready(t, c, r)
		atRest(t, c, r)
	}
	if got := d.certificates(); len(got) != len(all) {
		t.Errorf("certificates %v", got)
	}
	if got := d.records(); len(got) != 3*len(all) {
		t.Errorf("records %v", got)
	}
	m := world.Proxy.Mark()
	await(t, "ten passes", func() (bool, string) {
		n := len(world.Proxy.CallsSince(m, awsproxy.By(awsproxy.Operator), func(call awsproxy.Call) bool {
			return call.Operation == "DescribeCertificate"
		}))
		return n >= 50, fmt.Sprint(n)
	})
	if n := world.Proxy.CallsSince(m, awsproxy.By(awsproxy.Operator), awsproxy.Writes); len(n) != 0 {
		t.Errorf("AWS writes at rest: %v", n)
	}
	for _, r := range all {
		version := r.ResourceVersion
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(r), r); err != nil || r.ResourceVersion != version {
			t.Errorf("%s was written at rest: %v", r.Name, err)
		}
	}
}

// F6: a page of records lacks one: nothing that exists is created again, and no record is treated as foreign.
func TestAPageThatLacksARecordChangesNothing(t *testing.T) {
	hasty(t)
	c := withOperator(t)
	d := domainOf(t, c)
	r := d.request("shop." + d.name)
	ready(t, c, r)
	atRest(t, c, r)
	before := d.sets()
	heal := world.Proxy.Inject(awsproxy.Fault{Operation: "ListResourceRecordSets", Kind: awsproxy.PartialPage})
	time.Sleep(1100 * time.Millisecond) // reads from before the fault have expired
	m := world.Proxy.Mark()
	wakeNow(t, c, r)
	await(t, "a read", func() (bool, string) {
		return len(world.Proxy.CallsSince(m, func(call awsproxy.Call) bool {
			return call.Fault == string(awsproxy.PartialPage)
		})) > 0, "none"
	})
	atRest(t, c, r)
	heal()
	nudging(t, c, r, "all to be well", func() (bool, string) { return isReady(t, c, r), "not ready" })
	if after := d.sets(); len(after) != len(before) {
		t.Errorf("records %v, before %v", after, before)
	}
	if got := d.certificates(); len(got) != 1 {
		t.Errorf("certificates %v", got)
	}
}

// F9: an error does not mean absence: while every call is refused, nothing is created or deleted.
func TestARefusedAccountTakesNoHostnameAway(t *testing.T) {
	hasty(t)
	c := withOperator(t)
	d := domainOf(t, c)
	r := d.request("shop." + d.name)
	ready(t, c, r)
	atRest(t, c, r)
	for _, service := range []string{"route53", "acm", "elasticloadbalancing"} {
		for _, kind := range []awsproxy.FaultKind{awsproxy.Denied, awsproxy.ServerError, awsproxy.Throttle} {
			heal := world.Proxy.Inject(awsproxy.Fault{Service: service, Kind: kind})
			t.Cleanup(heal)
			time.Sleep(1100 * time.Millisecond)
			m := world.Proxy.Mark()
			wakeNow(t, c, r)
			wakeNow(t, c, poolGateway(t, c, r.Status.Gateway))
			await(t, "a refused call", func() (bool, string) {
				return len(world.Proxy.CallsSince(m, func(call awsproxy.Call) bool {
					return call.Fault == string(kind)
				})) > 0, "none"
			})
			heal()
			if n := world.Proxy.CallsSince(m, awsproxy.By(awsproxy.Operator), awsproxy.Writes); len(n) != 0 {
				t.Errorf("%s %s: wrote %v", service, kind, n)
			}
		}
	}
	nudging(t, c, r, "all to be well", func() (bool, string) { return isReady(t, c, r), "not ready" })
	d.assertServed("at last", r)
}
