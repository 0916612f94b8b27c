package cluster

import (
	"errors"
	"slices"
	"testing"

	"github.com/portico-platform/portico/api/v1alpha1"
)

func TestAnnotateSendsAnnotationsOnly(t *testing.T) {
	_, a, _ := newJudge(t)
	w, s, _ := newTestImpersonator(t)
	c := &Cluster{access: a, reader: s.reader(t), impersonator: w}
	yes := "true"
	obj, err := c.Annotate(t.Context(), dev, bucketRef(t),
		map[string]*string{"portico.dev/paused": &yes, "portico.dev/gone": nil})
	if err != nil || obj.GetKind() != "S3Bucket" {
		t.Fatalf("%v, %v", obj, err)
	}
	r := s.seen[0]
	sent := []string{r.Method, r.URL.Path, r.Header.Get("Content-Type"), r.Header.Get("Impersonate-User")}
	if want := []string{
		"PATCH", "/apis/portico.dev/v1alpha1/namespaces/payments/s3buckets/logs", "application/merge-patch+json",
		dev.Username,
	}; !slices.Equal(sent, want) {
		t.Errorf("method, path, Content-Type, Impersonate-User = %q, want %q", sent, want)
	}
	if got, want := s.bodies[0],
		`{"metadata":{"annotations":{"portico.dev/gone":null,"portico.dev/paused":"true"}}}`; got != want {
		t.Errorf("sent %s, want %s", got, want)
	}
}

func TestAnnotateRefusesUnasked(t *testing.T) {
	j, a, _ := newJudge(t)
	w, s, _ := newTestImpersonator(t)
	c := &Cluster{access: a, reader: s.reader(t), impersonator: w}
	yes := "true"
	for _, name := range []string{"", "..", "a/b", "a/status", "Logs", "a%2fb"} {
		ref := bucketRef(t)
		ref.Name = name
		var forbidden *ForbiddenError
		if _, err := c.Annotate(t.Context(), dev, ref, map[string]*string{"portico.dev/paused": &yes}); !errors.As(
			err, &forbidden) {
			t.Errorf("name %q: %v", name, err)
		}
	}
	for _, key := range []string{"", "a b", "a/b/c", v1alpha1.AnnotationRequestedBy} {
		if _, err := c.Annotate(t.Context(), dev, bucketRef(t), map[string]*string{key: &yes}); err == nil {
			t.Errorf("annotation %q is taken", key)
		}
	}
	if len(s.seen)+j.count() != 0 {
		t.Errorf("%d requests, %d reviews", len(s.seen), j.count())
	}
}
