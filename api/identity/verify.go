package identity

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
)

// Timeout bounds one request to the identity provider.
const Timeout = 10 * time.Second

// Algorithms are the signatures that are accepted: asymmetric ones only, whatever the provider announces.
var Algorithms = []string{
	oidc.RS256, oidc.RS384, oidc.RS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.PS256, oidc.PS384,
	oidc.PS512, oidc.EdDSA,
}

// Verify checks signature, issuer, life and audience of a token. The token must be for one of the audiences. ErrBadToken says that
// it is not good, a *ProviderError that nobody can tell for want of the provider's keys.
func Verify(ctx context.Context, issuer string, keys *Keys, raw string, audiences []string, now func() time.Time) (*oidc.IDToken, error) {
	return verify(ctx, issuer, keys, raw, audiences, &oidc.Config{Now: now})
}

// VerifyLogout checks a logout token as Verify does, but takes one without exp, too: some providers send none, as drafts
// of OpenID Connect Back-Channel Logout 1.0 allowed. The caller bounds its age by iat.
func VerifyLogout(
	ctx context.Context, issuer string, keys *Keys, raw string, audiences []string, now func() time.Time,
) (*oidc.IDToken, error) {
	tok, err := verify(ctx, issuer, keys, raw, audiences, &oidc.Config{Now: now, SkipExpiryCheck: true})
	if err != nil {
		return nil, err
	}
	if tok.Expiry.Unix() > 0 && now().After(tok.Expiry) {
		return nil, fmt.Errorf("%w: it has ended", ErrBadToken)
	}
	return tok, nil
}

func verify(
	ctx context.Context, issuer string, keys *Keys, raw string, audiences []string, config *oidc.Config,
) (*oidc.IDToken, error) {
	config.SkipClientIDCheck = true // the audience is checked below, for there may be several
	config.SupportedSigningAlgs = Algorithms
	v := oidc.NewVerifier(issuer, keys, config)
	ctx, out := withOutage(ctx)
	tok, err := v.Verify(ctx, raw)
	switch {
	case out.err != nil:
		return nil, &ProviderError{Doing: fetchingKeys, Cause: out.err}
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrBadToken, err)
	}
	if !slices.ContainsFunc(tok.Audience, func(a string) bool { return slices.Contains(audiences, a) }) {
		return nil, fmt.Errorf("%w: it is for %q", ErrBadToken, tok.Audience)
	}
	return tok, nil
}

// Of returns the caller whom a verified ID token names. A *RefusedError says why this user may not come in.
func (cfg Claims) Of(tok *oidc.IDToken) (Identity, error) {
	var claims ClaimSet
	if err := tok.Claims(&claims); err != nil {
		return Identity{}, fmt.Errorf("%w: its claims: %w", ErrBadToken, err)
	}
	if _, isEvent := claims["events"]; isEvent {
		return Identity{}, fmt.Errorf("%w: it is a logout token", ErrBadToken)
	}
	return cfg.Who(claims)
}
