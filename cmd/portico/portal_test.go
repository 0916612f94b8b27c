package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	testingclock "k8s.io/utils/clock/testing"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/catalog/catalogtest"
)

// fake is a portal with prepared responses in the format of the OpenAPI document.
type fake struct {
	t       *testing.T
	url     string
	answers map[string][]reply // by method, path and query; the last one repeats
	asked   []string
	bodies  map[string]map[string]any
	headers map[string]http.Header
	kinds   catalog.Catalog // that it publishes
	reads   []string        // of the kinds
}

type reply struct {
	status int
	body   string
	header map[string]string
}

func newPortal(t *testing.T) *fake {
	t.Helper()
	f := &fake{
		t: t, answers: map[string][]reply{}, bodies: map[string]map[string]any{},
		headers: map[string]http.Header{}, kinds: catalogtest.Kinds(t),
	}
	server := httptest.NewServer(http.HandlerFunc(f.serve))
	t.Cleanup(server.Close)
	f.url = server.URL
	f.on("GET /me", 200, `{"username": "oidc:jane", "groups": ["oidc:devs"], "namespaces": ["payments"]}`)
	f.on("GET /catalog?namespace=payments", 200, `{"items": []}`)
	return f
}

// on sets the response to a request.
func (f *fake) on(request string, status int, body string, header ...string) {
	f.answers[request] = nil
	f.then(request, status, body, header...)
}

// then adds a response to a request, after the earlier ones.
func (f *fake) then(request string, status int, body string, header ...string) {
	r := reply{status: status, body: body, header: map[string]string{}}
	for i := 0; i+1 < len(header); i += 2 {
		r.header[header[i]] = header[i+1]
	}
	f.answers[request] = append(f.answers[request], r)
}

func (f *fake) serve(w http.ResponseWriter, r *http.Request) {
	key := r.Method + " " + strings.TrimPrefix(r.URL.RequestURI(), "/api/v1")
	if strings.HasPrefix(key, "GET /kinds") && f.answers[key] == nil {
		f.publish(w, r, strings.TrimPrefix(key, "GET /kinds"))
		return
	}
	f.asked, f.headers[key] = append(f.asked, key), r.Header
	var body map[string]any
	if raw, _ := io.ReadAll(r.Body); len(raw) > 0 {
		if err := json.Unmarshal(raw, &body); err != nil {
			f.t.Errorf("%s has the body %s", key, raw)
		}
		f.bodies[key] = body
	}
	all := f.answers[key]
	if len(all) == 0 {
		f.t.Errorf("asked %s, which nobody expects", key)
		return
	}
	a := all[0]
	if len(all) > 1 {
		f.answers[key] = all[1:]
	}
	if a.status >= 400 {
		w.Header().Set("Content-Type", "application/problem+json")
	}
	for k, v := range a.header {
		w.Header().Set(k, v)
	}
	w.WriteHeader(a.status)
	_, _ = io.WriteString(w, a.body)
}

// publish serves the definitions of the kinds, as portal/rest does.
func (f *fake) publish(w http.ResponseWriter, r *http.Request, of string) {
	f.reads = append(f.reads, of+" "+r.Header.Get("If-None-Match"))
	as := func(k catalog.Kind, p catalog.Published) map[string]any {
		return map[string]any{
			"resource": k.Plural, "revision": p.Revision, "entry": p.Entry, "definition": p.Definition,
		}
	}
	if k, ok := f.kinds.ByPlural(strings.TrimPrefix(of, "/")); ok {
		whole, err := k.PublishedWhole()
		if err != nil {
			f.t.Error(err)
		}
		_ = json.NewEncoder(w).Encode(as(k, whole))
		return
	}
	var all []any
	revision := ""
	for _, k := range f.kinds {
		all = append(all, as(k, k.Published()))
		revision += k.Published().Revision[:1]
	}
	if r.Header.Get("If-None-Match") == `"`+revision+`"` {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"revision": revision, "items": all})
}

// times returns how many times a request arrived.
func (f *fake) times(request string) int {
	n := 0
	for _, asked := range f.asked {
		if asked == request {
			n++
		}
	}
	return n
}

// testNow is the time of all tests.
var testNow = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// terminal is the environment of a command in a test.
type terminal struct {
	world
	t       *testing.T
	vars    map[string]string
	out, er bytes.Buffer
}

func newTerminal(t *testing.T, server string) *terminal {
	t.Helper()
	c := &terminal{t: t, vars: map[string]string{"PORTICO_SERVER": server, "PORTICO_TOKEN": "s3cret-token"}}
	c.world = world{
		in: strings.NewReader(""), env: func(k string) string { return c.vars[k] }, dir: t.TempDir(),
		clock: testingclock.NewFakeClock(testNow),
		edit:  func(context.Context, string, string) error { return fmt.Errorf("no editor here") },
	}
	return c
}

// run runs the command. It fails the test on another exit code, or if the output contains the token.
func (c *terminal) run(code int, args ...string) (out, said string) {
	c.t.Helper()
	c.out.Reset()
	c.er.Reset()
	w := c.world
	w.out, w.err = &c.out, &c.er
	if got := run(c.t.Context(), args, w); got != code {
		c.t.Fatalf("portico %s exits with %d, want %d\n%s%s", strings.Join(args, " "), got, code, &c.out, &c.er)
	}
	if strings.Contains(c.out.String()+c.er.String(), "s3cret") {
		c.t.Errorf("portico %s shows the token", strings.Join(args, " "))
	}
	return c.out.String(), c.er.String()
}

// bucket returns a bucket in payments with this Ready condition.
func bucket(name, ready, message string) string {
	text, _ := json.Marshal(message)
	return fmt.Sprintf(`{"apiVersion": "portico.dev/v1alpha1", "kind": "S3Bucket", "metadata": {"name": %q, "namespace": "payments",
		"uid": "u", "generation": 1, "creationTimestamp": "2026-01-02T02:04:05Z", "annotations": {"portico.dev/requested-by": "oidc:jane"}},
		"spec": {"providerRef": {"name": "aws"}, "deletionPolicy": "Retain"},
		"status": {"observedGeneration": 1, "conditions": [{"type": "Ready", "status": %q, "reason": "Failed", "message": %s, "lastTransitionTime": "2026-01-02T02:34:05Z"}]}}`,
		name, ready, text)
}

const (
	buckets = "/namespaces/payments/s3buckets"
	etag    = `"u-1"`
)
