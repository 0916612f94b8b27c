//go:build integration

package integration

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
)

// request is the request of one row of the matrix, as each actor sends it.
type request struct {
	path   string // with team and object named
	body   string
	header http.Header
}

// nobody is a name that no team and no object has.
const nobody = "no-such-name"

// row is a route with a method.
type row struct {
	method, route string
	stream        bool
}

func (r row) String() string {
	if r.stream {
		return r.method + " " + r.route + " (stream)"
	}
	return r.method + " " + r.route
}

// isREST reports whether the route is one of the REST API.
func (r row) isREST() bool { return strings.HasPrefix(r.route, "/api/v1/") }

// ofTeam reports whether the route is about one Team.
func (r row) ofTeam() bool {
	return strings.HasPrefix(r.route, "/team/{name}") || strings.HasPrefix(r.route, "/api/v1/teams/{name}")
}

// ofSecrets reports whether the route has the operator do something for a person; these do not support dry runs.
func (r row) ofSecrets() bool {
	return r.isREST() && (strings.Contains(r.route, "/secrets") || strings.HasSuffix(r.route, "/reveal"))
}

// ofPassword reports whether the route is the page that shows a resource's password: an actor who is refused can still
// see the resource.
func (r row) ofPassword() bool { return strings.HasSuffix(r.route, "/{name}/password") }

// kind returns the kind of a REST route, or nil if it has none.
func (m *matrix) kind(r row) *catalog.Kind {
	for part := range strings.SplitSeq(r.route, "/") {
		if k, ok := m.portal.kinds.ByPlural(part); ok {
			return &k
		}
	}
	return nil
}

// make returns the request of the row. Each call returns a new one, because one actor may have changed or deleted the
// object of the previous one.
func (m *matrix) make(r row) request {
	m.t.Helper()
	if r.isREST() {
		return m.makeREST(r)
	}
	return m.makePage(r)
}

func (m *matrix) makeREST(r row) request {
	m.t.Helper()
	q := url.Values{}
	out := request{path: r.route, header: http.Header{}}
	if k := m.kind(r); k != nil {
		obj := m.things[k.Name]
		if k.Name == v1alpha1.KindTeam && r.method == http.MethodDelete { // a Team with resources cannot be deleted
			obj = m.spare
		}
		out.path = strings.NewReplacer("{namespace}", cmp.Or(obj.GetNamespace(), m.ns), "{name}",
			obj.GetName()).Replace(r.route)
		out.body = m.bodyOf(r.method, *k)
	}
	out.path = strings.NewReplacer("{namespace}", m.ns, "{name}", "matrix", "{kind}", "s3buckets").Replace(out.path)
	ofSecrets := r.ofSecrets()
	if ofSecrets {
		out.body = map[string]string{http.MethodPatch: `{"values":{"matrix":"yes"}}`}[r.method]
	}
	switch {
	case strings.HasSuffix(r.route, "/hostnames/check"):
		q.Set("hostname", "some."+m.name)
	case strings.HasSuffix(r.route, "/catalog"), strings.HasSuffix(r.route, "/activity"):
		q.Set("namespace", m.ns)
	case r.stream && strings.HasSuffix(r.route, "/logs"):
		q.Set("follow", "true")
	case r.stream:
		q.Set("watch", "true")
	case r.method != http.MethodGet && !ofSecrets:
		q.Set("dryRun", "All")
	}
	if strings.HasSuffix(r.route, "/sessions") {
		q.Set("user", nobody)
	}
	switch r.method {
	case http.MethodPut:
		out.header.Set("If-Match", "*")
	case http.MethodPatch:
		out.header.Set("If-Match", "*")
		out.header.Set("Content-Type", "application/merge-patch+json")
	}
	if out.body != "" && out.header.Get("Content-Type") == "" {
		out.header.Set("Content-Type", "application/json")
	}
	if len(q) > 0 {
		out.path += "?" + q.Encode()
	}
	return out
}

// bodyOf returns the request body for the method and the kind.
func (m *matrix) bodyOf(method string, k catalog.Kind) string {
	m.t.Helper()
	var obj map[string]any
	switch of := k.Name == v1alpha1.KindTeam; {
	case method == http.MethodPost:
		obj = m.plain(m.object(k.Name, unique("matrix"), "{}"))
	case method == http.MethodPut && of:
		obj, _ = m.withAnother()
	case method == http.MethodPut:
		obj = m.plain(m.things[k.Name])
	case method == http.MethodPatch && of:
		_, obj = m.withAnother()
	case method == http.MethodPatch:
		return `{"metadata":{"labels":{"matrix":"yes"}}}`
	default:
		return ""
	}
	text, err := json.Marshal(obj)
	if err != nil {
		m.t.Fatal(err)
	}
	return string(text)
}

// plain returns an object as a user writes it.
func (m *matrix) plain(obj client.Object) map[string]any {
	m.t.Helper()
	all, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		m.t.Fatal(err)
	}
	gvk, err := m.c.GroupVersionKindFor(obj)
	if err != nil {
		m.t.Fatal(err)
	}
	meta := map[string]any{"name": obj.GetName()}
	if obj.GetNamespace() != "" {
		meta["namespace"] = obj.GetNamespace()
	}
	return map[string]any{
		"apiVersion": v1alpha1.GroupVersion.String(), "kind": gvk.Kind, "metadata": meta,
		"spec": all["spec"],
	}
}

// about returns the object that the page is about, and the plural name of its kind. For a deletion it creates one.
func (m *matrix) about(r row) (plural string, obj client.Object) {
	m.t.Helper()
	ofApp := slices.ContainsFunc([]string{"/pods/", "/logs", "/scale", "/rollback", "/restart"},
		func(part string) bool { return strings.Contains(r.route, part) })
	switch {
	case strings.HasPrefix(r.route, "/team/") && strings.HasSuffix(r.route, "/suspend"):
		return "", m.spare
	case strings.HasPrefix(r.route, "/team/"):
		return "", m.things[v1alpha1.KindTeam]
	case ofApp:
		return "webapps", m.things["WebApp"]
	case r.method == http.MethodPost && strings.HasSuffix(r.route, "/delete"):
		b := m.object("S3Bucket", unique("matrix"), "{}")
		create(m.t, m.c, b)
		m.cached(b)
		return "s3buckets", b
	}
	return "s3buckets", m.things["S3Bucket"]
}

func (m *matrix) makePage(r row) request {
	m.t.Helper()
	kind, obj := m.about(r)
	out := request{header: http.Header{}}
	if r.method == http.MethodPost {
		out.body = m.formOf(r, obj).Encode()
	}
	if out.body != "" {
		out.header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if r.method == http.MethodPost && r.route != auth.BackChannelPath {
		out.header.Set("Origin", m.portal.url)
	}
	if r.stream {
		out.header.Set("Accept", "text/event-stream")
	}
	out.path = strings.NewReplacer("{team}", m.ns, "{kind}", kind, "{name}", obj.GetName(), "{pod}", m.pod, "{tab}",
		"claims", "{action}", "reconcile", "{secret}", "matrix").Replace(r.route)
	switch r.route {
	case "/teams/{team}/hostnames/check":
		out.path += "?hostname=some." + m.name
	case "/teams/{team}/offers/{kind}/{field}":
		out.path = "/teams/" + m.ns +
			"/offers/rdsinstances/engineVersion?spec.providerRef.name=aws-local&spec.engine=postgres"
	case "/switch":
		out.path += "?team=" + m.ns
	case "/assets/*":
		out.path = "/assets/" + m.asset
	case "/api/docs/*":
		out.path = "/api/docs/s3bucket"
	case "/docs/*":
		out.path = "/docs/kinds/s3bucket"
	}
	return out
}

// yaml returns an object as YAML, as a user writes it.
func (m *matrix) yaml(obj client.Object) string {
	m.t.Helper()
	b, err := yaml.Marshal(m.plain(obj))
	if err != nil {
		m.t.Fatal(err)
	}
	return string(b)
}

// formOf returns the form that a browser posts to the page.
func (m *matrix) formOf(r row, obj client.Object) url.Values {
	m.t.Helper()
	switch r.route {
	case "/teams/{team}/new/{kind}":
		return url.Values{"yaml": {m.yaml(m.object("S3Bucket", unique("matrix"), "{}"))}, "do": {"create"}}
	case "/teams/{team}/{kind}/{name}/edit":
		etag, edited := m.etag(obj), obj.DeepCopyObject().(*v1alpha1.S3Bucket)
		edited.Spec.Tags = v1alpha1.Tags{"matrix": v1alpha1.TagValue(unique("tag"))}
		return url.Values{"yaml": {m.yaml(edited)}, "began": {m.yaml(obj)}, "etag": {etag}, "do": {"create"}}
	case "/teams/{team}/{kind}/{name}/delete":
		return url.Values{"uid": {string(obj.GetUID())}, "name": {obj.GetName()}}
	case "/teams/{team}/{kind}/{name}/scale":
		return url.Values{"replicas": {"2"}}
	case "/teams/{team}/{kind}/{name}/rollback":
		return url.Values{"revision": {"1"}}
	case "/admin/sessions":
		return url.Values{"user": {nobody}}
	case auth.BackChannelPath:
		return url.Values{"logout_token": {"made-up"}}
	}
	return m.formOfTeam(r, obj)
}
