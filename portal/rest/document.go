package rest

import (
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
	"github.com/go-chi/chi/v5"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
)

// Document is the OpenAPI document of the API over kinds, as New's handler serves it; no cluster is needed.
func Document(kinds catalog.Catalog) ([]byte, error) {
	a := &API{cluster: described{kinds: kinds}}
	api := humachi.New(chi.NewRouter(), config())
	a.register(api)
	a.registerLogin(api, auth.CLI{})
	return document(api, kinds)
}

// described answers for its kinds alone.
type described struct {
	Cluster
	kinds catalog.Catalog
}

func (d described) Kinds() catalog.Catalog { return d.kinds }
