package rest

import (
	"context"
)

// loginPath is the one operation that needs no token.
const loginPath = "/login"

type loginOutput struct {
	CacheControl string `header:"Cache-Control"`
	Body         login
}

type login struct {
	Issuer      string   `json:"issuer" doc:"URL of the OpenID Connect provider."`
	ClientID    string   `json:"clientID,omitempty" doc:"Public client of command-line tools, for the device flow and for redirects to loopback. Absent if there is none: bring a token."`
	Scopes      []string `json:"scopes,omitempty" doc:"What to ask for with it."`
	Audiences   []string `json:"audiences" doc:"Of which a token must have one."`
	JobAudience string   `json:"jobAudience" doc:"The audience of a token that a CI system gives a job, to be exchanged at /oauth/token."`
}

// login tells tools how to sign in, before they have a token.
func (a *API) login(ctx context.Context, _ *struct{}) (*loginOutput, error) {
	said := a.cli(ctx)
	out := &loginOutput{
		CacheControl: "public, max-age=300",
		Body:         login{Issuer: said.Issuer, Audiences: said.Audiences, JobAudience: said.JobAudience},
	}
	if said.ClientID != "" {
		out.Body.ClientID, out.Body.Scopes = said.ClientID, said.Scopes
	}
	return out, nil
}
