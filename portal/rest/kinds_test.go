package rest

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// TestClientsReadTheKinds checks that clients get every kind, the same answer again only if it has changed, and the
// schema of one kind at a time.
func TestClientsReadTheKinds(t *testing.T) {
	f := newFake(t)
	w := f.call("GET", "/kinds", "")
	var all struct {
		Revision string
		Items    []kindDefinition
	}
	if err := json.Unmarshal(w.Body.Bytes(), &all); err != nil || w.Code != http.StatusOK {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	tag := w.Header().Get("ETag")
	if tag != `"`+all.Revision+`"` || len(all.Items) != len(f.Kinds) {
		t.Errorf("ETag %s, revision %s, %d kinds of %d", tag, all.Revision, len(all.Items), len(f.Kinds))
	}
	for _, known := range []string{tag, "W/" + tag, strings.TrimSuffix(tag, `"`) + `-gzip"`} {
		w := f.call("GET", "/kinds", "", "If-None-Match", known)
		if w.Code != http.StatusNotModified || w.Body.Len() != 0 {
			t.Errorf("with If-None-Match: %s: %d %s", known, w.Code, w.Body)
		}
	}
	if w := f.call("GET", "/kinds", "", "If-None-Match", `"other"`); w.Code != http.StatusOK || w.Body.Len() == 0 {
		t.Errorf("with another ETag: %d", w.Code)
	}
	var one kindDefinition
	w = f.call("GET", "/kinds/s3buckets", "")
	if err := json.Unmarshal(w.Body.Bytes(), &one); err != nil || w.Code != http.StatusOK {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	for _, listed := range all.Items {
		if listed.Resource == one.Resource && listed.Revision != one.Revision {
			t.Errorf("the list has revision %s, and the kind %s", listed.Revision, one.Revision)
		}
	}
	if len(w.Body.Bytes()) < 10_000 {
		t.Errorf("the schema is not in %s", w.Body)
	}
	wantProblem(t, f.call("GET", "/kinds/nothings", ""), 404)
}
