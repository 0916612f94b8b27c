//go:build integration

package integration

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/authz"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/auth/oidctest"
	"github.com/portico-platform/portico/test/stack"
)

var update = flag.Bool("update", false, "write docs/authorization.md")

// matrix is a portal with one object of each kind, which all actors try to use.
type matrix struct {
	journey
	issuer *oidctest.Provider
	keys   string // of sessions
	portal *replica
	asset  string
	things map[string]client.Object // by kind
	spare  client.Object            // a Team without resources
	pod    string

	compared int // with what does not exist
}

// TestTheAuthorisationMatrix sends every route of the portal's routers, with every method, as every actor. The
// responses are recorded in docs/authorization.md: a new route, or another response, fails the test until somebody has
// reviewed it.
func TestTheAuthorisationMatrix(t *testing.T) {
	m := newMatrix(t)
	actors := m.actors()
	m.entitled(actors)
	rows := m.rows()
	cells := map[row][]string{}
	for _, r := range rows {
		for _, a := range actors {
			cells[r] = append(cells[r], m.cell(r, a))
		}
	}
	cells[metricsRow] = m.metrics(actors)
	t.Logf("%d rows, %d cells, %d of them compared with what there is not", len(rows)+1, (len(rows)+1)*len(actors),
		m.compared)
	page := m.document(append(rows, metricsRow), actors, cells)
	path := filepath.Join("..", "..", "docs", "authorization.md")
	if *update {
		if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != page {
		t.Errorf("docs/authorization.md is not what the portal answers; look at the difference, and write it with "+
			"-update:\n%s", firstDifference(string(want), page))
	}
}

func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			return fmt.Sprintf("line %d\nwas %s\nis  %s", i+1, w[i], g[i])
		}
	}
	return fmt.Sprintf("%d lines were %d", len(g), len(w))
}

func newMatrix(t *testing.T) *matrix {
	t.Helper()
	issuer := oidctest.New(t)
	c := startInspectedFor(t, peopleOf(issuer.URL)).Client
	m := &matrix{
		journey: journey{t: t, c: c, domain: domainOf(t, c)}, issuer: issuer,
		things: map[string]client.Object{},
	}
	sample := &v1alpha1.AWSProvider{}
	if err := c.Get(t.Context(), client.ObjectKey{Name: stack.Provider}, sample); err != nil {
		t.Fatal(err)
	}
	m.journey.keys, m.keys = sample, sessionKeys(t)
	m.portal = startPortal(t, m.issuer.URL, m.keys)
	m.teams()
	for _, k := range m.portal.kinds {
		if k.Name != v1alpha1.KindTeam {
			m.things[k.Name] = m.thing(k.Name)
		}
	}
	m.pod = m.podOf(m.things["WebApp"].(*v1alpha1.WebApp))
	_, rest, _ := strings.Cut(m.portal.visit(t, "GET", "/auth/sign-in", nil).raw, `"/assets/`)
	m.asset, _, _ = strings.Cut(rest, `"`)
	edit(t, statusOnly{c}, m.things["S3Bucket"].(*v1alpha1.S3Bucket), func(b *v1alpha1.S3Bucket) {
		b.Status.Binding = &v1alpha1.Binding{Name: "matrix-connection"}
	})
	m.cached(m.spare)
	for _, obj := range m.things {
		m.cached(obj)
	}
	return m
}

// thing creates the object of the kind that all actors use. It is paused.
func (m *matrix) thing(kind string) client.Object {
	m.t.Helper()
	if kind == "HostnameGrant" {
		grant := &v1alpha1.HostnameGrant{}
		if err := m.c.Get(m.t.Context(), client.ObjectKey{Namespace: m.ns, Name: v1alpha1.HostnameGrantName},
			grant); err != nil {
			m.t.Fatal(err)
		}
		return grant
	}
	obj := m.object(kind, "matrix", "{}")
	obj.SetAnnotations(map[string]string{v1alpha1.AnnotationPaused: "true"})
	create(m.t, m.c, obj)
	discard(m.t, obj)
	return obj
}

// podOf creates a Pod of the application, and a revision to roll back to, and returns the Pod's name.
func (m *matrix) podOf(app *v1alpha1.WebApp) string {
	m.t.Helper()
	edit(m.t, statusOnly{m.c}, app, func(app *v1alpha1.WebApp) {
		app.Status.Revisions = []v1alpha1.WebAppRevision{
			{Revision: 1, Image: "registry.example.com/shop:0.9.0", Created: metav1.Now()},
		}
	})
	pod := podOfAppIn(m.t, m.ns, app.Name, true)
	await(m.t, "the Pod to run", func() (bool, string) {
		err := m.c.Get(m.t.Context(), client.ObjectKeyFromObject(pod), pod)
		return err == nil && pod.Status.Phase == "Running", string(pod.Status.Phase)
	})
	return pod.Name
}

// statusOnly is a client that patches only the status of objects.
type statusOnly struct{ client.Client }

// Patch implements client.Client.
func (s statusOnly) Patch(ctx context.Context, obj client.Object, patch client.Patch, _ ...client.PatchOption) error {
	return s.Status().Patch(ctx, obj, patch)
}

// cached waits until the portal has cached the object.
func (m *matrix) cached(obj client.Object) {
	m.t.Helper()
	admins := oidctest.Claims{"preferred_username": "waiting", "groups": []string{"platform-admins"}}
	gvk, err := m.c.GroupVersionKindFor(obj)
	if err != nil {
		m.t.Fatal(err)
	}
	k, _ := m.portal.kinds.ByName(gvk.Kind)
	at := "/" + k.Plural + "/" + obj.GetName()
	if k.Namespaced {
		at = "/namespaces/" + obj.GetNamespace() + at
	}
	await(m.t, "the portal to know "+at, func() (bool, string) {
		got := m.portal.call(m.t, m.tokenOf(admins, nil), "GET", at, nil)
		return got.status == http.StatusOK, got.raw
	})
}

// rows returns every route of the portal with its methods, and an additional row for each route that can stream.
func (m *matrix) rows() []row {
	m.t.Helper()
	all := map[string][]string{}
	walk := func(method, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		route = strings.ReplaceAll(route, "/*/", "/")
		if len(route) > 1 {
			route = strings.TrimSuffix(route, "/")
		}
		if !slices.Contains(all[route], method) {
			all[route] = append(all[route], method)
		}
		return nil
	}
	if err := chi.Walk(m.portal.handler.(chi.Routes), walk); err != nil {
		m.t.Fatal(err)
	}
	paths := m.portal.call(m.t, "", "GET", "/openapi.json", nil).body["paths"]
	var rows []row
	for route, methods := range all {
		if slices.Contains(methods, http.MethodTrace) { // mounted for all methods; its routes are walked too
			methods = []string{http.MethodGet}
		}
		for _, method := range methods {
			rows = append(rows, row{method, route, method == "GET" && strings.HasSuffix(route, "live")})
		}
		parameters := fmt.Sprint(nested(paths, strings.TrimPrefix(route, "/api/v1"), "get", "parameters"))
		if strings.Contains(parameters, "name:watch") || strings.Contains(parameters, "name:follow") {
			rows = append(rows, row{http.MethodGet, route, true})
		}
	}
	slices.SortFunc(rows, func(a, b row) int {
		return strings.Compare(a.order(), b.order())
	})
	return rows
}

// order returns the sort key: by route, with signing out last, because it ends the session that the others need.
func (r row) order() string {
	return fmt.Sprint(strings.HasPrefix(r.route, "/auth/"), r.route == auth.LogoutPath, " ", r.route, " ", r.method,
		r.stream)
}

// metricsRow is the metrics endpoint, which has its own port.
var metricsRow = row{method: "GET", route: "/metrics"}

// metrics requests the portal's metrics as every actor, as they are served with authentication.
func (m *matrix) metrics(actors []actor) (cells []string) {
	m.t.Helper()
	cfg, err := world.ServiceAccountConfig(m.t.Context(), stack.Namespace, "portico-portal")
	if err != nil {
		m.t.Fatal(err)
	}
	readers, err := authz.For(cfg, "", time.Now)
	if err != nil {
		m.t.Fatal(err)
	}
	srv := httptest.NewServer(readers.Over(portal.Metrics(false)))
	defer srv.Close()
	for _, a := range actors {
		cells = append(cells, m.ask(srv.URL, "GET", request{path: "/metrics", header: http.Header{}}, a).word)
	}
	return cells
}
