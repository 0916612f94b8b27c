package request

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/form"
	"github.com/portico-platform/portico/portal/holdup"
	"github.com/portico-platform/portico/portal/pages/page"
)

// missing returns why a new object could not become Ready at present.
func (p *Pages) missing(ctx context.Context, f formRequest, obj *unstructured.Unstructured) ([]string, error) {
	finder := holdup.Finder{
		Cluster: p.Cluster, ID: f.id, Kind: f.kind, Namespace: f.space.Namespace,
		Team: f.space.Team.Name,
	}
	return finder.Find(ctx, obj)
}

// withUsers returns the draft in which a new binding to a database has its own user, if the database supports it.
func (p *Pages) withUsers(ctx context.Context, f formRequest, d form.Draft) (form.Draft, error) {
	var inputs []string
	for input, database := range d.WithoutUser() {
		can, err := p.ownUsers(ctx, f, database)
		if err != nil {
			return d, err
		}
		if can {
			inputs = append(inputs, input)
		}
	}
	return d.WithOwnUsers(inputs), nil
}

// ownUsers reports whether an application can have its own user in a database; false if the caller cannot see it.
func (p *Pages) ownUsers(ctx context.Context, f formRequest, database string) (bool, error) {
	kind, ok := p.Cluster.Kinds.Now().ByName(v1alpha1.KindRDSInstance)
	if !ok {
		return false, nil
	}
	obj, err := p.Cluster.Objects.Get(ctx, f.id, catalog.Ref{Kind: kind, Namespace: f.space.Namespace, Name: database})
	if apierrors.IsNotFound(err) || page.Unseen(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	can, _, err := p.Cluster.Operator.OwnUsers(ctx, obj)
	return can, err
}
