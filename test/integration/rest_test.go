//go:build integration

package integration

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/controllers/external"
	"github.com/portico-platform/portico/test/awsproxy"
	"github.com/portico-platform/portico/test/tiers"
)

// At rest a resource with nothing declared costs one AWS call in each audit interval, and its account a few listings.
// The interval is an hour, scaled to seconds here, with sweeps and checks of credentials every twelfth of it, as by
// default.
func TestManyResourcesAtRestCostLittle(t *testing.T) {
	tiers.Long(t)
	calm(t)
	const (
		hours  = 2
		sweeps = 90 // AWS calls an hour for the account's listings and credentials, for any number of resources
	)
	many, hour := 90, 9*time.Second
	if tiers.EveryCase() {
		many, hour = 300, 15*time.Second
	}
	c := admin(t)
	kinds := specimens()
	ns := team(t, c)
	stop := startOperator(t, operatorOptions{})
	p := account(t, c, "250000000001") // so that the resources are in no other test's listings
	var mu sync.Mutex
	var all []external.Object
	var wg sync.WaitGroup
	for worker := range 10 {
		wg.Go(func() {
			for i := worker; i < many; i += 10 {
				o := in(kinds[i%len(kinds)].object(ns, fmt.Sprintf("rest-%d", i)), p.Name, "")
				if err := c.Create(t.Context(), o); err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				all = append(all, o)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	awaitAll(t, c, all)
	stop()

	kube := newCut(0, awsproxy.Before)
	startOperator(t, operatorOptions{resync: hour, providerResync: hour / 12, sweep: hour / 12, newClient: kube.kube})
	time.Sleep(hour + hour/4) // every object has been audited, and the next audits are spread
	m, wrote := world.Proxy.Mark(), kube.seen.Load()
	time.Sleep(hours * hour)
	calls := world.Proxy.CallsSince(m, awsproxy.By(awsproxy.Operator), func(call awsproxy.Call) bool {
		return call.Account == p.Status.AccountID
	})
	perHour := len(calls) / hours
	by := map[string]int{}
	for _, call := range calls {
		by[call.Service+" "+call.Operation]++
	}
	t.Logf("%d resources: %d calls an hour: %v", many, perHour, by)
	if most := many + sweeps; perHour > most {
		t.Errorf("%d calls an hour, want at most %d", perHour, most)
	}
	if n := len(world.Proxy.CallsSince(m, awsproxy.By(awsproxy.Operator), awsproxy.Writes)); n != 0 {
		t.Errorf("%d AWS writes at rest", n)
	}
	if n := kube.seen.Load() - wrote; n != 0 {
		t.Errorf("%d Kubernetes writes at rest", n)
	}
	if len(calls) < many {
		t.Errorf("only %d calls in %d hours: the audits did not run", len(calls), hours)
	}
}

func awaitAll(t *testing.T, c client.Client, all []external.Object) {
	t.Helper()
	deadline := time.Now().Add(3 * time.Minute)
	for _, o := range all {
		for !o.Common().Ready {
			if time.Now().After(deadline) {
				t.Fatalf("%s is not Ready in time: %+v", o.GetName(), o.Common().Conditions)
			}
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
				t.Fatal(err)
			}
			if !o.Common().Ready {
				time.Sleep(50 * time.Millisecond)
			}
		}
	}
}
