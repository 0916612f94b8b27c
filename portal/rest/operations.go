package rest

import (
	"context"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/portico-platform/portico/portal/catalog"
)

// operation is a row of the table of the API, from which both its route and its part of the document are made.
type operation struct {
	huma.Operation
	route func(huma.API, huma.Operation)
}

// row returns the operation that handle serves, of no kind unless op has a tag.
func row[In, Out any](op huma.Operation, handle func(context.Context, *In) (*Out, error)) operation {
	if op.Tags == nil {
		op.Tags = []string{general}
	}
	return operation{op, func(api huma.API, op huma.Operation) { huma.Register(api, op, handle) }}
}

// rowOf returns the operation on objects of kind k that handle serves.
func rowOf[At interface {
	*In
	of(k catalog.Kind) catalog.Ref
}, In, Out any](k catalog.Kind, op huma.Operation, handle func(context.Context, catalog.Ref, At) (*Out, error),
) operation {
	op.Tags, op.Parameters = []string{k.ID()}, pathParameters(op.Path)
	return row(op, func(ctx context.Context, in *In) (*Out, error) { return handle(ctx, At(in).of(k), in) })
}

// Place is the part of a URL that names an object, or where objects are: no namespace for a cluster-scoped kind.
// pathParameters describes it.
type Place struct{ Namespace, Name string }

// Resolve reads the place, for huma, as huma itself reads parameters.
func (p *Place) Resolve(ctx huma.Context) (missing []error) {
	p.Namespace, p.Name = ctx.Param("namespace"), ctx.Param("name")
	for _, param := range ctx.Operation().Parameters {
		if param.In == "path" && ctx.Param(param.Name) == "" {
			missing = append(missing, &huma.ErrorDetail{
				Location: "path." + param.Name, Message: "required path parameter is missing", Value: "",
			})
		}
	}
	return missing
}

func (p *Place) of(k catalog.Kind) catalog.Ref { return ref(k, p.Namespace, p.Name) }

// pathParameters returns the parameters of a path to objects.
func pathParameters(path string) (all []*huma.Param) {
	for _, p := range []struct{ name, help string }{
		{"namespace", "Namespace of the team."}, {"name", "Name of the object."},
	} {
		if strings.Contains(path, "{"+p.name+"}") {
			all = append(all, &huma.Param{
				Name: p.name, In: "path", Required: true, Description: p.help,
				Schema: &huma.Schema{Type: huma.TypeString, Description: p.help},
			})
		}
	}
	return all
}

// register adds every operation. Each kind has its own, so that the document shows its schema. Kinds that users do not
// write are read-only.
func (a *API) register(api huma.API, kinds catalog.Catalog) {
	all := slices.Concat(a.generalOperations(api.OpenAPI().Components.Schemas), a.kindOperations(kinds),
		a.namespaceOperations())
	for _, k := range kinds {
		all = append(all, a.readOperations(k)...)
		all = append(all, a.engineOperations(k)...)
		all = append(all, a.featureOperations(k)...)
		if k.Written() {
			all = append(all, a.writeOperations(k)...)
		}
	}
	for _, o := range all {
		body := o.RequestBody
		if body != nil { // the handlers validate it: their errors say more
			o.RequestBody, o.SkipValidateBody, o.MaxBodyBytes = nil, true, maxBody
			for contentType := range body.Content {
				o.Middlewares = huma.Middlewares{wantType(contentType)}
			}
		}
		o.route(api, o.Operation)
		for _, added := range Operations(api.OpenAPI().Paths[o.Path]) {
			if added.Method == o.Method {
				added.RequestBody = body // huma describes a raw body as a string
				describeOperation(added, kinds)
			}
		}
	}
}

// generalOperations returns those about the caller, the catalog, objects of all kinds, and sessions.
func (a *API) generalOperations(schemas huma.Registry) []operation {
	return []operation{
		row(huma.Operation{
			OperationID: "listResources", Method: http.MethodGet, Path: "/resources",
			Summary: "List objects of all kinds that the caller can list", Errors: always, Description: watchWords,
			Responses: withWatch(responses(schemas.Schema(reflect.TypeFor[objectList](), true, "ObjectList"),
				map[int]string{http.StatusOK: "One page"})),
		}, a.resources),
		row(huma.Operation{
			OperationID: "listCatalog", Method: http.MethodGet, Path: "/catalog",
			Summary: "List the kinds that can be requested", Errors: always,
		}, a.catalog),
		row(huma.Operation{
			OperationID: "getMe", Method: http.MethodGet, Path: "/me",
			Summary: "Say who the caller is", Errors: always,
		}, a.me),
		row(huma.Operation{
			OperationID: "listNamespaces", Method: http.MethodGet, Path: "/namespaces",
			Summary: "List the namespaces (teams) in which the caller can list something", Errors: always,
		}, a.namespaces),
		row(huma.Operation{
			OperationID: "listActivity", Method: http.MethodGet, Path: "/activity",
			Summary: "List what was done lately through the portal, newest first", Errors: always,
			Description: "What people and tools did by the pages, this API and the command line, and not what was " +
				"done with kubectl: as long as Kubernetes keeps events, which is an hour unless it is configured " +
				"otherwise. It takes the right to list events, in each namespace.",
		}, a.activity),
		row(huma.Operation{
			OperationID: "endSessions", Method: http.MethodDelete, Path: "/sessions",
			Summary: "End all sessions of a user", DefaultStatus: http.StatusOK, Errors: always,
			Metadata:    changes("sessions"),
			Description: endSessionsWords,
		}, a.endSessions),
		row(huma.Operation{
			OperationID: "getLogin", Method: http.MethodGet, Path: loginPath,
			Summary: "Say how command-line tools sign in", Security: []map[string][]string{},
			Errors: []int{http.StatusUnprocessableEntity},
			Description: "Needs no token. With the ID token of the client named here the rest of the API can be " +
				"called.",
		}, a.login),
	}
}

// namespaceOperations returns those about what else is in a namespace.
func (a *API) namespaceOperations() []operation {
	const base = "/namespaces/{namespace}"
	return []operation{
		row(huma.Operation{
			OperationID: "listDeleted", Method: http.MethodGet, Path: base + "/deleted",
			Summary: "List what AWS still has of deleted resources, with how to get it back", Errors: always,
			Description: "Resources that were kept by their deletion policy, and final snapshots of databases, as " +
				"AWS's tags show them, which are some minutes late. Resources deleted with the policy Orphan have no " +
				"tags and are not listed. Answers can be 10 seconds old. It takes the right to list the kind.",
		}, a.deleted),
		row(huma.Operation{
			OperationID: "checkHostname", Method: http.MethodGet, Path: base + "/hostnames/check",
			Summary: "Tell whether the namespace could have a hostname", Errors: always,
			Description: "From what the cluster knows: grants and claims. What AWS says of zone and certificate " +
				"comes with the request. First come, first served: free is no promise. It takes the right to create " +
				"or list gatewayhostnamerequests.",
		}, a.checkHostname),
		row(huma.Operation{
			OperationID: "listSecrets", Method: http.MethodGet, Path: base + "/secrets",
			Summary: "List the Secrets whose values people set, without values", Errors: secretErrors,
			Description: secretWords + " It takes the right to list or to update secretvalues.",
		}, a.listSecrets),
		row(huma.Operation{
			OperationID: "setSecret", Method: http.MethodPatch, Path: base + "/secrets/{name}",
			Summary: "Set and remove values of a Secret", Metadata: changes("secrets"),
			RequestBody: secretBody(), Responses: responses(nil, map[int]string{http.StatusOK: "Set; as it is now"}),
			Errors: with(secretErrors, http.StatusBadRequest, http.StatusRequestTimeout,
				http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType),
			Description: secretWords + " Keys that are not named stay. A Secret that does not exist is created. It " +
				"takes the right to update secretvalues, or to create them.",
		}, a.setSecret),
		row(huma.Operation{
			OperationID: "deleteSecret", Method: http.MethodDelete, Path: base + "/secrets/{name}",
			Summary:  "Delete a Secret whose values people set",
			Metadata: changes("secrets"), DefaultStatus: http.StatusOK,
			Responses: responses(nil, map[int]string{http.StatusOK: "Gone; as it was"}), Errors: secretErrors,
			Description: secretWords + " What is in use is refused (409) without confirm. It takes the right to " +
				"update secretvalues.",
		}, a.deleteSecret),
	}
}
