//go:build integration

package integration

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/external"
	"github.com/portico-platform/portico/test/awsproxy"
	"github.com/portico-platform/portico/test/stack"
	"github.com/portico-platform/portico/test/tiers"
)

// stage is a part of a resource's life in which the operator can die.
type stage struct {
	name  string
	start func(t *testing.T, l life) // everything is at rest before it
	done  func(life) bool
	birth bool // the operator has not seen the object before
}

// F1: the operator dies after every write of a resource's whole life, and a new one takes over. Each stage is a
// separate test, because together they take longer than all others. Dying before a write is not a separate case:
// nothing has changed since the previous write. make test-all tries every write; see deathsAmong.
func TestDeathAtEveryWriteOfABirthEndsInTheSameState(t *testing.T) {
	tiers.Long(t)
	deathAtEveryWrite(t, stage{name: "birth", done: life.isReady, birth: true, start: func(*testing.T, life) {}})
}

func TestDeathAtEveryWriteOfAnEditEndsInTheSameState(t *testing.T) {
	tiers.Long(t)
	deathAtEveryWrite(t, stage{name: "edit", done: life.isReady, start: func(t *testing.T, l life) {
		t.Helper()
		edit(t, l.Client, l.Object, l.declare)
	}})
}

func TestDeathAtEveryWriteOfARescueEndsInTheSameState(t *testing.T) {
	tiers.Long(t)
	deathAtEveryWrite(t, stage{name: "rescue", done: life.isKept, start: func(t *testing.T, l life) {
		t.Helper()
		edit(t, l.Client, l.Object, l.declare)
		if err := erase(t, l.Client, l.Object); err != nil {
			t.Fatal(err)
		}
		annotate(t, l.Client, l.Object, v1alpha1.AnnotationKeep, "true")
	}})
}

func TestDeathAtEveryWriteOfADeathEndsInTheSameState(t *testing.T) {
	tiers.Long(t)
	deathAtEveryWrite(t, stage{name: "death", done: life.isGone, start: func(t *testing.T, l life) {
		t.Helper()
		if err := erase(t, l.Client, l.Object); err != nil {
			t.Fatal(err)
		}
	}})
}

func deathAtEveryWrite(t *testing.T, g stage) {
	t.Helper()
	calm(t) // writes are counted: make chaos has both, deaths and delayed changes
	each(t, func(t *testing.T, s specimen) {
		c := admin(t)
		ns := team(t, c)
		stop := startOperator(t, operatorOptions{})
		// otherwise waiting for it is counted
		ready(t, c, &v1alpha1.AWSProvider{ObjectMeta: metav1.ObjectMeta{Name: stack.Provider}})
		stop()
		count := newCut(0, awsproxy.After)
		s.die(t, c, g, ns, count)
		writes := count.seen.Load()
		t.Logf("%s: %d writes", g.name, writes)
		if writes < 2 {
			t.Fatalf("only %d writes were counted in %s", writes, g.name)
		}
		var cuts []*cut
		for _, at := range deathsAmong(writes, s.kind) {
			cuts = append(cuts, newCut(at, awsproxy.After))
		}
		s.die(t, c, g, ns, cuts...)
	})
}

// deathsAmong returns the writes, from 1, after which an operator dies: all of them in make test-all. Otherwise every
// fifth and the last: the five kinds make their writes in the same order, and each begins at another one of the first
// five, so that together they try each step.
func deathsAmong(writes int64, kind string) (all []int64) {
	if tiers.EveryCase() {
		for at := int64(1); at <= writes; at++ {
			all = append(all, at)
		}
		return all
	}
	first := int64(kind[0]) + int64(kind[1]) + int64(kind[2]) // the kinds begin at 1, 3, 0, 2 and 4
	for at := 1 + first%5; at < writes; at += 5 {
		all = append(all, at)
	}
	return append(all, writes)
}

// die runs one stage with each of the cuts, each with an object that only its operators see. A new operator takes
// over all of them, and must complete them.
func (s specimen) die(t *testing.T, c client.Client, g stage, ns string, cuts ...*cut) {
	t.Helper()
	lives := make([]life, len(cuts))
	for i, k := range cuts {
		lives[i] = s.born(t, c, ns, fmt.Sprintf("%s-%d", g.name, k.at), g.birth)
	}
	if !g.birth {
		stop := startOperator(t, operatorOptions{})
		eachLife(lives, func(l life) { ready(t, c, l.Object) })
		stop()
	}
	for i, k := range cuts {
		g.start(t, lives[i])
		k.liveAlone(t, lives[i].Object, func() bool { return g.done(lives[i]) })
		// A busy machine sees an intermediate state more or less often, each of which is a write of the status.
		if k.at > 0 && k.at < cuts[len(cuts)-1].at-1 && !k.died() {
			t.Errorf("%s: the write was never made: nothing was cut", lives[i].GetName())
		}
	}
	defer startOperator(t, operatorOptions{})()
	if g.name == "death" {
		eachLife(lives, func(l life) { awaitGone(t, c, l.Object) })
		eachLife(lives, life.assertNothingLeft)
		return
	}
	eachLife(lives, func(l life) { ready(t, c, l.Object) })
	eachLife(lives, func(l life) { l.assertWhole(l.GetName()) })
	goneTogether(t, c, lives)
}

func eachLife(lives []life, do func(life)) {
	for _, l := range lives {
		do(l)
	}
}

// assertNothingLeft checks that no resource carries the object's UID.
func (l life) assertNothingLeft() {
	l.t.Helper()
	if left := l.owned(l.t, string(l.GetUID())); len(left) != 0 {
		l.t.Errorf("%s: left behind: %v", l.GetName(), left)
	}
}

// goneTogether deletes the objects, and waits until the last is gone.
func goneTogether(t *testing.T, c client.Client, lives []life) {
	t.Helper()
	eachLife(lives, func(l life) {
		if err := erase(t, c, l.Object); err != nil {
			t.Fatal(err)
		}
	})
	eachLife(lives, func(l life) { awaitGone(t, c, l.Object) })
}

// F2: AWS commits and the reply is lost, for every write.
func TestLostRepliesMakeNoDuplicates(t *testing.T) {
	tiers.Long(t)
	each(t, func(t *testing.T, s specimen) {
		c := admin(t)
		startOperator(t, operatorOptions{})
		for _, operation := range []string{s.create, s.update, s.remove} {
			remove := world.Proxy.Inject(
				awsproxy.Fault{Service: s.service, Operation: operation, Kind: awsproxy.LostReply, Times: 4})
			m := world.Proxy.Mark()
			l := s.born(t, c, team(t, c), "lossy", false)
			ready(t, c, l.Object)
			edit(t, c, l.Object, s.declare)
			ready(t, c, l.Object)
			l.assertWhole(operation)
			uid := string(l.GetUID())
			gone(t, c, l.Object)
			if left := s.owned(t, uid); len(left) != 0 {
				t.Errorf("%s: left behind: %v", operation, left)
			}
			if lost := s.calls(m, func(call awsproxy.Call) bool {
				return call.Fault == string(awsproxy.LostReply)
			}); len(lost) == 0 {
				t.Errorf("%s: no reply was lost", operation)
			}
			remove()
		}
	})
}

// An error does not mean absence: a denied, failing or throttled read leads to no write.
func TestAFailedReadIsNotAbsence(t *testing.T) {
	each(t, func(t *testing.T, s specimen) {
		c := admin(t)
		startOperator(t, operatorOptions{})
		for kind, want := range map[awsproxy.FaultKind]string{
			awsproxy.Denied: "Denied", awsproxy.Throttle: "Throttled",
			awsproxy.ServerError: "Failed",
		} {
			remove := world.Proxy.Inject(awsproxy.Fault{Service: s.service, Kind: kind})
			m := world.Proxy.Mark()
			l := s.born(t, c, team(t, c), "unread", false)
			got := reasonLike(t, c, l.Object, want)
			if n := s.writes(m); len(n) != 0 {
				t.Errorf("%s: wrote %v", kind, n)
			}
			if strings.Contains(strings.ToLower(got.Message), "requestid") {
				t.Errorf("%s: the message %q changes with every try", kind, got.Message)
			}
			remove()
			wakeNow(t, c, l.Object)
			ready(t, c, l.Object)
		}
	})
}

// F3: the cache shows an object that was deleted, or the previous one with the same name.
func TestAStaleCacheActsForNobodyElse(t *testing.T) {
	each(t, func(t *testing.T, s specimen) {
		c := admin(t)
		old := &stale{}
		startOperator(t, operatorOptions{newClient: old.kube})
		first := s.born(t, c, team(t, c), "twice", false)
		ready(t, c, first.Object)
		before := first.DeepCopyObject().(client.Object)
		gone(t, c, first.Object)
		second := s.born(t, c, first.GetNamespace(), "twice", false)
		ready(t, c, second.Object)

		dying := before.DeepCopyObject().(client.Object)
		now := second.GetCreationTimestamp()
		dying.SetDeletionTimestamp(&now)
		m := world.Proxy.Mark()
		old.serve(dying) // the first one, as if its deletion had just started
		old.awaitUse(t, func() { wakeNow(t, c, second.Object) })
		if n := s.writes(m); len(n) != 0 {
			t.Fatalf("%v on the second object's resource, for the first one's deletion", n)
		}
		old.serve(nil)
		wakeNow(t, c, second.Object)
		ready(t, c, second.Object)
		if left := s.owned(t, string(second.GetUID())); len(left) != 1 {
			t.Errorf("the second object owns %v", left)
		}

		gone(t, c, second.Object)
		ghost := before.DeepCopyObject().(external.Object)
		_, status := ghost.AWS()
		status.ARN = "" // its state before its resource was created
		m = world.Proxy.Mark()
		third := s.object(first.GetNamespace(), "twice")
		third.SetAnnotations(map[string]string{v1alpha1.AnnotationPaused: "true"})
		old.serve(ghost)
		old.awaitUse(t, func() { create(t, c, third) })
		if n := s.writes(m); len(n) != 0 {
			t.Errorf("%v for an object that is gone", n)
		}
		old.serve(nil)
	})
}

// F4: an object that was created, edited and deleted while no operator ran is seen as one event, and still cleaned
// up.
func TestWhatHappenedWhileNobodyLookedIsCleanedUp(t *testing.T) {
	each(t, func(t *testing.T, s specimen) {
		c := admin(t)
		stop := startOperator(t, operatorOptions{})
		l := s.born(t, c, team(t, c), "brief", false)
		ready(t, c, l.Object)
		stop()
		uid := string(l.GetUID())
		edit(t, c, l.Object, s.declare)
		if err := erase(t, c, l.Object); err != nil {
			t.Fatal(err)
		}
		startOperator(t, operatorOptions{})
		awaitGone(t, c, l.Object)
		if left := s.owned(t, uid); len(left) != 0 {
			t.Errorf("left behind: %v", left)
		}
	})
}

// F5: a second operator whose cache still shows an earlier object with this name must not take the resource from the
// current one.
func TestAnOldPictureDoesNotTakeTheResourceBack(t *testing.T) {
	each(t, func(t *testing.T, s specimen) {
		c := admin(t)
		stop := startOperator(t, operatorOptions{})
		first := s.object(team(t, c), "heirloom")
		retain(first)
		createReady(t, c, first)
		before := first.DeepCopyObject().(client.Object)
		gone(t, c, first)
		second := s.object(first.GetNamespace(), "heirloom")
		retain(second)
		createReady(t, c, second)
		stop()
		old := &stale{}
		old.serve(before)
		m := world.Proxy.Mark()
		startOperator(t, operatorOptions{newClient: old.kube})
		old.awaitUse(t, func() {})
		if n := s.writes(m); len(n) != 0 {
			t.Errorf("%v for an object that is gone", n)
		}
		if got := s.owned(t, string(second.GetUID())); len(got) != 1 {
			t.Errorf("the living object owns %v", got)
		}
	})
}

// retain sets the deletion policy, which every AWS kind has in its own spec.
func retain(o external.Object) {
	spec := reflect.ValueOf(o).Elem().FieldByName("Spec")
	spec.FieldByName("DeletionPolicy").Set(reflect.ValueOf(v1alpha1.DeletionRetain))
}

// F5: two operators at the same time.
func TestTwoLeadersMakeOneResourceAndDoNotFlap(t *testing.T) {
	each(t, func(t *testing.T, s specimen) {
		c := admin(t)
		startOperator(t, operatorOptions{resync: 200 * time.Millisecond})
		startOperator(t, operatorOptions{resync: 200 * time.Millisecond})
		l := s.born(t, c, team(t, c), "two", true)
		ready(t, c, l.Object)
		// The second may have looked for the first time after the object had been still for a moment.
		await(t, "ten passes of both without a write", func() (bool, string) {
			m, version := l.settled()
			l.passes(m, 10)
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(l.Object), l.Object); err != nil {
				return false, err.Error()
			}
			writes, now := s.writes(m), l.GetResourceVersion()
			return len(writes) == 0 && now == version, fmt.Sprintf("AWS writes %v, version %s after %s", writes, now,
				version)
		})
		l.assertWhole("two leaders")
		gone(t, c, l.Object)
	})
}

// One of two replicas works; the other takes over when it stops. Both have only the permissions of config/rbac.
func TestAnotherReplicaTakesOver(t *testing.T) {
	c := admin(t)
	stop := startOperator(t, operatorOptions{leaderElect: true})
	ns := team(t, c)
	first := bucketOf(ns, "first")
	createReady(t, c, first)
	startOperator(t, operatorOptions{leaderElect: true})
	stop()
	second := bucketOf(ns, "second")
	createReady(t, c, second)
}

// F10: quiet for a long time, on accelerated intervals.
func TestQuietAtRest(t *testing.T) {
	tiers.Long(t)
	each(t, func(t *testing.T, s specimen) {
		c := admin(t)
		kube := newCut(0, awsproxy.Before)
		startOperator(t, operatorOptions{
			resync: 100 * time.Millisecond, providerResync: 100 * time.Millisecond, sweep: 100 * time.Millisecond,
			newClient: kube.kube,
		})
		ns := team(t, c)
		for _, declared := range []bool{false, true} {
			l := s.born(t, c, ns, fmt.Sprintf("quiet-%v", declared), declared)
			ready(t, c, l.Object)
			m, _ := l.settled()
			wrote := kube.seen.Load()
			await(t, "ten sweeps", func() (bool, string) {
				n := len(world.Proxy.CallsSince(m, awsproxy.By(awsproxy.Operator), awsproxy.To(s.service, s.list)))
				return n >= 10, fmt.Sprint(n)
			})
			if n := len(world.Proxy.CallsSince(m, awsproxy.By(awsproxy.Operator), awsproxy.Writes)); n != 0 {
				t.Errorf("%d AWS writes at rest", n)
			}
			if n := kube.seen.Load() - wrote; n != 0 {
				t.Errorf("%d Kubernetes writes at rest", n)
			}
			for _, op := range s.calls(m) {
				if !declared && op != s.list && !slices.Contains(s.rest, op) {
					t.Errorf("with nothing declared, at rest, it called %s", op)
				}
			}
		}
	})
}
