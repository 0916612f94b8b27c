// Package request serves the forms in which users request and edit objects.
package request

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/guardrails"
	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/availability"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/portal/operator"
	"github.com/portico-platform/portico/portal/pages/page"
)

// Cluster is the part of cluster.Cluster that the forms need; see there for the contracts.
type Cluster interface {
	HostnameReader
	Writer
	Suggester
	Reader
	ProviderReader
	DeletedReader
}

// DeletedReader reads what remains in AWS of deleted objects, after checking access.
type DeletedReader interface {
	Deleted(ctx context.Context, id auth.Identity, namespace string) (operator.Deleted, error)
}

// Reader reads objects for a caller, after checking access.
type Reader interface {
	Kinds() catalog.Catalog
	Can(ctx context.Context, id auth.Identity, verb string, k catalog.Kind, namespace string) (bool, error)
	Get(ctx context.Context, id auth.Identity, ref cluster.Ref) (*unstructured.Unstructured, error)
	OwnUsers(ctx context.Context, database *unstructured.Unstructured) (can bool, why string, err error)
	List(ctx context.Context, id auth.Identity, k catalog.Kind, namespace string) ([]*unstructured.Unstructured, error)
	History(ctx context.Context, id auth.Identity, ref cluster.Ref, obj *unstructured.Unstructured) (
		[]cluster.Version, error)
}

// Suggester lists what inputs suggest, after checking access.
type Suggester interface {
	Bindings(ctx context.Context, id auth.Identity, namespace string) (map[string][]string, error)
	Offers(ctx context.Context, id auth.Identity, k catalog.Kind, q operatorapi.OfferQuery) (operator.Offers, error)
}

// ProviderReader reads which AWS accounts a namespace can use, their limits, and the team's defaults.
type ProviderReader interface {
	Guardrails(ctx context.Context, id auth.Identity, k catalog.Kind, namespace string) (guardrails.Limits, error)
	Defaults(ctx context.Context, id auth.Identity, k catalog.Kind, namespace string) (v1alpha1.TeamDefaults, error)
	Providers(ctx context.Context, id auth.Identity, k catalog.Kind, namespace string) ([]cluster.Provider, error)
}

// HostnameReader reads what decides the availability of hostnames, for a caller, after checking access.
type HostnameReader interface {
	CheckHostname(ctx context.Context, id auth.Identity, namespace string, q availability.Query) (
		availability.Answer, error)
	HostnameGrant(ctx context.Context, id auth.Identity, namespace string) (*v1alpha1.HostnameGrantSpec, error)
	Zones(ctx context.Context, id auth.Identity, namespace string) (map[string]string, error)
}

// Writer writes as a caller, and returns why a hostname is not available.
type Writer interface {
	FreeNamespace(ctx context.Context, id auth.Identity, team, namespace string) (bool, error)
	Create(ctx context.Context, id auth.Identity, k catalog.Kind, obj *unstructured.Unstructured, dryRun bool) (
		cluster.Result, error)
	Edit(ctx context.Context, id auth.Identity, k catalog.Kind, began cluster.Began, obj *unstructured.Unstructured,
		dryRun bool) (cluster.Result, error)
}

// Pages serves the forms.
type Pages struct {
	*page.Base
	cluster Cluster
	portal  string // scheme and host, for the commands that users copy
}

// New returns the forms, which read from c.
func New(base *page.Base, c Cluster, portal string) *Pages {
	return &Pages{Base: base, cluster: c, portal: portal}
}
