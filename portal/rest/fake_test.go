package rest

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/availability"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/catalog/catalogtest"
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/feed"
	"github.com/portico-platform/portico/portal/cluster/objects"
	"github.com/portico-platform/portico/portal/cluster/rights"
	"github.com/portico-platform/portico/portal/cluster/teams"
	"github.com/portico-platform/portico/portal/cluster/write"
	"github.com/portico-platform/portico/portal/limit"
	"github.com/portico-platform/portico/portal/operator"
	"github.com/portico-platform/portico/portal/overview"
)

// fakeCluster is an in-memory cluster for one caller, who can do everything except what denied lists, as "verb
// namespace" or "verb namespace kind".
type fakeCluster struct {
	t        *testing.T
	kinds    catalog.Catalog
	objects  []*unstructured.Unstructured
	events   []*corev1.Event
	denied   []string
	writes   []string // verbs, and whether they are dry runs
	sent     map[string]any
	refusal  error // of every write
	behind   int64 // number of generations by which the cache lags
	checks   operator.Checks
	versions []cluster.Version
	answer   availability.Answer
	begins   v1alpha1.TeamDefaults
	open     []teams.Provider
	own      string // the object of this name is the caller's own
	checked  []availability.Query
	left     operator.Deleted // in AWS, of deleted objects
	running
	ender
	agent
	mu      sync.Mutex // of objects
	changes *feed.Changes
	unused
	limiter *limit.Limiter
	handler http.Handler // created by the first call
}

func newFake(t *testing.T) *fakeCluster {
	t.Helper()
	kinds := catalogtest.Kinds(t)
	return &fakeCluster{t: t, kinds: kinds, changes: feed.NewChanges()}
}

// unused are the methods that the API does not call.
type unused struct {
	unusedRights
	unusedObjects
	unusedTeams
	unusedHostnames
	unusedWriter
	unusedPeople
	unusedOperator
	unusedSessions
}

type (
	unusedRights    struct{ cluster.Rights }
	unusedObjects   struct{ cluster.Objects }
	unusedTeams     struct{ cluster.Teams }
	unusedHostnames struct{ cluster.Hostnames }
	unusedWriter    struct{ cluster.Writer }
	unusedPeople    struct{ cluster.People }
	unusedOperator  struct{ cluster.Operator }
	unusedSessions  struct{ cluster.Sessions }
)

// parts returns the fake as the parts of a Cluster.
func (f *fakeCluster) parts() *cluster.Cluster {
	return &cluster.Cluster{
		Kinds: f.kinds, Rights: f, Objects: f, Teams: f, Hostnames: f, Write: f, Pods: fakePods{running: &f.running},
		People: f, Operator: f, Sessions: f, Changes: f.changes,
	}
}

// tell publishes changes; with lost, more than a subscriber keeps.
func (f *fakeCluster) tell(lost bool, changes ...feed.Change) {
	for _, c := range changes {
		f.changes.Publish(c)
	}
	for n := range 1001 {
		if lost {
			f.changes.Publish(feed.Change{Name: strconv.Itoa(n)})
		}
	}
}

// Ahead does nothing: it changes no result.
func (f *fakeCluster) Ahead(context.Context, auth.Identity, ...rights.Right) {}

func (f *fakeCluster) Namespaces(context.Context, auth.Identity) ([]string, error) {
	return []string{"payments"}, nil
}

func (f *fakeCluster) Can(_ context.Context, _ auth.Identity, verb string, k catalog.Kind, ns string) (bool, error) {
	return !f.refuses(verb, k, ns), nil
}

func (f *fakeCluster) Require(_ context.Context, _ auth.Identity, verb string, ref catalog.Ref) error {
	if f.refuses(verb, ref.Kind, ref.Namespace) {
		return &failure.ForbiddenError{
			Verb: verb, Resource: ref.Kind.Plural, Namespace: ref.Namespace, Name: ref.Name,
			AuditID: "review-1",
		}
	}
	return nil
}

// RequireOne allows everything with the caller's own object.
func (f *fakeCluster) RequireOne(ctx context.Context, id auth.Identity, verb string, ref catalog.Ref) error {
	if f.own != "" && ref.Name == f.own {
		return nil
	}
	return f.Require(ctx, id, verb, ref)
}

// Activity returns all events.
func (f *fakeCluster) Activity(_ context.Context, _ auth.Identity, ns string) (objects.Activity, error) {
	if f.refuses("list", catalog.Kind{Plural: "events"}, ns) {
		return objects.Activity{}, &failure.ForbiddenError{Verb: "list", Resource: "events", Namespace: ns}
	}
	return objects.Activity{Events: f.events}, nil
}

func (f *fakeCluster) Rows(_ context.Context, _ auth.Identity, k catalog.Kind, ns string) ([]*overview.Row, error) {
	f.possible(k, ns, "x")
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.refuses("list", k, ns) {
		return nil, &failure.ForbiddenError{Verb: "list", Resource: k.Plural, Namespace: ns}
	}
	var out []*overview.Row
	for _, o := range f.objects {
		if o.GetKind() != k.Name || f.refuses("list", k, o.GetNamespace()) {
			continue
		}
		if ns == "" || o.GetNamespace() == ns {
			out = append(out, overview.NewRow(k, o))
		}
	}
	return out, nil
}

func (f *fakeCluster) In(_ context.Context, _ auth.Identity, kinds catalog.Catalog, ns string) (
	map[string][]string, error,
) {
	may := map[string][]string{}
	for _, k := range kinds {
		may[k.Plural] = slices.DeleteFunc([]string{"get", "list", "create", "update", "patch", "delete"},
			func(verb string) bool { return f.refuses(verb, k, ns) })
	}
	return may, nil
}

func (f *fakeCluster) Defaults(context.Context, auth.Identity, catalog.Kind, string) (v1alpha1.TeamDefaults, error) {
	return f.begins, nil
}

func (f *fakeCluster) Offers(context.Context, auth.Identity, catalog.Kind, operatorapi.OfferQuery) (
	operator.Offers, error,
) {
	return operator.Offers{}, nil
}

func (f *fakeCluster) OwnUsers(context.Context, *unstructured.Unstructured) (can bool, why string, err error) {
	return true, "", nil
}

func (f *fakeCluster) Providers(context.Context, auth.Identity, catalog.Kind, string) ([]teams.Provider, error) {
	return f.open, nil
}

// refuses reports whether the verb is denied, for all kinds or for this one.
func (f *fakeCluster) refuses(verb string, k catalog.Kind, ns string) bool {
	return slices.Contains(f.denied, verb+" "+ns) || slices.Contains(f.denied, verb+" "+ns+" "+k.Plural)
}

// possible fails the test for names that would result in another path at the API server.
func (f *fakeCluster) possible(k catalog.Kind, ns, name string) {
	if k.Namespaced && strings.ContainsAny(ns+name, "./%\x00 ") || name == "" {
		f.t.Errorf("Kubernetes is asked for %s %q in %q", k.Plural, name, ns)
	}
}

func (f *fakeCluster) Get(_ context.Context, _ auth.Identity, ref catalog.Ref) (*unstructured.Unstructured, error) {
	f.possible(ref.Kind, ref.Namespace, ref.Name)
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, o := range f.objects {
		if o.GetKind() == ref.Kind.Name && o.GetNamespace() == ref.Namespace && o.GetName() == ref.Name {
			return o.DeepCopy(), nil
		}
	}
	return nil, apierrors.NewNotFound(ref.Kind.Resource.GroupResource(), ref.Name)
}

func (f *fakeCluster) Current(ctx context.Context, id auth.Identity, ref catalog.Ref) (
	*unstructured.Unstructured, error,
) {
	obj, err := f.Get(ctx, id, ref)
	if err == nil {
		obj.SetGeneration(obj.GetGeneration() + f.behind)
	}
	return obj, err
}

func (f *fakeCluster) Events(context.Context, auth.Identity, *unstructured.Unstructured) ([]*corev1.Event, error) {
	return f.events, nil
}

func (f *fakeCluster) History(context.Context, auth.Identity, catalog.Ref, *unstructured.Unstructured) (
	[]cluster.Version, error,
) {
	return f.versions, nil
}

func (f *fakeCluster) Checks(context.Context, auth.Identity, *unstructured.Unstructured) (operator.Checks, error) {
	return f.checks, nil
}

func (f *fakeCluster) wrote(verb string, dry bool) {
	if dry {
		verb += " dry"
	}
	f.writes = append(f.writes, verb)
}

func (f *fakeCluster) Create(_ context.Context, _ auth.Identity, _ catalog.Kind, obj *unstructured.Unstructured,
	dry bool,
) (write.Result, error) {
	if f.refusal != nil {
		return write.Result{}, f.refusal
	}
	f.wrote("create", dry)
	return write.Result{Object: obj}, nil
}

func (f *fakeCluster) Update(ctx context.Context, id auth.Identity, k catalog.Kind, obj *unstructured.Unstructured,
	etag string, dry bool,
) (write.Result, error) {
	return f.edit(ctx, id, catalog.Ref{Kind: k, Namespace: obj.GetNamespace(), Name: obj.GetName()}, etag, "update",
		obj.Object, dry)
}

func (f *fakeCluster) Patch(ctx context.Context, id auth.Identity, ref catalog.Ref, with map[string]any, etag string,
	dry bool,
) (write.Result, error) {
	return f.edit(ctx, id, ref, etag, "patch", with, dry)
}

// edit records the request's content and returns the object in the next generation.
func (f *fakeCluster) edit(ctx context.Context, id auth.Identity, ref catalog.Ref, etag, verb string,
	sent map[string]any, dry bool,
) (write.Result, error) {
	live, err := f.Get(ctx, id, ref)
	if err == nil && etag != "" && write.ETag(live) != etag {
		err = &failure.ChangedError{Resource: ref.Kind.Plural, Name: ref.Name}
	}
	if err = cmp.Or(f.refusal, err); err != nil {
		return write.Result{}, err
	}
	f.wrote(verb, dry)
	f.sent = sent
	live.SetGeneration(live.GetGeneration() + 1)
	return write.Result{Object: live, Warnings: []string{"old field"}}, nil
}

func (f *fakeCluster) Delete(_ context.Context, _ auth.Identity, ref catalog.Ref, seen write.Seen, dry bool) (
	write.Result, error,
) {
	f.possible(ref.Kind, ref.Namespace, ref.Name)
	for _, o := range f.objects {
		if o.GetName() == ref.Name && seen.ETag != "" && write.ETag(o) != seen.ETag {
			return write.Result{}, &failure.ChangedError{Resource: ref.Kind.Plural, Name: ref.Name}
		}
	}
	f.wrote("delete", dry)
	return write.Result{Warnings: []string{`"archive" is still bound`}}, nil
}

// anybody accepts every token.
type anybody struct{}

func (anybody) IssuesTokens(context.Context, string) (bool, error) { return true, nil }

func (anybody) VerifyToken(context.Context, string, string, []string) (string, error) {
	return "payments", nil
}

func (anybody) ReviewToken(context.Context, string, []string) (auth.Identity, error) {
	return auth.Identity{Username: "system:serviceaccount:payments:ci", ServiceAccount: true}, nil
}

// call sends one request to the API over f; body is JSON, "" for none. headers are pairs.
func (f *fakeCluster) call(method, path, body string, headers ...string) *httptest.ResponseRecorder {
	f.t.Helper()
	r := httptest.NewRequestWithContext(f.t.Context(), method, path, strings.NewReader(body))
	r.Header.Set("Authorization", token())
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	f.serve().ServeHTTP(w, r)
	return w
}

func token() string {
	part := base64.RawURLEncoding.EncodeToString
	return "Bearer " + part([]byte(`{}`)) + "." + part([]byte(`{"iss":"https://kubernetes.default.svc"}`)) + ".x"
}

func (f *fakeCluster) serve() http.Handler {
	f.t.Helper()
	if f.handler != nil {
		return f.handler
	}
	provider, err := auth.NewProvider(auth.Config{
		IssuerURL: "https://i.example", ClientID: "c", PublicURL: "https://p.example",
		UsernameClaim: "u", GroupsClaim: "g", Prefix: "p:", Audiences: []string{"a"},
	}, nowZero)
	if err != nil {
		f.t.Fatal(err)
	}
	h, err := New(f.parts(), auth.NewBearer(provider, anybody{}, nil, fixedClock{}, slog.New(slog.DiscardHandler)),
		f.limiter,
		slog.New(slog.DiscardHandler))
	if err != nil {
		f.t.Fatal(err)
	}
	f.handler = h
	return h
}

// location returns the location of the first error in a problem document.
func location(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	var p struct {
		Errors []struct{ Location string }
	}
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
		t.Fatalf("%v in %s", err, w.Body)
	}
	if len(p.Errors) == 0 {
		return ""
	}
	return p.Errors[0].Location
}

func bucket(t *testing.T, namespace, name, more string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	text := `{"apiVersion":"portico.dev/v1alpha1","kind":"S3Bucket","metadata":{"name":"` + name + `","namespace":"` +
		namespace +
		`","uid":"u","generation":3` + more + `},"spec":{}}`
	if err := o.UnmarshalJSON([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return o
}

const buckets = "/namespaces/payments/s3buckets"

func wantProblem(t *testing.T, w *httptest.ResponseRecorder, status int) {
	t.Helper()
	if w.Code != status || w.Header().Get("Content-Type") != "application/problem+json" {
		t.Errorf("answers %d as %s, want %d as a problem document: %s", w.Code, w.Header().Get("Content-Type"), status,
			w.Body)
	}
}
