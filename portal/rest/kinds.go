package rest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster/write"
)

// listKinds is the ID of the operation.
const listKinds = "listKinds"

type kindsInput struct {
	IfNoneMatch string `header:"If-None-Match" doc:"ETag of an earlier answer: while it holds, the answer is 304 without a body."`
}

type definitionsOutput struct {
	Status int
	ETag   string `header:"ETag"`
	Body   struct {
		Revision string           `json:"revision" doc:"Changes with any kind; the ETag without its quotes."`
		Items    []kindDefinition `json:"items"`
	}
}

type kindInput struct {
	Kind string `path:"kind" doc:"Plural name, as in the paths of its objects."`
}

type kindOutput struct{ Body kindDefinition }

type kindDefinition struct {
	Resource   string         `json:"resource" doc:"Plural name, as in the paths of its objects."`
	Revision   string         `json:"revision" doc:"Changes with the entry and with the definition."`
	Entry      map[string]any `json:"entry" doc:"The CatalogEntry: how people see the kind."`
	Definition map[string]any `json:"definition" doc:"The CustomResourceDefinition, with the version in use. In lists the schema has no content."`
}

// kindOperations returns those about the kinds themselves.
func (a *API) kindOperations(kinds catalog.Catalog) []operation {
	// made once for a catalog, and only if somebody asks
	published := sync.OnceValues(func() (*definitionsOutput, error) { return publish(kinds) })
	list := func(ctx context.Context, in *kindsInput) (*definitionsOutput, error) {
		all, err := published()
		if err != nil {
			return nil, a.fail(ctx, err)
		}
		if in.IfNoneMatch != "" && write.OwnETag(in.IfNoneMatch) == all.ETag {
			return &definitionsOutput{Status: http.StatusNotModified, ETag: all.ETag}, nil
		}
		return all, nil
	}
	one := func(ctx context.Context, in *kindInput) (*kindOutput, error) {
		k, ok := kinds.ByPlural(in.Kind)
		if !ok {
			return nil, problem(ctx, http.StatusNotFound, "there is no such kind; "+Prefix+"/kinds lists what there is")
		}
		whole, err := k.PublishedWhole()
		if err != nil {
			return nil, a.fail(ctx, err)
		}
		out, err := definitionOf(k, whole)
		if err != nil {
			return nil, a.fail(ctx, err)
		}
		return &kindOutput{out}, nil
	}
	return []operation{
		row(huma.Operation{
			OperationID: listKinds, Method: http.MethodGet, Path: "/kinds",
			Summary: "List the definitions of all kinds, for clients that are made of them", Errors: always,
			Description: "Every caller sees all kinds, also hidden ones. Whether a caller can use a kind is said by " +
				"listCatalog.",
			Responses: responses(nil, map[int]string{http.StatusNotModified: "It is as If-None-Match says"}),
		}, list),
		row(huma.Operation{
			OperationID: "getKind", Method: http.MethodGet, Path: "/kinds/{kind}",
			Summary: "Get the definition of one kind, with its schema", Errors: readErrors,
		}, one),
	}
}

// publish returns the definitions of all kinds.
func publish(kinds catalog.Catalog) (*definitionsOutput, error) {
	out, sum := &definitionsOutput{Status: http.StatusOK}, sha256.New()
	out.Body.Items = make([]kindDefinition, 0, len(kinds))
	for _, k := range kinds {
		one, err := definitionOf(k, k.Published())
		if err != nil {
			return nil, err
		}
		out.Body.Items = append(out.Body.Items, one)
		_, _ = sum.Write([]byte(one.Resource + one.Revision)) // a hash takes everything
	}
	out.Body.Revision = hex.EncodeToString(sum.Sum(nil)[:8])
	out.ETag = `"` + out.Body.Revision + `"`
	return out, nil
}

// definitionOf returns a kind for JSON.
func definitionOf(k catalog.Kind, p catalog.Published) (kindDefinition, error) {
	out := kindDefinition{Resource: k.Plural, Revision: p.Revision}
	var err error
	if out.Entry, err = runtime.DefaultUnstructuredConverter.ToUnstructured(&p.Entry); err != nil {
		return out, err
	}
	out.Definition, err = runtime.DefaultUnstructuredConverter.ToUnstructured(&p.Definition)
	for _, m := range []map[string]any{out.Entry, out.Definition} { // of no use to clients
		delete(m, "status")
	}
	return out, err
}
