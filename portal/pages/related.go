package pages

import (
	"context"
	"errors"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/portal/listing"
	"github.com/portico-platform/portico/web/views"
)

// related lists the objects that obj refers to, and those that use it.
func (p *Pages) related(ctx context.Context, l looking, obj *unstructured.Unstructured, d *views.Detail) error {
	for _, r := range l.ref.Kind.Refers {
		for _, t := range r.Targets(obj) {
			one, err := p.referred(ctx, l, r.Role, t)
			if err != nil {
				return err
			}
			d.Related = append(d.Related, one...)
		}
	}
	users, err := p.users(ctx, l)
	d.Related, d.Users = append(d.Related, users.First...), users
	return err
}

func (p *Pages) referred(ctx context.Context, l looking, role string, t catalog.Target) ([]views.Relation, error) {
	kind, obj, err := p.targetOf(ctx, l, t)
	one := views.Relation{Role: role, Resource: views.Resource{Name: t.Name, Kind: kind.Title}}
	switch {
	case apierrors.IsNotFound(err):
		one.Missing = true
	case err != nil || kind.Name == "":
		return nil, err
	case obj == nil:
		one.Hidden = true
	default:
		one.Resource = resourceOf(l.space, kind, obj, p.now())
	}
	return []views.Relation{one}, nil
}

// maxUsersNamed is how many of those that use a provider are named: there may be thousands.
const maxUsersNamed = 10

// users are the objects that use the one of l, as far as the caller may see them.
func (p *Pages) users(ctx context.Context, l looking) (views.Users, error) {
	if l.ref.Kind.Name == providerKind {
		return p.providerUsers(ctx, l)
	}
	var all views.Users
	for _, k := range p.cluster.Kinds() {
		for _, r := range k.Refers {
			if !slices.Contains(r.Kinds, l.ref.Kind.Name) {
				continue
			}
			list, err := p.cluster.List(ctx, l.id, k, l.space.namespace)
			if unseen(err) {
				all.Hidden = append(all.Hidden, hiddenKinds(catalog.Catalog{k})...)
				break
			}
			if err != nil {
				return all, err
			}
			all.First = append(all.First, p.referring(l, k, r, list)...)
		}
	}
	all.Total = len(all.First)
	return all, nil
}

// referring are those of list, of kind k, that refer by r to the object of l.
func (p *Pages) referring(l looking, k catalog.Kind, r catalog.Reference, list []*unstructured.Unstructured) []views.Relation {
	var all []views.Relation
	for _, o := range list {
		if slices.Contains(r.Targets(o), catalog.Target{Kind: l.ref.Kind.Name, Name: l.ref.Name}) {
			all = append(all, views.Relation{Role: r.Back, Resource: resourceOf(l.space, k, o, p.now())})
		}
	}
	return all
}

// providerUsers are the objects of all namespaces that name the AWSProvider of l. It goes when none does any more.
func (p *Pages) providerUsers(ctx context.Context, l looking) (views.Users, error) {
	all := views.Users{Wait: true}
	var kinds catalog.Catalog
	for _, k := range p.cluster.Kinds() {
		if !k.Namespaced || !k.Has("providerRef") {
			continue
		}
		may, err := p.cluster.Can(ctx, l.id, "list", k, "")
		if err != nil {
			return all, err
		}
		if !may {
			all.Hidden = append(all.Hidden, hiddenKinds(catalog.Catalog{k})...)
		}
		kinds = append(kinds, k)
	}
	seen, err := listing.Read(ctx, p.cluster, l.id, kinds, "")
	if err != nil {
		return all, err
	}
	found := (&listing.Filter{Provider: l.ref.Name}).Of(seen.Items)
	all.Total = len(found)
	for _, one := range listing.First(found, maxUsersNamed, listing.ByNamespace.Then(false)) {
		all.First = append(all.First, views.Relation{Role: "Used by", Resource: p.resourceNamed(one.Kind.Name, one.Object)})
	}
	requested := slices.DeleteFunc(found, func(one listing.Item) bool { return one.Kind.KeptBy != "" })
	if n := len(requested); n > 0 {
		all.List = views.Choice{Value: views.ListPath(views.Query{Provider: l.ref.Name}), Label: views.Plural(n, "resource")}
	}
	return all, nil
}

// unseen tells that the caller may not see it: the rest of the page is there all the same.
func unseen(err error) bool {
	_, ok := errors.AsType[*cluster.ForbiddenError](err)
	return ok
}
