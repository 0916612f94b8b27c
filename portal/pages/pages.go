// Package pages serves the portal's HTML: every page works by plain links and forms, and portal/live keeps the open
// ones up to date. It decides nothing about access: each read and write is made through the cluster for the caller.
package pages

import (
	"bytes"
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/a-h/templ"
	"github.com/go-chi/chi/v5"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/clock"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/availability"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/portal/live"
	"github.com/portico-platform/portico/portal/operator"
	"github.com/portico-platform/portico/portal/overview"
	"github.com/portico-platform/portico/portal/prose"
	"github.com/portico-platform/portico/web/views"
)

// Cluster is what the pages need of cluster.Cluster, whose contracts hold.
type Cluster interface {
	Reader
	Lister
	PodReader
	HostnameReader
	PlatformReader
	TeamReader
	Writer
	Follow(ctx context.Context) cluster.Feed
}

// Lister reads many objects for a caller, after checking access.
type Lister interface {
	List(ctx context.Context, id auth.Identity, k catalog.Kind, namespace string) ([]*unstructured.Unstructured, error)
	Rows(ctx context.Context, id auth.Identity, k catalog.Kind, namespace string) ([]*overview.Row, error)
	Unlisted(ctx context.Context, id auth.Identity, namespaces []string) (map[string]catalog.Catalog, error)
}

// Reader reads for a caller, after checking access.
type Reader interface {
	Kinds() catalog.Catalog
	Namespaces(ctx context.Context, id auth.Identity) ([]string, error)
	Can(ctx context.Context, id auth.Identity, verb string, k catalog.Kind, namespace string) (bool, error)
	Get(ctx context.Context, id auth.Identity, ref cluster.Ref) (*unstructured.Unstructured, error)
	Events(ctx context.Context, id auth.Identity, obj *unstructured.Unstructured) ([]*corev1.Event, error)
	Providers(ctx context.Context, id auth.Identity, k catalog.Kind, namespace string) ([]cluster.Provider, error)
	Checks(ctx context.Context, id auth.Identity, obj *unstructured.Unstructured) (operator.Checks, error)
	Ahead(ctx context.Context, id auth.Identity, rights ...cluster.Right)
}

// PodReader reads what runs for an application, for a caller, after checking access.
type PodReader interface {
	NameReader // of what an application takes its variables from
	Pods(ctx context.Context, id auth.Identity, app *unstructured.Unstructured) ([]*corev1.Pod, error)
	PodEvents(ctx context.Context, id auth.Identity, pod *corev1.Pod) ([]*corev1.Event, error)
	Logs(ctx context.Context, id auth.Identity, q cluster.LogQuery) (*cluster.Lines, error)
	MayReadLogs(ctx context.Context, id auth.Identity, namespace string) error
}

// HostnameReader reads what decides who may have which hostname, for a caller, after checking access.
type HostnameReader interface {
	CheckHostname(ctx context.Context, id auth.Identity, namespace string, q availability.Query) (availability.Answer, error)
	HostnameGrant(ctx context.Context, id auth.Identity, namespace string) (*v1alpha1.HostnameGrantSpec, error)
	Zones(ctx context.Context, id auth.Identity, namespace string) (map[string]string, error)
}

// PlatformReader reads how the platform as a whole is, for a caller, after checking access.
type PlatformReader interface {
	Features(ctx context.Context, id auth.Identity) (operator.Features, error)
	Controllers(ctx context.Context, id auth.Identity) (operator.Work, error)
	CallHistory(ctx context.Context, id auth.Identity) ([]operator.Span, error)
	Overview(ctx context.Context, id auth.Identity) (overview.Overview, error)
	TimesToReady(k catalog.Kind) overview.Times
}

// TeamReader reads what a team may have, and who is in it, for a caller, after checking access.
type TeamReader interface {
	Quotas(ctx context.Context, id auth.Identity, namespace string) ([]cluster.Quota, error)
	Members(ctx context.Context, id auth.Identity, namespace string) ([]cluster.Member, error)
}

// NameReader tells names, for a caller, after checking access.
type NameReader interface {
	Bindings(ctx context.Context, id auth.Identity, namespace string) (map[string][]string, error)
}

// Writer writes as a caller.
type Writer interface {
	Create(ctx context.Context, id auth.Identity, k catalog.Kind, obj *unstructured.Unstructured, dryRun bool) (cluster.Result, error)
	Edit(ctx context.Context, id auth.Identity, k catalog.Kind, began cluster.Began, obj *unstructured.Unstructured, dryRun bool) (cluster.Result, error)
	Annotate(ctx context.Context, id auth.Identity, ref cluster.Ref, annotations map[string]*string) (*unstructured.Unstructured, error)
	Scale(ctx context.Context, id auth.Identity, ref cluster.Ref, replicas int64) (*unstructured.Unstructured, error)
	Delete(ctx context.Context, id auth.Identity, ref cluster.Ref, seen cluster.Seen, dryRun bool) (cluster.Result, error)
}

// Pages serves the HTML side of the portal.
type Pages struct {
	cluster Cluster
	reach   Reach
	log     *slog.Logger
	now     func() time.Time
	alive   func(context.Context) error // of the caller's session
	outage  func() time.Time            // since when the identity provider does not answer
	streams live.Streams
	people  people
}

// Reach is where users reach what, as it stands in the lines that they copy.
type Reach struct {
	// Portal is scheme and host only. The Host of a request will not do.
	Portal string
	// Kubernetes is the URL of the API server as people reach it; "" if that is not known.
	Kubernetes string
	// CLI is how command-line tools sign in.
	CLI auth.CLI
}

// New makes the pages over c.
func New(c Cluster, reach Reach, log *slog.Logger) *Pages {
	return &Pages{cluster: c, reach: reach, log: log, now: clock.RealClock{}.Now, alive: auth.Alive, outage: func() time.Time { return time.Time{} }}
}

// Watching has the pages say when the identity provider is away: outage returns since when, the zero time if it is not.
func (p *Pages) Watching(outage func() time.Time) *Pages {
	p.outage = outage
	return p
}

// Routes adds the pages to r, behind which every request has an identity.
func (p *Pages) Routes(r chi.Router) {
	r.Get("/", p.page(p.home))
	r.Get(views.SwitchPath, p.page(p.switchTeam))
	r.Get(views.TeamsPath, p.page(p.teamsPage))
	r.Get(views.TeamsPath+"/_live", p.page(p.teamsLive)) // no namespace can have this name
	r.Route("/teams/{team}", func(r chi.Router) {
		r.Use(p.possibleTeam)
		r.Get("/", p.page(p.resources))
		r.Get("/live", p.page(p.resourcesLive))
		r.Get("/catalog", p.page(p.catalog))
		r.Group(p.teamRoutes)
	})
	r.Get(views.AdminPath, p.page(p.admin))
	r.Get(views.AdminPath+"/live", p.page(p.adminLive))
	r.Get(views.AdminPath+"/{tab}", p.page(p.admin))
	r.NotFound(p.page(func(http.ResponseWriter, *http.Request) error { return errNoPage }))
}

// teamRoutes are the pages of one team, which the list of all teams lacks.
func (p *Pages) teamRoutes(r chi.Router) {
	r.Use(p.oneTeam)
	r.Get("/about", p.page(p.about))
	r.Get("/about/live", p.page(p.aboutLive))
	r.Get("/catalog/live", p.page(p.catalogLive))
	r.Get("/hostnames/check", p.page(p.hostnameCheck))
	r.Get("/names/"+secrets, p.page(p.names))
	r.Get("/new/{kind}", p.page(p.request))
	r.Post("/new/{kind}", p.page(p.requestPost))
	r.Get("/{kind}/{name}", p.page(p.detail))
	r.Get("/{kind}/{name}/live", p.page(p.detailLive))
	r.Get("/{kind}/{name}/edit", p.page(p.editForm))
	r.Post("/{kind}/{name}/edit", p.page(p.editPost))
	r.Get("/{kind}/{name}/delete", p.page(p.deleteAsk))
	r.Post("/{kind}/{name}/delete", p.page(p.deletePost))
	r.Route("/{kind}/{name}/pods/{pod}", func(r chi.Router) {
		r.Get("/", p.page(p.podPage))
		r.Get("/live", p.page(p.podLive))
		r.Get("/logs", p.page(p.logs))
		r.Get("/logs/live", p.page(p.logsLive))
		r.Get("/logs/download", p.page(p.logsDownload))
	})
	r.Get("/{kind}/{name}/restart", p.page(p.restartAsk))
	r.Post("/{kind}/{name}/scale", p.page(p.scale))
	r.Post("/{kind}/{name}/rollback", p.page(p.rollback))
	r.Get("/{kind}/{name}/scale", p.page(p.backToDetail)) // where a refusal was shown
	r.Get("/{kind}/{name}/rollback", p.page(p.backToDetail))
	r.Post("/{kind}/{name}/{action}", p.page(p.act))
}

// page turns a handler that returns an error into one that answers with a page for it.
func (p *Pages) page(h func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if id, ok := auth.FromContext(r.Context()); ok {
			p.people.saw(id)
		}
		if err := h(w, r); err != nil {
			p.fail(w, r, err)
		}
	}
}

// show writes a page. It is rendered before the first byte is sent, so that an error can still become a page.
func (p *Pages) show(w http.ResponseWriter, r *http.Request, status int, c templ.Component) error {
	var b bytes.Buffer
	if err := c.Render(r.Context(), &b); err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, err := w.Write(b.Bytes())
	if err != nil {
		p.log.DebugContext(r.Context(), "the client went away", "path", r.URL.Path)
	}
	return nil
}

// seeOther ends a form's POST with a GET.
func seeOther(w http.ResponseWriter, r *http.Request, path string) error {
	http.Redirect(w, r, path, http.StatusSeeOther) //nolint:gosec // paths are made by package views, from /
	return nil
}

// caller is who asks. Routes are behind authentication, so nobody is an error of ours and answered like a refusal.
func caller(r *http.Request) (auth.Identity, error) {
	id, ok := auth.FromContext(r.Context())
	if !ok {
		return auth.Identity{}, errNobody
	}
	return id, nil
}

// frame is what surrounds a page for the caller. The switcher lists the teams that the caller may list, and the current
// one even if not: the right to get one object is enough to be there.
func (p *Pages) frame(r *http.Request, id auth.Identity, s space, title string) (views.Frame, error) {
	p.ahead(r.Context(), id)
	teams, err := p.teams(r.Context(), id)
	if err != nil {
		return views.Frame{}, err
	}
	f := p.anybody(id, title)
	f.Team, f.Teams = s.team, teams
	if s.team.ID != "" && !slices.ContainsFunc(teams, func(t views.Team) bool { return t.ID == s.team.ID }) {
		f.Teams = append(f.Teams, s.team)
	}
	f.Admin, err = p.isAdmin(r.Context(), id)
	return f, err
}

// anybody is a frame without teams.
func (p *Pages) anybody(id auth.Identity, title string) views.Frame {
	return views.Frame{Title: title, User: prose.Person(id.Display()), Email: cmp.Or(id.Email, id.Username)}
}

func requestID(r *http.Request) string { return auth.RequestID(r.Context()) }
