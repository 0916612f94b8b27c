package claim

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// pending is a claim that the cache may not show yet. It is replaced, never changed, except that its announcement makes
// a reserved claim an announced one.
type pending struct {
	spec     v1alpha1.DomainClaimSpec
	state    state
	inFlight bool // this process is about to create the claim, or to change its budget
	// Of a claim that is created:
	uid        types.UID
	generation int64
	note       int // its number among the notes of this process; 0 if it was read
}

// state is how far a pending claim is, as far as this process knows.
type state int

const (
	reserved  state = iota // to be announced in this epoch, or not at all
	announced              // in the ledger
	created
)

// awaits reports whether the holder has reserved or announced the claim, and it is not known to be created.
func (p *pending) awaits(holder v1alpha1.ClaimHolder) bool {
	return p != nil && p.state != created && p.spec.Holder.UID == holder.UID
}

// shownBy reports whether a claim in the cache includes what is pending. It never includes an announcement: it may be
// an earlier claim of the same name, which another process has released.
func (p *pending) shownBy(one *v1alpha1.DomainClaim) bool {
	return p.state == created && !p.inFlight && p.uid == one.UID && p.generation <= one.Generation
}

// newerThan reports whether p is newer than what was read of the claim from the API server: nil if there was nothing.
// since is the number of notes when reading began. What another process announces counts more than what this one has
// created: it may have been released since.
func (p *pending) newerThan(read *pending, since int) bool {
	switch {
	case p.note > since && (read == nil || read.spec.Holder.UID == p.spec.Holder.UID): // while it was read
		return true
	case p.state != created: // this process creates it
		return p.inFlight && (read == nil || read.state != created)
	case read == nil: // created since
		return true
	default: // its budget changes
		return p.inFlight && read.state == created && p.uid == read.uid
	}
}

// claimID distinguishes a claim from an earlier one of the same name.
type claimID struct {
	name string
	uid  types.UID
}

func idOf(c *v1alpha1.DomainClaim) claimID { return claimID{c.Name, c.UID} }

// known is a claim, or the announcement of one.
type known struct {
	name    string
	spec    v1alpha1.DomainClaimSpec
	pending *pending // nil if the cache shows it
}

// current returns all claims: those that are pending, by name, then the others in the cache, except released ones. The
// caller holds r.mu.
func (r *Registry) current(ctx context.Context) ([]known, error) {
	cached := &v1alpha1.DomainClaimList{}
	if err := r.Client.List(ctx, cached, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list the DomainClaims in the cache: %w", err)
	}
	r.prune(cached)
	all := make([]known, 0, len(cached.Items)+len(r.pending))
	for _, name := range slices.Sorted(maps.Keys(r.pending)) {
		all = append(all, known{name, r.pending[name].spec, r.pending[name]})
	}
	for i := range cached.Items {
		if one := &cached.Items[i]; r.pending[one.Name] == nil && !r.released[idOf(one)] {
			all = append(all, known{name: one.Name, spec: one.Spec})
		}
	}
	return all, nil
}

// prune drops what the cache shows.
func (r *Registry) prune(cached *v1alpha1.DomainClaimList) {
	if len(r.pending)+len(r.released) == 0 {
		return
	}
	shown := map[claimID]bool{}
	for i := range cached.Items {
		one := &cached.Items[i]
		shown[idOf(one)] = true
		if p := r.pending[one.Name]; p != nil && p.shownBy(one) {
			delete(r.pending, one.Name)
		}
	}
	maps.DeleteFunc(r.released, func(id claimID, _ bool) bool { return !shown[id] })
}

// note records a claim as the API server returned it.
func (r *Registry) note(c *v1alpha1.DomainClaim) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.notes++
	r.pending[c.Name] = &pending{spec: c.Spec, state: created, uid: c.UID, generation: c.Generation, note: r.notes}
}

// abandon records that this process is not creating a claim any more. It may be announced and may exist, if a response
// was lost.
func (r *Registry) abandon(name string, p *pending) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pending[name] == p {
		r.pending[name] = &pending{spec: p.spec, state: announced}
	}
}

// forget removes p, unless something else has replaced it.
func (r *Registry) forget(name string, p *pending) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pending[name] == p {
		delete(r.pending, name)
	}
}

func (r *Registry) isReleased(c *v1alpha1.DomainClaim) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.released[idOf(c)]
}
