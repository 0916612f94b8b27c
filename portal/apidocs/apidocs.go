// Package apidocs serves the REST API's reference pages, which are generated from its OpenAPI document.
package apidocs

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/rest"
	"github.com/portico-platform/portico/web/views"
)

// New returns a handler of the pages at views.APIDocsPath and below. They are rendered once, the same for everybody.
func New(kinds catalog.Catalog) (http.Handler, error) {
	parts, err := Parts(kinds)
	if err != nil {
		return nil, err
	}
	pages := map[string][]byte{}
	if pages[views.APIDocsPath], err = render(views.APIDocs{Parts: parts}); err != nil {
		return nil, err
	}
	for i, p := range parts {
		if pages[p.Href], err = render(views.APIDocs{Parts: parts, Shown: &parts[i]}); err != nil {
			return nil, err
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page, ok := pages[strings.TrimSuffix(r.URL.Path, "/")]
		if !ok {
			http.Redirect(w, r, views.APIDocsPath, http.StatusSeeOther)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Cache-Control", "public, max-age=5")
		_, _ = w.Write(page) // the reader has gone
	}), nil
}

func render(d views.APIDocs) ([]byte, error) {
	var b bytes.Buffer
	if err := views.APIDocsPage(d).Render(context.Background(), &b); err != nil {
		return nil, fmt.Errorf("writing the pages about the API: %w", err)
	}
	return b.Bytes(), nil
}

// Parts returns all operations, grouped by tag, in the order of the tags.
func Parts(kinds catalog.Catalog) ([]views.APIPart, error) {
	doc, err := rest.Describe(kinds)
	if err != nil {
		return nil, fmt.Errorf("describing the API: %w", err)
	}
	by := map[string][]views.APIOperation{}
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		for _, op := range rest.Operations(doc.Paths[path]) {
			by[op.Tags[0]] = append(by[op.Tags[0]], operation(doc, path, op))
		}
	}
	out := make([]views.APIPart, 0, len(doc.Tags))
	for _, tag := range doc.Tags {
		out = append(out, views.APIPart{
			Name: tag.Name, Help: tag.Description, Href: views.APIDocsPath + "/" + strings.ToLower(tag.Name),
			Operations: by[tag.Name],
		})
	}
	return out, nil
}

func operation(doc *huma.OpenAPI, path string, op *huma.Operation) views.APIOperation {
	out := views.APIOperation{
		ID: op.OperationID, Method: op.Method, Path: path, Summary: op.Summary,
		Help: op.Description,
	}
	for _, p := range op.Parameters {
		out.Parameters = append(out.Parameters, views.APIParameter{
			Name: p.Name, In: p.In, Type: typeOf(p.Schema), Help: cmp.Or(p.Description, p.Schema.Description),
			Required: p.Required,
		})
	}
	if op.RequestBody != nil {
		out.BodyHelp = op.RequestBody.Description
		for contentType, media := range op.RequestBody.Content {
			out.BodyType, out.Body = contentType, exampleOf(doc, media.Schema)
		}
	}
	for _, status := range slices.Sorted(maps.Keys(op.Responses)) {
		r := op.Responses[status]
		out.Answers = append(out.Answers, views.APIAnswer{
			Status: status, Help: r.Description, Types: strings.Join(slices.Sorted(maps.Keys(r.Content)), ", "),
		})
	}
	out.Curl = curl(path, op, out.BodyType)
	return out
}

// typeOf returns a parameter's type in words.
func typeOf(s *huma.Schema) string {
	if len(s.Enum) == 0 {
		return s.Type
	}
	words := make([]string, 0, len(s.Enum))
	for _, v := range s.Enum {
		words = append(words, fmt.Sprint(v))
	}
	return "one of " + strings.Join(words, ", ")
}

// exampleOf returns an example of what the schema refers to, or "" if there is none.
func exampleOf(doc *huma.OpenAPI, s *huma.Schema) string {
	if len(s.AllOf) > 0 {
		s = s.AllOf[0] // the rest only adds constraints
	}
	if s.Ref == "" {
		return ""
	}
	named := doc.Components.Schemas.Map()[s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]]
	if named == nil {
		return ""
	}
	examples, _ := named.Extensions["examples"].([]any)
	if len(examples) == 0 {
		return ""
	}
	b, err := json.MarshalIndent(examples[0], "", "  ")
	if err != nil {
		return ""
	}
	return string(b)
}

// curl returns the operation's request as a curl command.
func curl(path string, op *huma.Operation, bodyType string) string {
	lines := []string{`curl -H "Authorization: Bearer $TOKEN"`}
	if op.Method != http.MethodGet {
		lines[0] += " -X " + op.Method
	}
	if op.Method == http.MethodPut || op.Method == http.MethodPatch {
		lines = append(lines, `-H "If-Match: $ETAG"`)
	}
	switch {
	case op.Method == http.MethodPatch:
		lines = append(lines, `-H "Content-Type: `+bodyType+`" -d '{"metadata":{"labels":{"team":"search"}}}'`)
	case bodyType != "":
		lines = append(lines, `-H "Content-Type: `+bodyType+`" -d @object.json`)
	}
	path = strings.NewReplacer("{namespace}", "$NAMESPACE", "{name}", "$NAME").Replace(path)
	return strings.Join(append(lines, `"$PORTAL`+rest.Prefix+path+`"`), " \\\n  ")
}
