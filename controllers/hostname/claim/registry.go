// Package claim reserves each hostname for the first request for it, across all namespaces, also under concurrency: a
// second leader, or a hundred requests at once.
//
// The DomainClaims are the source of truth. Their names alone cannot prevent overlaps of a wildcard with other names;
// one object does, the ledger. Before a DomainClaim is created, its content is written into the ledger at the
// resourceVersion at which the ledger was read, and the DomainClaims are listed after that read. While no other writer
// has written the ledger, the listed claims and those we have created are complete, so neither is read again. Of two
// concurrent writers only one can write the ledger; the other reads it again, with the first one's entry. See ADR 11
// and ADR 40.
package claim

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"sync"

	"golang.org/x/sync/singleflight"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/dnsname"
	"github.com/portico-platform/portico/api/hostnames"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// Ledger names the ConfigMap in the operator's namespace with DomainClaims about to be created; losing it loses none.
const Ledger = "portico-hostname-ledger"

// Registry takes and releases claims. Safe for concurrent use.
type Registry struct {
	Client    client.Client
	APIReader client.Reader // past the cache
	Namespace string        // of the ledger

	flights singleflight.Group // reads of the ledger
	mu      sync.Mutex         // guards book; never held during a call to the API server
	book    book
}

// Held returns the claim that the holder already has, as the cache shows it; nil if there is none.
func (r *Registry) Held(ctx context.Context, name dnsname.Name, visibility v1alpha1.Visibility,
	holder v1alpha1.ClaimHolder,
) (*v1alpha1.DomainClaim, error) {
	found := &v1alpha1.DomainClaim{}
	err := r.Client.Get(ctx, types.NamespacedName{Name: NameOf(name, visibility)}, found)
	if apierrors.IsNotFound(err) || (err == nil && found.Spec.Holder.UID != holder.UID) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the DomainClaim of %s: %w", name, err)
	}
	return found, nil
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
	view, err := r.admit(ctx, request, want)
	if err != nil {
		return nil, err
	}
	if want.Gateway, err = request.Place(ctx, view.claims); err != nil {
		return nil, err
	}
	reserved, err := r.reserve(ctx, epoch, view, name, request, want)
	if err != nil {
		return nil, err
	}
	if err := r.write(ctx, epoch); err != nil {
		r.forget(name, reserved) // nothing is created, though the ledger may announce it
		return nil, fmt.Errorf("announce a claim in the ledger of hostnames: %w", err)
	}
	made, err := r.create(ctx, name, want)
	if err != nil {
		r.abandon(name, reserved)
	}
	return made, err
}

// existing returns the claim if the holder already has it.
func (r *Registry) existing(ctx context.Context, name string, holder v1alpha1.ClaimHolder) (
	*v1alpha1.DomainClaim, error,
) {
	r.mu.Lock()
	e := r.book.entries[name]
	ours := e != nil && !e.announced && e.spec.Holder.UID == holder.UID
	r.mu.Unlock()
	from := client.Reader(r.Client)
	if ours { // the cache may not show it yet
		from = r.APIReader
	}
	found := &v1alpha1.DomainClaim{}
	err := from.Get(ctx, types.NamespacedName{Name: name}, found)
	switch {
	case apierrors.IsNotFound(err) && ours:
		r.forget(name, e)
		return nil, nil
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read the DomainClaim %s: %w", name, err)
	case found.Spec.Holder.UID != holder.UID || r.isReleased(found):
		return nil, nil
	}
	return found, nil
}

// admit returns the view in which to find a place, or an error if the hostname cannot be claimed.
func (r *Registry) admit(ctx context.Context, request Request, want v1alpha1.DomainClaimSpec) (view, error) {
	r.mu.Lock()
	v, err := r.look(ctx, want)
	r.mu.Unlock()
	if err != nil {
		return view{}, err
	}
	if v.clash != nil {
		return view{}, r.checkClash(ctx, v)
	}
	if err := request.checkQuota(v.claims); err != nil {
		return view{}, cmp.Or(r.dropGone(ctx, request.Holder.Namespace), err)
	}
	return v, nil
}

// dropGone removes a namespace's entries that no longer exist from the book; errOutrun if there were any.
func (r *Registry) dropGone(ctx context.Context, namespace string) error {
	r.mu.Lock()
	entries := maps.Clone(r.book.entries)
	r.mu.Unlock()
	var dropped error
	for name, e := range entries {
		if e.spec.Holder.Namespace != namespace {
			continue
		}
		gone, err := r.gone(ctx, name, e)
		if err != nil {
			return err
		}
		if gone {
			r.forget(name, e)
			dropped = errOutrun
		}
	}
	return dropped
}

// checkClash returns the conflict, or errOutrun if the conflicting claim is gone.
func (r *Registry) checkClash(ctx context.Context, v view) error {
	if v.with == nil { // in the cache
		return v.clash
	}
	gone, err := r.gone(ctx, v.name, v.with)
	if err != nil {
		return err
	}
	if !gone {
		return v.clash
	}
	r.forget(v.name, v.with)
	return errOutrun
}

// gone reports whether something that the cache does not show no longer exists: a claim, or the holder of an
// announcement, for which then no claim was created.
func (r *Registry) gone(ctx context.Context, name string, e *entry) (bool, error) {
	switch {
	case e.underWay:
		return false, nil
	case e.announced:
		return r.holderGone(ctx, e.spec.Holder)
	}
	found := &v1alpha1.DomainClaim{}
	err := r.APIReader.Get(ctx, types.NamespacedName{Name: name}, found)
	if apierrors.IsNotFound(err) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("read the DomainClaim %s: %w", name, err)
	}
	return found.UID != e.uid, nil
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

// checkQuota returns a WaitError if the namespace has reached its number of hostnames.
func (r Request) checkQuota(claims []v1alpha1.DomainClaimSpec) error {
	has := 0
	for _, c := range claims {
		if c.Holder.Namespace == r.Holder.Namespace {
			has++
		}
	}
	if has < r.Most {
		return nil
	}
	return engine.Blocked(v1alpha1.ReasonTooManyHostnames, "namespace %s has %d hostnames, and its HostnameGrant "+
		"allows %d: delete one that nothing needs, or ask a platform admin to raise maxHostnames", r.Holder.Namespace,
		has, r.Most)
}

// refuseOverlap returns an error if want conflicts with one. It names the holder only within the same namespace.
func refuseOverlap(want, one v1alpha1.DomainClaimSpec, claim string) error {
	if want.Visibility != one.Visibility {
		return nil
	}
	a, b, overlap := overlapping(want.Hostname, one.Hostname)
	if !overlap {
		return nil
	}
	if want.Holder.Namespace != one.Holder.Namespace {
		return engine.Blocked(v1alpha1.ReasonTaken, "another team has %s; choose another hostname, or ask a platform "+
			"admin, who can see whose it is by the DomainClaim %s. Portico tries again at once when it is given back",
			hostnames.Clash(a, b), claim)
	}
	if a == b {
		return engine.Blocked(v1alpha1.ReasonTaken, "the request %s of this namespace has %s already; use that one, "+
			"or delete it first", one.Holder.Name, a)
	}
	return nil // a team can have a wildcard and names below it
}

// overlapping reports whether two hostnames overlap. An invalid hostname overlaps only itself.
func overlapping(one, other string) (a, b dnsname.Name, overlap bool) {
	a, errA := dnsname.Parse(one)
	b, errB := dnsname.Parse(other)
	if errA != nil || errB != nil {
		return a, b, one == other
	}
	return a, b, a.Overlaps(b)
}

func (r *Registry) holderGone(ctx context.Context, h v1alpha1.ClaimHolder) (bool, error) {
	holder := &v1alpha1.GatewayHostnameRequest{}
	err := r.APIReader.Get(ctx, types.NamespacedName{Namespace: h.Namespace, Name: h.Name}, holder)
	if apierrors.IsNotFound(err) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("read the request %s/%s, which has announced a claim: %w", h.Namespace, h.Name, err)
	}
	return string(holder.HolderUID()) != h.UID, nil
}
