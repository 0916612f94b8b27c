// Package claim gives each hostname to the first request for it, across all namespaces, also under concurrency: a
// second leader, or a hundred requests at once.
//
// The DomainClaims in the cluster are the truth. To create one is not lock enough: a wildcard and a name below it are
// objects with different names, and the last place on a Gateway can be given to two names. So two things are kept
// beside the DomainClaims, each for one reason:
//
//   - The ledger, a ConfigMap, is the lock between processes. A claim is announced in it, at the resourceVersion at
//     which this process has read or written it last, before the DomainClaim is created. Of two concurrent writers one
//     fails, reads the ledger again, and finds the other's announcement.
//   - Registry.pending, in memory, is what the cache of this process does not show yet. After the ledger is read, the
//     DomainClaims are listed once, and what this process writes is added. As long as nobody else writes the ledger,
//     cache and pending together are complete, so that neither the ledger nor the DomainClaims are read again.
//
// Registry.current derives the one list on which everything is decided. See ADR 11 and ADR 40.
package claim

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sync"

	"golang.org/x/sync/singleflight"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/dnsname"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// Registry takes and releases claims. Safe for concurrent use.
type Registry struct {
	Client    client.Client
	APIReader client.Reader // past the cache
	Namespace string        // of the ledger

	flights singleflight.Group // calls that several callers share: reads and writes of the ledger
	writing sync.Mutex         // held during a write of the ledger

	mu       sync.Mutex          // guards the fields below; never held during a call to the API server
	ledger   *corev1.ConfigMap   // as last read or written; nil if somebody else may have written it since
	epoch    int                 // counts how often everything had to be read again; see endEpoch
	writes   int                 // how many writes of the ledger have begun
	notes    int                 // how many claims were noted
	pending  map[string]*pending // claims that the cache may not show or may show outdated, by name
	released map[claimID]bool    // claims that are released, and that the cache may still show
	removing map[string]bool     // PoolGateways that are being deleted
}

// Held returns the claim that the holder already has, as the cache shows it; nil if there is none.
func (r *Registry) Held(ctx context.Context, name dnsname.Name, visibility v1alpha1.Visibility,
	holder v1alpha1.ClaimHolder,
) (*v1alpha1.DomainClaim, error) {
	return heldIn(ctx, r.Client, NameOf(name, visibility), holder)
}

// heldIn returns the claim of this name if the holder has it; nil if not.
func heldIn(ctx context.Context, from client.Reader, name string, holder v1alpha1.ClaimHolder) (
	*v1alpha1.DomainClaim, error,
) {
	one := &v1alpha1.DomainClaim{}
	found, err := engine.Find(ctx, from, types.NamespacedName{Name: name}, one)
	if !found || one.Spec.Holder.UID != holder.UID {
		return nil, err
	}
	return one, nil
}

// Request is a request for a hostname.
type Request struct {
	Name       dnsname.Name
	Visibility v1alpha1.Visibility
	Holder     v1alpha1.ClaimHolder
	// Budget is what is reserved for the hostname on the shared load balancer.
	Budget v1alpha1.LoadBalancerBudget
	// Most is how many hostnames the holder's namespace can have.
	Most int
	// Place returns the PoolGateway that has room in addition to these claims.
	Place func(ctx context.Context, claims []v1alpha1.DomainClaimSpec) (string, error)
}

// NameOf returns the name of the DomainClaim of a hostname. It does not depend on the hosted zone: two zones cannot
// hand out the same name twice.
func NameOf(name dnsname.Name, visibility v1alpha1.Visibility) string {
	sum := sha256.Sum256([]byte(string(visibility) + " " + name.String()))
	return "dc-" + hex.EncodeToString(sum[:16])
}

// maxAttempts bounds the race for the ledger: each lost attempt means that another writer has succeeded.
const maxAttempts = 20

// Take returns the claim, new or existing, or the reason why there is none: a WaitError if another holder has it.
func (r *Registry) Take(ctx context.Context, request Request) (*v1alpha1.DomainClaim, error) {
	for range maxAttempts {
		made, err := r.tryTake(ctx, request)
		if !outrun(err) {
			return made, err
		}
	}
	return nil, engine.Wait(v1alpha1.ReasonClaiming, 0, "many ask for hostnames at this moment")
}

func (r *Registry) tryTake(ctx context.Context, request Request) (*v1alpha1.DomainClaim, error) {
	epoch, err := r.open(ctx)
	if err != nil {
		return nil, err
	}
	name := NameOf(request.Name, request.Visibility)
	if held, err := r.existing(ctx, name, request.Holder); held != nil || err != nil {
		return held, err
	}
	want := v1alpha1.DomainClaimSpec{
		Hostname: request.Name.String(), Visibility: request.Visibility,
		Holder: request.Holder, Budget: request.Budget,
	}
	others, err := r.admit(ctx, request, want)
	if err != nil {
		return nil, err
	}
	if want.Gateway, err = request.Place(ctx, others); err != nil {
		return nil, err
	}
	p, err := r.reserve(ctx, epoch, name, request, want)
	if err != nil {
		return nil, err
	}
	if err := r.announce(ctx, epoch); err != nil {
		r.abandon(name, p)
		return nil, fmt.Errorf("announce a claim in the ledger of hostnames: %w", err)
	}
	made, err := r.create(ctx, name, want)
	if err != nil {
		r.abandon(name, p)
	}
	return made, err
}

// existing returns the claim if the holder already has it. One that the cache may not show yet is read from the API
// server.
func (r *Registry) existing(ctx context.Context, name string, holder v1alpha1.ClaimHolder) (
	*v1alpha1.DomainClaim, error,
) {
	r.mu.Lock()
	p := r.pending[name]
	ours := p != nil && p.state == created && p.spec.Holder.UID == holder.UID
	r.mu.Unlock()
	from := client.Reader(r.Client)
	if ours {
		from = r.APIReader
	}
	held, err := heldIn(ctx, from, name, holder)
	if ours && held == nil && err == nil {
		r.forget(name, p)
	}
	if held == nil || r.isReleased(held) {
		return nil, err
	}
	return held, nil
}

// create creates the claim that the ledger announces.
func (r *Registry) create(ctx context.Context, name string, want v1alpha1.DomainClaimSpec) (
	*v1alpha1.DomainClaim, error,
) {
	made := &v1alpha1.DomainClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name, Finalizers: []string{engine.Finalizer}},
		Spec:       want,
	}
	err := r.Client.Create(ctx, made, client.FieldOwner("portico"))
	if apierrors.IsAlreadyExists(err) { // by an earlier attempt whose response was lost, or by somebody else
		if readErr := r.APIReader.Get(ctx, types.NamespacedName{Name: name}, made); readErr != nil {
			return nil, cmp.Or(client.IgnoreNotFound(readErr), err)
		}
		r.note(made)
		if made.Spec.Holder.UID == want.Holder.UID {
			return made, nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("create the DomainClaim %s: %w", name, err)
	}
	r.note(made)
	return made, nil
}
