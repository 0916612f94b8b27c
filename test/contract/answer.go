package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strconv"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Answer is the response to a request.
type Answer struct {
	Method, Path string // the path below the API's prefix
	Status       int
	Header       http.Header
	Body         []byte // empty for a stream, whose content is not checked
}

// problems is the content type of errors.
const problems = "application/problem+json"

// telling are the headers that programs evaluate. A response must not have one that the document does not name.
var telling = []string{"ETag", "Location", "Warning", "WWW-Authenticate", "Retry-After", "Accept-Patch"}

// nowhere are the statuses that are valid without an operation in the document: for an unknown path or method, or a
// request that is refused before it is routed.
var nowhere = []int{
	http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusUnauthorized, http.StatusForbidden,
	http.StatusTooManyRequests,
	http.StatusServiceUnavailable,
}

// Check returns an error unless the document describes the response: its status for the operation, its content type,
// its headers and its body.
func (d *Document) Check(a Answer) error {
	var err error
	p, known := d.find(a.Path)
	op, there := p.operation(a.Method)
	switch {
	case !known || !there:
		err = d.outside(a, known)
	default:
		err = d.inside(a, p, op)
	}
	if err != nil {
		return fmt.Errorf("%s %s answers %d, which is not as the OpenAPI document says: %w", a.Method, a.Path, a.Status,
			err)
	}
	return nil
}

// outside checks a response to a request without an operation in the document.
func (d *Document) outside(a Answer, known bool) error {
	if !slices.Contains(nowhere, a.Status) {
		return errors.New("it has no such operation")
	}
	if known && a.Status == http.StatusMethodNotAllowed && a.Header.Get("Allow") == "" {
		return errors.New("there is no Allow header")
	}
	if kind := contentType(a.Header); kind != problems {
		return fmt.Errorf("the content type is %q", kind)
	}
	return d.body("/components/schemas/ErrorModel", a.Body)
}

func (d *Document) inside(a Answer, p path, op map[string]any) error {
	code := strconv.Itoa(a.Status)
	response := member(member(op, "responses"), code)
	if response == nil {
		return fmt.Errorf("it names only the statuses %v", slices.Sorted(maps.Keys(member(op, "responses"))))
	}
	at := p.pointer(a.Method) + "/responses/" + code
	if err := d.headers(a.Header, response, at); err != nil {
		return err
	}
	if a.Status == http.StatusNotModified && len(a.Body) == 0 && member(response, "content") == nil {
		return nil // it has no content
	}
	kind := contentType(a.Header)
	if member(member(response, "content"), kind) == nil {
		return fmt.Errorf("the content type is %q, not one of %v", kind,
			slices.Sorted(maps.Keys(member(response, "content"))))
	}
	if kind != "application/json" && kind != problems {
		return nil
	}
	return d.body(at+"/content/"+escape(kind)+"/schema", a.Body)
}

func (d *Document) headers(have http.Header, response map[string]any, at string) error {
	named := member(response, "headers")
	for _, name := range slices.Sorted(maps.Keys(named)) {
		values := have.Values(name)
		if must, _ := member(named, name)["required"].(bool); must && len(values) == 0 {
			return fmt.Errorf("there is no header %s", name)
		}
		s, err := d.schema(at + "/headers/" + escape(name) + "/schema")
		if err != nil {
			return err
		}
		for _, v := range values {
			if err := s.Validate(typed(s, v)); err != nil {
				return fmt.Errorf("header %s: %q: %w", name, v, err)
			}
		}
	}
	for _, name := range telling {
		if _, ok := named[name]; !ok && have.Get(name) != "" {
			return fmt.Errorf("it does not name the header %s", name)
		}
	}
	return nil
}

// typed returns a header's value as a JSON number if the schema wants an integer, otherwise as a string.
func typed(s *jsonschema.Schema, text string) any {
	if s.Types != nil && slices.Contains(s.Types.ToStrings(), "integer") {
		return json.Number(text)
	}
	return text
}

func (d *Document) body(pointer string, raw []byte) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return fmt.Errorf("the body is no JSON: %w", err)
	}
	s, err := d.schema(pointer)
	if err != nil {
		return err
	}
	return s.Validate(v)
}

func contentType(h http.Header) string {
	kind, _, _ := mime.ParseMediaType(h.Get("Content-Type"))
	return kind
}
