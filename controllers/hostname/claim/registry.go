// Package claim keeps each hostname for the first who asks for it, across all namespaces, whoever else asks at the same
// time: a second leader, or a hundred requests.
//
// The DomainClaims are the truth. What their names cannot rule out, a wildcard beside a name that it overlaps, one object
// does, the ledger: before a DomainClaim is made, its content is written into the ledger under the resourceVersion at
// which the ledger was read, and the DomainClaims were listed after that. Of two who ask at once only one gets past the
// ledger, and the other sees what the first wrote. See ADR 11.
package claim

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/portico-platform/portico/api/dnsname"
	"github.com/portico-platform/portico/api/hostnames"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// Ledger is the name of the ConfigMap, in the operator's namespace. It holds what is on its way to become a DomainClaim;
// losing it loses no claim.
const Ledger = "portico-hostname-ledger"

// Registry takes and gives back. Safe for concurrent use.
type Registry struct {
	Client    client.Client
	APIReader client.Reader // past the cache
	Namespace string        // of the ledger

	mu sync.Mutex // among the workers of this process, so that they do not race for the ledger
}

// Held returns the claim that the holder has already, as the cache shows it; nil if it does not.
func (r *Registry) Held(ctx context.Context, name dnsname.Name, visibility v1alpha1.Visibility, holder v1alpha1.ClaimHolder) (*v1alpha1.DomainClaim, error) {
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

// Request is who asks for what.
type Request struct {
	Name       dnsname.Name
	Visibility v1alpha1.Visibility
	Holder     v1alpha1.ClaimHolder
	// Budget is what is kept for the hostname of the load balancer that it shares.
	Budget v1alpha1.LoadBalancerBudget
	// Most is how many hostnames the holder's namespace can have.
	Most int
	// Place finds the PoolGateway that has room beside these claims.
	Place func(ctx context.Context, claims []v1alpha1.DomainClaimSpec) (string, error)
}

// NameOf returns the name of the DomainClaim of a hostname. It does not depend on the hosted zone: two zones cannot give the
// same name twice.
func NameOf(name dnsname.Name, visibility v1alpha1.Visibility) string {
	sum := sha256.Sum256([]byte(string(visibility) + " " + name.String()))
	return "dc-" + hex.EncodeToString(sum[:16])
}

// maxAttempts of the race for the ledger: each loses to somebody who has got on.
const maxAttempts = 20

// Take returns the claim, new or existing, or why there is none: a WaitError if somebody else has it.
func (r *Registry) Take(ctx context.Context, request Request) (*v1alpha1.DomainClaim, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for range maxAttempts {
		made, err := r.tryTake(ctx, request)
		if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
			continue
		}
		return made, err
	}
	return nil, engine.Wait(v1alpha1.ReasonClaiming, 0, "many ask for hostnames at this moment")
}

func (r *Registry) tryTake(ctx context.Context, request Request) (*v1alpha1.DomainClaim, error) {
	ledger, err := r.ledger(ctx)
	if err != nil {
		return nil, err
	}
	claims := &v1alpha1.DomainClaimList{}
	if err := r.APIReader.List(ctx, claims); err != nil { // after the ledger, never before it
		return nil, fmt.Errorf("list the DomainClaims: %w", err)
	}
	name := NameOf(request.Name, request.Visibility)
	for i := range claims.Items {
		if one := &claims.Items[i]; one.Name == name && one.Spec.Holder.UID == request.Holder.UID {
			return one, nil
		}
	}
	want := v1alpha1.DomainClaimSpec{Hostname: request.Name.String(), Visibility: request.Visibility, Holder: request.Holder, Budget: request.Budget}
	all, err := r.activeClaims(ctx, ledger, claims.Items, want)
	if err != nil {
		return nil, err
	}
	if err := request.checkQuota(all); err != nil {
		return nil, err
	}
	if want.Gateway, err = request.Place(ctx, all); err != nil {
		return nil, err
	}
	if err := r.announce(ctx, ledger, name, want); err != nil {
		return nil, err
	}
	made := &v1alpha1.DomainClaim{ObjectMeta: metav1.ObjectMeta{Name: name, Finalizers: []string{engine.Finalizer}}, Spec: want}
	if err := r.Client.Create(ctx, made, client.FieldOwner("portico")); err != nil {
		return nil, fmt.Errorf("create the DomainClaim %s: %w", name, err)
	}
	return made, nil
}

// checkQuota returns a WaitError if the namespace has all the hostnames that it can have.
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
	return engine.Blocked(v1alpha1.ReasonTooManyHostnames, "namespace %s has %d hostnames, and its HostnameGrant allows %d: delete one that nothing needs, or ask a platform admin to raise maxHostnames", r.Holder.Namespace, has, r.Most)
}

// activeClaims returns the claims that exist and those that the ledger announces, or an error if one of them overlaps want. It
// removes from the ledger's data what is not needed there any more.
func (r *Registry) activeClaims(ctx context.Context, ledger *corev1.ConfigMap, claims []v1alpha1.DomainClaim, want v1alpha1.DomainClaimSpec) ([]v1alpha1.DomainClaimSpec, error) {
	var all []v1alpha1.DomainClaimSpec
	for i := range claims {
		delete(ledger.Data, claims[i].Name) // it has become a claim
		all = append(all, claims[i].Spec)
		if err := refuseOverlap(want, claims[i].Spec, claims[i].Name); err != nil {
			return nil, err
		}
	}
	for _, key := range slices.Sorted(maps.Keys(ledger.Data)) {
		one, ok := announced(ledger.Data[key])
		if !ok || one.Holder.UID == want.Holder.UID {
			delete(ledger.Data, key) // our own of an earlier try, or nothing that we wrote
			continue
		}
		clash := refuseOverlap(want, one, key)
		if clash != nil {
			gone, err := r.holderGone(ctx, one.Holder)
			if err != nil {
				return nil, err
			}
			if gone { // before it had a claim, so that nothing was made for it
				delete(ledger.Data, key)
				continue
			}
			return nil, clash
		}
		all = append(all, one)
	}
	return all, nil
}

// refuseOverlap returns why want cannot be had beside one. Who has it is told within the namespace only.
func refuseOverlap(want, one v1alpha1.DomainClaimSpec, claim string) error {
	if want.Visibility != one.Visibility {
		return nil
	}
	a, b, overlap := overlapping(want.Hostname, one.Hostname)
	if !overlap {
		return nil
	}
	if want.Holder.Namespace != one.Holder.Namespace {
		return engine.Blocked(v1alpha1.ReasonTaken, "another team has %s; choose another hostname, or ask a platform admin, who can see whose it is by the DomainClaim %s. "+
			"Portico tries again at once when it is given back", hostnames.Clash(a, b), claim)
	}
	if a == b {
		return engine.Blocked(v1alpha1.ReasonTaken, "the request %s of this namespace has %s already; use that one, or delete it first", one.Holder.Name, a)
	}
	return nil // a team may have a wildcard and names below it
}

// overlapping reports whether two hostnames overlap. One that is no hostname overlaps itself alone.
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

// Release gives back everything that the holder has. It may be called again and again.
func (r *Registry) Release(ctx context.Context, holder v1alpha1.ClaimHolder) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.withdraw(ctx, holder); err != nil {
		return err
	}
	claims := &v1alpha1.DomainClaimList{}
	if err := r.APIReader.List(ctx, claims); err != nil {
		return fmt.Errorf("list the DomainClaims: %w", err)
	}
	for i := range claims.Items {
		if one := &claims.Items[i]; one.Spec.Holder.UID == holder.UID {
			if err := r.deleteClaim(ctx, one); err != nil {
				return fmt.Errorf("give back the DomainClaim %s: %w", one.Name, err)
			}
		}
	}
	return nil
}

func (r *Registry) deleteClaim(ctx context.Context, one *v1alpha1.DomainClaim) error {
	if one.DeletionTimestamp.IsZero() {
		if err := r.Client.Delete(ctx, one, client.Preconditions{UID: &one.UID}); err != nil {
			return client.IgnoreNotFound(err)
		}
	}
	if !controllerutil.ContainsFinalizer(one, engine.Finalizer) {
		return nil
	}
	patch := client.MergeFrom(one.DeepCopy())
	controllerutil.RemoveFinalizer(one, engine.Finalizer)
	return client.IgnoreNotFound(r.Client.Patch(ctx, one, patch))
}
