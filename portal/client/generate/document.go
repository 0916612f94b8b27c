package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/portico-platform/portico/portal/catalog"
)

// document is the part of the OpenAPI document that is used.
type document struct {
	Paths      map[string]map[string]*operation
	Components struct{ Schemas map[string]*schema }
}

type operation struct {
	ID          string `json:"operationId"`
	Tags        []string
	Summary     string
	Parameters  []parameter
	RequestBody *response
	Responses   map[string]*response
}

type parameter struct {
	Name, In, Description string
	Required              bool
	Schema                *schema
}

type response struct {
	Content map[string]struct{ Schema *schema }
}

type schema struct {
	Ref         string `json:"$ref"`
	Type        any    // a word, or a list with "null" in it
	Format      string
	Description string
	Properties  map[string]*schema
	Required    []string
	Items       *schema
	Additional  any `json:"additionalProperties"`
}

// call is an operation as a method: of Objects if every kind has it in the same form, otherwise of Client.
type call struct {
	Name    string // of the method, such as List
	Comment string
	Method  string   // of HTTP
	Path    string   // relative to the kind's path, or whole
	Args    []string // the path's parameters that are arguments
	Options []field  // query and headers
	Body    string   // content type, "" for none
	BodyIs  string   // Go type of the body
	Result  string   // Go type, without the pointer; string for text
	Answer  string   // how it is read: object, whole or text
}

// field is one field of a struct.
type field struct {
	Name, Type, Comment string
	Wire                string // its name in the document
	Where               string // query or header; of parameters
	Required            bool
}

// streamed are the parameters that turn a response into a stream, for which there are handwritten methods.
var streamed = []string{"watch", "follow"}

// calls returns the operations; those that all kinds have are returned once. It fails if they differ between kinds in
// more than types.
func (d *document) calls(kinds catalog.Catalog) (ofKinds, ofClient []call, err error) {
	found := map[string]call{}
	for _, path := range slices.Sorted(maps.Keys(d.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(d.Paths[path])) {
			op := d.Paths[path][method]
			k, isKind := kindOf(op, kinds)
			c, err := d.call(method, path, op, k, isKind)
			if err != nil {
				return nil, nil, fmt.Errorf("%s %s: %w", method, path, err)
			}
			if !isKind {
				ofClient = append(ofClient, c)
				continue
			}
			if before, ok := found[c.Name]; ok && fmt.Sprint(before) != fmt.Sprint(c) {
				return nil, nil, fmt.Errorf("%s %s differs from that of other kinds: %v, not %v", method, path, c,
					before)
			}
			found[c.Name] = c
		}
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		ofKinds = append(ofKinds, found[name])
	}
	return ofKinds, ofClient, nil
}

func kindOf(op *operation, kinds catalog.Catalog) (catalog.Kind, bool) {
	if len(op.Tags) != 1 {
		return catalog.Kind{}, false
	}
	return kinds.ByName(op.Tags[0])
}

func (d *document) call(method, path string, op *operation, k catalog.Kind, isKind bool) (call, error) {
	c := call{Method: strings.ToUpper(method), Path: path, Comment: sentence(op.Summary)}
	c.Name = exported(op.ID)
	if isKind {
		base := "/" + k.Plural
		if k.Namespaced {
			base = "/namespaces/{namespace}" + base
		}
		c.Path = strings.TrimPrefix(path, base)
		verb, plural := strings.CutSuffix(op.ID, k.Name+"s")
		if !plural {
			verb = strings.TrimSuffix(op.ID, k.Name)
		}
		c.Name = exported(verb)
		c.Comment = sentence(strings.ReplaceAll(c.Comment, k.Name, "object"))
	}
	if c.Path == path && isKind {
		return c, fmt.Errorf("it is not below %s's own path", k.Name)
	}
	for _, p := range op.Parameters {
		if err := c.add(p, isKind); err != nil {
			return c, err
		}
	}
	if err := c.takes(op, isKind); err != nil {
		return c, err
	}
	return c, c.answers(op, k)
}

// add adds a parameter as an argument or an option.
func (c *call) add(p parameter, isKind bool) error {
	switch {
	case p.In == "path" && isKind && p.Name == "namespace", slices.Contains(streamed, p.Name):
	case p.In == "path":
		c.Args = append(c.Args, p.Name)
	case p.In == "query" || p.In == "header":
		t, err := plain(p.Schema)
		if err != nil {
			return fmt.Errorf("parameter %s: %w", p.Name, err)
		}
		c.Options = append(c.Options, field{
			Name: exported(p.Name), Type: t, Wire: p.Name, Where: p.In, Required: p.Required,
			Comment: oneLine(cmp.Or(p.Description, p.Schema.Description)),
		})
	default:
		return fmt.Errorf("parameter %s is in %s", p.Name, p.In)
	}
	return nil
}

func (c *call) takes(op *operation, isKind bool) error {
	if op.RequestBody == nil {
		return nil
	}
	if len(op.RequestBody.Content) != 1 {
		return fmt.Errorf("want a body of one content type")
	}
	c.Body, c.BodyIs = slices.Collect(maps.Keys(op.RequestBody.Content))[0], "*T"
	if c.Body != "application/json" || !isKind {
		c.BodyIs = "any"
	}
	return nil
}

// answers sets the result of the call from the operation's successful response.
func (c *call) answers(op *operation, k catalog.Kind) error {
	for _, status := range slices.Sorted(maps.Keys(op.Responses)) {
		if !strings.HasPrefix(status, "2") {
			continue
		}
		for _, content := range slices.Sorted(maps.Keys(op.Responses[status].Content)) {
			s := op.Responses[status].Content[content].Schema
			switch content {
			case "application/json":
				return c.result(s, k)
			case "text/plain":
				c.Result, c.Answer = "string", "text"
				return nil
			}
		}
	}
	return fmt.Errorf("no answer that can be read")
}

func (c *call) result(s *schema, k catalog.Kind) error {
	name := refName(s)
	switch {
	case name == "ObjectList":
		c.Result, c.Answer = "Page[unstructured.Unstructured]", "whole"
	case name != "" && name == k.Name:
		c.Result, c.Answer = "Result[T]", "object"
	case name != "":
		c.Result, c.Answer = typeName(name), "whole"
	case s.Properties["items"] != nil && refName(s.Properties["items"].Items) == k.Name:
		c.Result, c.Answer = "Page[T]", "whole"
	default:
		return fmt.Errorf("the answer has no name")
	}
	return nil
}
