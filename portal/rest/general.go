package rest

import (
	"context"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/portico-platform/portico/portal/catalog"
)

type resourcesInput struct {
	ListQuery
	Namespace string `query:"namespace" doc:"Only of this namespace."`
	Kind      string `query:"kind" doc:"Only of this kind, by its plural name, e.g. s3buckets."`
}

type catalogInput struct {
	Namespace string `query:"namespace" doc:"Also say what the caller can do with each kind in this namespace, and what requests there begin with."`
}

type meInput struct {
	Namespace string `query:"namespace" doc:"Also say what the caller can do in this namespace."`
}

type catalogOutput struct {
	Body struct {
		Items     []catalogItem     `json:"items"`
		Defaults  *catalogDefaults  `json:"defaults,omitempty" doc:"What forms and the command line begin with in the namespace asked for; for those who can create something there."`
		Providers []catalogProvider `json:"providers,omitempty" doc:"AWS accounts that requests in the namespace asked for can name in providerRef; for those who can create something there."`
	}
}

type catalogDefaults struct {
	Provider       string `json:"provider,omitempty" doc:"AWSProvider of what names none: the one that the team prefers, which the cluster sets for everybody, or the only one that the namespace can use, which clients fill in."`
	DeletionPolicy string `json:"deletionPolicy,omitempty" doc:"What happens to AWS resources when their objects are deleted. A body that leaves it out gets the default of its kind."`
}

// catalogProvider is an AWS account that a namespace can use.
type catalogProvider struct {
	Name      string `json:"name"`
	Region    string `json:"region,omitempty"`
	AccountID string `json:"accountID,omitempty"`
	Ready     bool   `json:"ready"`
}

type catalogItem struct {
	Kind       string   `json:"kind"`
	Resource   string   `json:"resource" doc:"Plural name, as in URLs."`
	Title      string   `json:"title"`
	Help       string   `json:"help"`
	ShortNames []string `json:"shortNames,omitempty" doc:"As kubectl takes them."`
	CanCreate  *bool    `json:"canCreate,omitempty" doc:"Whether the caller can create one in the namespace asked for."`
	May        []string `json:"may,omitempty" doc:"What the caller can do with the kind in the namespace asked for: get, list, create, update, patch, delete."`
}

type namespacesOutput struct {
	Body struct {
		Items []namespaceItem `json:"items"`
	}
}

type namespaceItem struct {
	Name string `json:"name"`
}

type meOutput struct {
	Body struct {
		Username   string              `json:"username" doc:"As Kubernetes RBAC knows the caller."`
		Groups     []string            `json:"groups"`
		Name       string              `json:"name,omitempty"`
		Email      string              `json:"email,omitempty"`
		Namespaces []string            `json:"namespaces" doc:"Where the caller can list something."`
		May        map[string][]string `json:"may,omitempty" doc:"In the namespace asked for: what the caller can do, by the plural name of the kind: get, list, create, update, patch, delete."`
	}
}

func (a *API) resources(ctx context.Context, in *resourcesInput) (*listed, error) {
	if in.Namespace != "" && !isNamespace(in.Namespace) {
		return nil, noNamespace(ctx, in.Namespace)
	}
	kinds := a.cluster.Kinds.Now().Requestable()
	if in.Kind != "" {
		k, ok := kinds.ByPlural(in.Kind)
		if !ok {
			return nil, problem(ctx, http.StatusUnprocessableEntity, "there is no such kind",
				&huma.ErrorDetail{Location: "query.kind", Message: "see " + Prefix + "/catalog", Value: in.Kind})
		}
		kinds = catalog.Catalog{k}
	}
	return a.lists(ctx, view{kinds: kinds, namespace: in.Namespace}, in.ListQuery)
}

func (a *API) catalog(ctx context.Context, in *catalogInput) (*catalogOutput, error) {
	if in.Namespace != "" && !isNamespace(in.Namespace) {
		return nil, noNamespace(ctx, in.Namespace)
	}
	out := &catalogOutput{}
	kinds := a.cluster.Kinds.Now().Requestable()
	may := map[string][]string{}
	if in.Namespace != "" {
		var err error
		if may, err = a.cluster.Rights.In(ctx, caller(ctx), kinds, in.Namespace); err != nil {
			return nil, a.fail(ctx, err)
		}
	}
	for _, k := range kinds {
		if k.Hidden {
			continue
		}
		item := catalogItem{
			Kind: k.Name, Resource: k.Plural, Title: k.Title, Help: k.Help, ShortNames: k.ShortNames,
			May: may[k.Plural],
		}
		if in.Namespace != "" {
			create := slices.Contains(item.May, "create")
			item.CanCreate = &create
		}
		out.Body.Items = append(out.Body.Items, item)
	}
	return out, a.addOffers(ctx, out, kinds, may, in.Namespace)
}

// addOffers adds the AWS accounts that requests in the namespace can use, and their defaults, for a caller who can
// create one of the kinds there.
func (a *API) addOffers(ctx context.Context, out *catalogOutput, kinds catalog.Catalog, may map[string][]string,
	namespace string,
) error {
	i := slices.IndexFunc(kinds, func(k catalog.Kind) bool { return slices.Contains(may[k.Plural], "create") })
	if i < 0 {
		return nil
	}
	open, err := a.cluster.Teams.Providers(ctx, caller(ctx), kinds[i], namespace)
	if err != nil {
		return a.fail(ctx, err)
	}
	of, err := a.cluster.Teams.Defaults(ctx, caller(ctx), kinds[i], namespace)
	if err != nil {
		return a.fail(ctx, err)
	}
	for _, p := range open {
		out.Body.Providers = append(out.Body.Providers,
			catalogProvider{Name: p.Name, Region: p.Region, AccountID: p.AccountID, Ready: p.Ready})
	}
	if of.Provider == "" && len(open) == 1 {
		of.Provider = open[0].Name
	}
	if of.Provider != "" || of.DeletionPolicy != "" {
		out.Body.Defaults = &catalogDefaults{Provider: of.Provider, DeletionPolicy: string(of.DeletionPolicy)}
	}
	return nil
}

func (a *API) me(ctx context.Context, in *meInput) (*meOutput, error) {
	if in.Namespace != "" && !isNamespace(in.Namespace) {
		return nil, noNamespace(ctx, in.Namespace)
	}
	id := caller(ctx)
	spaces, err := a.cluster.Rights.Namespaces(ctx, id)
	if err != nil {
		return nil, a.fail(ctx, err)
	}
	out := &meOutput{}
	out.Body.Username, out.Body.Name, out.Body.Email = id.Username, id.Name, id.Email
	out.Body.Groups, out.Body.Namespaces = append([]string{}, id.Groups...), append([]string{}, spaces...)
	if in.Namespace != "" {
		kinds := a.cluster.Kinds.Now().Namespaced(true)
		if out.Body.May, err = a.cluster.Rights.In(ctx, id, kinds, in.Namespace); err != nil {
			return nil, a.fail(ctx, err)
		}
	}
	return out, nil
}

func (a *API) namespaces(ctx context.Context, _ *struct{}) (*namespacesOutput, error) {
	spaces, err := a.cluster.Rights.Namespaces(ctx, caller(ctx))
	if err != nil {
		return nil, a.fail(ctx, err)
	}
	out := &namespacesOutput{}
	out.Body.Items = make([]namespaceItem, 0, len(spaces))
	for _, name := range spaces {
		out.Body.Items = append(out.Body.Items, namespaceItem{Name: name})
	}
	return out, nil
}
