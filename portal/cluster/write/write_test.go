package write

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster/clustertest"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/kubetest"
	"github.com/portico-platform/portico/portal/cluster/objects"
	"github.com/portico-platform/portico/portal/cluster/rights"
)

func TestAnnotateSendsAnnotationsOnly(t *testing.T) {
	_, a, _ := clustertest.NewRights()
	w, s := clustertest.NewImpersonator(t, a)
	c := New(a, objects.New(a, nil, s.Reader(t)), w, nil)
	yes := "true"
	obj, err := c.Annotate(t.Context(), kubetest.Dev, clustertest.Bucket(t),
		map[string]*string{"portico.dev/paused": &yes, "portico.dev/gone": nil})
	if err != nil || obj.GetKind() != "S3Bucket" {
		t.Fatalf("%v, %v", obj, err)
	}
	r := s.Seen[0]
	if r.Method != "PATCH" || r.Header.Get("Content-Type") != "application/merge-patch+json" {
		t.Errorf("%s %s %v", r.Method, r.URL, r.Header)
	}
	if r.Header.Get("Impersonate-User") != kubetest.Dev.Username || r.URL.Path != "/apis/portico.dev/v1alpha1/namespaces/payments/s3buckets/logs" {
		t.Errorf("%s %s %v", r.Method, r.URL, r.Header)
	}
	if got, want := s.Bodies[0],
		`{"metadata":{"annotations":{"portico.dev/gone":null,"portico.dev/paused":"true"}}}`; got != want {
		t.Errorf("sent %s, want %s", got, want)
	}
}

func TestAnnotateRefusesUnasked(t *testing.T) {
	j, a, _ := clustertest.NewRights()
	w, s := clustertest.NewImpersonator(t, a)
	c := New(a, objects.New(a, nil, s.Reader(t)), w, nil)
	yes := "true"
	for _, name := range []string{"", "..", "a/b", "a/status", "Logs", "a%2fb"} {
		ref := clustertest.Bucket(t)
		ref.Name = name
		var forbidden *failure.ForbiddenError
		if _, err := c.Annotate(t.Context(), kubetest.Dev, ref,
			map[string]*string{"portico.dev/paused": &yes}); !errors.As(
			err, &forbidden) {
			t.Errorf("name %q: %v", name, err)
		}
	}
	for _, key := range []string{"", "a b", "a/b/c", v1alpha1.AnnotationRequestedBy} {
		if _, err := c.Annotate(t.Context(), kubetest.Dev, clustertest.Bucket(t),
			map[string]*string{key: &yes}); err == nil {
			t.Errorf("annotation %q is taken", key)
		}
	}
	if len(s.Seen)+j.Count() != 0 {
		t.Errorf("%d requests, %d reviews", len(s.Seen), j.Count())
	}
}

func TestScaleSendsTheNumberOnly(t *testing.T) {
	_, a, _ := clustertest.NewRights()
	w, s := clustertest.NewImpersonator(t, a)
	if _, err := New(a, objects.New(a, nil, s.Reader(t)), w, nil).Scale(
		t.Context(), kubetest.Dev, clustertest.Bucket(t), 3); err != nil {
		t.Fatal(err)
	}
	if s.Bodies[0] != `{"spec":{"replicas":3}}` || s.Seen[0].Method != http.MethodPatch ||
		s.Seen[0].Header.Get("Impersonate-User") != kubetest.Dev.Username {
		t.Errorf("%s %s %v", s.Seen[0].Method, s.Bodies[0], s.Seen[0].Header)
	}
}

// TestReadsAreThePortalsOwn: no admission policy sees reads, so they are not impersonated.
func TestReadsAreThePortalsOwn(t *testing.T) {
	j, a, _ := clustertest.NewRights()
	allowed := true
	j.Allow = func(authorizationv1.SubjectAccessReviewSpec) bool { return allowed }
	w, s := clustertest.NewImpersonator(t, a)
	from := objects.New(a, nil, s.Reader(t))
	c, ref := New(a, from, w, nil), clustertest.Bucket(t)
	s.Answer = (&stands{APIServer: s, uid: "u", generation: 1, version: 1}).answers
	if _, err := from.Current(t.Context(), kubetest.Dev, ref); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Update(t.Context(), kubetest.Dev, ref.Kind, objectOf(ref), "", true); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"GET own", "GET own", "PUT oidc:dev"} {
		r := s.Seen[i]
		who := r.Header.Get("Impersonate-User")
		if who == "" {
			who = strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		}
		if got := r.Method + " " + who; got != want {
			t.Errorf("request %d: %s, want %s", i, got, want)
		}
	}
	s.Answer = func(w http.ResponseWriter) {
		kubetest.Reply(w, 403, metav1.Status{Status: "Failure", Code: 403, Reason: metav1.StatusReasonForbidden})
	}
	var unavailable *failure.UnavailableError
	if _, err := from.Current(t.Context(), kubetest.Dev, ref); !errors.As(err, &unavailable) ||
		apierrors.IsForbidden(err) {
		t.Errorf("a refusal of the portal's own reading looks like the caller's: %v", err)
	}
	allowed = false
	a.Forget(kubetest.Dev, rights.To("get", ref.Kind, ref.Namespace))
	before := len(s.Seen)
	var forbidden *failure.ForbiddenError
	if _, err := c.Update(t.Context(), kubetest.Dev, ref.Kind, objectOf(ref), "", true); !errors.As(err, &forbidden) ||
		forbidden.Verb != "get" || len(s.Seen) != before {
		t.Errorf("who may update but not get: %v after %d requests", err, len(s.Seen)-before)
	}
}

func objectOf(ref catalog.Ref) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{
		Object: map[string]any{"spec": map[string]any{"providerRef": map[string]any{"name": "a"}}},
	}
	obj.SetNamespace(ref.Namespace)
	obj.SetName(ref.Name)
	return obj
}
