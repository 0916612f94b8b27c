package claim

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/dnsname"
	"github.com/portico-platform/portico/api/hostnames"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/hostname/pool"
)

// errOutrun means that another writer was faster: the data read is out of date.
var errOutrun = errors.New("the hostnames have changed since they were read")

// outrun reports whether an attempt failed because another writer was faster.
func outrun(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || errors.Is(err, errOutrun)
}

// refusal is why a hostname cannot be claimed.
type refusal struct {
	error
	because []known // the claims that conflict
}

// admit returns the claims beside which a place is to be found, or an error if the hostname cannot be claimed.
func (r *Registry) admit(ctx context.Context, request Request, want v1alpha1.DomainClaimSpec) (
	[]v1alpha1.DomainClaimSpec, error,
) {
	r.mu.Lock()
	others, refused, err := r.check(ctx, request, want)
	r.mu.Unlock()
	if refused != nil {
		return nil, r.confirm(ctx, refused)
	}
	return others, err
}

// check returns all claims except the holder's announcements from earlier tries, or why want cannot be claimed beside
// them. The caller holds r.mu.
func (r *Registry) check(ctx context.Context, request Request, want v1alpha1.DomainClaimSpec) (
	others []v1alpha1.DomainClaimSpec, refused *refusal, err error,
) {
	all, err := r.current(ctx)
	if err != nil {
		return nil, nil, err
	}
	var inNamespace []known
	for _, one := range all {
		if one.pending.awaits(want.Holder) {
			continue
		}
		if err := refuseOverlap(want, one.spec, one.name); err != nil {
			return nil, &refusal{err, []known{one}}, nil
		}
		if one.spec.Holder.Namespace == want.Holder.Namespace {
			inNamespace = append(inNamespace, one)
		}
		others = append(others, one.spec)
	}
	if err := request.refuseQuota(len(inNamespace)); err != nil {
		return nil, &refusal{err, inNamespace}, nil
	}
	return others, nil, nil
}

// confirm returns the refusal, or errOutrun if a conflicting claim is gone. The cache shows deletions only of claims
// that it has shown.
func (r *Registry) confirm(ctx context.Context, refused *refusal) error {
	result := refused.error
	for _, one := range refused.because {
		gone, err := r.gone(ctx, one)
		if err != nil {
			return err
		}
		if gone {
			r.forget(one.name, one.pending)
			result = errOutrun
		}
	}
	return result
}

// gone reports whether a claim that the cache does not show no longer exists; of an announcement, whether its holder is
// gone, for which then no claim was created.
func (r *Registry) gone(ctx context.Context, one known) (bool, error) {
	switch p := one.pending; {
	case p == nil || p.inFlight:
		return false, nil
	case p.state != created:
		exists, err := holderExists(ctx, r.APIReader, p.spec.Holder)
		return !exists && err == nil, err
	default:
		found := &v1alpha1.DomainClaim{}
		exists, err := engine.Find(ctx, r.APIReader, types.NamespacedName{Name: one.name}, found)
		return err == nil && (!exists || found.UID != p.uid), err
	}
}

// reserve adds want to the pending claims; errOutrun if it cannot be claimed or placed any more, or if a claim may be
// unknown that was announced after the epoch began.
func (r *Registry) reserve(ctx context.Context, epoch int, name string, request Request,
	want v1alpha1.DomainClaimSpec,
) (*pending, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended(epoch) || r.removing[want.Gateway] {
		return nil, errOutrun
	}
	others, refused, err := r.check(ctx, request, want)
	if err != nil {
		return nil, err
	}
	if refused != nil || !pool.HasPlace(want.Gateway, want.Budget, others) {
		return nil, errOutrun
	}
	for earlier, p := range r.pending {
		if p.awaits(want.Holder) {
			delete(r.pending, earlier)
		}
	}
	p := &pending{spec: want, state: reserved, inFlight: true}
	r.pending[name] = p
	return p, nil
}

// refuseQuota returns a WaitError if the namespace, which has so many hostnames, can have no more.
func (r Request) refuseQuota(has int) error {
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
		return engine.Blocked(v1alpha1.ReasonTaken, "another team has %s; request another hostname and delete this "+
			"object, or ask a platform admin, who can see whose it is by the DomainClaim %s. Portico tries again at "+
			"once when it is given back", hostnames.Clash(a, b), claim)
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

// holderExists reports whether the request that has or announced a claim exists.
func holderExists(ctx context.Context, from client.Reader, h v1alpha1.ClaimHolder) (bool, error) {
	holder := &v1alpha1.GatewayHostnameRequest{}
	found, err := engine.Find(ctx, from, types.NamespacedName{Namespace: h.Namespace, Name: h.Name}, holder)
	if err != nil {
		return false, fmt.Errorf("look for the holder of a claim in the namespace %s: %w", h.Namespace, err)
	}
	return found && string(holder.HolderUID()) == h.UID, nil
}
