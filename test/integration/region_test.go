//go:build integration

package integration

import (
	"fmt"
	"testing"
	"time"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/awsproxy"
	"github.com/portico-platform/portico/test/stack"
)

// A region that is not enabled in the account answers like an invalid key. The object's status names the region and who
// can enable it, the provider stays Ready, and the object becomes Ready once the region is enabled.
func TestARegionThatIsNotEnabledIsSaid(t *testing.T) {
	calm(t)
	const off = "eu-south-1"
	each(t, func(t *testing.T, s specimen) {
		c := admin(t)
		startOperator(t, operatorOptions{})
		home := fmt.Sprintf("2500%08d", counter.Add(1))
		defer world.Proxy.DisableRegion(home, off)()
		p := account(t, c, home)
		edit(t, c, p, func(p *v1alpha1.AWSProvider) { p.Spec.AllowedRegions = []string{stack.Region, off} })
		ready(t, c, p)
		o := in(s.object(team(t, c), "far"), p.Name, off)
		m := world.Proxy.Mark()
		create(t, c, o)
		got := reason(t, c, o, "RegionNotEnabled")
		if want := []string{
			"The region " + off + " is not enabled in account " + home,
			"ask a platform admin to enable it in AWS, or choose another region",
		}; !containsAll(got.Message, want) {
			t.Errorf("%q", got.Message)
		}
		time.Sleep(quiet)
		if calls := world.Proxy.CallsSince(m, awsproxy.By(awsproxy.Operator), func(call awsproxy.Call) bool {
			return call.Account == home && call.Region == off
		}); len(calls) > 6 {
			t.Errorf("%d calls to a region that is off", len(calls))
		}
		ready(t, c, p)
		world.Proxy.DisableRegion(home, off)()
		wakeNow(t, c, o)
		ready(t, c, o)
		gone(t, c, o)
	})
}
