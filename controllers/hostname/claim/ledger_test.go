package claim

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// loseLedger makes another operator write the ledger, and one notice it and read the ledger again.
func loseLedger(t *testing.T, kube client.WithWatch, one *Registry, otherTakes string) {
	t.Helper()
	if _, err := claims(kube).Take(t.Context(), want(t, "other", otherTakes)); err != nil {
		t.Fatal(err)
	}
	epoch := one.epoch
	if _, err := one.Take(t.Context(), want(t, "c", "loses.example.org")); err != nil {
		t.Fatal(err)
	}
	if one.epoch == epoch {
		t.Fatal("the epoch has not ended")
	}
}

// What was reserved before another operator wrote the ledger is checked again before it is announced.
func TestAReservationOfAnEarlierEpochIsNotAnnounced(t *testing.T) {
	kube := cluster(t, interceptor.Funcs{})
	one := claims(kube)
	epoch, err := one.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	request := want(t, "a", "shop.example.com")
	if _, err := one.reserve(t.Context(), epoch, "dc-1", request, specOf(request)); err != nil {
		t.Fatal(err)
	}
	loseLedger(t, kube, one, "x.example.com")
	if err := one.announce(t.Context(), epoch); !errors.Is(err, errOutrun) {
		t.Errorf("%v", err)
	}
	if _, err := one.reserve(t.Context(), epoch, "dc-1", request, specOf(request)); !errors.Is(err, errOutrun) {
		t.Errorf("%v", err)
	}
}

// Claims that come during a write of the ledger share the next one.
func TestClaimsThatWaitShareAWrite(t *testing.T) {
	const n = 10
	var first sync.Once
	begun, slow := make(chan struct{}), make(chan struct{})
	live := &counted{hold: func(obj client.Object) {
		if _, ok := obj.(*corev1.ConfigMap); ok && obj.GetResourceVersion() != "" {
			first.Do(func() {
				close(begun)
				<-slow
			})
		}
	}}
	c := claims(cluster(t, live.funcs()))
	var all sync.WaitGroup
	take := func(i int) {
		all.Go(func() {
			if _, err := c.Take(t.Context(), want(t, "a", fmt.Sprintf("shop-%d.example.com", i))); err != nil {
				t.Error(err)
			}
		})
	}
	take(0)
	<-begun
	for i := range n {
		take(i + 1)
	}
	for reserved := 0; reserved <= n && t.Context().Err() == nil; time.Sleep(time.Millisecond) {
		c.mu.Lock()
		reserved = len(c.pending)
		c.mu.Unlock()
	}
	time.Sleep(50 * time.Millisecond) // so that the last one waits for the ledger
	close(slow)
	all.Wait()
	if writes := live.updates.Load(); writes != 2 {
		t.Errorf("%d writes of the ledger, want one for the first claim and one for %d others", writes, n)
	}
}

// A claim that is being created blocks overlapping hostnames, also when the ledger is read again and the holder is
// gone.
func TestAClaimThatIsBeingCreatedOutlivesItsHolder(t *testing.T) {
	var kube client.WithWatch
	var one *Registry
	kube = cluster(t, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, obj client.Object, o ...client.CreateOption) error {
			if made, ok := obj.(*v1alpha1.DomainClaim); ok && made.Spec.Hostname == "slow.example.com" {
				loseLedger(t, kube, one, "other.example.org")
				if _, err := one.Take(ctx, want(t, "b", "*.example.com")); reasonOf(err) != v1alpha1.ReasonTaken {
					t.Errorf("a wildcard over it: %v", err)
				}
			}
			return c.Create(ctx, obj, o...)
		},
	})
	one = claims(kube)
	if _, err := one.Take(t.Context(), want(t, "a", "slow.example.com")); err != nil {
		t.Error(err)
	}
}

// A claim that was given back is gone at once, and one that is taken again is there at once, whatever the cache shows.
func TestAnOldCacheHidesNothingThatWasGivenBackOrTakenAgain(t *testing.T) {
	fresh, again, made := true, false, 0
	var one *Registry
	kube := cluster(t, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, obj client.Object, o ...client.CreateOption) error {
			if _, ok := obj.(*v1alpha1.DomainClaim); ok && again {
				again = false
				if _, err := one.Take(ctx, want(t, "b", "*.example.com")); reasonOf(err) != v1alpha1.ReasonTaken {
					t.Errorf("a wildcard over a name that is taken again: %v", err)
				}
			}
			made++
			obj.SetUID(types.UID(fmt.Sprint(made)))
			return c.Create(ctx, obj, o...)
		},
	})
	one = &Registry{
		Client:    &lagging{WithWatch: kube, fresh: func() bool { return fresh }},
		APIReader: kube, Namespace: "portico-system",
	}
	first, second := want(t, "a", "shop.example.com"), want(t, "b", "shop.example.com")
	for _, step := range []struct {
		takes Request
		again bool
	}{{takes: first}, {takes: first, again: true}, {takes: second}} {
		again = step.again
		if _, err := one.Take(t.Context(), step.takes); err != nil {
			t.Fatal(err)
		}
		if _, err := one.Held(t.Context(), first.Name, first.Visibility, first.Holder); err != nil {
			t.Fatal(err)
		}
		fresh = false
		if err := one.Release(t.Context(), step.takes.Holder); err != nil {
			t.Fatal(err)
		}
	}
}

// announceOnly announces a claim as an operator does that is slow to create it.
func announceOnly(t *testing.T, r *Registry, request Request) {
	t.Helper()
	epoch, err := r.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	name := NameOf(request.Name, request.Visibility)
	if _, err := r.reserve(t.Context(), epoch, name, request, specOf(request)); err != nil {
		t.Fatal(err)
	}
	if err := r.announce(t.Context(), epoch); err != nil {
		t.Fatal(err)
	}
}

func specOf(r Request) v1alpha1.DomainClaimSpec {
	return v1alpha1.DomainClaimSpec{
		Hostname: r.Name.String(), Visibility: r.Visibility, Holder: r.Holder, Budget: r.Budget, Gateway: "gw-00",
	}
}

// holders returns the requests that exist, so that their announcements count.
func holders(requests ...Request) (all []client.Object) {
	for _, r := range requests {
		all = append(all, &v1alpha1.GatewayHostnameRequest{ObjectMeta: metav1.ObjectMeta{
			Namespace: r.Holder.Namespace, Name: r.Holder.Name, UID: types.UID(r.Holder.UID),
		}})
	}
	return all
}

// A reservation that another operator's announcement makes void does not hide that announcement.
func TestAVoidReservationHidesNoAnnouncement(t *testing.T) {
	ours, theirs := want(t, "a", "shop.example.com"), want(t, "b", "shop.example.com")
	kube := cluster(t, interceptor.Funcs{}, holders(theirs)...)
	one, other := claims(kube), claims(kube)
	epoch, err := one.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	name := NameOf(ours.Name, ours.Visibility)
	void, err := one.reserve(t.Context(), epoch, name, ours, specOf(ours))
	if err != nil {
		t.Fatal(err)
	}
	announceOnly(t, other, theirs)
	if err := one.announce(t.Context(), epoch); !outrun(err) {
		t.Errorf("%v", err)
	}
	if _, err := one.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	one.abandon(name, void)
	if _, err := one.Take(t.Context(), want(t, "c", "*.example.com")); reasonOf(err) != v1alpha1.ReasonTaken {
		t.Errorf("a wildcard over what another operator has announced: %v", err)
	}
}

// A hostname that another operator has released and announced again is taken, although this operator created the
// earlier claim and its cache may show it.
func TestAnEarlierClaimHidesNoAnnouncement(t *testing.T) {
	for _, shown := range []bool{true, false} {
		first := want(t, "a", "shop.example.com")
		kube := cluster(t, interceptor.Funcs{}, holders(first)...)
		fresh := false
		one := &Registry{
			Client:    &lagging{WithWatch: kube, fresh: func() bool { return fresh }},
			APIReader: kube, Namespace: "portico-system",
		}
		other := claims(kube)
		if _, err := one.Take(t.Context(), first); err != nil {
			t.Fatal(err)
		}
		fresh = shown
		if _, err := one.Held(t.Context(), first.Name, first.Visibility, first.Holder); err != nil {
			t.Fatal(err)
		}
		fresh = false
		if err := other.Release(t.Context(), first.Holder); err != nil {
			t.Fatal(err)
		}
		announceOnly(t, other, first)
		if _, err := one.Take(t.Context(), want(t, "c", "loses.example.org")); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if _, err := one.Take(t.Context(), want(t, "b", "*.example.com")); reasonOf(err) != v1alpha1.ReasonTaken {
				t.Errorf("the cache had shown it %v, and is fresh %v: %v", shown, fresh, err)
			}
			fresh = true
		}
	}
}
