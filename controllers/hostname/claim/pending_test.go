package claim

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/hostname/pool"
)

// lagging is a client whose cache shows DomainClaims as of its last refresh.
type lagging struct {
	client.WithWatch
	mu    sync.Mutex
	shown v1alpha1.DomainClaimList
	fresh func() bool // decides at random whether a read refreshes it
}

func (l *lagging) read(ctx context.Context) (v1alpha1.DomainClaimList, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fresh() {
		now := v1alpha1.DomainClaimList{}
		if err := l.WithWatch.List(ctx, &now); err != nil {
			return now, err
		}
		l.shown = now
	}
	return *l.shown.DeepCopy(), nil
}

func (l *lagging) Get(ctx context.Context, key client.ObjectKey, obj client.Object, o ...client.GetOption) error {
	claim, ok := obj.(*v1alpha1.DomainClaim)
	if !ok {
		return l.WithWatch.Get(ctx, key, obj, o...)
	}
	all, err := l.read(ctx)
	if err != nil {
		return err
	}
	for i := range all.Items {
		if all.Items[i].Name == key.Name {
			*claim = all.Items[i]
			return nil
		}
	}
	return l.WithWatch.Get(ctx, client.ObjectKey{Name: "there is none"}, obj)
}

func (l *lagging) List(ctx context.Context, list client.ObjectList, o ...client.ListOption) error {
	claims, ok := list.(*v1alpha1.DomainClaimList)
	if !ok {
		return l.WithWatch.List(ctx, list, o...)
	}
	all, err := l.read(ctx)
	if err != nil {
		return err
	}
	claims.Items = all.Items
	return nil
}

// Three operators, each with many workers, a lagging cache and interrupted writes, take and release claims at random;
// no two claims of different teams ever overlap.
func TestOperatorsWithOldCachesGiveNoNameTwice(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for round := range uint64(10) {
		takeAndRelease(t, rand.New(rand.NewPCG(seed, round)))
	}
}

func takeAndRelease(t *testing.T, random *rand.Rand) {
	t.Helper()
	var mu sync.Mutex
	draw := func(n int) int {
		mu.Lock()
		defer mu.Unlock()
		return random.IntN(n)
	}
	var serial atomic.Int64
	cut := errors.New("cut")
	c := cluster(t, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, obj client.Object, o ...client.CreateOption) error {
			obj.SetUID(types.UID(fmt.Sprintf("%s-%d", obj.GetUID(), serial.Add(1)))) // as an API server does
			if _, ok := obj.(*v1alpha1.DomainClaim); !ok {
				return c.Create(ctx, obj, o...)
			}
			if draw(8) == 0 {
				return cut
			}
			if err := c.Create(ctx, obj, o...); err != nil || draw(8) > 0 {
				return err
			}
			return cut
		},
		Update: func(ctx context.Context, c client.WithWatch, obj client.Object, o ...client.UpdateOption) error {
			if draw(8) == 0 {
				return cut
			}
			if err := c.Update(ctx, obj, o...); err != nil || draw(8) > 0 {
				return err
			}
			return cut
		},
	})
	var operators []*Registry
	for range 3 {
		operators = append(operators,
			&Registry{
				Client: &lagging{WithWatch: c, fresh: func() bool { return draw(3) == 0 }}, APIReader: c,
				Namespace: "portico-system",
			})
	}
	var all sync.WaitGroup
	for i := range 12 {
		all.Go(func() {
			w := randomRequest(t, i, draw)
			holder := &v1alpha1.GatewayHostnameRequest{
				ObjectMeta: metav1.ObjectMeta{Namespace: w.Holder.Namespace, Name: w.Holder.Name},
			}
			if err := c.Create(t.Context(), holder); err != nil {
				t.Error(err)
			}
			w.Holder.UID = string(holder.UID)
			for range 6 {
				one := operators[draw(len(operators))]
				if _, err := one.Take(t.Context(), w); err == nil {
					checkApart(t, c)
				}
				if draw(2) == 0 {
					for err := errors.New("not yet"); err != nil && t.Context().Err() == nil; {
						err = one.Release(t.Context(), w.Holder)
					}
				}
			}
		})
	}
	all.Wait()
	checkApart(t, c)
}

func randomRequest(t *testing.T, i int, draw func(int) int) Request {
	t.Helper()
	name := []string{"a", "b", "a.b", "x.a.b", "c"}[draw(5)] + ".example.com"
	if draw(3) == 0 {
		name = "*." + name
	}
	w := want(t, fmt.Sprintf("team-%d", i%6), name)
	w.Holder.Name = fmt.Sprintf("r%d", i)
	return w
}

// checkApart checks that no claims at the API server overlap.
func checkApart(t *testing.T, c client.Client) {
	t.Helper()
	list := &v1alpha1.DomainClaimList{}
	if err := c.List(t.Context(), list); err != nil {
		t.Error(err)
	}
	for _, a := range list.Items {
		for _, b := range list.Items {
			if a.Name != b.Name && refuseOverlap(a.Spec, b.Spec, "") != nil {
				t.Errorf("%s of %s and %s of %s", a.Spec.Hostname, a.Spec.Holder.Namespace, b.Spec.Hostname,
					b.Spec.Holder.Namespace)
			}
		}
	}
}

// counted counts live reads and writes, and delays what hold matches.
type counted struct {
	lists, gets, updates atomic.Int64
	hold                 func(obj client.Object)
}

func (n *counted) funcs() interceptor.Funcs {
	return interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, obj client.Object, o ...client.CreateOption) error {
			if n.hold != nil {
				n.hold(obj)
			}
			return c.Create(ctx, obj, o...)
		},
		Update: func(ctx context.Context, c client.WithWatch, obj client.Object, o ...client.UpdateOption) error {
			n.updates.Add(1)
			if n.hold != nil {
				n.hold(obj)
			}
			return c.Update(ctx, obj, o...)
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, o ...client.ListOption) error {
			n.lists.Add(1)
			return c.List(ctx, list, o...)
		},
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object,
			o ...client.GetOption,
		) error {
			n.gets.Add(1)
			return c.Get(ctx, key, obj, o...)
		},
	}
}

// Once the claims are listed, they are not listed again: a claim costs one write of the ledger and the creation.
func TestAClaimListsNothingAtTheAPIServer(t *testing.T) {
	live := &counted{}
	kube := cluster(t, interceptor.Funcs{})
	c := &Registry{Client: kube, APIReader: interceptor.NewClient(kube, live.funcs()), Namespace: "portico-system"}
	for i := range 20 {
		if _, err := c.Take(t.Context(), want(t, "a", fmt.Sprintf("shop-%d.example.com", i))); err != nil {
			t.Fatal(err)
		}
	}
	if live.lists.Load() != 1 || live.gets.Load() != 1 {
		t.Errorf("20 claims listed %d times and read %d times, want once, when it began", live.lists.Load(),
			live.gets.Load())
	}
}

// A slow claim delays no other, and concurrent claims share the writes of the ledger.
func TestAClaimUnderWayHoldsUpNoOther(t *testing.T) {
	slow, begun := make(chan struct{}), make(chan struct{})
	live := &counted{hold: func(obj client.Object) {
		if c, ok := obj.(*v1alpha1.DomainClaim); ok && c.Spec.Hostname == "slow.example.com" {
			close(begun)
			<-slow
		}
	}}
	c := claims(cluster(t, live.funcs(), &v1alpha1.GatewayHostnameRequest{
		ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "r", UID: "a/slow.example.com"},
	}))
	ended := make(chan error)
	go func() {
		_, err := c.Take(t.Context(), want(t, "a", "slow.example.com"))
		ended <- err
	}()
	<-begun
	var all sync.WaitGroup
	for i := range 15 {
		all.Go(func() {
			if _, err := c.Take(t.Context(), want(t, "b", fmt.Sprintf("shop-%d.example.com", i))); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if _, err := c.Take(t.Context(), want(t, "b", "*.example.com")); reasonOf(err) != v1alpha1.ReasonTaken {
		t.Errorf("a wildcard over a name that is being made: %v", err)
	}
	if n := live.updates.Load(); n > 16 {
		t.Errorf("%d writes of the ledger for 16 claims", n)
	}
	close(slow)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// Each place is counted as it is taken, also under concurrency.
func TestAGatewayIsNotOverfilled(t *testing.T) {
	c := claims(cluster(t, interceptor.Funcs{}))
	var all sync.WaitGroup
	for i := range 60 {
		all.Go(func() {
			w := want(t, fmt.Sprintf("team-%d", i%5), fmt.Sprintf("shop-%d.example.com", i))
			w.Place = firstWithRoom(w.Budget)
			for {
				if _, err := c.Take(t.Context(), w); reasonOf(err) != v1alpha1.ReasonClaiming {
					if err != nil {
						t.Error(err)
					}
					return
				}
			}
		})
	}
	all.Wait()
	list, on := &v1alpha1.DomainClaimList{}, map[string]int{}
	if err := c.APIReader.List(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	for i := range list.Items {
		on[list.Items[i].Spec.Gateway]++
	}
	for gateway, n := range on {
		if n > v1alpha1.PoolHostnames {
			t.Errorf("%s has %d hostnames of %d", gateway, n, v1alpha1.PoolHostnames)
		}
	}
	if len(list.Items) != 60 || len(on) != 3 {
		t.Errorf("%d claims on %v", len(list.Items), on)
	}
}

// firstWithRoom places as pool.Allocator does, on Gateways that do not exist.
func firstWithRoom(budget v1alpha1.LoadBalancerBudget) func(context.Context, []v1alpha1.DomainClaimSpec) (
	string, error) {
	return func(_ context.Context, claims []v1alpha1.DomainClaimSpec) (string, error) {
		for n := 0; ; n++ {
			if name := fmt.Sprintf("gw-%02d", n); pool.HasPlace(name, budget, claims) {
				return name, nil
			}
		}
	}
}

// TestWhatIsNotedWhileItIsReadStays checks which of two pictures of a claim is newer.
func TestWhatIsNotedWhileItIsReadStays(t *testing.T) {
	of := func(holder string) v1alpha1.DomainClaimSpec {
		return v1alpha1.DomainClaimSpec{Holder: v1alpha1.ClaimHolder{UID: holder}}
	}
	claimed := func(generation int64) *pending {
		return &pending{spec: of("ours"), state: created, uid: "1", generation: generation}
	}
	noted := claimed(3)
	noted.note = 5
	for name, row := range map[string]struct {
		read  *pending
		since int
		newer bool
	}{
		"its own announcement, created since":      {&pending{spec: of("ours"), state: announced}, 4, true},
		"its own announcement, created before":     {&pending{spec: of("ours"), state: announced}, 5, false},
		"another's announcement":                   {&pending{spec: of("theirs"), state: announced}, 4, false},
		"an earlier generation, changed since":     {claimed(2), 4, true},
		"what was read after it was noted":         {claimed(3), 5, false},
		"nothing, as it is created after the list": {nil, 4, true},
	} {
		if got := noted.newerThan(row.read, row.since); got != row.newer {
			t.Errorf("%s: newer %v, want %v", name, got, row.newer)
		}
	}
}
