package cluster

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
)

// TestNamesAreReadAsTheCallerAndWithoutWhatTheyName: what is asked for is metadata, which the API server cuts out.
func TestNamesAreReadAsTheCallerAndWithoutWhatTheyName(t *testing.T) {
	j, a, _ := newJudge(t)
	allowed := true
	j.allow = func(authorizationv1.SubjectAccessReviewSpec) bool { return allowed }
	w, s, _ := newTestWriter(t)
	s.answer = func(w http.ResponseWriter) {
		reply(w, http.StatusOK, map[string]any{"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "metadata": map[string]any{}, "items": []any{
			map[string]any{"metadata": map[string]any{"name": "tls"}}, map[string]any{"metadata": map[string]any{"name": "db"}},
		}})
	}
	cl := &Cluster{access: a, writer: w}
	names, err := cl.Names(t.Context(), dev, "payments", "secrets")
	if err != nil || fmt.Sprint(names) != "[db tls]" {
		t.Fatalf("%v, %v", names, err)
	}
	r := s.seen[len(s.seen)-1]
	if got := r.Header.Get("Impersonate-User"); got != dev.Username {
		t.Errorf("asked as %q", got)
	}
	for accept := range strings.SplitSeq(r.Header.Get("Accept"), ",") {
		if !strings.Contains(accept, "as=PartialObjectMetadataList") {
			t.Errorf("asked for %q, which is more than metadata", accept)
		}
	}
	before := len(s.seen)
	if _, err := cl.Names(t.Context(), dev, "payments", "pods"); err == nil {
		t.Error("names of anything are told")
	}
	allowed = false
	_, err = cl.Names(t.Context(), dev, "payments", "configmaps")
	if forbidden := (*ForbiddenError)(nil); !errors.As(err, &forbidden) || len(s.seen) != before {
		t.Errorf("without the right: %v after %d requests", err, len(s.seen)-before)
	}
}
