package claim

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/portico-platform/portico/api/dnsname"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

func cluster(t *testing.T, funcs interceptor.Funcs, objects ...client.Object) client.WithWatch {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1alpha1.AddToScheme, corev1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	return fake.NewClientBuilder().WithScheme(s).WithObjects(objects...).WithInterceptorFuncs(funcs).Build()
}

func claims(c client.WithWatch) *Registry {
	return &Registry{Client: c, APIReader: c, Namespace: "portico-system"}
}

func want(t *testing.T, namespace, hostname string) Request {
	t.Helper()
	n, err := dnsname.Parse(hostname)
	if err != nil {
		t.Fatal(err)
	}
	return Request{
		Name: n, Visibility: v1alpha1.InternetFacing, Budget: v1alpha1.LoadBalancerBudget{Rules: 3, TargetGroups: 4},
		Most:   20,
		Holder: v1alpha1.ClaimHolder{Namespace: namespace, Name: "r", UID: namespace + "/" + hostname},
		Place:  func(context.Context, []v1alpha1.DomainClaimSpec) (string, error) { return "gw-00", nil },
	}
}

func reasonOf(err error) string {
	if p, ok := engine.AsWait(err); ok {
		return p.Reason
	}
	return fmt.Sprint(err)
}

func TestWhoComesSecondIsRefused(t *testing.T) {
	for name, row := range map[string]struct {
		first, second Request
		says, hides   string
	}{
		"the same name": {want(t, "a", "shop.example.com"), want(t, "b", "shop.example.com"), "another team has shop.example.com;", "a/r"},
		"a name below a wildcard": {
			want(t, "a", "*.example.com"), want(t, "b", "x.y.example.com"),
			"another team has *.example.com, which overlaps x.y.example.com;", "",
		},
		"a wildcard above a name, which is not told": {
			want(t, "a", "secret.example.com"), want(t, "b", "*.example.com"),
			"another team has a hostname below example.com, which a wildcard would overlap;", "secret",
		},
		"the same name in one namespace": {
			want(t, "a", "shop.example.com"), func() Request {
				w := want(t, "a", "shop.example.com")
				w.Holder.UID = "other"
				return w
			}(), "the request r of this namespace has shop.example.com already;", "another team",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := claims(cluster(t, interceptor.Funcs{}))
			if _, err := c.Take(t.Context(), row.first); err != nil {
				t.Fatal(err)
			}
			_, err := c.Take(t.Context(), row.second)
			if reasonOf(err) != v1alpha1.ReasonTaken || !strings.Contains(err.Error(), row.says) {
				t.Errorf("error = %v, want %s: %q", err, v1alpha1.ReasonTaken, row.says)
			}
			if row.hides != "" && strings.Contains(err.Error(), row.hides) {
				t.Errorf("error = %v, want no %q in it", err, row.hides)
			}
			if err := c.Release(t.Context(), row.first.Holder); err != nil {
				t.Fatal(err)
			}
			if _, err := c.Take(t.Context(), row.second); err != nil {
				t.Errorf("after it was given back: %v", err)
			}
		})
	}
}

func TestNamesThatAreApartAreBothHad(t *testing.T) {
	internal := want(t, "b", "shop.example.com")
	internal.Visibility = v1alpha1.Internal
	c := claims(cluster(t, interceptor.Funcs{}))
	for _, w := range []Request{
		want(t, "a", "shop.example.com"), internal, want(t, "b", "example.com"), want(t, "c", "cart.example.com"),
		want(t, "d", "*.d.example.com"), want(t, "d", "x.d.example.com"), // a team's own wildcard
		want(t, "e", "wildcard.example.com"),
	} {
		if _, err := c.Take(t.Context(), w); err != nil {
			t.Errorf("%s: %v", w.Name, err)
		}
	}
}

// A hundred at once, through registries that share nothing: one gets it, and still has it when all ask again.
func TestOneOfAHundredWins(t *testing.T) {
	c := cluster(t, interceptor.Funcs{})
	for range 2 {
		winners := map[string]bool{}
		var mu sync.Mutex
		var all sync.WaitGroup
		for i := range 100 {
			all.Go(func() {
				one := &Registry{Client: c, APIReader: c, Namespace: "portico-system"}
				made, err := one.Take(t.Context(), want(t, fmt.Sprintf("team-%d", i), "shop.example.com"))
				for reasonOf(err) == "Claiming" { // many ask at once: the engine retries
					made, err = one.Take(t.Context(), want(t, fmt.Sprintf("team-%d", i), "shop.example.com"))
				}
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil:
					winners[made.Spec.Holder.Namespace] = true
				case reasonOf(err) != v1alpha1.ReasonTaken:
					t.Errorf("%v", err)
				}
			})
		}
		all.Wait()
		if len(winners) != 1 {
			t.Errorf("winners %v", winners)
		}
	}
}

// Random wildcards and names, many at once, each interrupted at a random write: no two of different teams overlap, and
// every refused one overlaps another.
func TestNothingOverlapsWhateverHappens(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for round := range uint64(20) {
		chaos(t, rand.New(rand.NewPCG(seed, round)))
	}
}

func chaos(t *testing.T, random *rand.Rand) {
	t.Helper()
	var mu sync.Mutex
	cut := errors.New("cut")
	dies := func() bool {
		mu.Lock()
		defer mu.Unlock()
		return random.IntN(10) == 0
	}
	c := cluster(t, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, obj client.Object, o ...client.CreateOption) error {
			if dies() {
				return cut
			}
			if err := c.Create(ctx, obj, o...); err != nil || !dies() {
				return err
			}
			return cut // the response is lost
		},
		Update: func(ctx context.Context, c client.WithWatch, obj client.Object, o ...client.UpdateOption) error {
			if dies() {
				return cut
			}
			if err := c.Update(ctx, obj, o...); err != nil || !dies() {
				return err
			}
			return cut
		},
	})
	var wanted []Request
	for i := range 30 {
		name := []string{"a", "b", "a.b", "x.a.b", "c"}[random.IntN(5)] + ".example.com"
		if random.IntN(3) == 0 {
			name = "*." + name
		}
		w := want(t, fmt.Sprintf("team-%d", i%10), name)
		w.Holder.Name, w.Holder.UID = fmt.Sprintf("r%d", i), fmt.Sprintf("uid-%d", i)
		holder := &v1alpha1.GatewayHostnameRequest{
			ObjectMeta: metav1.ObjectMeta{Namespace: w.Holder.Namespace, Name: w.Holder.Name, UID: types.UID(
				w.Holder.UID)},
		}
		for c.Create(t.Context(), holder) == cut { //nolint:errorlint // it is exactly this one
			holder.ResourceVersion = ""
		}
		wanted = append(wanted, w)
	}
	outcomes := make([]error, len(wanted))
	var all sync.WaitGroup
	for i, w := range wanted {
		all.Go(func() {
			one := &Registry{Client: c, APIReader: c, Namespace: "portico-system"}
			for range 1000 {
				if _, outcomes[i] = one.Take(t.Context(), w); outcomes[i] == nil ||
					reasonOf(outcomes[i]) == v1alpha1.ReasonTaken {
					return
				}
			}
		})
	}
	all.Wait()
	judgeChaos(t, c, wanted, outcomes)
}

func judgeChaos(t *testing.T, c client.Client, wanted []Request, outcomes []error) {
	t.Helper()
	list := &v1alpha1.DomainClaimList{}
	if err := c.List(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	held := map[string]v1alpha1.DomainClaimSpec{}
	for _, a := range list.Items {
		held[a.Spec.Holder.UID] = a.Spec
		for _, b := range list.Items {
			if a.Name != b.Name && refuseOverlap(a.Spec, b.Spec, "") != nil {
				t.Errorf("%s of %s and %s of %s", a.Spec.Hostname, a.Spec.Holder.Namespace, b.Spec.Hostname,
					b.Spec.Holder.Namespace)
			}
		}
	}
	for i, w := range wanted {
		if _, has := held[w.Holder.UID]; has != (outcomes[i] == nil) {
			t.Errorf("%s of %s: %v, and it has it: %v", w.Name, w.Holder.Namespace, outcomes[i], has)
		}
		if reasonOf(outcomes[i]) != v1alpha1.ReasonTaken {
			continue
		}
		clashes := 0
		for _, h := range held {
			if refuseOverlap(v1alpha1.DomainClaimSpec{
				Hostname: w.Name.String(), Visibility: w.Visibility,
				Holder: w.Holder,
			}, h, "") != nil {
				clashes++
			}
		}
		if clashes == 0 { // an announcement that was lost may have been the conflict: the next try succeeds
			if _, err := (&Registry{Client: c, APIReader: c, Namespace: "portico-system"}).Take(
				t.Context(), w); err != nil && reasonOf(err) == v1alpha1.ReasonTaken {
				t.Errorf("%s of %s is refused for nothing: %v", w.Name, w.Holder.Namespace, err)
			}
		}
	}
}

func TestWhatAGoneRequestAnnouncedIsInNobodysWay(t *testing.T) {
	broken := true
	c := cluster(t, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, obj client.Object, o ...client.CreateOption) error {
			if _, isClaim := obj.(*v1alpha1.DomainClaim); isClaim && broken {
				return apierrors.NewInternalError(errors.New("boom"))
			}
			return c.Create(ctx, obj, o...)
		},
	})
	k := claims(c)
	if _, err := k.Take(t.Context(), want(t, "a", "shop.example.com")); err == nil {
		t.Fatal("it was not cut off")
	}
	broken = false
	if _, err := k.Take(t.Context(), want(t, "b", "shop.example.com")); err != nil {
		t.Errorf("%v", err)
	}
}

func TestAnErrorIsNoFreeName(t *testing.T) {
	boom := apierrors.NewInternalError(errors.New("boom"))
	c := cluster(t, interceptor.Funcs{
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error { return boom },
	})
	if _, err := claims(c).Take(t.Context(), want(t, "a", "shop.example.com")); !errors.Is(err, boom) {
		t.Errorf("%v", err)
	}
	if err := claims(c).Release(t.Context(), v1alpha1.ClaimHolder{UID: "1"}); !errors.Is(err, boom) {
		t.Errorf("%v", err)
	}
}
