package claim

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/dnsname"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/hostname/pool"
)

// book is what the Registry knows in addition to the cache, which lags behind.
type book struct {
	ledger *corev1.ConfigMap // as last read or written; nil if somebody else may have written it since
	epoch  int               // how often the ledger was lost to another writer
	// entries are the announcements of the ledger, and claims that the cache may not show or may show outdated; by
	// name.
	entries  map[string]*entry
	released map[claimID]bool // claims that are released, and that the cache may still show

	removals int            // how often the deletion of a PoolGateway began or ended
	removing map[string]int // deletions of PoolGateways in progress
	next     *ledgerWrite
	writing  bool
}

// entry is a claim that the cache may not show. It is replaced, never changed.
type entry struct {
	spec       v1alpha1.DomainClaimSpec
	announced  bool      // and not created yet
	underWay   bool      // one of our workers is about to create it
	uid        types.UID // once it is created
	generation int64
	growing    bool // being written
}

// claimID distinguishes a claim from an earlier one of the same name.
type claimID struct {
	name string
	uid  types.UID
}

func idOf(c *v1alpha1.DomainClaim) claimID { return claimID{c.Name, c.UID} }

// Index finds DomainClaims in the cache by overlap; see IndexValues.
const Index = "overlap"

// IndexValues returns the values of a DomainClaim in Index: its own name, and each domain above it.
func IndexValues(obj client.Object) []string {
	spec := &obj.(*v1alpha1.DomainClaim).Spec
	n, err := dnsname.Parse(spec.Hostname)
	if err != nil { // overlaps only itself
		return []string{nameTerm(spec.Visibility, spec.Hostname)}
	}
	all := []string{nameTerm(spec.Visibility, n.String())}
	for _, domain := range domainsAbove(n) {
		all = append(all, belowTerm(spec.Visibility, domain))
	}
	return all
}

// overlapTerms returns the Index values of every name that overlaps a hostname: itself, the wildcards above it, and for
// a wildcard the names below it.
func overlapTerms(visibility v1alpha1.Visibility, hostname string) []string {
	n, err := dnsname.Parse(hostname)
	if err != nil {
		return []string{nameTerm(visibility, hostname)}
	}
	all := []string{nameTerm(visibility, n.String())}
	for _, domain := range domainsAbove(n) {
		all = append(all, nameTerm(visibility, "*."+domain))
	}
	if n.Wildcard() {
		all = append(all, belowTerm(visibility, n.Base()))
	}
	return all
}

func nameTerm(v v1alpha1.Visibility, name string) string    { return string(v) + " is " + name }
func belowTerm(v v1alpha1.Visibility, domain string) string { return string(v) + " below " + domain }

// domainsAbove returns the parent domains of a name, or of a wildcard's base.
func domainsAbove(n dnsname.Name) (all []string) {
	for _, rest, found := strings.Cut(n.Base(), "."); found; _, rest, found = strings.Cut(rest, ".") {
		all = append(all, rest)
	}
	return all
}

// view is the state against which a wanted claim is checked.
type view struct {
	claims   []v1alpha1.DomainClaimSpec // except those that the same holder has announced
	removals int
	clash    error  // why the name cannot be claimed; nil if it can
	name     string // of the claim that overlaps
	with     *entry // nil if it is in the cache
}

// look returns the view for want. The caller holds r.mu; look reads only the book and the cache.
func (r *Registry) look(ctx context.Context, want v1alpha1.DomainClaimSpec) (v view, err error) {
	// An announcement from an earlier try.
	own := func(e *entry) bool { return e != nil && e.announced && e.spec.Holder.UID == want.Holder.UID }
	if v.claims, err = r.claims(ctx, func(_ string, e *entry) bool { return own(e) }); err != nil {
		return v, err
	}
	v.removals = r.book.removals
	found, err := r.indexed(ctx, want)
	if err != nil {
		return v, err
	}
	v.name, v.with, v.clash = r.firstClash(want, own, found)
	return v, nil
}

// indexed returns the cached claims that overlap want, except those that have an entry in the book or are released. The
// result points into the cache: do not modify it.
func (r *Registry) indexed(ctx context.Context, want v1alpha1.DomainClaimSpec) (
	all []*v1alpha1.DomainClaim, err error,
) {
	for _, term := range overlapTerms(want.Visibility, want.Hostname) {
		found := &v1alpha1.DomainClaimList{}
		if err := r.Client.List(ctx, found, client.MatchingFields{Index: term},
			client.UnsafeDisableDeepCopy); err != nil {
			return nil, fmt.Errorf("find the DomainClaims that %s overlaps: %w", want.Hostname, err)
		}
		for i := range found.Items {
			if one := &found.Items[i]; r.book.entries[one.Name] == nil && !r.book.released[idOf(one)] {
				all = append(all, one)
			}
		}
	}
	return all, nil
}

// firstClash returns the first claim that overlaps want, by name, and why want conflicts with it. It checks the book,
// then found.
func (r *Registry) firstClash(want v1alpha1.DomainClaimSpec, own func(*entry) bool, found []*v1alpha1.DomainClaim) (
	string, *entry, error,
) {
	for _, name := range slices.Sorted(maps.Keys(r.book.entries)) {
		e := r.book.entries[name]
		if own(e) {
			continue
		}
		if clash := refuseOverlap(want, e.spec, name); clash != nil {
			return name, e, clash
		}
	}
	for _, one := range found {
		if clash := refuseOverlap(want, one.Spec, one.Name); clash != nil {
			return one.Name, nil, clash
		}
	}
	return "", nil, nil
}

// claims returns all claims except those for which without returns true; e is the claim's entry in the book, nil for
// one that only the cache has. The caller holds r.mu.
func (r *Registry) claims(ctx context.Context, without func(name string, e *entry) bool) (
	[]v1alpha1.DomainClaimSpec, error,
) {
	list := &v1alpha1.DomainClaimList{}
	if err := r.Client.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list the DomainClaims in the cache: %w", err)
	}
	r.prune(list)
	all := make([]v1alpha1.DomainClaimSpec, 0, len(list.Items)+len(r.book.entries))
	for i := range list.Items {
		if one := &list.Items[i]; r.book.entries[one.Name] == nil && !r.book.released[idOf(one)] &&
			!without(one.Name, nil) {
			all = append(all, one.Spec)
		}
	}
	for name, e := range r.book.entries {
		if !without(name, e) {
			all = append(all, e.spec)
		}
	}
	return all, nil
}

// prune drops from the book what the cache shows too.
func (r *Registry) prune(cached *v1alpha1.DomainClaimList) {
	if len(r.book.entries)+len(r.book.released) == 0 {
		return
	}
	shown := map[claimID]bool{}
	for i := range cached.Items {
		one := &cached.Items[i]
		shown[idOf(one)] = true
		e := r.book.entries[one.Name]
		switch {
		case e == nil || e.growing || r.book.released[idOf(one)]:
		case e.announced && e.spec.Holder.UID == one.Spec.Holder.UID, e.uid == one.UID &&
			one.Generation >= e.generation:
			delete(r.book.entries, one.Name)
		}
	}
	maps.DeleteFunc(r.book.released, func(id claimID, _ bool) bool { return !shown[id] })
}

// reserve writes want into the book; errOutrun if an overlapping claim or another relevant change came after old was
// read.
func (r *Registry) reserve(ctx context.Context, epoch int, old view, name string, request Request,
	want v1alpha1.DomainClaimSpec,
) (*entry, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.book.ledger == nil || r.book.epoch != epoch || r.book.removals != old.removals ||
		r.book.removing[want.Gateway] > 0 {
		return nil, errOutrun
	}
	now, err := r.look(ctx, want)
	if err != nil {
		return nil, err
	}
	changed := !slices.Equal(placed(want.Gateway, now.claims), placed(want.Gateway, old.claims))
	if now.clash != nil || (changed && !pool.HasPlace(want.Gateway, want.Budget, now.claims)) {
		return nil, errOutrun
	}
	if err := request.checkQuota(now.claims); err != nil {
		return nil, err
	}
	maps.DeleteFunc(r.book.entries, func(_ string, e *entry) bool {
		return e.announced && e.spec.Holder.UID == want.Holder.UID
	})
	reserved := &entry{spec: want, announced: true, underWay: true}
	r.book.entries[name] = reserved
	return reserved, nil
}

// abandon records that no worker is creating the announced claim any more. It may exist, if the response was lost.
func (r *Registry) abandon(name string, reserved *entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.book.entries[name] == reserved {
		r.book.entries[name] = &entry{spec: reserved.spec, announced: true}
	}
}

// placed returns the claims placed on the Gateway.
func placed(gateway string, claims []v1alpha1.DomainClaimSpec) (on []v1alpha1.DomainClaimSpec) {
	for i := range claims {
		if claims[i].Gateway == gateway {
			on = append(on, claims[i])
		}
	}
	return on
}

// note writes a claim into the book, as the API server returned it.
func (r *Registry) note(c *v1alpha1.DomainClaim) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.put(c.Name, &entry{spec: c.Spec, uid: c.UID, generation: c.Generation})
}

func (r *Registry) put(name string, e *entry) {
	if r.book.entries == nil {
		r.book.entries = map[string]*entry{}
	}
	r.book.entries[name] = e
}

// forget removes e from the book, unless another entry has replaced it.
func (r *Registry) forget(name string, e *entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.book.entries[name] == e {
		delete(r.book.entries, name)
	}
}

func (r *Registry) isReleased(c *v1alpha1.DomainClaim) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.book.released[idOf(c)]
}

// errOutrun means that another writer was faster: the data read is out of date.
var errOutrun = errors.New("the hostnames have changed since they were read")

// outrun reports whether an attempt failed because another writer was faster.
func outrun(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || errors.Is(err, errOutrun)
}
