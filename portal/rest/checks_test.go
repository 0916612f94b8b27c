package rest

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/portal/operator"
)

func TestChecks(t *testing.T) {
	f := newFake(t)
	f.objects = append(f.objects, bucket(t, "payments", "logs", ""))
	for name, c := range map[string]struct {
		known operator.Checks
		want  string
	}{
		"nobody answers": {operator.Checks{State: operator.Unknown}, `{"state":"unknown"}`},
		"not yet":        {operator.Checks{State: operator.Unchecked}, `{"state":"unchecked"}`},
		"checked": {
			operator.Checks{State: operator.Checked, Resource: operatorapi.Resource{
				Record: operatorapi.Record{
					Kind: "S3Bucket", Namespace: "payments", Name: "logs", UID: "u",
					LastChecked: time.Unix(60, 0).UTC(),
					Reason:      "InSync", Message: "ok", Passes: 2,
					LastPlan: &operatorapi.Plan{At: time.Unix(1, 0).UTC(), Actions: []operatorapi.Action{
						{Call: "CreateBucket", Why: "bucket logs"},
					}},
				},
				Live: map[string]string{"messages": "3"},
			}},
			`{"state":"checked","lastChecked":"1970-01-01T00:01:00Z","reason":"InSync","message":"ok","lastPlan":{"at":"1970-01-01T00:00:01Z",` +
				`"steps":[{"call":"CreateBucket","why":"bucket logs"}]},"passes":2,"live":{"messages":"3"}}`,
		},
	} {
		f.checks = c.known
		if w := f.call("GET", buckets+"/logs/checks", ""); w.Code != 200 ||
			strings.TrimSpace(w.Body.String()) != c.want {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
	wantProblem(t, f.call("GET", buckets+"/none/checks", ""), http.StatusNotFound)
	wantProblem(t, f.call("GET", buckets+"/%2e%2e/checks", ""), http.StatusNotFound)
	f.denied = []string{"get payments"}
	wantProblem(t, f.call("GET", buckets+"/logs/checks", ""), http.StatusForbidden)
	wantProblem(t, f.call("GET", buckets+"/none/checks", ""), http.StatusForbidden)
	var doc struct{ Paths map[string]any }
	if err := json.Unmarshal(f.call("GET", "/openapi.json", "").Body.Bytes(), &doc); err != nil ||
		doc.Paths["/namespaces/{namespace}/s3buckets/{name}/checks"] == nil ||
		doc.Paths["/awsproviders/{name}/checks"] == nil {
		t.Errorf("the document does not know of checks: %v", err)
	}
}
