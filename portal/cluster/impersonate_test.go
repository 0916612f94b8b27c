package cluster

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog/catalogtest"
)

var impersonatorAccount = types.NamespacedName{Namespace: "portico-system", Name: "portico-impersonator"}

// apiserver records its requests.
type apiserver struct {
	mu      sync.Mutex
	seen    []*http.Request
	bodies  []string
	answer  func(w http.ResponseWriter)
	minted  int
	mintErr error
	url     string
}

// reader returns a client with the portal's own identity.
func (s *apiserver) reader(t *testing.T) dynamic.Interface {
	t.Helper()
	c, err := dynamic.NewForConfig(&rest.Config{Host: s.url, BearerToken: "own"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func newTestImpersonator(t *testing.T) (*impersonator, *apiserver, *clocktesting.FakePassiveClock) {
	t.Helper()
	s := &apiserver{answer: func(w http.ResponseWriter) {
		reply(w, http.StatusOK, map[string]any{"kind": "S3Bucket", "apiVersion": "portico.dev/v1alpha1"})
	}}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		body, _ := io.ReadAll(r.Body)
		s.seen, s.bodies = append(s.seen, r), append(s.bodies, string(body))
		w.Header().Set("Audit-Id", "audit-"+r.Method)
		s.answer(w)
	}))
	t.Cleanup(srv.Close)
	s.url = srv.URL
	clock := clocktesting.NewFakePassiveClock(time.Now())
	client := fake.NewClientset()
	client.PrependReactor("create", "serviceaccounts/token", func(a clienttesting.Action) (
		bool, runtime.Object, error,
	) {
		s.minted++
		seconds := *a.(clienttesting.CreateAction).GetObject().(*authenticationv1.TokenRequest).Spec.ExpirationSeconds
		return true, &authenticationv1.TokenRequest{Status: authenticationv1.TokenRequestStatus{
			Token: "token-" + string(rune('0'+s.minted)), ExpirationTimestamp: metav1.NewTime(
				clock.Now().Add(time.Duration(seconds) * time.Second)),
		}}, s.mintErr
	})
	// The portal's own credentials must not be sent with users' requests.
	w, err := newImpersonator(&rest.Config{Host: srv.URL, BearerToken: "own", Username: "own", Password: "own"}, client,
		impersonatorAccount, clock)
	if err != nil {
		t.Fatal(err)
	}
	return w, s, clock
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func bucketRef(t *testing.T) Ref {
	t.Helper()
	kinds := catalogtest.Kinds(t)
	k, _ := kinds.ByPlural("s3buckets")
	return Ref{Kind: k, Namespace: "payments", Name: "logs"}
}

func TestWriterActsAsTheCaller(t *testing.T) {
	w, s, clock := newTestImpersonator(t)
	get := func(id auth.Identity) error {
		t.Helper()
		c, _, err := w.clientFor(id)
		if err != nil {
			t.Fatal(err)
		}
		_, err = in(c, bucketRef(t)).Get(t.Context(), "logs", metav1.GetOptions{})
		return err
	}
	if err := get(dev); err != nil {
		t.Fatal(err)
	}
	h := s.seen[0].Header
	if h.Get("Impersonate-User") != "oidc:dev" || !slices.Equal(h.Values("Impersonate-Group"), dev.Groups) ||
		h.Get("Authorization") != "Bearer token-1" {
		t.Errorf("headers %v", h)
	}
	if err := get(auth.Identity{
		Username: "system:serviceaccount:ci:bot", Groups: []string{"system:serviceaccounts"},
		ServiceAccount: true,
	}); err != nil {
		t.Fatal(err)
	}
	h = s.seen[1].Header
	if h.Get("Impersonate-User") != "system:serviceaccount:ci:bot" || len(h.Values("Impersonate-Group")) != 0 {
		t.Errorf("headers %v", h)
	}
	if s.minted != 1 {
		t.Errorf("minted %d tokens", s.minted)
	}
	clock.SetTime(clock.Now().Add(8*time.Minute + time.Second))
	_ = get(dev)
	if got := s.seen[2].Header.Get("Authorization"); got != "Bearer token-2" {
		t.Errorf("two minutes before its end: %q", got)
	}
	s.answer = func(w http.ResponseWriter) {
		reply(w, 401, metav1.Status{Status: "Failure", Code: 401, Reason: "Unauthorized"})
	}
	if err := get(dev); !apierrors.IsUnauthorized(err) {
		t.Fatal(err)
	}
	_ = get(dev)
	if got := s.seen[4].Header.Get("Authorization"); got != "Bearer token-3" {
		t.Errorf("after the token was refused: %q", got)
	}
}

func TestWriterSendsNothingWithoutAToken(t *testing.T) {
	w, s, _ := newTestImpersonator(t)
	s.mintErr = apierrors.NewForbidden(schema.GroupResource{Resource: "serviceaccounts"}, "x", errors.New("no"))
	c, _, err := w.clientFor(dev)
	if err != nil {
		t.Fatal(err)
	}
	_, err = in(c, bucketRef(t)).Get(t.Context(), "logs", metav1.GetOptions{})
	if err == nil || apierrors.IsForbidden(err) || len(s.seen) != 0 {
		t.Errorf("%v after %d requests: our own refusal must not look like the caller's", err, len(s.seen))
	}
}

func TestWriterRefusesIdentities(t *testing.T) {
	w, s, _ := newTestImpersonator(t)
	for _, id := range []auth.Identity{
		{},
		{Groups: []string{"oidc:a"}},
		{Username: "system:admin"},
		{Username: "a", Groups: []string{"system:masters"}},
	} {
		if c, _, err := w.clientFor(id); err == nil || c != nil {
			t.Errorf("%+v: %v", id, err)
		}
	}
	if s.minted+len(s.seen) != 0 {
		t.Error("something was sent")
	}
}

func TestWarningsAreCollected(t *testing.T) {
	w, s, _ := newTestImpersonator(t)
	s.answer = func(w http.ResponseWriter) {
		w.Header().Add("Warning", `299 - "old field"`)
		reply(w, http.StatusOK, map[string]any{"kind": "S3Bucket", "apiVersion": "portico.dev/v1alpha1"})
	}
	c, heard, err := w.clientFor(dev)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := in(c, bucketRef(t)).Get(t.Context(), "logs", metav1.GetOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := heard.all(); !slices.Equal(got, []string{"old field"}) {
		t.Errorf("warnings %v", got)
	}
}

func TestExplain(t *testing.T) {
	j, a, _ := newJudge(t)
	w, s, _ := newTestImpersonator(t)
	c := &Cluster{access: a, reader: s.reader(t), impersonator: w}
	resource := schema.GroupResource{Group: "portico.dev", Resource: "s3buckets"}
	refusal := apierrors.NewForbidden(resource, "x", errors.New("exceeded quota: buckets"))
	if err := c.explain(t.Context(), dev, listing, refusal); !apierrors.IsForbidden(err) ||
		!strings.Contains(err.Error(), "exceeded quota") {
		t.Errorf("a quota: %v", err)
	}
	j.allow = func(_ authorizationv1.SubjectAccessReviewSpec) bool { return false }
	var forbidden *ForbiddenError
	if err := c.explain(t.Context(), dev, listing, refusal); !errors.As(err, &forbidden) {
		t.Errorf("no right: %v", err)
	}
	var unavailable *UnavailableError
	ours := apierrors.NewForbidden(
		resource, "x", errors.New(
			`User "system:serviceaccount:portico-system:portico-impersonator" cannot impersonate-on:user-info:create resource`))
	for reason, err := range map[string]error{"impersonation refused": ours, "token refused": apierrors.NewUnauthorized(
		"no"), "no connection": errors.New("dial")} {
		if err := c.explain(t.Context(), dev, listing, err); !errors.As(err, &unavailable) ||
			apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) {
			t.Errorf("%s: %v", reason, err)
		}
	}
	tool := auth.Identity{Username: "system:serviceaccount:payments:ci", ServiceAccount: true}
	outside := apierrors.NewForbidden(schema.GroupResource{Group: "authentication.k8s.io", Resource: "serviceaccounts"},
		"ci", errors.New("no"))
	var refusesServiceAccount *ToolError
	if err := c.explain(t.Context(), tool, listing, outside); !errors.As(err, &refusesServiceAccount) ||
		refusesServiceAccount.Namespace != "payments" || outcomeOf(err) != auth.Forbidden {
		t.Errorf("a ServiceAccount that nobody let in: %v", err)
	}
	if err := c.explain(t.Context(), tool, listing, ours); !errors.As(err, &unavailable) {
		t.Errorf("what the impersonator lacks for ServiceAccounts: %v", err)
	}
	if err := c.explain(t.Context(), dev, listing, &ChangedError{}); errors.As(err, &unavailable) {
		t.Error(err)
	}
	if err := c.explain(t.Context(), dev, listing, apierrors.NewAlreadyExists(
		resource, "x")); !apierrors.IsAlreadyExists(err) {
		t.Error(err)
	}
}

func TestMergedKeepsWhatUsersDoNotWrite(t *testing.T) {
	live := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{
			"name": "x", "uid": "u", "resourceVersion": "7", "finalizers": []any{"f"},
			"annotations": map[string]any{v1alpha1.AnnotationRequestedBy: "me", lastApplied: "{}", "gone": "1"},
			"labels":      map[string]any{"gone": "1"},
		},
		"spec": map[string]any{"a": "1"}, "status": map[string]any{"ready": true},
	}}
	wanted := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{
			"name": "x", "annotations": map[string]any{v1alpha1.AnnotationRequestedBy: "forged", "mine": "1"},
		},
		"spec":   map[string]any{"a": "2"},
		"status": map[string]any{"ready": false},
	}}
	got := withUsersPart(live, wanted)
	for key, want := range map[string]string{
		v1alpha1.AnnotationRequestedBy: "me", lastApplied: "{}", "mine": "1", "gone": "",
	} {
		if value := got.GetAnnotations()[key]; value != want {
			t.Errorf("annotation %s = %q, want %q", key, value, want)
		}
	}
	if got.GetResourceVersion() != "7" || len(got.GetFinalizers()) != 1 || len(got.GetLabels()) != 0 {
		t.Errorf("metadata %v", got.Object["metadata"])
	}
	if ready, _, _ := unstructured.NestedBool(got.Object, "status", "ready"); !ready ||
		got.Object["spec"].(map[string]any)["a"] != "2" {
		t.Errorf("%v", got.Object)
	}
}
