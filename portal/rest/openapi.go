package rest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/portico-platform/portico/portal/catalog"
)

// The error statuses of operations, in addition to 500.
var (
	// always are those of every request with a token: huma validates the query, and a token can lack a username.
	always = []int{
		http.StatusUnauthorized, http.StatusForbidden, http.StatusUnprocessableEntity, http.StatusTooManyRequests,
		http.StatusServiceUnavailable,
	}
	readErrors = with(always, http.StatusNotFound)
	// bodyErrors are those of requests with a body.
	bodyErrors = with(readErrors, http.StatusBadRequest, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge,
		http.StatusUnsupportedMediaType)
	createErrors = with(bodyErrors, http.StatusConflict)
	editErrors   = with(createErrors, http.StatusPreconditionFailed, http.StatusPreconditionRequired)
	deleteErrors = with(readErrors, http.StatusConflict, http.StatusPreconditionFailed)
)

func with(codes []int, more ...int) []int { return append(slices.Clone(codes), more...) }

// document returns the OpenAPI document as JSON.
func document(api huma.API, kinds catalog.Catalog) ([]byte, error) {
	doc, err := complete(api, kinds)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(doc)
	for _, k := range kinds { // drop the schemas, 2 MB: the API server validates objects
		doc.Components.Schemas.Map()[k.ID()] = &huma.Schema{}
	}
	return text, err
}

// complete returns the OpenAPI document with the CRDs' schemas under the names to which the operations refer.
func complete(api huma.API, kinds catalog.Catalog) (*huma.OpenAPI, error) {
	schemas, size := api.OpenAPI().Components.Schemas.Map(), 0
	for _, k := range kinds {
		if size += k.SchemaSize(); size > mostSchemas && !k.Own() {
			schemas[k.ID()] = schemaElsewhere(k)
			continue
		}
		var raw map[string]any
		schema, err := k.Schema()
		if err == nil {
			err = json.Unmarshal(schema, &raw)
		}
		if err != nil {
			return nil, fmt.Errorf("reading the schema of %s: %w", k.Name, err)
		}
		complement(raw, k)
		if k.Own() {
			sample, err := example(k)
			if err != nil {
				return nil, err
			}
			raw["examples"] = []any{sample}
		}
		schemas[k.ID()] = &huma.Schema{Extensions: raw}
	}
	schemas[objectMeta] = metaSchema()
	describeProblems(schemas["ErrorModel"])
	api.OpenAPI().Tags = tags(kinds)
	return api.OpenAPI(), nil
}

// mostSchemas is how many bytes of schemas the document holds: kinds of others can have a megabyte each.
const mostSchemas = 8 << 20

// schemaElsewhere returns what stands for a schema that the document has no room for.
func schemaElsewhere(k catalog.Kind) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true, Description: "A " + k.Name + ". " + Prefix +
		"/kinds/" + k.Plural + " has its definition with its schema, for which this document has no room."}
}

func schemaOf(k catalog.Kind) *huma.Schema {
	return &huma.Schema{Ref: "#/components/schemas/" + k.ID()}
}

func jsonContent(s *huma.Schema) map[string]*huma.MediaType {
	return map[string]*huma.MediaType{"application/json": {Schema: s}}
}

// responses returns those with these statuses and descriptions and a body of the schema; nil is that of the handler's
// output.
func responses(body *huma.Schema, descriptions map[int]string) map[string]*huma.Response {
	all := map[string]*huma.Response{}
	for status, description := range descriptions {
		one := &huma.Response{Description: description}
		if body != nil {
			one.Content = jsonContent(body)
		}
		all[strconv.Itoa(status)] = one
	}
	return all
}

func listResponse(item *huma.Schema) map[string]*huma.Response {
	return withWatch(responses(&huma.Schema{
		Type: huma.TypeObject, Required: []string{"items"},
		Properties: map[string]*huma.Schema{
			"items": {Type: huma.TypeArray, Items: item},
			"next":  {Type: huma.TypeString, Description: "Cursor of the next page; absent on the last one."},
		},
	}, map[int]string{http.StatusOK: "One page"}))
}

func logResponse() map[string]*huma.Response {
	return withStream(map[string]*huma.Response{"200": {
		Description: "Lines of text", Content: map[string]*huma.MediaType{
			"text/plain": {Schema: &huma.Schema{Type: huma.TypeString}},
		},
	}}, "lines", "waiting", "end", "finished")
}

func requestBody(k catalog.Kind) *huma.RequestBody {
	named := &huma.Schema{Required: []string{"metadata"}, Properties: map[string]*huma.Schema{"metadata": {
		Required: []string{"name"}, Properties: map[string]*huma.Schema{"name": {MinLength: new(1)}},
	}}}
	return &huma.RequestBody{
		Required: true, Content: jsonContent(&huma.Schema{AllOf: []*huma.Schema{schemaOf(k), named}}),
		Description: "apiVersion, kind and metadata.namespace may be left out; metadata.name and spec are needed. Of " +
			"metadata only name, namespace, labels and annotations are taken; anything else, and status, is refused.",
	}
}

func putBody(k catalog.Kind) *huma.RequestBody {
	return &huma.RequestBody{
		Required: true, Content: jsonContent(schemaOf(k)),
		Description: "The object. metadata.name and metadata.namespace may be left out, and must else be those of " +
			"the URL. To replace an object, what GET answered may be sent back: metadata.uid, if sent, must be that " +
			"of the object; the " +
			"rest of metadata that Kubernetes keeps, and status, are not taken.",
	}
}

func patchBody() *huma.RequestBody {
	texts := &huma.Schema{
		Type: huma.TypeObject, Nullable: true, AdditionalProperties: &huma.Schema{
			Type: huma.TypeString, Nullable: true,
		},
		Description: "null removes one, or all.",
	}
	metadata := &huma.Schema{
		Type: huma.TypeObject, AdditionalProperties: false, Properties: map[string]*huma.Schema{
			"labels": texts, "annotations": texts,
		},
	}
	spec := &huma.Schema{
		Type: huma.TypeObject, AdditionalProperties: true,
		Description: "Fields as in the kind's schema; null removes one.",
	}
	return &huma.RequestBody{
		Required: true, Description: "What is to change; the rest stays.",
		Content: map[string]*huma.MediaType{mergePatch: {Schema: &huma.Schema{
			Type: huma.TypeObject, AdditionalProperties: false, Properties: map[string]*huma.Schema{
				"metadata": metadata, "spec": spec,
			},
		}}},
	}
}

// withStream adds a stream of server-sent events with these names to the responses.
func withStream(responses map[string]*huma.Response, events ...any) map[string]*huma.Response {
	responses["200"].Content["text/event-stream"] = &huma.MediaType{Schema: &huma.Schema{
		Type: huma.TypeObject, Description: "Each event. Comments between them keep the connection open.",
		Required: []string{"event", "data"},
		Properties: map[string]*huma.Schema{
			"event": {Type: huma.TypeString, Enum: events},
			"data":  {Type: huma.TypeString, Description: "JSON, on one line; of finished, nothing."},
		},
	}}
	return responses
}

// withWatch adds the stream of objects to the responses.
func withWatch(responses map[string]*huma.Response) map[string]*huma.Response {
	return withStream(responses, "snapshot", "changed", "deleted")
}
