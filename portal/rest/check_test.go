package rest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
)

const body = `{"metadata":{"name":"logs"},"spec":{}}`

// TestDryRunsAreNeverReal: a malformed dryRun must not write.
func TestDryRunsAreNeverReal(t *testing.T) {
	for query, want := range map[string]int{
		"?dryRun=": 422, "?dryRun": 422, "?dryRun=All&dryRun=All": 422, "?dryRun=All&dryRun=": 422,
		"?dryRun=&dryRun=All": 422,
		"?dryRun=all":         422, "?dryRun=All,All": 422, "?dryRun=All;x": 422, "?dryRun=%zz": 422,
		"?DryRun=All": 422, "?dryRun=All": 200,
	} {
		for method, path := range map[string]string{http.MethodPost: buckets, http.MethodDelete: buckets + "/logs"} {
			f := newFake(t)
			f.objects = append(f.objects, bucket(t, "payments", "logs", ""))
			w := f.call(method, path+query, body)
			if w.Code != want || slices.Contains(f.writes, "create") || slices.Contains(f.writes, "delete") {
				t.Errorf("%s %s answers %d after %v, want %d: %s", method, query, w.Code, f.writes, want, w.Body)
			}
			if want == 422 && !strings.HasPrefix(location(t, w), "query") {
				t.Errorf("%s %s blames %q", method, query, location(t, w))
			}
		}
	}
	f := newFake(t)
	if w := f.call(http.MethodPost, buckets, body); w.Code != 201 || !slices.Equal(f.writes, []string{"create"}) {
		t.Errorf("without dryRun %d, %v", w.Code, f.writes)
	}
}

// TestParametersAreGivenOnce and with a value: huma uses the first of several, and the default for an empty one.
func TestParametersAreGivenOnce(t *testing.T) {
	f := newFake(t)
	f.objects = append(f.objects, bucket(t, "payments", "logs", ""))
	for query, blamed := range map[string]string{
		"?status=": "query.status", "?sort": "query.sort", "?limit=": "query.limit", "?watch=": "query.watch",
		"?status=ready&status=paused": "query.status", "?limit=1&limit=": "query.limit", "?q=a&q=b": "query.q",
		"?cursor=&cursor=":                        "query.cursor",
		"?status=ready&q=&cursor=&labelSelector=": "", "?limit=1&sort=-age&watch=false": "",
	} {
		w := f.call(http.MethodGet, buckets+query, "")
		want := http.StatusOK
		if blamed != "" {
			want = http.StatusUnprocessableEntity
		}
		if got := location(t, w); w.Code != want || got != blamed {
			t.Errorf("%s answers %d and blames %q, want %d and %q: %s", query, w.Code, got, want, blamed, w.Body)
		}
	}
	for _, query := range []string{"?kind=&namespace=", "?kind=s3buckets"} {
		if w := f.call(http.MethodGet, "/resources"+query, ""); w.Code != http.StatusOK {
			t.Errorf("%s answers %d: %s", query, w.Code, w.Body)
		}
	}
	wantProblem(t, f.call(http.MethodGet, "/resources?namespace=payments&namespace=search", ""),
		http.StatusUnprocessableEntity)
}

func TestNothingIsDroppedSilently(t *testing.T) {
	for field, text := range map[string]string{
		"metadata.labls":           `{"metadata":{"name":"logs","labls":{"a":"b"}},"spec":{}}`,
		"metadata.generateName":    `{"metadata":{"generateName":"logs-"},"spec":{}}`,
		"metadata.ownerReferences": `{"metadata":{"name":"logs","ownerReferences":[{"name":"x"}]},"spec":{}}`,
		"metadata.finalizers":      `{"metadata":{"name":"logs","finalizers":["a/b"]},"spec":{}}`,
		"metadata.uid":             `{"metadata":{"name":"logs","uid":"u"},"spec":{}}`,
		"status":                   `{"metadata":{"name":"logs"},"spec":{},"status":{"ready":true}}`,
	} {
		f := newFake(t)
		w := f.call(http.MethodPost, buckets, text)
		wantProblem(t, w, 422)
		if location(t, w) != "body."+field || len(f.writes) > 0 {
			t.Errorf("%s: blames %q after %v: %s", field, location(t, w), f.writes, w.Body)
		}
	}
	f := newFake(t)
	empty := `{"metadata":{"name":"logs","creationTimestamp":null,"labels":{"a":"b"},"annotations":{"c":"d"}},"spec":{},"status":{}}`
	if w := f.call(http.MethodPost, buckets, empty); w.Code != 201 {
		t.Errorf("what programs send empty: %d %s", w.Code, w.Body)
	}
}

func TestHostileNames(t *testing.T) {
	for _, method := range []string{http.MethodGet, http.MethodDelete} {
		for path, want := range map[string]int{
			buckets + "/%2e%2e": 404, buckets + "/a%2Fb": 404, buckets + "/..%2F..%2Fsecrets": 404,
			buckets + "/UPPER": 404, buckets + "/a%00": 404,
			buckets + "/" + strings.Repeat("a", 254):   404,
			"/namespaces/%2e%2e/s3buckets/x":           403,
			"/namespaces/a%2Fb/s3buckets/x":            403,
			"/namespaces//s3buckets/x":                 422,
			"/namespaces/a.b/s3buckets/x":              403,
			"/namespaces/payments%20/s3buckets/x":      403,
			"/awsproviders/%2e%2e":                     404,
			"/awsproviders/a%2Fb":                      404,
			"/namespaces/payments/s3buckets/none":      404,
			"/namespaces/payments/s3buckets/":          404,
			"/namespaces/payments/%2e%2e/x":            404,
			"/namespaces/payments/awsproviders/x":      404,
			"/s3buckets/x":                             404,
			"/namespaces/payments/s3buckets/x/nothing": 404,
		} {
			f := newFake(t)
			w := f.call(method, path, "")
			wantProblem(t, w, want)
			f.denied = []string{"get payments", "delete payments"}
			if w := f.call(method, path, ""); w.Code >= 500 || strings.HasPrefix(path, buckets+"/%") && w.Code != 403 {
				t.Errorf("%s %s without access: %d %s", method, path, w.Code, w.Body)
			}
		}
	}
	f := newFake(t)
	for path, want := range map[string]int{
		"/namespaces//s3buckets": 422, "/namespaces/%2e%2e/s3buckets": 403, buckets + "/%2e%2e/events": 404,
		"/resources?namespace=..%2F..": 422, "/catalog?namespace=a%2Fb": 422,
	} {
		wantProblem(t, f.call(http.MethodGet, path, ""), want)
	}
	wantProblem(t, f.call(http.MethodPost, "/namespaces//s3buckets", body), 422)
	wantProblem(t, f.call(http.MethodPost, "/namespaces/%2e%2e/s3buckets", body), 403)
	if len(f.writes) > 0 {
		t.Errorf("wrote %v", f.writes)
	}
}

// TestKindsOfThePlatform: cluster-scoped kinds have the same endpoints.
func TestKindsOfThePlatform(t *testing.T) {
	f := newFake(t)
	provider := bucket(t, "", "aws-prod", "")
	provider.SetKind("AWSProvider")
	f.objects = append(f.objects, provider)
	for _, c := range []struct {
		method, path, body string
		status             int
	}{
		{"GET", "/awsproviders", "", 200},
		{"GET", "/awsproviders/aws-prod", "", 200},
		{"GET", "/awsproviders/aws-prod/events", "", 200},
		{"GET", "/awsproviders/none", "", 404},
		{"POST", "/awsproviders?dryRun=All", body, 200},
		{"POST", "/awsproviders?dryRun=", body, 422},
		{"POST", "/awsproviders", `{"metadata":{"name":"a","namespace":"payments"},"spec":{}}`, 422},
		{"DELETE", "/awsproviders/aws-prod?dryRun=All", "", 200},
		{"DELETE", "/awsproviders/aws-prod", "", 200},
	} {
		if w := f.call(c.method, c.path, c.body); w.Code != c.status {
			t.Errorf("%s %s answers %d, want %d: %s", c.method, c.path, w.Code, c.status, w.Body)
		}
	}
	if w := f.call("POST", "/awsproviders", body); w.Code != 201 ||
		w.Header().Get("Location") != "/api/v1/awsproviders/logs" {
		t.Errorf("creates with %d at %q", w.Code, w.Header().Get("Location"))
	}
	f.denied = []string{"get ", "list ", "create ", "delete "}
	for method, path := range map[string]string{
		"GET": "/awsproviders/aws-prod", "POST": "/awsproviders",
		"DELETE": "/awsproviders/aws-prod",
	} {
		wantProblem(t, f.call(method, path, body), 403)
	}
	var doc struct {
		Paths      map[string]map[string]struct{ Parameters []struct{ Name string } }
		Components struct{ Schemas map[string]any }
	}
	if err := json.Unmarshal(f.call("GET", "/openapi.json", "").Body.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	for path, operations := range doc.Paths {
		for method, op := range operations {
			for _, p := range op.Parameters {
				if strings.HasPrefix(path, "/awsproviders") && p.Name == "namespace" {
					t.Errorf("%s %s has a namespace", method, path)
				}
			}
		}
	}
	if doc.Components.Schemas["AWSProvider"] == nil || len(doc.Paths["/awsproviders"]) != 2 ||
		len(doc.Paths["/awsproviders/{name}"]) != 4 {
		t.Errorf("the document lacks AWSProvider: %v", doc.Paths)
	}
}

func TestDeletesOnlyTheVersionMeant(t *testing.T) {
	for match, want := range map[string]int{
		mine: 200, "*": 200, "": 200, other: 412, tag("v", 3): 412,
		strings.Trim(mine, `"`): 412,
	} {
		f := newFake(t)
		f.objects = append(f.objects, bucket(t, "payments", "logs", ""))
		if w := f.call(http.MethodDelete, buckets+"/logs", "", "If-Match", match); w.Code != want ||
			(want == 412) != (len(f.writes) == 0) {
			t.Errorf("If-Match %s: %d after %v, want %d", match, w.Code, f.writes, want)
		}
	}
}

func TestWarningsOfADeletionReachTheCaller(t *testing.T) {
	f := newFake(t)
	f.objects = append(f.objects, bucket(t, "payments", "logs", ""))
	for _, path := range []string{buckets + "/logs?dryRun=All", buckets + "/logs"} {
		w := f.call("DELETE", path, "")
		if got := w.Header().Get("Warning"); w.Code != 200 || got != `299 - "\"archive\" is still bound"` {
			t.Errorf("%s: %d, Warning %q", path, w.Code, got)
		}
	}
}

// A dry run says why the object could not become Ready at present; a write does not, since its status will.
func TestADryRunSaysWhatHoldsItUp(t *testing.T) {
	const bucket = `{"metadata":{"name":"a"},"spec":{"providerRef":{"name":"aws-none"}}}`
	for query, want := range map[string]string{
		"?dryRun=All": `299 - "It cannot become Ready as things are. Namespace payments cannot use an AWS account aws-none: choose another one, or ask a platform admin to open it."`,
		"":            "",
	} {
		f := newFake(t)
		got := f.call(http.MethodPost, buckets+query, bucket)
		if is := got.Header().Get("Warning"); is != want {
			t.Errorf("%q: %d, warning %q, want %q", query, got.Code, is, want)
		}
	}
}
