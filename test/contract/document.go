// Package contract compares the REST API with its own OpenAPI document, from outside: the document with the OpenAPI
// specification, and responses with the document.
package contract

import (
	"bytes"
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// specification is the JSON schema of OpenAPI 3.1 documents, as the OpenAPI Initiative publishes it. It leaves the
// schemas within a document to the dialect; Validate checks those.
//
//go:embed openapi-3.1.json
var specification []byte

// at is the document's URL in the compiler.
const at = "document:///openapi.json"

// Document is an OpenAPI document. It is safe for concurrent use.
type Document struct {
	root  map[string]any
	paths []path

	mu       sync.Mutex
	compiler *jsonschema.Compiler
	compiled map[string]*jsonschema.Schema // by JSON pointer
}

// path is a path of the document, such as /namespaces/{namespace}/s3buckets.
type path struct {
	template   string
	parts      []string
	operations map[string]any // by method, in lower case
}

// Read parses a document. Use Validate to check it.
func Read(raw []byte) (*Document, error) {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("read the OpenAPI document: %w", err)
	}
	d := &Document{compiler: newCompiler(), compiled: map[string]*jsonschema.Schema{}}
	d.root, _ = v.(map[string]any)
	if err := d.compiler.AddResource(at, v); err != nil {
		return nil, fmt.Errorf("read the OpenAPI document: %w", err)
	}
	templates := member(d.root, "paths")
	for _, template := range slices.Sorted(maps.Keys(templates)) {
		d.paths = append(d.paths, path{template, strings.Split(template, "/"), member(templates, template)})
	}
	return d, nil
}

func newCompiler() *jsonschema.Compiler {
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	return c
}

// Statuses returns all status codes in the document, sorted.
func (d *Document) Statuses() []string {
	codes := map[string]bool{}
	for _, p := range d.paths {
		for method := range p.operations {
			for code := range member(member(p.operations, method), "responses") {
				codes[code] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(codes))
}

// schema returns the compiled schema at a JSON pointer.
func (d *Document) schema(pointer string) (*jsonschema.Schema, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s, ok := d.compiled[pointer]; ok {
		return s, nil
	}
	s, err := d.compiler.Compile(at + "#" + pointer)
	if err == nil {
		d.compiled[pointer] = s
	}
	return s, err
}

// find returns the document's path for a request, and false if there is none. Literal segments take precedence over
// parameters.
func (d *Document) find(requested string) (path, bool) {
	var best path
	parts, found := strings.Split(requested, "/"), false
	for _, p := range d.paths {
		if p.matches(parts) && (!found || strings.Count(p.template, "{") < strings.Count(best.template, "{")) {
			best, found = p, true
		}
	}
	return best, found
}

func (p path) matches(parts []string) bool {
	return slices.EqualFunc(p.parts, parts, func(want, is string) bool {
		return want == is || strings.HasPrefix(want, "{") && is != ""
	})
}

// operation returns the operation of a method, and false if the path does not have the method.
func (p path) operation(method string) (map[string]any, bool) {
	op, ok := p.operations[strings.ToLower(method)].(map[string]any)
	return op, ok
}

// pointer returns the JSON pointer of an operation.
func (p path) pointer(method string) string {
	return "/paths/" + escape(p.template) + "/" + strings.ToLower(method)
}

func escape(key string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(key) }

func member(of map[string]any, key string) map[string]any {
	m, _ := of[key].(map[string]any)
	return m
}
