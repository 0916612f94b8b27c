package rest

import (
	"encoding/json"
	"testing"
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
			for _, status := range []string{"401", "403", "404", "422", "429", "500", "503"} {
				if op.Responses[status].Description == "" {
					t.Errorf("%s %s does not tell of %s", method, path, status)
				}
			}
			if op.Responses["429"].Headers["Retry-After"] == nil || op.Responses["503"].Headers["Retry-After"] == nil {
				t.Errorf("%s %s does not tell of Retry-After", method, path)
			}
		}
	}
	for _, k := range f.kinds {
		if examples := doc.Components.Schemas[k.Name].Examples; len(examples) != 1 || examples[0]["kind"] != k.Name {
			t.Errorf("%s has no example", k.Name)
		}
	}
}
