package resource

import (
	"context"
	"net/http"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/web/views"
)

// objectRequest is a request about one object.
type objectRequest struct {
	id    auth.Identity
	space page.Space
	ref   catalog.Ref
	frame views.Frame
	tab   string
}

func (p *Pages) readRequest(r *http.Request) (objectRequest, error) {
	id, err := page.Caller(r)
	if err != nil {
		return objectRequest{}, err
	}
	l := objectRequest{id: id, space: p.SpaceOf(r), tab: views.TabOverview}
	if t := r.URL.Query().Get("tab"); slices.Contains(views.Tabs(), t) {
		l.tab = t
	}
	l.ref, err = l.space.RefOf(r)
	if ours := l.tab == views.TabHistory || l.tab == views.TabActivity; ours && !l.ref.Kind.Own() {
		l.tab = views.TabOverview // Portico records nothing of objects of others
	}
	l.frame = views.Frame{Team: l.space.Team}
	return l, err
}

// targetOf returns an object that another one refers to; nil without an error if the caller cannot see it.
func (p *Pages) targetOf(ctx context.Context, l objectRequest, t catalog.Target) (
	catalog.Kind, *unstructured.Unstructured, error,
) {
	kind, ok := p.Cluster.Kinds.Now().ByName(t.Kind)
	if !ok {
		return kind, nil, nil
	}
	obj, err := p.Cluster.Objects.Get(ctx, l.id, catalog.Ref{Kind: kind, Namespace: l.space.Namespace, Name: t.Name})
	if page.Unseen(err) {
		return kind, nil, nil
	}
	return kind, obj, err
}
