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

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/availability"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/feed"
	"github.com/portico-platform/portico/portal/cluster/kubetest"
	"github.com/portico-platform/portico/portal/cluster/readingtest"
	"github.com/portico-platform/portico/portal/cluster/teams"
	"github.com/portico-platform/portico/portal/cluster/write"
	"github.com/portico-platform/portico/portal/limit"
	"github.com/portico-platform/portico/portal/operator"
)

// fakeCluster is an in-memory cluster for one caller, who can do everything except what denied lists, as "verb
// namespace" or "verb namespace kind". It decides and reads as a real one.
type fakeCluster struct {
	*readingtest.Reading
	t        *testing.T
	objects  []*unstructured.Unstructured
	events   []*corev1.Event
	denied   []string
	writes   []string // verbs, and whether they are dry runs
	sent     map[string]any
	refusal  error // of every write
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
	mu sync.Mutex // of objects
	unused
	limiter *limit.Limiter
	handler http.Handler // created by the first call
}

func newFake(t *testing.T) *fakeCluster {
	t.Helper()
	f := &fakeCluster{t: t, Reading: readingtest.New(t, &kubetest.Spaces{
		Names:  []string{"default", "payments", "portico-gateways", "search", "theirs"},
		Labels: map[string]map[string]string{"payments": {v1alpha1.LabelTeam: "payments"}},
	})}
	f.Judge.AuditID = "review-1"
	return f
}

// show lets callers see the fake's objects and events, and what is denied.
func (f *fakeCluster) show() {
	f.mu.Lock()
	defer f.mu.Unlock()
	denied, own := slices.Clone(f.denied), f.own
	f.Judge.Change(func(asked authorizationv1.SubjectAccessReviewSpec) bool {
		at := asked.ResourceAttributes
		right := at.Verb + " " + at.Namespace
		return own != "" && at.Name == own ||
			!slices.Contains(denied, right) && !slices.Contains(denied, right+" "+at.Resource)
	}, nil)
	f.Spaces.Change(func() { f.Spaces.Events = f.events })
	f.Show(f.objects)
}

// unused are the methods that the API does not call.
type unused struct {
	unusedTeams
	unusedHostnames
	unusedWriter
	unusedPeople
	unusedOperator
	unusedSessions
}

type (
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
		Kinds: catalog.NewLive(f.Kinds), Rights: f.Rights, Objects: f.Objects, Teams: f, Hostnames: f, Write: f,
		Pods: fakePods{running: &f.running}, People: f, Operator: f, Sessions: f, Changes: f.Feed.Changes,
	}
}

// tell publishes changes; with lost, more than a subscriber keeps.
func (f *fakeCluster) tell(lost bool, changes ...feed.Change) {
	f.show()
	for _, c := range changes {
		f.Feed.Changes.Publish(c)
	}
	for n := range 1001 {
		if lost {
			f.Feed.Changes.Publish(feed.Change{Name: strconv.Itoa(n)})
		}
	}
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

// possible fails the test for names that would result in another path at the API server.
func (f *fakeCluster) possible(k catalog.Kind, ns, name string) {
	if k.Namespaced && strings.ContainsAny(ns+name, "./%\x00 ") || name == "" {
		f.t.Errorf("Kubernetes is asked for %s %q in %q", k.Plural, name, ns)
	}
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
	live, err := f.Objects.Current(ctx, id, ref)
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
	h := New(f.parts(), auth.NewBearer(provider, anybody{}, nil, fixedClock{}, slog.New(slog.DiscardHandler)),
		f.limiter,
		slog.New(slog.DiscardHandler))
	f.handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.show()
		h.ServeHTTP(w, r)
	})
	return f.handler
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
