// Package rest serves the REST API: the same handlers for every kind of the catalog, JSON in and out, errors as problem
// documents (RFC 9457), and an OpenAPI 3.1 document with the schemas of the CRDs.
package rest

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
	"github.com/go-chi/chi/v5"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/portal/limit"
	"github.com/portico-platform/portico/portal/sse"
)

// Prefix is the path of the API.
const Prefix = "/api/v1"

// maxBody bounds a request's body: etcd accepts no larger object.
const maxBody = 1 << 20

// API handles the requests that its bearer check passes on.
type API struct {
	cluster *cluster.Cluster
	log     *slog.Logger
	streams sse.Streams
	cli     func(context.Context) auth.CLI // how command-line tools sign in
}

// New returns the API's handler, to be mounted at Prefix. Everything except the OpenAPI document and the sign-in
// settings needs a token. limiter limits callers.
func New(c *cluster.Cluster, bearer *auth.Bearer, limiter *limit.Limiter, log *slog.Logger) http.Handler {
	a := &API{cluster: c, log: log, cli: bearer.CLI}
	return router{c.Kinds.Handler(func(kinds catalog.Catalog) (http.Handler, error) {
		return a.handler(kinds, bearer, limiter)
	}, func(err error) { log.Error("describing the API", "error", err) })}
}

// router is the API's handler, whose routes are those of the catalog as it is.
type router struct{ *catalog.Handler }

func (r router) now() chi.Routes {
	if routes, ok := r.Now().(chi.Routes); ok {
		return routes
	}
	return chi.NewRouter() // the API could not be made
}

// Routes implements chi.Routes.
func (r router) Routes() []chi.Route { return r.now().Routes() }

// Middlewares implements chi.Routes.
func (r router) Middlewares() chi.Middlewares { return r.now().Middlewares() }

// Match implements chi.Routes.
func (r router) Match(ctx *chi.Context, method, path string) bool {
	return r.now().Match(ctx, method, path)
}

// Find implements chi.Routes.
func (r router) Find(ctx *chi.Context, method, path string) string {
	return r.now().Find(ctx, method, path)
}

// handler returns the handler of the operations on these kinds.
func (a *API) handler(kinds catalog.Catalog, bearer *auth.Bearer, limiter *limit.Limiter) (http.Handler, error) {
	top, inner := chi.NewRouter(), chi.NewRouter()
	top.NotFound(func(w http.ResponseWriter, r *http.Request) {
		WriteProblem(w, r, http.StatusNotFound, "there is nothing here; "+Prefix+"/openapi.json lists what there is")
	})
	top.MethodNotAllowed(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Allow", cmp.Or(Allow(inner, r), Allow(top, r)))
		WriteProblem(w, r, http.StatusMethodNotAllowed, r.Method+" is not possible here; "+Prefix+
			"/openapi.json lists what is")
	})
	api := humachi.New(inner, config())
	api.UseMiddleware(auditAttempt, wantQuery)
	a.register(api, kinds)
	doc, err := document(api, kinds)
	if err != nil {
		return nil, fmt.Errorf("writing the OpenAPI document: %w", err)
	}
	top.Get("/openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/vnd.oai.openapi+json;version=3.1")
		w.Header().Set("Cache-Control", "public, max-age=5")
		_, _ = w.Write(doc) // the client has gone
	})
	inner.NotFound(top.NotFoundHandler())
	inner.MethodNotAllowed(top.MethodNotAllowedHandler())
	top.Handle(loginPath, inner) // errors of this path need no token either
	top.With(bearer.Require(WriteProblem), limiter.Each(callerName, tooOften)).Mount("/", inner)
	return top, nil
}

func callerName(r *http.Request) string { return caller(r.Context()).Username }

func tooOften(w http.ResponseWriter, r *http.Request) {
	WriteProblem(w, r, http.StatusTooManyRequests, "you ask too often: wait for as many seconds as Retry-After says, "+
		"and ask for lists or a watch instead of single objects")
}

func config() huma.Config {
	cfg := huma.DefaultConfig("Portico", "v1")
	cfg.Info.Description = "Request, see and delete what Portico offers. Authenticate with an OpenID Connect " +
		"ID token for this API's audience, or with a ServiceAccount token for it. Without the right to do something " +
		"the answer " +
		"is 403, whether or not the object exists."
	cfg.Servers = []*huma.Server{{URL: Prefix}}
	// the document is served above; the docs page would load from elsewhere
	cfg.OpenAPIPath, cfg.DocsPath, cfg.SchemasPath = "", "", ""
	cfg.CreateHooks = nil                   // no $schema in bodies
	cfg.RejectUnknownQueryParameters = true // a misspelt dryRun must not create
	cfg.Formats = map[string]huma.Format{"application/json": huma.DefaultJSONFormat, "json": huma.DefaultJSONFormat}
	cfg.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"bearer": {Type: "http", Scheme: "bearer", BearerFormat: "JWT"},
	}
	cfg.Security = []map[string][]string{{"bearer": {}}}
	return cfg
}

// Allow returns the Allow header: the methods that routes serve for the path of the request (RFC 9110, 15.5.6).
func Allow(routes chi.Routes, r *http.Request) string {
	path := cmp.Or(chi.RouteContext(r.Context()).RoutePath, r.URL.EscapedPath())
	var methods []string
	for _, method := range []string{
		http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch,
		http.MethodDelete,
	} {
		if routes.Match(chi.NewRouteContext(), method, path) {
			methods = append(methods, method)
		}
	}
	return strings.Join(methods, ", ")
}

// caller returns the caller of the request. Every request behind the bearer check has one.
func caller(ctx context.Context) auth.Identity {
	id, _ := auth.FromContext(ctx)
	return id
}
