//go:build integration

package integration

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/portico-platform/portico/portal"
	"github.com/portico-platform/portico/portal/limit"
	"github.com/portico-platform/portico/test/tiers"
)

// unprovoked are statuses of the document that no valid request causes, with the reason.
var unprovoked = map[string]string{
	"500": "it tells of a mistake of ours: what is known of mistakes is mended",
}

// provoked is a request and the expected response.
type provoked struct {
	status int
	why    string
	send   func(t *testing.T) answer
	header map[string]string // regular expressions for headers
}

func TestEveryStatusOfTheContract(t *testing.T) {
	tiers.Long(t)
	p := startPortal(t, "", sessionKeys(t))
	table := slices.Concat(p.successes(t), p.refusals(t), p.conflicts(t), p.off(t), p.busy(t))
	named := map[string]bool{}
	for _, c := range table {
		named[strconv.Itoa(c.status)] = true
		t.Run(fmt.Sprintf("%d %s", c.status, c.why), func(t *testing.T) { c.judge(t, c.send(t).want(t, c.status)) })
	}
	d, err := document()
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range d.Statuses() {
		if reason, known := unprovoked[code]; known == named[code] {
			t.Errorf("%s is in the document: provoked %v, excused by %q", code, named[code], reason)
		}
	}
}

// judge checks the request ID and the headers of a response, and the fields of a problem. The client of programs
// compares the response with the OpenAPI document.
func (c provoked) judge(t *testing.T, a answer) {
	t.Helper()
	id := a.header.Get("X-Request-Id")
	if id == "" && c.status != http.StatusRequestHeaderFieldsTooLarge {
		t.Error("the request has no ID")
	}
	for name, want := range c.header {
		if got := a.header.Get(name); !regexp.MustCompile("^" + want + "$").MatchString(got) {
			t.Errorf("%s is %q, want %s", name, got, want)
		}
	}
	if c.status < http.StatusBadRequest || c.status == http.StatusRequestHeaderFieldsTooLarge {
		return // 431 comes from Go's server, before the portal sees the request
	}
	if got := a.header.Get("Content-Type"); got != "application/problem+json" {
		t.Errorf("the problem comes as %q", got)
	}
	if a.body["status"] != float64(c.status) || a.body["title"] != http.StatusText(c.status) {
		t.Errorf("status = %v, title = %v, want %d, %s", a.body["status"], a.body["title"], c.status,
			http.StatusText(c.status))
	}
	if want := "urn:portico:request:" + id; a.detail() == "" || a.body["instance"] != want {
		t.Errorf("detail = %q, instance = %v, want any, %s", a.detail(), a.body["instance"], want)
	}
}

const (
	contractual = "/namespaces/payments/s3buckets"
	anETag      = `"[0-9a-f-]+-\d+(-[0-9a-f]+)?"`
)

// calling returns a function that makes the call.
func (r *replica) calling(token, method, path string, body any, headers ...string) func(*testing.T) answer {
	return func(t *testing.T) answer {
		t.Helper()
		return r.call(t, token, method, path, body, headers...)
	}
}

func (r *replica) successes(t *testing.T) []provoked {
	t.Helper()
	token, name := userToken(t, "payments-dev"), unique("contract")
	other, at := unique("contract"), contractual+"/"+name
	remove(t, "payments", name)
	remove(t, "payments", other)
	held := newBucket("payments", unique("contract"))
	held.Finalizers = []string{"portico.dev/test"}
	c := admin(t)
	create(t, c, held)
	discard(t, held)
	call := func(method, path string, body any, headers ...string) func(*testing.T) answer {
		return r.calling(token, method, path, body, headers...)
	}
	kinds := call("GET", "/kinds", nil)
	unchanged := func(t *testing.T) answer {
		t.Helper()
		return r.call(t, token, "GET", "/kinds", nil, "If-None-Match", kinds(t).header.Get("ETag"))
	}
	const none = ""
	location := map[string]string{"Location": "/api/v1" + at, "ETag": anETag}
	return []provoked{
		{304, "the kinds, which have not changed", unchanged, map[string]string{"ETag": `"[0-9a-f]+"`}},
		{200, "a list", call("GET", contractual, nil), nil},
		{200, "a dry run of a creation", call("POST", contractual+"?dryRun=All", bucketBody(name, "")), map[string]string{"Location": none, "ETag": none}},
		{200, "a dry run of a PUT that creates", call("PUT", at+"?dryRun=All", bucketBody(name, ""), "If-None-Match", "*"), map[string]string{"Location": none, "ETag": none}},
		{201, "a creation", call("POST", contractual, bucketBody(name, "")), location},
		{200, "an object", call("GET", at, nil, "Cache-Control", "no-cache"), map[string]string{"ETag": anETag}},
		{200, "a dry run of a PUT that replaces", call("PUT", at+"?dryRun=All", bucketBody(name, ""), "If-Match", "*"), map[string]string{"ETag": none}},
		{200, "a PUT that replaces", call("PUT", at, bucketBody(name, ""), "If-Match", "*"), map[string]string{"Location": none, "ETag": anETag}},
		{200, "a patch", call("PATCH", at, map[string]any{}, "If-Match", "*", "Content-Type", mergePatch), map[string]string{"ETag": anETag}},
		{200, "a dry run of a deletion", call("DELETE", at+"?dryRun=All", nil), nil},
		{200, "a deletion that is done at once", func(t *testing.T) answer {
			t.Helper()
			letGo(t, name)
			return call("DELETE", at, nil)(t)
		}, nil},
		{
			201, "a PUT that creates", call("PUT", contractual+"/"+other, bucketBody(other, ""), "If-None-Match", "*"),
			map[string]string{"Location": "/api/v1" + contractual + "/" + other, "ETag": anETag},
		},
		{202, "a deletion that a finalizer holds up", call("DELETE", contractual+"/"+held.Name, nil), nil},
	}
}

func (r *replica) refusals(t *testing.T) []provoked {
	t.Helper()
	mine, others := userToken(t, "payments-dev"), userToken(t, "search-dev")
	call := r.calling
	return []provoked{
		{400, "a body that is no object", call(mine, "POST", contractual, []string{"x"}), nil},
		{401, "no token", call("", "GET", contractual, nil), map[string]string{"WWW-Authenticate": `Bearer realm="portico"`}},
		{401, "a token of nobody", call("a.b.c", "GET", contractual, nil), map[string]string{"WWW-Authenticate": `Bearer realm="portico", error="invalid_token"`}},
		{403, "another team", call(others, "GET", contractual, nil), nil},
		{404, "no such object", call(mine, "GET", contractual+"/nothing", nil), nil},
		{404, "no such kind", call(mine, "GET", "/namespaces/payments/configmaps", nil), nil},
		{405, "another method", call(mine, "PATCH", contractual, map[string]any{}), map[string]string{"Allow": "GET, POST"}},
		{405, "another method, where no token is needed", call("", "POST", "/login", nil), map[string]string{"Allow": "GET"}},
		{408, "a body that does not come", r.stall(t, mine), nil},
		{431, "headers that are too large", call(mine, "GET", contractual, nil, "X-Padding", strings.Repeat("x", 64<<10)), nil},
		{413, "a body that is too large", call(mine, "POST", contractual, strings.Repeat("x", 2<<20)), nil},
		{415, "a creation of another type", call(mine, "POST", contractual, bucketBody("x", ""), "Content-Type", "text/yaml"), map[string]string{"Accept-Patch": ""}},
		{415, "a patch of another type", call(mine, "PATCH", contractual+"/x", map[string]any{}, "If-Match", "*"), map[string]string{"Accept-Patch": regexp.QuoteMeta(mergePatch)}},
		{422, "a field that is not valid", call(mine, "POST", contractual, bucketBody(unique("bad"), "Bad_Name")), nil},
		{422, "a parameter that there is not", call(mine, "GET", contractual+"?limits=1", nil), nil},
		{422, "a cursor of another list", call(mine, "GET", contractual+"?cursor=eyJvZiI6IngifQ", nil), nil},
	}
}

// stall sends only the head of a request, immediately: the portal waits half a minute for the body. The returned
// function waits for the response.
func (r *replica) stall(t *testing.T, token string) func(*testing.T) answer {
	t.Helper()
	body, end := io.Pipe()
	t.Cleanup(func() { _ = end.Close() })
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.url+"/api/v1"+contractual, body)
	if err != nil {
		t.Fatal(err)
	}
	req.ContentLength = 10
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+token)
	type result struct {
		resp *http.Response
		err  error
	}
	came := make(chan result, 1)
	of := programs(t)
	go func() {
		resp, err := of.Do(req)
		came <- result{resp, err}
	}()
	return func(t *testing.T) answer {
		t.Helper()
		got := <-came
		if got.err != nil {
			t.Fatal(got.err)
		}
		return read(t, got.resp)
	}
}

func (r *replica) conflicts(t *testing.T) []provoked {
	t.Helper()
	token, there := userToken(t, "payments-dev"), newBucket("payments", unique("contract"))
	create(t, admin(t), there)
	remove(t, "payments", there.Name)
	at, body := contractual+"/"+there.Name, bucketBody(there.Name, "")
	await(t, "the bucket in the portal's cache", func() (bool, string) {
		a := r.call(t, token, "GET", at, nil)
		return a.status == http.StatusOK, a.raw
	})
	call := func(method, path string, body any, headers ...string) func(*testing.T) answer {
		return r.calling(token, method, path, body, headers...)
	}
	return []provoked{
		{409, "a name that is taken", call("POST", contractual, body), nil},
		{412, "a name that is taken, by PUT", call("PUT", at, body, "If-None-Match", "*"), nil},
		{412, "another version", call("PATCH", at, map[string]any{}, "If-Match", `"x-1"`, "Content-Type", mergePatch), nil},
		{412, "another version to delete", call("DELETE", at, nil, "If-Match", `"x-1"`), nil},
		{428, "no version", call("PUT", at, body), nil},
		{428, "no version to patch", call("PATCH", at, map[string]any{}, "Content-Type", mergePatch), nil},
	}
}

// off provokes the response of an operator that has no identity provider configured.
func (r *replica) off(t *testing.T) []provoked {
	t.Helper()
	token := userToken(t, "payments-dev")
	return []provoked{{501, "what is switched off", func(t *testing.T) answer {
		t.Helper()
		startInspected(t) // only for this request, because it would reconcile objects of the others
		return r.call(t, token, "GET", "/namespaces/payments/secrets", nil)
	}, nil}}
}

// busy provokes the responses of a portal that limits requests, and of one that cannot reach Kubernetes.
func (r *replica) busy(t *testing.T) []provoked {
	t.Helper()
	limited := startPortalOf(t, "", sessionKeys(t), func(p *portal.Parts) {
		p.Rate = limit.Rate{PerSecond: 0.01, Burst: 1}
	})
	alone := startPortal(t, "", sessionKeys(t))
	alone.calls.away.Store(true)
	t.Cleanup(func() { alone.calls.away.Store(false) })
	token, bound, ci := userToken(t, "payments-dev"), userToken(t, "viewer"), userToken(t, "search-dev")
	limited.call(t, bound, "GET", "/me", nil).want(t, http.StatusOK)
	retry := map[string]string{"Retry-After": "[1-9][0-9]*"}
	return []provoked{
		{429, "more requests than a user may send", limited.calling(bound, "GET", "/me", nil), retry},
		{503, "a right that cannot be asked for", alone.calling(token, "GET", contractual, nil), retry},
		{503, "a ServiceAccount's token that cannot be verified", alone.calling(serviceAccountToken(t), "GET", "/namespaces", nil), retry},
		{503, "a creation of somebody else", alone.calling(ci, "POST", "/namespaces/search/s3buckets", bucketBody("x", "")), retry},
	}
}

// serviceAccountToken returns a token of the default ServiceAccount of payments.
func serviceAccountToken(t *testing.T) string {
	t.Helper()
	clients, err := kubernetes.NewForConfig(world.Admin)
	if err != nil {
		t.Fatal(err)
	}
	got, err := clients.CoreV1().ServiceAccounts("payments").CreateToken(
		t.Context(), "default", tokenRequest(), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return got.Status.Token
}
