//go:build integration

package integration

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

func unique(prefix string) string { return fmt.Sprintf("%s-%d", prefix, counter.Add(1)) }

// remove discards a bucket.
func remove(t *testing.T, namespace, name string) {
	t.Helper()
	discard(t, newBucket(namespace, name))
}

// discard deletes an object at the end of the test, regardless of finalizers, so that it does not appear in the lists
// of other tests.
func discard(t *testing.T, obj client.Object) {
	t.Helper()
	c := admin(t)
	t.Cleanup(func() { release(context.Background(), t, c, obj) }) // the test's own context is cancelled
}

func TestRESTCreatesShowsAndDeletesABucket(t *testing.T) {
	p := startPortal(t, "", sessionKeys(t))
	token := userToken(t, "payments-dev")
	name := unique("rest")
	remove(t, "payments", name)
	base := "/namespaces/payments/s3buckets"

	dry := p.call(t, token, "POST", base+"?dryRun=All", bucketBody(name, "")).want(t, http.StatusOK)
	if got := nested(dry.body, "spec", "deletionPolicy"); got != "Delete" {
		t.Errorf("a dry run shows deletionPolicy %v, want the default Delete", got)
	}
	p.call(t, token, "GET", base+"/"+name, nil).want(t, http.StatusNotFound)

	made := p.call(t, token, "POST", base, bucketBody(name, "")).want(t, http.StatusCreated)
	if got, want := made.header.Get("Location"), "/api/v1"+base+"/"+name; got != want {
		t.Errorf("Location %q, want %q", got, want)
	}
	if got := nested(made.body, "metadata", "annotations", "portico.dev/requested-by"); got != "oidc:payments-dev" {
		t.Errorf("requested by %v, want oidc:payments-dev", got)
	}
	p.call(t, token, "POST", base, bucketBody(name, "")).want(t, http.StatusConflict)

	got := p.call(t, token, "GET", base+"/"+name, nil).want(t, http.StatusOK)
	if got.header.Get("ETag") != made.header.Get("ETag") || got.header.Get("ETag") == "" {
		t.Errorf("ETag %q after %q", got.header.Get("ETag"), made.header.Get("ETag"))
	}
	if strings.Contains(got.raw, "managedFields\":[") {
		t.Error("managedFields are shown")
	}
	await(t, "the list to show the bucket", func() (bool, string) {
		list := p.call(t, token, "GET", base, nil).want(t, http.StatusOK)
		return strings.Contains(list.raw, `"name":"`+name+`"`), list.raw
	})
	p.call(t, token, "GET", base+"/"+name+"/events", nil).want(t, http.StatusOK)

	p.call(t, token, "DELETE", base+"/"+name, nil, "If-Match", `"another-1"`).want(t, http.StatusPreconditionFailed)
	p.call(t, token, "DELETE", base+"/"+name+"?dryRun=All", nil).want(t, http.StatusOK)
	p.call(t, token, "GET", base+"/"+name, nil).want(t, http.StatusOK)
	letGo(t, name)
	p.call(t, token, "DELETE", base+"/"+name, nil).want(t, http.StatusOK) // no finalizer: deleted immediately
	await(t, "the bucket to be gone", func() (bool, string) {
		a := p.call(t, token, "GET", base+"/"+name, nil)
		return a.status == http.StatusNotFound, a.raw
	})
}

func TestTheLogNamesWhatWasDone(t *testing.T) {
	p := startPortal(t, "", sessionKeys(t))
	token, name := userToken(t, "payments-dev"), unique("audit")
	remove(t, "payments", name)
	base := "/namespaces/payments/s3buckets"
	p.call(t, token, "POST", base+"?dryRun=All", bucketBody(name, "")).want(t, http.StatusOK)
	p.call(t, token, "POST", base, bucketBody(name, "")).want(t, http.StatusCreated)
	p.call(t, token, "POST", base, bucketBody(name, "")).want(t, http.StatusConflict)
	p.call(t, token, "DELETE", base+"/"+name, nil).want(t, http.StatusAccepted)
	p.call(t, token, "DELETE", "/namespaces/search/s3buckets/"+name, nil).want(t, http.StatusForbidden)
	await(t, "the lines", func() (bool, string) { // a line is written after the response
		rest := p.log.String()
		for _, want := range []string{
			`"verb":"create","resource":"s3buckets","namespace":"payments","name":"` + name +
				`","dryRun":true,"decision":"allow","outcome":"done"`,
			`"verb":"create","resource":"s3buckets","namespace":"payments","name":"` + name +
				`","dryRun":false,"decision":"allow","outcome":"done"`,
			`"verb":"create","resource":"s3buckets","namespace":"payments","name":"` + name +
				`","dryRun":false,"decision":"allow","outcome":"refused"`,
			`"verb":"delete","resource":"s3buckets","namespace":"payments","name":"` + name +
				`","dryRun":false,"decision":"allow","outcome":"done"`,
			`"verb":"delete","resource":"s3buckets","namespace":"search","name":"` + name +
				`","dryRun":false,"decision":"deny","outcome":"forbidden"`,
		} {
			_, after, found := strings.Cut(rest, `"msg":"write","actor":"oidc:payments-dev",`+want)
			if !found {
				return false, "no " + want + " in " + rest
			}
			rest = after
		}
		return true, ""
	})
}

func TestRESTDeletionWaitsForFinalizers(t *testing.T) {
	p := startPortal(t, "", sessionKeys(t))
	token := userToken(t, "payments-dev")
	c := admin(t)
	held := newBucket("payments", unique("held"))
	held.Finalizers = []string{"portico.dev/test"}
	if err := c.Create(t.Context(), held); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		held.Finalizers = nil
		_ = c.Update(context.Background(), held)
	})
	a := p.call(t, token, "DELETE", "/namespaces/payments/s3buckets/"+held.Name, nil).want(t, http.StatusAccepted)
	if nested(a.body, "metadata", "deletionTimestamp") == nil {
		t.Errorf("202 without a deletionTimestamp: %s", a.raw)
	}
	if err := c.Get(t.Context(), keyOf(held), held); err != nil {
		t.Fatal(err)
	}
}

func TestRESTSaysWhatIsWrongWithABucketName(t *testing.T) {
	p := startPortal(t, "", sessionKeys(t))
	token := userToken(t, "payments-dev")
	for _, query := range []string{"", "?dryRun=All"} {
		a := p.call(t, token, "POST", "/namespaces/payments/s3buckets"+query, bucketBody(unique("bad"), "Bad_Name")).
			want(t, http.StatusUnprocessableEntity)
		location, message := a.location()
		if location != "body.spec.bucketName" || !strings.Contains(message, "lower-case letters") {
			t.Errorf("%q at %q, want a sentence about lower-case letters at body.spec.bucketName", message, location)
		}
		if got := a.header.Get("Content-Type"); got != "application/problem+json" {
			t.Errorf("Content-Type %q", got)
		}
	}
}

func TestRESTRefusesBadRequests(t *testing.T) {
	p := startPortal(t, "", sessionKeys(t))
	token := userToken(t, "payments-dev")
	base := "/namespaces/payments/s3buckets"
	unknown := bucketBody(unique("bad"), "")
	unknown["spec"].(map[string]any)["bucketname"] = "x"
	elsewhere := bucketBody(unique("bad"), "")
	elsewhere["metadata"].(map[string]any)["namespace"] = "search"
	for _, c := range []struct {
		reason   string
		path     string
		body     any
		headers  []string
		status   int
		location string
	}{
		{"a field that is no field", base, unknown, nil, 422, "body.spec.bucketname"},
		{"another namespace than the URL's", base, elsewhere, nil, 422, "body.metadata.namespace"},
		{"another kind", base, map[string]any{"apiVersion": "v1", "kind": "Secret"}, nil, 400, ""},
		{"a misspelt parameter", base + "?dryrun=All", bucketBody("x", ""), nil, 422, "query.dryrun"},
		{"a dry run of another kind", base + "?dryRun=Some", bucketBody("x", ""), nil, 422, "query.dryRun"},
		{"a list for an object", base, []string{"x"}, nil, 400, ""},
		{"a body that is too large", base, strings.Repeat("x", 2<<20), nil, 413, ""},
		{"a kind that is not offered", "/namespaces/payments/configmaps", bucketBody("x", ""), nil, 404, ""},
		{"Secrets, of which values are set by name", "/namespaces/payments/secrets", bucketBody("x", ""), nil, 405, ""},
	} {
		t.Run(c.reason, func(t *testing.T) {
			a := p.call(t, token, "POST", c.path, c.body, c.headers...).want(t, c.status)
			if location, _ := a.location(); location != c.location {
				t.Errorf("location %q, want %q: %s", location, c.location, a.raw)
			}
			if a.header.Get("Content-Type") != "application/problem+json" {
				t.Errorf("Content-Type %q", a.header.Get("Content-Type"))
			}
		})
	}
	req, err := http.NewRequestWithContext(t.Context(), "POST", p.url+"/api/v1"+base, strings.NewReader("a=b"))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Authorization", "Bearer "+token)
	send(t, req).want(t, http.StatusUnsupportedMediaType)
	p.call(t, token, "PATCH", base, nil).want(t, http.StatusMethodNotAllowed)
}

func TestRESTKeepsTeamsApart(t *testing.T) {
	p := startPortal(t, "", sessionKeys(t))
	c := admin(t)
	there := newBucket("payments", unique("secret"))
	if err := c.Create(t.Context(), there); err != nil {
		t.Fatal(err)
	}
	remove(t, "payments", there.Name)
	insider, outsider, viewer := userToken(t, "payments-dev"), userToken(t, "search-dev"), userToken(t, "viewer")
	base := "/namespaces/payments/s3buckets"
	await(t, "the cache to hold the bucket", func() (bool, string) {
		a := p.call(t, insider, "GET", base, nil)
		return strings.Contains(a.raw, there.Name), a.raw
	})

	for _, c := range []struct {
		verb, method, suffix string
		body                 any
	}{
		{"list", "GET", "", nil},
		{"create", "POST", "", bucketBody("x", "")},
		{"create", "POST", "?dryRun=All", bucketBody("x", "")},
		{"get", "GET", "/%s", nil},
		{"get", "GET", "/%s/events", nil},
		{"delete", "DELETE", "/%s", nil},
	} {
		t.Run(c.method+c.suffix, func(t *testing.T) {
			path := func(name string) string {
				if strings.Contains(c.suffix, "%s") {
					return base + fmt.Sprintf(c.suffix, name)
				}
				return base + c.suffix
			}
			exists := p.call(t, outsider, c.method, path(there.Name), c.body).want(t, http.StatusForbidden)
			missing := p.call(t, outsider, c.method, path("no-such-bucket"), c.body).want(t, http.StatusForbidden)
			delete(exists.body, "instance")
			delete(missing.body, "instance")
			if !reflect.DeepEqual(exists.body, missing.body) {
				t.Errorf("the answers differ:\n%v\n%v", exists.body, missing.body)
			}
			if want := "you are not allowed to " + c.verb +
				" s3buckets in namespace payments"; exists.detail() != want {
				t.Errorf("detail %q, want %q", exists.detail(), want)
			}
		})
	}
	all := p.call(t, outsider, "GET", "/resources", nil).want(t, http.StatusOK)
	if strings.Contains(all.raw, there.Name) {
		t.Error("the other team's bucket is in the list over all namespaces")
	}
	p.call(t, insider, "GET", base+"/no-such-bucket", nil).want(t, http.StatusNotFound)
	p.call(t, viewer, "GET", base+"/"+there.Name, nil).want(t, http.StatusOK)
	p.call(t, viewer, "POST", base, bucketBody("x", "")).want(t, http.StatusForbidden)
	p.call(t, viewer, "DELETE", base+"/"+there.Name, nil).want(t, http.StatusForbidden)
	if err := c.Get(t.Context(), keyOf(there), there); err != nil {
		t.Errorf("the bucket is gone: %v", err)
	}
}

func TestRESTDocument(t *testing.T) {
	p := startPortal(t, "", sessionKeys(t))
	doc := p.call(t, "", "GET", "/openapi.json", nil).want(t, http.StatusOK)
	if v, _ := doc.body["openapi"].(string); !strings.HasPrefix(v, "3.1") {
		t.Errorf("openapi %v", doc.body["openapi"])
	}
	if nested(doc.body, "components", "schemas", "S3Bucket", "properties", "spec", "properties", "bucketName",
		"maxLength") != float64(63) {
		t.Error("the CRD's schema is not in the document")
	}
	ref := nested(doc.body, "paths", "/namespaces/{namespace}/s3buckets/{name}", "put", "requestBody", "content",
		"application/json", "schema", "$ref")
	if ref != "#/components/schemas/S3Bucket" {
		t.Errorf("the request body refers to %v", ref)
	}
	token := userToken(t, "viewer")
	kinds := p.call(t, token, "GET", "/catalog?namespace=payments", nil).want(t, http.StatusOK)
	if !strings.Contains(kinds.raw, `"resource":"s3buckets"`) || !strings.Contains(kinds.raw, `"canCreate":false`) {
		t.Errorf("catalog: %s", kinds.raw)
	}
}

// nested returns the value at a path of a JSON document.
func nested(v any, path ...string) any {
	for _, key := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[key]
	}
	return v
}
