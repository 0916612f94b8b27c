package portal

import (
	"cmp"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"

	"github.com/go-chi/chi/v5"
	"k8s.io/utils/clock"

	"github.com/portico-platform/portico/api/deploy"
	"github.com/portico-platform/portico/api/tracing"
	"github.com/portico-platform/portico/config/check"
	"github.com/portico-platform/portico/portal/apidocs"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/portal/docs"
	"github.com/portico-platform/portico/portal/limit"
	"github.com/portico-platform/portico/portal/rest"
	"github.com/portico-platform/portico/portal/tokenexchange"
	"github.com/portico-platform/portico/web/views"
)

// maxBody bounds the body of any request: a Kubernetes object is at most 1.5 MiB, and ours are far smaller.
const maxBody = 1<<20 + 1<<16

// Parts are the parts of the portal; all are required except the limits.
type Parts struct {
	Cluster  *cluster.Cluster
	Provider *auth.Provider
	Keys     *auth.SessionKeys
	Life     auth.Life // of sessions
	Pages    Pages
	Assets   http.Handler // static files
	Clock    clock.PassiveClock
	Log      *slog.Logger
	// Rate is each user's and tool's request rate, for pages and for the REST API each.
	Rate limit.Rate
	// Installation reports what the cluster lacks; nil: not checked.
	Installation Installation
	// Proxies are the addresses of the proxies in front of the portal, which forward clients' addresses; without them
	// none is trusted.
	Proxies []netip.Prefix
}

// Installation is the part of check.Monitor that the portal needs.
type Installation interface{ Results() []check.Result }

// AssetsPath is the path of the static files.
const AssetsPath = "/assets/"

// New returns the portal's handler, a chi.Router that chi.Walk can list; all routes are in this file. Browsers, which
// send a cookie, and programs, which send a token, have separate routers that share only the middlewares that protect
// both.
func New(p Parts) (http.Handler, error) {
	bearer := auth.NewBearer(p.Provider, p.Cluster.Tokens, p.Cluster.Revocations, p.Clock, p.Log)
	api := rest.New(p.Cluster, bearer, limit.New(p.Rate, p.Clock), p.Log)
	apiDocs := p.Cluster.Kinds.Handler(apidocs.New, func(err error) { p.Log.Error("describing the API", "error", err) })
	r := chi.NewRouter()
	r.Use(traced, head, auth.Address(p.Proxies), auth.StripHeaders, auth.LimitAnswer(p.Clock.Now),
		auth.Record(p.Log, p.Clock.Now, p.failed),
		auth.SecurityHeaders, p.Provider.StrictTransport, auth.LimitBody(maxBody, p.Clock.Now))
	r.Get("/healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, "ok", nil) })
	r.Get("/readyz", p.readyz)
	r.Method(http.MethodGet, AssetsPath+"*", p.Assets)
	r.With(compress).Mount(rest.Prefix, api)
	open := r.With(p.perAddress(), compress) // for everybody, without a session
	open.Method(http.MethodGet, views.APIDocsPath, apiDocs)
	open.Method(http.MethodGet, views.APIDocsPath+"/*", apiDocs)
	open.Get(views.DocsPath, docs.Handler)
	open.Get(views.DocsPath+"/*", docs.Handler)
	b := auth.NewBrowser(auth.BrowserOptions{
		Provider: p.Provider, Keys: p.Keys, Revoked: p.Cluster.Revocations, Turns: p.Cluster.Turns,
		Pages: p.Pages, Life: p.Life, Clock: p.Clock, Log: p.Log,
	})
	r.With(p.perAddress()).Post(auth.BackChannelPath, b.BackChannelLogout) // not a browser: no Origin
	r.With(p.perAddress()).Method(http.MethodPost, deploy.TokenPath, tokenexchange.Handler{
		Operator: p.Cluster.Deployers, Audience: p.Provider.PublicURL(), Clock: p.Clock,
	})
	r.With(compress).Mount("/", p.browser(b))
	return r, nil
}

// traced creates a span for each request, with the pattern of its route.
func traced(next http.Handler) http.Handler {
	return tracing.Requests(next, func(r *http.Request) string { return chi.RouteContext(r.Context()).RoutePattern() })
}

// browser returns the handler of the pages.
func (p Parts) browser(b *auth.Browser) http.Handler {
	r := chi.NewRouter()
	r.Use(p.perAddress(), b.SameOrigin)
	r.Get(auth.SignInPath, b.SignIn)
	r.Get(auth.LoginPath, b.Login)
	r.Get(auth.CallbackPath, b.Callback)
	r.Get(auth.ConfirmPath, b.Confirm)
	r.Post(auth.LogoutPath, b.Logout)
	r.Get(auth.SignedOutPath, b.SignedOut)
	r.MethodNotAllowed(func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Allow", cmp.Or(rest.Allow(r, req), http.MethodGet)) // New's other routes are read-only
		p.Pages.Problem(w, req, http.StatusMethodNotAllowed, "This is not possible here",
			"The page does not take this kind of request.")
	})
	r.Group(func(r chi.Router) {
		r.Use(b.Require, p.perUser())
		p.Pages.Routes(r)
	})
	return r
}

// failed responds after a panic: with a problem document for programs, a page for users.
func (p Parts) failed(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, rest.Prefix+"/") {
		rest.WriteProblem(w, r, http.StatusInternalServerError, "something went wrong; the error has been logged")
		return
	}
	p.Pages.Problem(w, r, http.StatusInternalServerError, "Something went wrong", "The error has been logged.")
}
