package main

import (
	"encoding/json"
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/catalog/catalogtest"
	"github.com/portico-platform/portico/portal/rest"
)

func load(t *testing.T) (catalog.Catalog, []byte) {
	t.Helper()
	kinds := catalogtest.Kinds(t)
	raw, err := rest.Document(kinds)
	if err != nil {
		t.Fatal(err)
	}
	return kinds, raw
}

func TestTheClientIsThatOfTheDocument(t *testing.T) {
	kinds, raw := load(t)
	want, err := generate(raw, kinds)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../zz_generated.go")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Error("the OpenAPI document has changed: run make generate")
	}
}

func TestDocumentsThatTheGeneratorCannotSpeakFor(t *testing.T) {
	kinds, raw := load(t)
	for _, c := range []struct {
		name, path string
		op         map[string]any
		want       string
	}{
		{"a kind that differs from the others", "/namespaces/{namespace}/s3buckets/{name}", map[string]any{
			"operationId": "getS3Bucket", "tags": []string{"S3Bucket"},
			"parameters": []any{
				map[string]any{"name": "name", "in": "path"},
				map[string]any{"name": "deep", "in": "query", "schema": map[string]any{"type": "boolean"}},
			},
			"responses": ok("#/components/schemas/S3Bucket"),
		}, "differs"},
		{"an operation of a kind at another place", "/buckets", map[string]any{
			"operationId": "buckets", "tags": []string{"S3Bucket"}, "responses": ok("#/components/schemas/S3Bucket"),
		}, "not below"},
		{"an answer without a name", "/new", map[string]any{"operationId": "new", "responses": ok("")}, "no name"},
		{"no answer at all", "/new", map[string]any{"operationId": "new"}, "no answer"},
		{"a parameter in a cookie", "/new", map[string]any{
			"operationId": "new", "parameters": []any{map[string]any{"name": "a", "in": "cookie"}},
		}, "is in cookie"},
		{"a parameter that is an object", "/new", map[string]any{
			"operationId": "new", "parameters": []any{
				map[string]any{"name": "a", "in": "query", "schema": map[string]any{"type": "object"}},
			},
		}, "without a name"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var d map[string]any
			if err := json.Unmarshal(raw, &d); err != nil {
				t.Fatal(err)
			}
			paths := maps.Clone(d["paths"].(map[string]any))
			paths[c.path] = map[string]any{"get": c.op}
			d["paths"] = paths
			changed, err := json.Marshal(d)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := generate(changed, kinds); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}

func ok(ref string) map[string]any {
	s := map[string]any{"type": "object"}
	if ref != "" {
		s = map[string]any{"$ref": ref}
	}
	return map[string]any{"200": map[string]any{
		"content": map[string]any{"application/json": map[string]any{"schema": s}},
	}}
}
