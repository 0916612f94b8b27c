package rest

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/portico-platform/portico/portal/cluster"
)

func TestTheHistoryOfAnObjectIsListed(t *testing.T) {
	f := newFake(t)
	f.objects = append(f.objects, bucket(t, "payments", "logs", ""))
	if w := f.call("GET", buckets+"/logs/history", ""); w.Code != http.StatusOK ||
		strings.TrimSpace(w.Body.String()) != `{"items":[]}` {
		t.Errorf("without one: %d %s", w.Code, w.Body)
	}
	f.versions = []cluster.Version{
		{Generation: 4, At: time.Unix(60, 0), Spec: map[string]any{"versioning": "Enabled", "tags": map[string]any{"a": "b"}}},
		{Generation: 2, By: "oidc:jane", With: "kubectl-edit", At: time.Unix(1, 0), Spec: map[string]any{"versioning": "Suspended", "tags": map[string]any{"a": "b"}}},
	}
	const want = `{"items":[{"generation":4,"time":"1970-01-01T00:01:00Z","changed":["/spec/versioning"],"spec":{"tags":{"a":"b"},"versioning":"Enabled"}},` +
		`{"generation":2,"time":"1970-01-01T00:00:01Z","changedBy":"oidc:jane","changedWith":"kubectl-edit","changed":[],"spec":{"tags":{"a":"b"},"versioning":"Suspended"}}]}`
	if w := f.call("GET", buckets+"/logs/history", ""); w.Code != http.StatusOK ||
		strings.TrimSpace(w.Body.String()) != want {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	wantProblem(t, f.call("GET", buckets+"/none/history", ""), http.StatusNotFound)
	f.denied = []string{"get payments"}
	wantProblem(t, f.call("GET", buckets+"/logs/history", ""), http.StatusForbidden)
	wantProblem(t, f.call("GET", buckets+"/none/history", ""), http.StatusForbidden)
}
