package rest

import (
	"context"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/portico-platform/portico/portal/catalog"
)

type resourcesInput struct {
	ListQuery
	Namespace string `query:"namespace" doc:"Only of this namespace."`
	Kind      string `query:"kind" doc:"Only of this kind, by its plural name, e.g. s3buckets."`
}

type catalogInput struct {
	Namespace string `query:"namespace" doc:"Also say which kinds the caller may create in this namespace."`
}

type catalogOutput struct {
	Body struct {
		Items []catalogItem `json:"items"`
	}
}

type catalogItem struct {
	Kind      string `json:"kind"`
	Resource  string `json:"resource" doc:"Plural name, as in URLs."`
	Title     string `json:"title"`
	Help      string `json:"help"`
	CanCreate *bool  `json:"canCreate,omitempty" doc:"Whether the caller may create one in the namespace asked for."`
}

type meOutput struct {
	Body struct {
		Username   string   `json:"username" doc:"As Kubernetes RBAC knows the caller."`
		Groups     []string `json:"groups"`
		Name       string   `json:"name,omitempty"`
		Email      string   `json:"email,omitempty"`
		Namespaces []string `json:"namespaces" doc:"Where the caller may list something."`
	}
}

func (a *API) registerGeneral(api huma.API) {
	tags := []string{"General"}
	huma.Register(api, huma.Operation{
		OperationID: "listResources", Method: http.MethodGet, Path: "/resources", Tags: tags,
		Summary: "List objects of all kinds that the caller may list", Errors: readErrors, Description: watchWords,
		Responses: withStream(map[string]*huma.Response{"200": {Description: "One page", Content: jsonContent(
			api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[objectList](), true, "ObjectList"))}}),
	}, a.resources)
	huma.Register(api, huma.Operation{
		OperationID: "listCatalog", Method: http.MethodGet, Path: "/catalog", Tags: tags,
		Summary: "List the kinds that can be requested", Errors: readErrors,
	}, a.catalog)
	huma.Register(api, huma.Operation{
		OperationID: "getMe", Method: http.MethodGet, Path: "/me", Tags: tags,
		Summary: "Say who the caller is", Errors: readErrors,
	},
		func(ctx context.Context, _ *struct{}) (*meOutput, error) { return a.me(ctx) })
}

func (a *API) resources(ctx context.Context, in *resourcesInput) (*listed, error) {
	if in.Namespace != "" && !isNamespace(in.Namespace) {
		return nil, noNamespace(ctx, in.Namespace)
	}
	kinds := a.cluster.Kinds().Requestable()
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
	for _, k := range a.cluster.Kinds().Requestable() {
		item := catalogItem{Kind: k.Name, Resource: k.Plural, Title: k.Title, Help: k.Help}
		if in.Namespace != "" {
			may, err := a.cluster.Can(ctx, caller(ctx), "create", k, in.Namespace)
			if err != nil {
				return nil, a.fail(ctx, err)
			}
			item.CanCreate = &may
		}
		out.Body.Items = append(out.Body.Items, item)
	}
	return out, nil
}

func (a *API) me(ctx context.Context) (*meOutput, error) {
	id := caller(ctx)
	spaces, err := a.cluster.Namespaces(ctx, id)
	if err != nil {
		return nil, a.fail(ctx, err)
	}
	out := &meOutput{}
	out.Body.Username, out.Body.Name, out.Body.Email = id.Username, id.Name, id.Email
	out.Body.Groups, out.Body.Namespaces = append([]string{}, id.Groups...), append([]string{}, spaces...)
	return out, nil
}
