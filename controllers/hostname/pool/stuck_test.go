package pool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// standstill is a load balancer with three hostnames, a clock, and a controller that may be away.
type standstill struct {
	t       *testing.T
	now     time.Time
	away    bool
	renewed int
	pg      *v1alpha1.PoolGateway
	heart   *Heartbeat
	digests map[string]string
	blames  func(closed map[string]bool) bool // whether the load balancer is stuck with these closed
	history []string
	last    *engine.Pass
}

// List implements client.Reader for Leases.
func (s *standstill) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	if !s.away {
		s.renewed++
	}
	renew := metav1.NewMicroTime(time.Unix(int64(s.renewed), 0))
	list.(*coordinationv1.LeaseList).Items = []coordinationv1.Lease{
		{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: ControllerLease}, Spec: coordinationv1.LeaseSpec{
			RenewTime: &renew,
		}},
	}
	return nil
}

// Get implements client.Reader.
func (s *standstill) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return errors.New("nobody gets anything")
}

func newStandstill(t *testing.T) *standstill {
	t.Helper()
	s := &standstill{t: t, now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), digests: map[string]string{
		"a": "1", "b": "1", "c": "1",
	}}
	s.pg = gatewayOf("gw-00", func(g *v1alpha1.PoolGateway) {
		g.Status.LoadBalancer, g.Status.Attached = &v1alpha1.PoolLoadBalancer{}, []string{"arn"}
	})
	s.heart = &Heartbeat{Reader: s}
	s.blames = func(map[string]bool) bool { return false }
	s.pass(nil)
	return s
}

// pass makes one pass, as Reconcile does; outage is the error that AWS returns, if any.
func (s *standstill) pass(outage error) (waits *engine.WaitError) {
	s.t.Helper()
	s.last = engine.NewPass(nil)
	r := &reconciliation{pg: s.pg, pass: s.last, demands: map[string]demand{}, closed: map[string]bool{}, read: true}
	r.Now, r.Patience, r.Heartbeat = func() time.Time { return s.now }, 3*time.Minute, s.heart
	for _, name := range []string{"a", "b", "c"} {
		r.members = append(r.members, member{claim: name, hostname: name + ".example", namespace: "team-" + name})
		r.demands[name] = demand{digest: s.digests[name]}
	}
	r.beginSearch()
	for _, m := range r.members {
		r.closed[m.claim] = r.closedBy(m) != nil
	}
	var outcome error
	switch {
	case outage != nil:
		outcome, r.unseen = engine.Wait(v1alpha1.ReasonChangesWait, time.Minute, "it waits"), true
	case s.blames(r.closed):
		outcome = engine.Wait(v1alpha1.ReasonChangesWait, time.Minute, "it waits")
	}
	got := ""
	for _, name := range []string{"a", "b", "c"} {
		if r.closed[name] {
			got += name
		}
	}
	if len(s.history) == 0 || s.history[len(s.history)-1] != got {
		s.history = append(s.history, got)
	}
	wait, _ := engine.AsWait(r.follow(s.t.Context(), outcome))
	return wait
}

// run makes passes for a time, as often as they request.
func (s *standstill) run(d time.Duration, outage error) {
	s.t.Helper()
	for end := s.now.Add(d); s.now.Before(end); {
		wait := s.pass(outage)
		if wait == nil {
			return
		}
		if wait.After < time.Second {
			s.t.Fatalf("it looks again after %s", wait.After)
		}
		s.now = s.now.Add(wait.After)
	}
}

func (s *standstill) was(want ...string) {
	s.t.Helper()
	if fmt.Sprint(s.history) != fmt.Sprint(want) {
		s.t.Errorf("closed were %q, want %q", s.history, want)
	}
}

func TestWhoseRoutesStoppedTheLoadBalancerIsFound(t *testing.T) {
	s := newStandstill(t)
	s.blames = func(closed map[string]bool) bool { return !closed["a"] && s.digests["a"] == "2" }
	s.digests["a"] = "2"
	s.pass(nil)
	s.digests["b"] = "2"
	s.run(time.Hour, nil)
	s.run(time.Hour, nil)     // it follows, and b opens
	s.was("", "b", "ab", "a") // c did not change
	f := s.pg.Status.Following
	if len(f.Blamed) != 1 || f.Blamed[0].Claim != "a" {
		t.Errorf("Blamed = %+v, want a", f.Blamed)
	}
	if f.LostSince != nil || len(f.Suspects)+len(f.Cleared) != 0 {
		t.Errorf("LostSince = %v, Suspects = %v, Cleared = %v; want none", f.LostSince, f.Suspects, f.Cleared)
	}
	if got := s.last.Strings(); !slices.Contains(got, "HostnameOpened: b.example of namespace team-b stays open: the "+
		"load balancer follows with its routes as they were") {
		t.Errorf("events %q", got)
	}

	s.heart = &Heartbeat{Reader: s} // the operator restarts
	s.run(time.Hour, nil)
	s.was("", "b", "ab", "a")
	s.digests["a"] = "3"
	s.run(time.Hour, nil)
	s.was("", "b", "ab", "a", "")
}

func TestNobodyStaysClosedWhenNothingHelps(t *testing.T) {
	s := newStandstill(t)
	s.digests["a"], s.digests["c"] = "2", "2"
	s.blames = func(map[string]bool) bool { return true }
	s.run(12*time.Minute, nil)
	s.was("", "c", "ac", "")
	if wait := s.pass(nil); !strings.HasSuffix(wait.Error(), "did not help; they are open again") {
		t.Errorf("%q", wait.Error())
	}
	s.digests["c"] = "3"
	s.run(time.Minute, nil)
	s.was("", "c", "ac", "", "c") // a new change makes it a suspect again
}

func TestNobodyIsClosedForWhatIsNotTheirs(t *testing.T) {
	for name, row := range map[string]func(*standstill) error{
		"the controller is away": func(s *standstill) error { s.away = true; return nil },
		"AWS does not answer":    func(*standstill) error { return errors.New("outage") },
		"nobody changed routes": func(s *standstill) error {
			s.digests = map[string]string{"a": "1", "b": "1", "c": "1"}
			return nil
		},
	} {
		s := newStandstill(t)
		s.digests["a"] = "2"
		s.blames = func(map[string]bool) bool { return true }
		s.run(24*time.Hour, row(s))
		if s.was(""); t.Failed() {
			t.Fatal(name)
		}
	}
}

// The controller goes away during a trial: the suspect is opened, and tried again when the controller is back.
func TestATrialEndsWhenTheControllerGoes(t *testing.T) {
	s := newStandstill(t)
	s.digests["a"] = "2"
	s.blames = func(map[string]bool) bool { return true }
	for len(s.pg.Status.Following.Suspects) == 0 {
		s.run(time.Second, nil)
	}
	s.away = true
	s.run(time.Hour, nil)
	s.was("", "a", "")
	s.away = false
	s.run(10*time.Minute, nil)
	s.was("", "a", "", "a", "")
}

// Routes from before an upgrade do not count as changed.
func TestAnUpgradeSuspectsNobody(t *testing.T) {
	s := newStandstill(t)
	s.pg.Status.Following = nil
	s.blames = func(map[string]bool) bool { return true }
	s.run(24*time.Hour, nil)
	s.was("")
}

// Lists in the status are never longer than the number of hostnames.
func TestWhatIsKnownOfHostnamesGoesWithThem(t *testing.T) {
	s := newStandstill(t)
	f := s.pg.Status.Following
	gone := v1alpha1.HostnameRoutes{Claim: "gone", Digest: "1"}
	for _, list := range []*[]v1alpha1.HostnameRoutes{&f.Seen, &f.Followed, &f.Suspects, &f.Cleared, &f.Blamed} {
		*list = append(*list, gone)
	}
	f.Probe = &gone
	s.blames = func(map[string]bool) bool { return true }
	s.pass(nil)
	if len(f.Seen) != 3 || len(f.Followed) != 3 {
		t.Errorf("Seen = %v, Followed = %v; want three of each", f.Seen, f.Followed)
	}
	if len(f.Suspects)+len(f.Cleared)+len(f.Blamed) != 0 || f.Probe != nil {
		t.Errorf("Suspects = %v, Cleared = %v, Blamed = %v, Probe = %v; want none", f.Suspects, f.Cleared, f.Blamed,
			f.Probe)
	}
}

func TestAHostnameIsClosedForWhatItsRoutesHold(t *testing.T) {
	weighty := routeTo("weighty", "dc-a", 1, "s")
	weight := int32(1000)
	weighty.Spec.Rules[0].BackendRefs[0].Weight = &weight
	live, pass := serving(t, served("a"), served("b"))
	for _, o := range []client.Object{weighty, routeTo("fits", "dc-b", 3, "s")} {
		if err := live.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	_ = pass(nil)
	if a, b := opensTo(t, live, "dc-a"), opensTo(t, live, "dc-b"); a != gatewayv1.NamespacesFromSame ||
		b != gatewayv1.NamespacesFromSelector {
		t.Errorf("open to %s and %s", a, b)
	}
	if err := live.Delete(t.Context(), weighty); err != nil {
		t.Fatal(err)
	}
	_ = pass(nil)
	if a := opensTo(t, live, "dc-a"); a != gatewayv1.NamespacesFromSelector {
		t.Errorf("the route is gone, and it is open to %s", a)
	}
}
