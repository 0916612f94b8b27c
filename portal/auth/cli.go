package auth

import "slices"

// DefaultCLIScopes are what command-line tools ask for if nothing else is set.
const DefaultCLIScopes = "openid profile email groups offline_access"

// CLI says how command-line tools get a token for the REST API. None of it is secret.
type CLI struct {
	Issuer    string
	ClientID  string // of a public client; "" if there is none
	Scopes    []string
	Audiences []string // of which a token must have one
}

// CLI is for tools that nobody has signed in with yet.
func (b *Bearer) CLI() CLI {
	cfg := b.provider.cfg
	return CLI{
		Issuer: cfg.IssuerURL, ClientID: cfg.CLIClientID,
		Scopes: slices.Clone(cfg.CLIScopes), Audiences: slices.Clone(cfg.Audiences),
	}
}
