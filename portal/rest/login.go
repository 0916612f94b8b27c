package rest

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/portico-platform/portico/portal/auth"
)

// loginPath is the one operation that needs no token.
const loginPath = "/login"

type loginOutput struct {
	CacheControl string `header:"Cache-Control"`
	Body         login
}

type login struct {
	Issuer    string   `json:"issuer" doc:"URL of the OpenID Connect provider."`
	ClientID  string   `json:"clientID,omitempty" doc:"Public client of command-line tools, for the device flow and for redirects to loopback. Absent if there is none: bring a token."`
	Scopes    []string `json:"scopes,omitempty" doc:"What to ask for with it."`
	Audiences []string `json:"audiences" doc:"Of which a token must have one."`
}

// registerLogin adds the operation that tools call before they have a token.
func (a *API) registerLogin(api huma.API, cli func(context.Context) auth.CLI) {
	huma.Register(api, huma.Operation{
		OperationID: "getLogin", Method: http.MethodGet, Path: loginPath, Tags: []string{general},
		Summary: "Say how command-line tools sign in", Security: []map[string][]string{},
		Errors:      []int{http.StatusUnprocessableEntity},
		Description: "Needs no token. With the ID token of the client named here the rest of the API can be called.",
	}, func(ctx context.Context, _ *struct{}) (*loginOutput, error) {
		said := cli(ctx)
		out := &loginOutput{
			CacheControl: "public, max-age=300",
			Body:         login{Issuer: said.Issuer, Audiences: said.Audiences},
		}
		if said.ClientID != "" {
			out.Body.ClientID, out.Body.Scopes = said.ClientID, said.Scopes
		}
		return out, nil
	})
}
