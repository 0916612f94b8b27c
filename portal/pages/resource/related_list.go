package resource

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/listing"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/web/views"
)

// related returns the objects that obj refers to, and those that use it.
func (p *Pages) related(ctx context.Context, l objectRequest, obj *unstructured.Unstructured, d *views.Detail) error {
	for _, r := range slices.Concat(l.ref.Kind.Refers, l.ref.Kind.LetsIn) {
		for _, t := range r.Targets(obj) {
			one, err := p.referred(ctx, l, r.Role, t, obj)
			if err != nil {
				return err
			}
			d.Related = append(d.Related, one...)
		}
	}
	users, err := p.users(ctx, l)
	if err != nil {
		return err
	}
	lets, err := p.naming(ctx, l, func(k catalog.Kind) []catalog.Reference { return k.LetsIn })
	d.Related, d.Users = slices.Concat(d.Related, users.First, lets.First), users
	return err
}

func (p *Pages) referred(ctx context.Context, l objectRequest, role string, t catalog.Target,
	user *unstructured.Unstructured,
) ([]views.Relation, error) {
	kind, obj, err := p.targetOf(ctx, l, t)
	one := views.Relation{
		Role: role, Resource: views.Resource{Name: t.Name, Kind: kind.Title},
		Purpose: purposeOf(l.ref.Kind, user, t),
	}
	switch {
	case apierrors.IsNotFound(err):
		one.Missing = true
	case err != nil || kind.Name == "":
		return nil, err
	case obj == nil:
		one.Hidden = true
	default:
		one.Resource = page.ResourceOf(l.space, kind, obj, p.Now())
	}
	return []views.Relation{one}, nil
}

// maxUsersNamed bounds the listed users of a provider: there may be thousands.
const maxUsersNamed = 10

// users returns the objects that use the object of l and that the caller can see.
func (p *Pages) users(ctx context.Context, l objectRequest) (views.Users, error) {
	if l.ref.Kind.ID() == page.ProviderKind {
		return p.providerUsers(ctx, l)
	}
	all, err := p.naming(ctx, l, func(k catalog.Kind) []catalog.Reference { return k.Refers })
	all.Total = len(all.First)
	return all, err
}

// naming returns the objects that refer to the object of l by references of the kind and that the caller can see.
func (p *Pages) naming(ctx context.Context, l objectRequest, references func(catalog.Kind) []catalog.Reference) (
	all views.Users, err error,
) {
	for _, k := range p.Cluster.Kinds.Now() {
		for _, r := range references(k) {
			if !slices.Contains(r.Kinds, l.ref.Kind.ID()) {
				continue
			}
			list, err := p.Cluster.Objects.List(ctx, l.id, k, l.space.Namespace)
			if page.Unseen(err) {
				all.Hidden = append(all.Hidden, page.HiddenKinds(catalog.Catalog{k})...)
				break
			}
			if err != nil {
				return all, err
			}
			all.First = append(all.First, p.referring(l, k, r, list)...)
		}
	}
	return all, nil
}

// referring returns the objects in list, of kind k, that refer by r to the object of l.
func (p *Pages) referring(l objectRequest, k catalog.Kind, r catalog.Reference,
	list []*unstructured.Unstructured,
) []views.Relation {
	var all []views.Relation
	for _, o := range list {
		if v1alpha1.MadeByWebApp(o) {
			continue // the application itself is in the list
		}
		if t := (catalog.Target{Kind: l.ref.Kind.ID(), Name: l.ref.Name}); slices.Contains(r.Targets(o), t) {
			all = append(all, views.Relation{
				Role: r.Back, Resource: page.ResourceOf(l.space, k, o, p.Now()),
				Purpose: purposeOf(k, o, t),
			})
		}
	}
	return all
}

// providerUsers returns the objects of all namespaces that refer to the AWSProvider of l. It is deleted when none is
// left.
func (p *Pages) providerUsers(ctx context.Context, l objectRequest) (views.Users, error) {
	all := views.Users{Wait: true}
	var kinds catalog.Catalog
	for _, k := range p.Cluster.Kinds.Now() {
		if !k.Namespaced || !k.Has("providerRef") {
			continue
		}
		may, err := p.Cluster.Rights.Can(ctx, l.id, "list", k, "")
		if err != nil {
			return all, err
		}
		if !may {
			all.Hidden = append(all.Hidden, page.HiddenKinds(catalog.Catalog{k})...)
		}
		kinds = append(kinds, k)
	}
	seen, err := listing.Read(ctx, p.Cluster, l.id, kinds, "")
	if err != nil {
		return all, err
	}
	found := (&listing.Filter{Provider: l.ref.Name}).Of(seen.Items)
	all.Total = len(found)
	for _, one := range listing.First(found, maxUsersNamed, listing.ByNamespace.Then(false)) {
		all.First = append(all.First,
			views.Relation{Role: "Used by", Resource: p.ResourceNamed(one.Kind.Name, one.Object)})
	}
	requested := slices.DeleteFunc(found, func(one listing.Item) bool { return one.Kind.KeptBy != "" })
	if n := len(requested); n > 0 {
		all.List = views.Choice{
			Value: views.ListPath(views.Query{Provider: l.ref.Name}),
			Label: views.Plural(n, "resource"),
		}
	}
	return all, nil
}
