package identity

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
)

// Timeout bounds one request to the identity provider.
const Timeout = 10 * time.Second

// Algorithms are the accepted signature algorithms: asymmetric ones only, regardless of the provider's metadata.
var Algorithms = []string{
	oidc.RS256, oidc.RS384, oidc.RS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.PS256, oidc.PS384,
	oidc.PS512, oidc.EdDSA,
}

// Verify checks signature, issuer, expiry and audience of a token. The token must be for one of the audiences.
// ErrBadToken means that it is invalid, a *ProviderError that the provider's keys are not available.
func Verify(ctx context.Context, issuer string, keys *Keys, raw string, audiences []string, now func() time.Time) (
	*oidc.IDToken, error,
) {
	return verify(ctx, issuer, keys, raw, audiences, &oidc.Config{Now: now})
}

// VerifyLogout checks a logout token as Verify does, but takes one without exp, too: some providers send none, as
// drafts of OpenID Connect Back-Channel Logout 1.0 allowed. As for VerifyIssued, keys may be new, and the provider's
// clock may be behind. The caller bounds its age by iat.
func VerifyLogout(
	ctx context.Context, issuer string, keys *Keys, raw string, audiences []string, now func() time.Time,
) (*oidc.IDToken, error) {
	config := &oidc.Config{Now: now, SkipExpiryCheck: true}
	tok, err := verify(context.WithValue(ctx, soonKey, true), issuer, keys, raw, audiences, config)
	if err != nil {
		return nil, err
	}
	if tok.Expiry.Unix() > 0 && now().After(tok.Expiry.Add(IssuedSlack)) {
		return nil, fmt.Errorf("%w: it has ended", ErrBadToken)
	}
	return tok, nil
}

// IssuedSlack is how far the clock of the provider may be off for a token that it makes just now.
const IssuedSlack = 2 * time.Minute

// VerifyIssued verifies, as Verify does, a token that the provider's token endpoint has just issued. It waits for
// keys rather than make do with those that others had fetched before it, and tolerates a clock that is behind by
// IssuedSlack.
func VerifyIssued(
	ctx context.Context, issuer string, keys *Keys, raw string, audiences []string, now func() time.Time,
) (*oidc.IDToken, error) {
	before := func() time.Time { return now().Add(-IssuedSlack) }
	return verify(context.WithValue(ctx, soonKey, true), issuer, keys, raw, audiences, &oidc.Config{Now: before})
}

// Fault is what is wrong with a token.
type Fault string

// The faults that a reader can do something about.
const (
	UnknownKey    Fault = "it is signed with a key that the identity provider does not publish"
	Ended         Fault = "it has ended"
	OtherAudience Fault = "it is for another audience"
	OtherIssuer   Fault = "it is of another issuer"
)

// TokenError is what is wrong with a token. It matches ErrBadToken.
type TokenError struct {
	Fault Fault
	Cause error
}

func (e *TokenError) Error() string {
	return fmt.Sprintf("%s: %s: %s", ErrBadToken, e.Fault, e.Cause)
}

// Is makes each one ErrBadToken.
func (e *TokenError) Is(target error) bool { return target == ErrBadToken }

func (e *TokenError) Unwrap() error { return e.Cause }

// googleWithoutScheme is an issuer that Google used earlier instead of https://accounts.google.com.
const googleWithoutScheme = "accounts.google.com"

func verify(
	ctx context.Context, issuer string, keys *Keys, raw string, audiences []string, config *oidc.Config,
) (*oidc.IDToken, error) {
	config.SkipClientIDCheck = true // the audience is checked below, for there may be several
	config.SkipIssuerCheck = true   // and the issuer, for a more exact error
	config.SupportedSigningAlgs = Algorithms
	v := oidc.NewVerifier(issuer, keys, config)
	ctx, out := withOutage(ctx)
	tok, err := v.Verify(ctx, raw)
	switch {
	case out.err != nil:
		return nil, &ProviderError{Doing: fetchingKeys, Cause: out.err}
	case err != nil && out.unknown:
		return nil, &TokenError{Fault: UnknownKey, Cause: err}
	case err != nil:
		return nil, fault(err)
	case tok.Issuer != issuer && (tok.Issuer != googleWithoutScheme || issuer != "https://"+googleWithoutScheme):
		return nil, &TokenError{Fault: OtherIssuer, Cause: fmt.Errorf("its issuer is %q", tok.Issuer)}
	}
	if !slices.ContainsFunc(tok.Audience, func(a string) bool { return slices.Contains(audiences, a) }) {
		return nil, &TokenError{Fault: OtherAudience, Cause: fmt.Errorf("it is for %q", tok.Audience)}
	}
	return tok, nil
}

// fault returns what is wrong with a token that has a valid signature or is malformed.
func fault(err error) error {
	if _, ended := errors.AsType[*oidc.TokenExpiredError](err); ended {
		return &TokenError{Fault: Ended, Cause: err}
	}
	return fmt.Errorf("%w: %w", ErrBadToken, err)
}

// Of returns the caller whom a verified ID token names. A *RefusedError says why this user may not come in.
func (cfg Claims) Of(tok *oidc.IDToken) (Identity, error) {
	claims, err := ClaimsOf(tok)
	if err != nil {
		return Identity{}, err
	}
	return cfg.Who(claims)
}

// ClaimsOf returns what a verified ID token says.
func ClaimsOf(tok *oidc.IDToken) (ClaimSet, error) {
	var claims ClaimSet
	if err := tok.Claims(&claims); err != nil {
		return nil, fmt.Errorf("%w: its claims: %w", ErrBadToken, err)
	}
	if _, isEvent := claims["events"]; isEvent {
		return nil, fmt.Errorf("%w: it is a logout token", ErrBadToken)
	}
	return claims, nil
}
