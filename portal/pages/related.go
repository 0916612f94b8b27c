package pages

import (
	"context"
	"errors"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/web/views"
)

// related lists the objects that obj refers to, and those that refer to obj, as far as the caller may see them.
func (p *Pages) related(ctx context.Context, l looking, obj *unstructured.Unstructured) ([]views.Relation, error) {
	var all []views.Relation
	for _, r := range l.ref.Kind.Refers {
		for _, t := range r.Targets(obj) {
			one, err := p.referred(ctx, l, r.Role, t)
			if err != nil {
				return nil, err
			}
			all = append(all, one...)
		}
	}
	users, err := p.users(ctx, l)
	return append(all, users...), err
}

func (p *Pages) referred(ctx context.Context, l looking, role string, t catalog.Target) ([]views.Relation, error) {
	kind, ok := p.cluster.Kinds().ByName(t.Kind)
	if !ok {
		return nil, nil
	}
	obj, err := p.cluster.Get(ctx, l.id, cluster.Ref{Kind: kind, Namespace: l.space.namespace, Name: t.Name})
	switch {
	case unseen(err):
		return nil, nil
	case apierrors.IsNotFound(err):
		return []views.Relation{{Role: role, Missing: true, Resource: views.Resource{Name: t.Name, Kind: kind.Title}}}, nil
	case err != nil:
		return nil, err
	}
	return []views.Relation{{Role: role, Resource: resourceOf(l.space, kind, obj, p.now())}}, nil
}

// users are the objects that refer to the one of l.
func (p *Pages) users(ctx context.Context, l looking) ([]views.Relation, error) {
	var all []views.Relation
	for _, k := range p.cluster.Kinds() {
		for _, r := range k.Refers {
			if !slices.Contains(r.Kinds, l.ref.Kind.Name) {
				continue
			}
			some, err := p.referring(ctx, l, k, r)
			if err != nil {
				return nil, err
			}
			all = append(all, some...)
		}
	}
	return all, nil
}

// referring are the objects of kind k that refer by r to the one of l.
func (p *Pages) referring(ctx context.Context, l looking, k catalog.Kind, r catalog.Reference) ([]views.Relation, error) {
	list, err := p.cluster.List(ctx, l.id, k, l.space.namespace)
	if unseen(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []views.Relation
	for _, o := range list {
		if slices.Contains(r.Targets(o), catalog.Target{Kind: l.ref.Kind.Name, Name: l.ref.Name}) {
			all = append(all, views.Relation{Role: r.Back, Resource: resourceOf(l.space, k, o, p.now())})
		}
	}
	return all, nil
}

// unseen tells that the caller may not see it: the rest of the page is there all the same.
func unseen(err error) bool {
	_, ok := errors.AsType[*cluster.ForbiddenError](err)
	return ok
}
