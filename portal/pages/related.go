package pages

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/web/views"
)

// related lists the objects that obj refers to, and those that refer to obj, as far as the caller may see them.
func (p *Pages) related(ctx context.Context, l looking, obj *unstructured.Unstructured) ([]views.Relation, error) {
	var all []views.Relation
	for _, ref := range l.ref.Kind.Refers {
		one, err := p.referred(ctx, l, ref, ref.Name(obj))
		if err != nil {
			return nil, err
		}
		all = append(all, one...)
	}
	for _, k := range p.cluster.Kinds() {
		for _, ref := range k.Refers {
			if ref.Plural != l.ref.Kind.Plural {
				continue
			}
			some, err := p.referring(ctx, l, k, ref)
			if err != nil {
				return nil, err
			}
			all = append(all, some...)
		}
	}
	return all, nil
}

func (p *Pages) referred(ctx context.Context, l looking, ref catalog.Reference, name string) ([]views.Relation, error) {
	kind, ok := p.cluster.Kinds().ByPlural(ref.Plural)
	if !ok || name == "" {
		return nil, nil
	}
	target, err := p.cluster.Get(ctx, l.id, cluster.Ref{Kind: kind, Namespace: l.space.namespace, Name: name})
	switch {
	case unseen(err):
		return nil, nil
	case apierrors.IsNotFound(err):
		return []views.Relation{{Role: ref.Label, Missing: true, Resource: views.Resource{Name: name}}}, nil
	case err != nil:
		return nil, err
	}
	return []views.Relation{{Role: ref.Label, Resource: resourceOf(l.space, kind, target, p.now())}}, nil
}

func (p *Pages) referring(ctx context.Context, l looking, k catalog.Kind, ref catalog.Reference) ([]views.Relation, error) {
	list, err := p.cluster.List(ctx, l.id, k, l.space.namespace)
	if unseen(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []views.Relation
	for _, o := range list {
		if ref.Name(o) == l.ref.Name {
			all = append(all, views.Relation{Role: ref.Label + " of", Resource: resourceOf(l.space, k, o, p.now())})
		}
	}
	return all, nil
}

// unseen tells that the caller may not see it: the rest of the page is there all the same.
func unseen(err error) bool {
	_, ok := errors.AsType[*cluster.ForbiddenError](err)
	return ok
}
