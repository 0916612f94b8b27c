package rest

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"sigs.k8s.io/yaml"

	"github.com/portico-platform/portico/config/samples"
	"github.com/portico-platform/portico/portal/catalog"
)

// general is the tag of operations that belong to no single kind.
const general = "General"

// example returns an object of the kind as users would write it.
func example(k catalog.Kind) (map[string]any, error) {
	b, err := samples.Files.ReadFile(strings.ToLower(k.Name) + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("looking for an example: %w", err)
	}
	first, _, _ := strings.Cut(string(b), "\n---\n")
	var obj map[string]any
	if err := yaml.Unmarshal([]byte(first), &obj); err != nil {
		return nil, fmt.Errorf("reading the example of %s: %w", k.Name, err)
	}
	return obj, nil
}

// meanings are the descriptions of error statuses.
var meanings = map[int]string{
	http.StatusBadRequest:   "The body cannot be read, or is not an object of the kind.",
	http.StatusUnauthorized: "There is no bearer token, or it is not valid here.",
	http.StatusForbidden: "The caller is not allowed to, whether or not the object exists; or a quota or " +
		"policy is against it.",
	http.StatusNotFound:       "There is no such object, or nothing at all at this URL.",
	http.StatusRequestTimeout: "The body did not arrive in time.",
	http.StatusConflict: "There is an object of this name, or it was replaced by a namesake in the " +
		"meantime.",
	http.StatusPreconditionFailed:    "What is there is not what If-Match or If-None-Match say.",
	http.StatusRequestEntityTooLarge: "The body is larger than 1 MiB, or than Kubernetes takes.",
	http.StatusUnsupportedMediaType:  "The body is of another content type.",
	http.StatusUnprocessableEntity:   "A parameter, header or field is not valid; errors says which, and why.",
	http.StatusPreconditionRequired:  "If-Match (or, to create, If-None-Match: *) is missing.",
	http.StatusTooManyRequests: "The caller asks too often, or Kubernetes is busy: try again after Retry-After " +
		"seconds.",
	http.StatusInternalServerError: "Something went wrong; the log has it under the request's ID.",
	http.StatusNotImplemented:      "It is switched off: the operator was not told who signs people in.",
	http.StatusServiceUnavailable:  "Kubernetes does not answer at the moment: try again after Retry-After seconds.",
}

// tags returns the groups of operations.
func tags(kinds catalog.Catalog) []*huma.Tag {
	all := []*huma.Tag{{
		Name: general, Description: "About the caller, the catalog, objects of all kinds, and sessions.",
	}}
	for _, k := range kinds {
		all = append(all, &huma.Tag{Name: k.ID(), Description: k.Help})
	}
	return all
}

// describeOperation completes what huma says of an operation: the limits of its parameters, and the meanings and
// headers of its statuses.
func describeOperation(op *huma.Operation, kinds catalog.Catalog) {
	describeParameters(op, kinds)
	op.Responses[strconv.Itoa(http.StatusRequestHeaderFieldsTooLarge)] = headTooLarge
	for code, response := range op.Responses {
		status, _ := strconv.Atoi(code) // default is no number
		describeResponse(op, status, response)
	}
}

// headTooLarge is the only response that Go's server sends itself, before any handler sees the request.
var headTooLarge = &huma.Response{
	Description: "The URL and the headers are larger than 32 KiB together.",
	Content:     map[string]*huma.MediaType{"text/plain": {Schema: &huma.Schema{Type: huma.TypeString}}},
}

// describeParameters adds Kubernetes' name patterns, the kinds, and the format of versions. The handlers refuse values
// that do not match, because they know which callers can see why.
func describeParameters(op *huma.Operation, kinds catalog.Catalog) {
	for _, p := range op.Parameters {
		s := *p.Schema
		switch {
		case p.In == "query" && p.Name == "namespace":
			s.Pattern, s.MaxLength = orNothing(labelPattern), new(maxLabel)
		case p.In == "query" && p.Name == "kind":
			s.Enum = []any{""}
			for _, k := range kinds.Requestable() {
				s.Enum = append(s.Enum, k.Plural)
			}
		case p.Name == "If-Match" && op.Method == http.MethodPatch:
			p.Required, s.MinLength = true, new(1)
		case p.In == "path" && p.Name == "namespace":
			s.Pattern, s.MaxLength = labelPattern, new(maxLabel)
		case p.In == "path" && p.Name == "name":
			s.Pattern, s.MaxLength = subdomainPattern, new(maxSubdomain)
		case p.Name == "If-None-Match" && op.Method != http.MethodGet:
			s.Enum = []any{"*"}
		default:
			continue
		}
		p.Schema = &s // a copy: huma validates with the original
	}
}

func describeResponse(op *huma.Operation, status int, r *huma.Response) {
	if meaning, ok := meanings[status]; ok {
		r.Description = meaning
	}
	header := func(name, kind, description string) {
		if r.Headers == nil {
			r.Headers = map[string]*huma.Param{}
		}
		r.Headers[name] = &huma.Param{Description: description, Required: true, Schema: &huma.Schema{Type: kind}}
	}
	switch status {
	case http.StatusOK, http.StatusCreated, http.StatusAccepted, http.StatusNotModified:
		succeeds(op, status, r)
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		header("Retry-After", huma.TypeInteger, "Seconds.")
	case http.StatusUnauthorized:
		header("WWW-Authenticate", huma.TypeString, "Bearer, as RFC 6750 has it.")
	case http.StatusUnsupportedMediaType:
		if op.Method == http.MethodPatch {
			header("Accept-Patch", huma.TypeString, "The content type to send.")
		}
	}
}

// Operations returns the operations of a path, in the order of the documentation.
func Operations(p *huma.PathItem) []*huma.Operation {
	var out []*huma.Operation
	for _, op := range []*huma.Operation{p.Get, p.Post, p.Put, p.Patch, p.Delete} {
		if op != nil {
			out = append(out, op)
		}
	}
	return out
}
