package rest

import (
	"encoding/json"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/portico-platform/portico/portal/auth"
)

func TestTheDocumentTellsOfEveryStatus(t *testing.T) {
	f := newFake(t)
	var doc struct {
		Paths map[string]map[string]struct {
			Summary   string
			Tags      []string
			Responses map[string]struct {
				Description string
				Headers     map[string]any
			}
		}
		Tags       []struct{ Name, Description string }
		Components struct {
			Schemas map[string]struct{ Examples []map[string]any }
		}
	}
	if err := json.Unmarshal(f.call("GET", "/openapi.json", "").Body.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	tags := map[string]bool{}
	for _, tag := range doc.Tags {
		tags[tag.Name] = tag.Description != ""
	}
	for path, operations := range doc.Paths {
		for method, op := range operations {
			if op.Summary == "" || len(op.Tags) != 1 || !tags[op.Tags[0]] {
				t.Errorf("%s %s lacks a summary or a tag that is described", method, path)
			}
			if path == loginPath {
				continue
			}
			for _, status := range []string{"401", "403", "422", "429", "500", "503"} {
				if op.Responses[status].Description == "" {
					t.Errorf("%s %s does not tell of %s", method, path, status)
				}
			}
			if op.Responses["429"].Headers["Retry-After"] == nil || op.Responses["503"].Headers["Retry-After"] == nil {
				t.Errorf("%s %s does not tell of Retry-After", method, path)
			}
		}
	}
	for _, k := range f.Kinds {
		if examples := doc.Components.Schemas[k.Name].Examples; len(examples) != 1 || examples[0]["kind"] != k.Name {
			t.Errorf("%s has no example", k.Name)
		}
	}
}

func TestTheDocumentTellsOfTheHeadersOfGoodAnswers(t *testing.T) {
	f := newFake(t)
	var doc struct {
		Paths map[string]map[string]struct {
			Responses map[string]struct {
				Headers map[string]struct{ Required bool }
			}
		}
	}
	if err := json.Unmarshal(f.call("GET", "/openapi.json", "").Body.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	const list, one = "/namespaces/{namespace}/s3buckets", "/namespaces/{namespace}/s3buckets/{name}"
	for _, c := range []struct{ path, method, status, want string }{
		{list, "get", "200", ""},
		{list, "post", "200", "Warning"},
		{list, "post", "201", "ETag! Location! Warning"},
		{one, "get", "200", "ETag"},
		{one, "put", "200", "ETag Warning"},
		{one, "put", "201", "ETag! Location! Warning"},
		{one, "patch", "200", "ETag Warning"},
		{one, "delete", "200", "Warning"},
		{one, "delete", "202", "Warning"},
		{one, "patch", "415", "Accept-Patch!"},
		{one, "put", "415", ""},
		{one, "get", "401", "WWW-Authenticate!"},
	} {
		headers := doc.Paths[c.path][c.method].Responses[c.status].Headers
		var have []string
		for _, name := range slices.Sorted(maps.Keys(headers)) {
			have = append(have, name+map[bool]string{true: "!"}[headers[name].Required])
		}
		if got := strings.Join(have, " "); got != c.want {
			t.Errorf("%s %s %s has %q, want %q", c.method, c.path, c.status, got, c.want)
		}
	}
}

func TestTheDocumentNamesNoStatusThatCannotBe(t *testing.T) {
	f := newFake(t)
	var doc struct {
		Paths map[string]map[string]struct{ Responses map[string]any }
	}
	if err := json.Unmarshal(f.call("GET", "/openapi.json", "").Body.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	const list, one = "/namespaces/{namespace}/s3buckets", "/namespaces/{namespace}/s3buckets/{name}"
	for _, c := range []struct{ path, method, want string }{
		{"/me", "get", "200 401 403 422 429 431 500 503"},
		{"/login", "get", "200 422 431 500"},
		{list, "get", "200 401 403 422 429 431 500 503"},
		{one, "get", "200 401 403 404 422 429 431 500 503"},
		{list, "post", "200 201 400 401 403 404 408 409 413 415 422 429 431 500 503"},
		{one, "put", "200 201 400 401 403 404 408 409 412 413 415 422 428 429 431 500 503"},
		{one, "patch", "200 400 401 403 404 408 409 412 413 415 422 428 429 431 500 503"},
		{one, "delete", "200 202 401 403 404 409 412 422 429 431 500 503"},
	} {
		codes := slices.Sorted(maps.Keys(doc.Paths[c.path][c.method].Responses))
		if got := strings.Join(codes, " "); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.method, c.path, got, c.want)
		}
	}
}

func TestSchemasOfKindsSayWhatEveryServerKnows(t *testing.T) {
	f := newFake(t)
	var doc struct {
		Components struct {
			Schemas map[string]struct {
				AdditionalProperties any
				Properties           map[string]map[string]any
			}
		}
	}
	if err := json.Unmarshal(f.call("GET", "/openapi.json", "").Body.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	for _, k := range f.Kinds {
		s := doc.Components.Schemas[k.Name]
		kind, _ := json.Marshal(s.Properties["kind"]["enum"])
		version, _ := json.Marshal(s.Properties["apiVersion"]["enum"])
		if string(kind) != `["`+k.Name+`"]` || string(version) != `["portico.dev/v1alpha1"]` {
			t.Errorf("%s: kind is one of %s, apiVersion of %s", k.Name, kind, version)
		}
		if s.Properties["metadata"]["$ref"] != "#/components/schemas/ObjectMeta" ||
			s.Properties["status"]["readOnly"] != true {
			t.Errorf("%s: metadata is %v", k.Name, s.Properties["metadata"])
		}
		if s.AdditionalProperties != false || s.Properties["spec"]["additionalProperties"] != false {
			t.Errorf("%s takes unknown fields, which the API server refuses", k.Name)
		}
	}
	meta := doc.Components.Schemas["ObjectMeta"]
	for name, kept := range map[string]any{"name": nil, "labels": nil, "uid": true, "finalizers": true} {
		if meta.Properties[name] == nil || meta.Properties[name]["readOnly"] != kept {
			t.Errorf("metadata.%s is %v", name, meta.Properties[name])
		}
	}
}

func TestOtherMethodsHearWhichThereAre(t *testing.T) {
	f := newFake(t)
	for _, c := range []struct{ method, path, want string }{
		{"PUT", buckets, "GET, POST"},
		{"POST", buckets + "/logs", "GET, PUT, PATCH, DELETE"},
		{"DELETE", "/me", "GET"},
		{"OPTIONS", "/namespaces/payments/poolgateways", "GET"},
		{"POST", "/login", "GET"},
		{"HEAD", "/openapi.json", "GET"},
	} {
		w := f.call(c.method, c.path, "")
		wantProblem(t, w, http.StatusMethodNotAllowed)
		if got := w.Header().Get("Allow"); got != c.want {
			t.Errorf("%s %s: Allow is %q, want %q", c.method, c.path, got, c.want)
		}
	}
}

func TestProblemsOfTheFrameworkNameTheRequest(t *testing.T) {
	f := newFake(t)
	h := auth.Record(slog.New(slog.DiscardHandler), nowZero, nil)(f.serve())
	for _, path := range []string{buckets + "?limit=x", buckets + "?limits=1", buckets + "?watch=maybe"} {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody)
		r.Header.Set("Authorization", token())
		h.ServeHTTP(w, r)
		var p struct{ Instance string }
		if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
			t.Fatal(err)
		}
		if id := w.Header().Get("X-Request-Id"); w.Code != http.StatusUnprocessableEntity || id == "" ||
			p.Instance != "urn:portico:request:"+id {
			t.Errorf("%s: %d, instance %q of %q", path, w.Code, p.Instance, id)
		}
	}
}
