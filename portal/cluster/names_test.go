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

// TestKeysComeFromTheRecordOfWriters: what is asked for is metadata, and with it no value can come.
func TestKeysComeFromTheRecordOfWriters(t *testing.T) {
	j, a, _ := newJudge(t)
	allowed := true
	j.allow = func(authorizationv1.SubjectAccessReviewSpec) bool { return allowed }
	w, s, _ := newTestWriter(t)
	fields := func(f map[string]any) map[string]any { return map[string]any{"fieldsType": "FieldsV1", "fieldsV1": f} }
	none := map[string]any{}
	s.answer = func(w http.ResponseWriter) {
		reply(w, http.StatusOK, map[string]any{"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "metadata": none, "items": []any{
			map[string]any{"metadata": map[string]any{"name": "db", "managedFields": []any{
				fields(map[string]any{"f:data": map[string]any{".": none, "f:username": none, "f:password": none}, "f:type": none}),
				fields(map[string]any{"f:stringData": map[string]any{"f:password": none, "f:tls.crt": none}}),
				fields(map[string]any{"f:metadata": map[string]any{"f:labels": none}}),
				map[string]any{"manager": "old"},
			}}},
		}})
	}
	cl := &Cluster{access: a, writer: w}
	keys, err := cl.Keys(t.Context(), dev, "payments", "secrets", "db")
	if err != nil || fmt.Sprint(keys) != "[password tls.crt username]" {
		t.Fatalf("%v, %v", keys, err)
	}
	r := s.seen[len(s.seen)-1]
	if got := r.URL.Query().Get("fieldSelector"); got != "metadata.name=db" {
		t.Errorf("asked for %q", got)
	}
	if got := r.Header.Get("Accept"); got != onlyMetadata {
		t.Errorf("asked for %q, which is more than metadata", got)
	}
	before := len(s.seen)
	for resource, name := range map[string]string{"pods": "db", "secrets": "db,metadata.namespace!=payments", "configmaps": ""} {
		if _, err := cl.Keys(t.Context(), dev, "payments", resource, name); err == nil {
			t.Errorf("keys of %s %q are told", resource, name)
		}
	}
	allowed = false
	_, err = cl.Keys(t.Context(), dev, "payments", "configmaps", "db")
	if forbidden := (*ForbiddenError)(nil); !errors.As(err, &forbidden) || len(s.seen) != before {
		t.Errorf("without the right: %v after %d requests", err, len(s.seen)-before)
	}
}
