// Package secrets serves the pages on which people set values of Secrets, and see the password of a resource once. The
// operator decides what they can do, by their own token of a recent sign-in. No response contains a value, except for
// the page that shows a password.
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

// Cluster is the part of cluster.Cluster that these pages need; see there for the contracts.
type Cluster interface {
	Agent
	Kinds() catalog.Catalog
	Get(ctx context.Context, id auth.Identity, ref cluster.Ref) (*unstructured.Unstructured, error)
	MayValues(ctx context.Context, id auth.Identity, verb, namespace, name string) (bool, error)
	Passwords(ctx context.Context, id auth.Identity, of cluster.Ref, obj *unstructured.Unstructured, secret string) (
		cluster.Passwords, error)
	RequireValues(ctx context.Context, id auth.Identity, verb, namespace, name string) error
}

// Agent sends a person's requests about Secrets to the operator, with the token of the request.
type Agent interface {
	ServesPeople(ctx context.Context) error
	Secrets(ctx context.Context, id auth.Identity, namespace string) (operatorapi.SecretList, error)
	SetSecret(ctx context.Context, id auth.Identity, namespace, name string, change operatorapi.SecretChange) (
		operatorapi.Secret, error)
	DeleteSecret(ctx context.Context, id auth.Identity, namespace, name, confirm string) (operatorapi.Secret, error)
	Reveal(ctx context.Context, id auth.Identity, ref cluster.Ref, master bool) (operatorapi.Password, error)
}

// Pages serves these pages.
type Pages struct {
	*page.Base
	cluster Cluster
}

// New returns the pages, which read from c.
func New(base *page.Base, c Cluster) *Pages { return &Pages{Base: base, cluster: c} }

// Routes adds the pages to r, whose path contains the team.
func (p *Pages) Routes(r chi.Router) {
	r.Get("/secrets", p.Handler(p.list))
	r.Post("/secrets", p.Handler(p.set))
	r.Get("/secrets/{secret}/delete", p.Handler(p.deleteAsk))
	r.Post("/secrets/{secret}/delete", p.Handler(p.deletePost))
	r.Get("/{kind}/{name}/password", p.Handler(p.passwordAsk))
	r.Post("/{kind}/{name}/password", p.Handler(p.passwordShow))
}
