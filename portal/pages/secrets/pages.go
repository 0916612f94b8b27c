// Package secrets serves the pages on which people set values of Secrets, and are shown the password of a resource
// once. What they may do the operator decides, by their own token of a fresh sign-in; a value is in no answer but the
// one that shows a password.
package secrets

import (
	"context"

	"github.com/go-chi/chi/v5"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/portal/pages/page"
)

// Cluster is what these pages need of cluster.Cluster, whose contracts hold.
type Cluster interface {
	Agent
	Kinds() catalog.Catalog
	Get(ctx context.Context, id auth.Identity, ref cluster.Ref) (*unstructured.Unstructured, error)
	MayValues(ctx context.Context, id auth.Identity, verb, namespace, name string) (bool, error)
	Passwords(ctx context.Context, id auth.Identity, of cluster.Ref, obj *unstructured.Unstructured, secret string) (cluster.Passwords, error)
	RequireValues(ctx context.Context, id auth.Identity, verb, namespace, name string) error
}

// Agent has the operator do what a person may do with Secrets, by the token that the request has.
type Agent interface {
	ServesPeople(ctx context.Context) error
	Secrets(ctx context.Context, id auth.Identity, namespace string) (operatorapi.SecretList, error)
	SetSecret(ctx context.Context, id auth.Identity, namespace, name string, change operatorapi.SecretChange) (operatorapi.Secret, error)
	DeleteSecret(ctx context.Context, id auth.Identity, namespace, name, confirm string) (operatorapi.Secret, error)
	Reveal(ctx context.Context, id auth.Identity, ref cluster.Ref, master bool) (operatorapi.Password, error)
}

// Pages serves these pages.
type Pages struct {
	*page.Base
	cluster Cluster
}

// New returns the pages over c.
func New(base *page.Base, c Cluster) *Pages { return &Pages{Base: base, cluster: c} }

// Routes adds the pages to r, which has the team in its path.
func (p *Pages) Routes(r chi.Router) {
	r.Get("/secrets", p.Handler(p.list))
	r.Post("/secrets", p.Handler(p.set))
	r.Get("/secrets/{secret}/delete", p.Handler(p.deleteAsk))
	r.Post("/secrets/{secret}/delete", p.Handler(p.deletePost))
	r.Get("/{kind}/{name}/password", p.Handler(p.passwordAsk))
	r.Post("/{kind}/{name}/password", p.Handler(p.passwordShow))
}
