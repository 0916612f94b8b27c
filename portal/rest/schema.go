package rest

import (
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/portico-platform/portico/portal/catalog"
)

// objectMeta is the name of the schema of metadata.
const objectMeta = "ObjectMeta"

// Kubernetes' patterns of names: of namespaces, and of objects of our kinds.
const (
	labelPattern     = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
	subdomainPattern = `^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	maxLabel         = 63
	maxSubdomain     = 253
)

// orNothing returns the pattern for a value that can also be empty, which is the same as leaving it out.
func orNothing(pattern string) string { return "^(" + strings.Trim(pattern, "^$") + ")?$" }

// complement adds to the schema of a CRD what the API server enforces beyond it: the fields of metadata, the single
// apiVersion and kind, that users do not write status, and that unknown fields are refused.
func complement(schema map[string]any, k catalog.Kind) {
	properties, _ := schema["properties"].(map[string]any)
	if properties == nil { // of a kind of others
		properties = map[string]any{}
		schema["properties"] = properties
	}
	properties["metadata"] = map[string]any{"$ref": "#/components/schemas/" + objectMeta}
	for name, only := range map[string]string{"apiVersion": k.Resource.GroupVersion().String(), "kind": k.Name} {
		p, ok := properties[name].(map[string]any)
		if !ok { // the schema of a kind of others need not name them
			p = map[string]any{"type": "string"}
			properties[name] = p
		}
		p["enum"] = []any{only}
		delete(p, "description") // Kubernetes' text, the same for all kinds
	}
	if status, ok := properties["status"].(map[string]any); ok {
		status["readOnly"] = true
	}
	closeObjects(schema)
}

// closeObjects sets additionalProperties to false. Schemas below allOf, anyOf, oneOf and not are skipped, because a CRD
// declares no properties there.
func closeObjects(schema map[string]any) {
	properties, named := schema["properties"].(map[string]any)
	_, open := schema["additionalProperties"]
	if kept, _ := schema["x-kubernetes-preserve-unknown-fields"].(bool); named && !open && !kept {
		schema["additionalProperties"] = false
	}
	for _, p := range properties {
		if s, ok := p.(map[string]any); ok {
			closeObjects(s)
		}
	}
	for _, key := range []string{"items", "additionalProperties"} {
		if s, ok := schema[key].(map[string]any); ok {
			closeObjects(s)
		}
	}
}

// metaSchema returns the schema of metadata.
func metaSchema() *huma.Schema {
	texts := func(what string) *huma.Schema {
		return &huma.Schema{
			Type: huma.TypeObject, AdditionalProperties: &huma.Schema{Type: huma.TypeString},
			Description: what,
		}
	}
	kept := func(kind string) *huma.Schema { return &huma.Schema{Type: kind, ReadOnly: true} }
	when := func() *huma.Schema { return &huma.Schema{Type: huma.TypeString, Format: "date-time", ReadOnly: true} }
	list := func(of string) *huma.Schema {
		return &huma.Schema{Type: huma.TypeArray, Items: &huma.Schema{Type: of}, ReadOnly: true}
	}
	whole := &huma.Schema{Type: huma.TypeInteger, Format: "int64", ReadOnly: true}
	return &huma.Schema{
		Type: huma.TypeObject, AdditionalProperties: false,
		Description: "Users write name, namespace, labels and annotations; the rest is managed by Kubernetes and " +
			"Portico.",
		Properties: map[string]*huma.Schema{
			"name":        {Type: huma.TypeString, Pattern: orNothing(subdomainPattern), MaxLength: new(maxSubdomain), Description: "Unique among the objects of its kind in its namespace."},
			"namespace":   {Type: huma.TypeString, Description: "That of the URL."},
			"labels":      texts("By which lists can be filtered."),
			"annotations": texts("For people and tools."),
			"uid":         kept(huma.TypeString), "resourceVersion": kept(huma.TypeString), "generation": whole,
			"creationTimestamp": when(), "deletionTimestamp": when(), "deletionGracePeriodSeconds": whole,
			"generateName": kept(huma.TypeString), "finalizers": list(huma.TypeString),
			"ownerReferences": list(huma.TypeObject),
		},
	}
}

// describeProblems marks the fields of problem documents that this API always sends.
func describeProblems(s *huma.Schema) {
	s.Required = []string{"title", "status", "detail", "instance"}
	delete(s.Properties, "type") // always about:blank, which RFC 9457 lets a server omit
	s.Properties["instance"].Description = "Names the request, as the portal's log does, and X-Request-Id."
	s.Properties["instance"].Examples = []any{"urn:portico:request:3f2a5c1be0d94d6f"}
	s.Properties["status"].Examples = []any{http.StatusUnprocessableEntity}
	s.Properties["title"].Examples = []any{http.StatusText(http.StatusUnprocessableEntity)}
	s.Properties["detail"].Examples = []any{
		"the request is not valid: spec.versioning: choose one of: Enabled, Suspended",
	}
}

// succeeds replaces the headers of a successful response: huma adds them to one status only.
func succeeds(op *huma.Operation, status int, r *huma.Response) {
	text := func(description string, always bool) *huma.Param {
		return &huma.Param{Description: description, Required: always, Schema: &huma.Schema{Type: huma.TypeString}}
	}
	const (
		version = "Version of what users write: spec, labels and annotations. Changes of the status do not change it."
		warning = "What Kubernetes warns of, as 299 - \"text\"; there can be several."
	)
	switch {
	case op.OperationID == listKinds:
		r.Headers = map[string]*huma.Param{"ETag": text("The revision, for If-None-Match.", true)}
	case op.Method == http.MethodGet && r.Headers["ETag"] != nil:
		r.Headers = map[string]*huma.Param{"ETag": text(version+" A stream has none.", false)}
	case status == http.StatusCreated:
		r.Headers = map[string]*huma.Param{
			"Location": text("Path of the object.", true), "ETag": text(version, true), "Warning": text(warning, false),
		}
	case op.Method == http.MethodPut || op.Method == http.MethodPatch:
		r.Headers = map[string]*huma.Param{
			"ETag":    text(version+" Absent after a dry run.", false),
			"Warning": text(warning, false),
		}
	case op.Method == http.MethodPost || op.Method == http.MethodDelete:
		r.Headers = map[string]*huma.Param{"Warning": text(warning, false)}
	}
}
