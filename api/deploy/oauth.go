package deploy

// TokenPath is where the portal exchanges the token of a CI job (RFC 8693).
const TokenPath = "/oauth/token" //nolint:gosec // a path

// Values of its parameters, from RFC 8693, sections 2.1 and 3.
const (
	GrantType   = "urn:ietf:params:oauth:grant-type:token-exchange"
	TypeJWT     = "urn:ietf:params:oauth:token-type:jwt"
	TypeIDToken = "urn:ietf:params:oauth:token-type:id_token"     //nolint:gosec // the name of a type
	TypeAccess  = "urn:ietf:params:oauth:token-type:access_token" //nolint:gosec // the name of a type
)
