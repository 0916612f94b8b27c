package rest

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/write"
)

// mine is the ETag of payments/logs as bucket creates it, other that of an older version.
var (
	mine  = tag("u", 3)
	other = tag("u", 2)
)

func tag(uid types.UID, generation int64) string {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetUID(uid)
	o.SetGeneration(generation)
	return write.ETag(o)
}

// edit is one PUT or PATCH of payments/logs, which exists in its third generation.
type edit struct {
	reason, method, query, body string
	headers                     []string
	status                      int
	location                    string // of the first error
	wrote                       string
}

func TestEditsNeedToSayWhatTheyExpect(t *testing.T) {
	const put, patch, change = http.MethodPut, http.MethodPatch, `{"spec":{"a":1}}`
	merge := []string{"Content-Type", mergePatch}
	with := func(headers ...string) []string { return append(slices.Clone(merge), headers...) }
	for _, c := range []edit{
		{"PUT of the version read", put, "", body, []string{"If-Match", mine}, 200, "", "update"},
		{"PUT of any version", put, "", body, []string{"If-Match", "*"}, 200, "", "update"},
		{"PUT of another version", put, "", body, []string{"If-Match", other}, 412, "", ""},
		{"PUT as a dry run", put, "?dryRun=All", body, []string{"If-Match", mine}, 200, "", "update dry"},
		{"PUT of nothing that is expected", put, "", body, nil, 428, "header.If-Match", ""},
		{"PUT that expects nothing", put, "", body, []string{"If-None-Match", "*"}, 201, "", "create"},
		{"a dry run that expects nothing", put, "?dryRun=All", body, []string{"If-None-Match", "*"}, 200, "", "create dry"},
		{"PUT that expects a version not to be there", put, "", body, []string{"If-None-Match", mine}, 422, "header.If-None-Match", ""},
		{"PUT that contradicts itself", put, "", body, []string{"If-None-Match", "*", "If-Match", mine}, 422, "header.If-None-Match", ""},
		{"PUT without a name", put, "", `{"spec":{}}`, []string{"If-Match", mine}, 200, "", "update"},
		{"PUT of another name", put, "", `{"metadata":{"name":"x"},"spec":{}}`, []string{"If-Match", mine}, 422, "body.metadata.name", ""},
		{"PUT into another namespace", put, "", `{"metadata":{"namespace":"x"},"spec":{}}`, []string{"If-Match", mine}, 422, "body.metadata.namespace", ""},
		{"PUT of a misspelt field", put, "", `{"metadata":{"labls":{"a":"b"}},"spec":{}}`, []string{"If-Match", mine}, 422, "body.metadata.labls", ""},
		{"PUT that creates with a status", put, "", `{"spec":{},"status":{"ready":true}}`, []string{"If-None-Match", "*"}, 422, "body.status", ""},
		{"PUT of another kind", put, "", `{"kind":"Secret","apiVersion":"v1"}`, []string{"If-Match", mine}, 400, "", ""},
		{"PUT of no object", put, "", `[]`, []string{"If-Match", mine}, 400, "", ""},
		{"PUT of a patch", put, "", change, with("If-Match", mine), 415, "", ""},
		{"PATCH of the version read", patch, "", change, with("If-Match", mine), 200, "", "patch"},
		{"PATCH of any version", patch, "", change, with("If-Match", "*"), 200, "", "patch"},
		{"PATCH of another version", patch, "", change, with("If-Match", other), 412, "", ""},
		{"PATCH as a dry run", patch, "?dryRun=All", change, with("If-Match", mine), 200, "", "patch dry"},
		{"PATCH of nothing that is expected", patch, "", change, merge, 428, "header.If-Match", ""},
		{"PATCH of labels and annotations", patch, "", `{"metadata":{"labels":{"a":null,"b":"c"},"annotations":null}}`, with("If-Match", mine), 200, "", "patch"},
		{"PATCH of the status", patch, "", `{"status":{"ready":true}}`, with("If-Match", mine), 422, "body.status", ""},
		{"PATCH of the kind", patch, "", `{"kind":"Secret"}`, with("If-Match", mine), 422, "body.kind", ""},
		{"PATCH of the name", patch, "", `{"metadata":{"name":"x"}}`, with("If-Match", mine), 422, "body.metadata.name", ""},
		{"PATCH of finalizers", patch, "", `{"metadata":{"finalizers":null}}`, with("If-Match", mine), 422, "body.metadata.finalizers", ""},
		{"PATCH of all metadata", patch, "", `{"metadata":null}`, with("If-Match", mine), 422, "body.metadata", ""},
		{"PATCH of labels that are none", patch, "", `{"metadata":{"labels":["a"]}}`, with("If-Match", mine), 422, "body.metadata.labels", ""},
		{"PATCH of a label that is a number", patch, "", `{"metadata":{"labels":{"a/b":1}}}`, with("If-Match", mine), 422, "body.metadata.labels[a/b]", ""},
		{"PATCH of who asked", patch, "", `{"metadata":{"annotations":{"portico.dev/requested-by":"me"}}}`, with("If-Match", mine), 422, "body.metadata.annotations[portico.dev/requested-by]", ""},
		{"PATCH of no object", patch, "", `null`, with("If-Match", mine), 400, "", ""},
		{"PATCH that says it twice", patch, "", `{"spec":{"a":1,"a":2}}`, with("If-Match", mine), 400, "", ""},
		{"PATCH of another type", patch, "", change, []string{"If-Match", mine, "Content-Type", "application/json-patch+json"}, 415, "", ""},
		{"PATCH of a whole object", patch, "", change, []string{"If-Match", mine, "Content-Type", "application/json"}, 415, "", ""},
		{"PATCH with a misspelt dry run", patch, "?dryrun=All", change, with("If-Match", mine), 422, "query.dryrun", ""},
		{"PUT that is too large", put, "", strings.Repeat(" ", maxBody+1), []string{"If-Match", mine}, 413, "", ""},
	} {
		t.Run(c.reason, func(t *testing.T) { c.check(t) })
	}
}

func (c edit) check(t *testing.T) {
	t.Helper()
	f := newFake(t)
	f.objects = append(f.objects, bucket(t, "payments", "logs", ""))
	w := f.call(c.method, buckets+"/logs"+c.query, c.body, c.headers...)
	if w.Code != c.status || strings.Join(f.writes, ",") != c.wrote {
		t.Fatalf("%d after %v, want %d after %q: %s", w.Code, f.writes, c.status, c.wrote, w.Body)
	}
	if c.status >= 400 {
		if wantProblem(t, w, c.status); location(t, w) != c.location {
			t.Errorf("blames %q, want %q", location(t, w), c.location)
		}
		return
	}
	dry := strings.HasSuffix(c.wrote, "dry")
	if (w.Header().Get("ETag") != "") == dry {
		t.Errorf("ETag %q", w.Header().Get("ETag"))
	}
	if !strings.HasPrefix(c.wrote, "create") && w.Header().Get("Warning") != `299 - "old field"` {
		t.Errorf("warns of %q", w.Header().Get("Warning"))
	}
}

func TestWhatWasReadCanBeSentBack(t *testing.T) {
	f := newFake(t)
	f.objects = append(f.objects,
		bucket(t, "payments", "logs",
			`,"resourceVersion":"7","creationTimestamp":"2026-01-01T00:00:00Z","finalizers":["a/b"]`))
	got := f.call("GET", buckets+"/logs", "")
	w := f.call("PUT", buckets+"/logs", got.Body.String(), "If-Match", got.Header().Get("ETag"))
	if w.Code != 200 || f.sent["metadata"].(map[string]any)["uid"] != "u" {
		t.Errorf("%d %s after %v", w.Code, w.Body, f.sent)
	}
}

func TestWhoWantsNoCacheReadsWhatKubernetesHas(t *testing.T) {
	f := newFake(t)
	f.objects, f.Behind = append(f.objects, bucket(t, "payments", "logs", "")), 4
	for header, want := range map[string]string{
		"": `"u-3-`, "max-age=60": `"u-3-`, "no-cache": `"u-7-`,
		"no-store, No-Cache": `"u-7-`,
	} {
		w := f.call(http.MethodGet, buckets+"/logs", "", "Cache-Control", header)
		if got := w.Header().Get("ETag"); w.Code != http.StatusOK || !strings.HasPrefix(got, want) {
			t.Errorf("%q: answers %d with %s, want %s…", header, w.Code, got, want)
		}
	}
}

func TestEditsWithoutTheRight(t *testing.T) {
	for verb, c := range map[string]edit{
		"update": {method: "PUT", body: body, headers: []string{"If-Match", mine}},
		"create": {method: "PUT", body: body, headers: []string{"If-None-Match", "*"}},
		"patch":  {method: "PATCH", body: `{}`, headers: []string{"Content-Type", mergePatch}},
	} {
		for _, name := range []string{"logs", "none"} {
			f := newFake(t)
			f.denied = []string{verb + " payments"}
			f.objects = append(f.objects, bucket(t, "payments", "logs", ""))
			w := f.call(c.method, buckets+"/"+name, c.body, c.headers...)
			if wantProblem(t, w, 403); len(f.writes) > 0 ||
				!strings.Contains(w.Body.String(), "you are not allowed to "+verb+" s3buckets in namespace payments") {
				t.Errorf("%s: %s after %v", verb, w.Body, f.writes)
			}
		}
	}
}

func TestEditsOfWhatIsNotThere(t *testing.T) {
	f := newFake(t)
	patch := []string{"If-Match", "*", "Content-Type", mergePatch}
	for _, path := range []string{buckets + "/none", buckets + "/UPPER", buckets + "/..%2Fx", "/awsproviders/none"} {
		wantProblem(t, f.call("PUT", path, `{"spec":{}}`, "If-Match", mine), 404)
		wantProblem(t, f.call("PATCH", path, `{"spec":{}}`, patch...), 404)
	}
	w := f.call("PUT", buckets+"/UPPER", `{"spec":{}}`, "If-None-Match", "*")
	if wantProblem(t, w, 422); location(t, w) != "path.name" {
		t.Errorf("blames %q", location(t, w))
	}
	w = f.call("PUT", "/awsproviders/aws-prod", `{"spec":{}}`, "If-None-Match", "*")
	if w.Code != 201 || w.Header().Get("Location") != "/api/v1/awsproviders/aws-prod" {
		t.Errorf("creates with %d at %q", w.Code, w.Header().Get("Location"))
	}
	for _, method := range []string{"PUT", "PATCH"} { // a kind that users do not write
		wantProblem(t, f.call(method, "/namespaces/payments/poolgateways/x", `{}`, patch...), 405)
	}
}

func TestRefusalsOfTheAPIServerReachTheCaller(t *testing.T) {
	group := schema.GroupResource{Group: "portico.dev", Resource: "s3buckets"}
	for _, c := range []struct {
		reason string
		header string
		err    error
		status int
	}{
		{"taken", "If-None-Match", apierrors.NewAlreadyExists(group, "logs"), 412},
		{"written by others all the time", "If-Match", apierrors.NewConflict(group, "logs", errors.New("x")), 409},
		{"a quota", "If-None-Match", apierrors.NewForbidden(group, "logs", errors.New("exceeded quota")), 403},
		{"Kubernetes is away", "If-Match", &failure.UnavailableError{Doing: "x", Cause: errors.New("y")}, 503},
	} {
		t.Run(c.reason, func(t *testing.T) {
			f := newFake(t)
			f.objects = append(f.objects, bucket(t, "payments", "logs", ""))
			f.refusal = c.err
			wantProblem(t, f.call("PUT", buckets+"/logs", body, c.header, "*"), c.status)
		})
	}
}

func TestTheDocumentKnowsOfEdits(t *testing.T) {
	var doc struct {
		Paths map[string]map[string]struct {
			RequestBody struct{ Content map[string]any }
			Responses   map[string]any
		}
	}
	if err := json.Unmarshal(newFake(t).call("GET", "/openapi.json", "").Body.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	for path, types := range map[string]map[string]string{
		"/namespaces/{namespace}/s3buckets/{name}": {"put": "application/json", "patch": mergePatch}, "/awsproviders/{name}": {"put": "application/json", "patch": mergePatch},
	} {
		for method, contentType := range types {
			op := doc.Paths[path][method]
			if op.RequestBody.Content[contentType] == nil || len(op.RequestBody.Content) != 1 {
				t.Errorf("%s %s takes %v", method, path, op.RequestBody.Content)
			}
			for _, status := range []string{
				"200", "400", "401", "403", "404", "409", "412", "413", "415", "422", "428",
				"429", "503",
			} {
				if op.Responses[status] == nil {
					t.Errorf("%s %s does not tell of %s", method, path, status)
				}
			}
		}
	}
}

// TestARightToOneTeamIsEnough: members can get their own Team, and owners can change it, without rights to other Teams.
func TestARightToOneTeamIsEnough(t *testing.T) {
	f := newFake(t)
	for _, verb := range []string{"get", "list", "update", "patch", "delete"} {
		f.denied = append(f.denied, verb+"  teams")
	}
	f.own = "growth"
	for _, name := range []string{"growth", "search"} {
		team := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "portico.dev/v1alpha1", "kind": "Team", "metadata": map[string]any{"name": name, "uid": name},
			"spec": map[string]any{},
		}}
		f.objects = append(f.objects, team)
	}
	const merge = `{"spec":{"members":[{"user":"oidc:jo","role":"Viewer"}]}}`
	const whole = `{"apiVersion":"portico.dev/v1alpha1","kind":"Team","metadata":{"name":"NAME"},"spec":{}}`
	for name, status := range map[string]int{"growth": 200, "search": 403, "No_Name": 403} {
		for _, w := range []*httptest.ResponseRecorder{
			f.call("GET", "/teams/"+name, ""),
			f.call("PATCH", "/teams/"+name, merge, "Content-Type", "application/merge-patch+json", "If-Match", "*"),
			f.call("PUT", "/teams/"+name, strings.ReplaceAll(whole, "NAME", name), "Content-Type", "application/json",
				"If-Match", "*"),
		} {
			if w.Code != status {
				t.Errorf("%s: %d, want %d: %s", name, w.Code, status, w.Body)
			}
		}
	}
	if len(f.writes) != 2 {
		t.Errorf("wrote %v", f.writes)
	}
}
