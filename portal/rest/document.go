package rest

import (
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
	"github.com/go-chi/chi/v5"

	"github.com/portico-platform/portico/portal/catalog"
)

// Document returns the OpenAPI document of the API over kinds, as New's handler serves it; no cluster is needed.
func Document(kinds catalog.Catalog) ([]byte, error) {
	doc, err := Describe(kinds)
	if err != nil {
		return nil, err
	}
	return json.Marshal(doc)
}

// Describe returns the document of Document as Go values.
func Describe(kinds catalog.Catalog) (*huma.OpenAPI, error) {
	a := &API{}
	api := humachi.New(chi.NewRouter(), config())
	a.register(api, kinds)
	return complete(api, kinds)
}
