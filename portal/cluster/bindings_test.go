package cluster

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/catalog/catalogtest"
	"github.com/portico-platform/portico/portal/overview"
)

// TestBindingsAreThoseOfKindsThatTheCallerMayList: and only those that the status publishes.
func TestBindingsAreThoseOfKindsThatTheCallerMayList(t *testing.T) {
	kinds := catalogtest.Kinds(t)
	j, a, _ := newJudge(t)
	may := map[string]bool{"s3buckets": true, "sqsqueues": true, "webapps": true}
	j.allow = func(r authorizationv1.SubjectAccessReviewSpec) bool {
		return r.ResourceAttributes.Namespace == "payments" && r.ResourceAttributes.Verb == "list" &&
			may[r.ResourceAttributes.Resource]
	}
	c := &Cluster{kinds: kinds, access: a, overview: overview.NewStore()}
	add := func(kind, namespace, name string, binding map[string]any) {
		k, _ := kinds.ByName(kind)
		obj := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"binding": binding}}}
		obj.SetNamespace(namespace)
		obj.SetName(name)
		c.overview.Put(k, obj)
	}
	add("S3Bucket", "payments", "logs", map[string]any{"name": "logs-s3", "keys": []any{"bucket", "region"}})
	add("S3Bucket", "search", "theirs", map[string]any{"name": "theirs-s3", "keys": []any{"bucket"}})
	add("SQSQueue", "payments", "jobs", nil)
	add("RDSInstance", "payments", "db", map[string]any{"name": "db-rds", "keys": []any{"password"}})
	for namespace, want := range map[string]string{"payments": "map[logs-s3:[bucket region]]", "search": "map[]"} {
		got, err := c.Bindings(t.Context(), dev, namespace)
		if err != nil || fmt.Sprint(got) != want {
			t.Errorf("%s: %v, %v; want %s", namespace, got, err, want)
		}
	}
	j.err = errors.New("down")
	for _, k := range kinds {
		a.forget(dev, RightTo("list", k, "payments"))
	}
	if _, err := c.Bindings(t.Context(), dev, "payments"); err == nil {
		t.Error("an API server that does not answer is taken for none to choose from")
	}
}

// TestReadsAreThePortalsOwn: no admission policy sees reads, so they are not impersonated.
func TestReadsAreThePortalsOwn(t *testing.T) {
	j, a, _ := newJudge(t)
	allowed := true
	j.allow = func(authorizationv1.SubjectAccessReviewSpec) bool { return allowed }
	w, s, _ := newTestImpersonator(t)
	c := &Cluster{access: a, reader: s.reader(t), impersonator: w}
	ref := bucketRef(t)
	s.answer = (&stands{apiserver: s, uid: "u", generation: 1, version: 1}).answers
	if _, err := c.Current(t.Context(), dev, ref); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Update(t.Context(), dev, ref.Kind, objectOf(ref), "", true); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"GET own", "GET own", "PUT oidc:dev"} {
		r := s.seen[i]
		who := r.Header.Get("Impersonate-User")
		if who == "" {
			who = strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		}
		if got := r.Method + " " + who; got != want {
			t.Errorf("request %d: %s, want %s", i, got, want)
		}
	}
	s.answer = func(w http.ResponseWriter) {
		reply(w, 403, metav1.Status{Status: "Failure", Code: 403, Reason: metav1.StatusReasonForbidden})
	}
	var unavailable *UnavailableError
	if _, err := c.Current(t.Context(), dev, ref); !errors.As(err, &unavailable) || apierrors.IsForbidden(err) {
		t.Errorf("a refusal of the portal's own reading looks like the caller's: %v", err)
	}
	allowed = false
	a.forget(dev, RightTo("get", ref.Kind, ref.Namespace))
	before := len(s.seen)
	var forbidden *ForbiddenError
	if _, err := c.Update(t.Context(), dev, ref.Kind, objectOf(ref), "", true); !errors.As(err, &forbidden) ||
		forbidden.Verb != "get" || len(s.seen) != before {
		t.Errorf("who may update but not get: %v after %d requests", err, len(s.seen)-before)
	}
}

func objectOf(ref Ref) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{
		Object: map[string]any{"spec": map[string]any{"providerRef": map[string]any{"name": "a"}}},
	}
	obj.SetNamespace(ref.Namespace)
	obj.SetName(ref.Name)
	return obj
}
