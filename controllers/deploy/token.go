package deploy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"

	"github.com/portico-platform/portico/api/identity"
	"github.com/portico-platform/portico/api/v1alpha1"
)

const (
	// clockSlack is how far the clock of an issuer may be off.
	clockSlack = time.Minute
	// longestLife is the longest that a token may be valid: so long it is remembered that it was used.
	longestLife = 24 * time.Hour
	// maxToken bounds what is decoded before anything is verified. Tokens of GitHub and GitLab have less than 3 KiB.
	maxToken = 16 << 10
	// maxID bounds the ID of a token.
	maxID = 256
)

// RefusalError is why a token is not exchanged. Its text is for the caller: it has the caller's own claim, and never
// what was expected of it.
type RefusalError struct{ Text string }

func (r *RefusalError) Error() string { return r.Text }

func refuse(format string, args ...any) error { return &RefusalError{fmt.Sprintf(format, args...)} }

// token is a verified token of an issuer.
type token struct {
	issuer  *v1alpha1.DeployIssuer
	id      string // unique with the issuer
	expires time.Time
	claims  identity.ClaimSet
}

// key returns what identifies the token.
func (t *token) key() string { return t.issuer.IssuerURL() + "\x00" + t.id }

// Issuers verify tokens of the issuers of a DeployPolicy. They keep the keys of each.
type Issuers struct {
	// Audience is the one that tokens must be for: the portal's URL.
	Audience string
	Now      func() time.Time

	mu   sync.Mutex
	keys map[keysOf]*keys
}

// keysOf is what decides about the keys of an issuer.
type keysOf struct{ url, certificates string }

// Keep forgets the keys of issuers that are not in the policy any more.
func (i *Issuers) Keep(policy *v1alpha1.DeployPolicy) {
	i.mu.Lock()
	defer i.mu.Unlock()
	wanted := map[keysOf]bool{}
	for n := range policy.Spec.Issuers {
		wanted[keysOf{policy.Spec.Issuers[n].IssuerURL(), policy.Spec.Issuers[n].CABundle}] = true
	}
	for of := range i.keys {
		if !wanted[of] {
			delete(i.keys, of)
		}
	}
}

// of returns the keys of an issuer.
func (i *Issuers) of(issuer *v1alpha1.DeployIssuer) (*keys, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	of := keysOf{issuer.IssuerURL(), issuer.CABundle}
	if known := i.keys[of]; known != nil {
		return known, nil
	}
	made, err := newKeys(issuer, i.Now)
	if err != nil {
		return nil, err
	}
	if i.keys == nil {
		i.keys = map[keysOf]*keys{}
	}
	i.keys[of] = made
	return made, nil
}

// Check returns why tokens of the issuer cannot be verified, nil if they can.
func (i *Issuers) Check(ctx context.Context, issuer *v1alpha1.DeployIssuer) error {
	keys, err := i.of(issuer)
	if err != nil {
		return err
	}
	return keys.Check(ctx)
}

// verify verifies a token of one of the policy's issuers. Errors are *RefusalError, and *identity.ProviderError or
// errBusy where it could not be verified. With a *RefusalError it returns a token whose signature is good, for the
// record.
func (i *Issuers) verify(ctx context.Context, policy *v1alpha1.DeployPolicy, raw string) (*token, error) {
	if len(raw) > maxToken {
		return nil, refuse("the token is longer than %d KiB", maxToken>>10)
	}
	issuer, err := issuerOf(policy, raw)
	if err != nil {
		return nil, err
	}
	keys, err := i.of(issuer)
	if err != nil {
		return nil, &identity.ProviderError{Doing: "preparing to ask the issuer", Cause: err}
	}
	signed := &signature{keys: keys}
	verified, err := oidc.NewVerifier(issuer.IssuerURL(), signed, &oidc.Config{
		SkipClientIDCheck: true, SkipExpiryCheck: true, SupportedSigningAlgs: identity.Algorithms, Now: i.Now,
	}).Verify(ctx, raw)
	if err != nil {
		return nil, signed.explain(err)
	}
	return i.judge(issuer, verified)
}

// issuerOf returns the issuer that a token names. Nothing else in it is used before it is verified.
func issuerOf(policy *v1alpha1.DeployPolicy, raw string) (*v1alpha1.DeployIssuer, error) {
	signed, err := parse(raw)
	if err != nil {
		return nil, refuse("%s", err)
	}
	var said struct {
		Issuer string `json:"iss"`
	}
	if json.Unmarshal(signed.UnsafePayloadWithoutVerification(), &said) != nil || said.Issuer == "" {
		return nil, refuse("the token has no iss that can be read")
	}
	for n := range policy.Spec.Issuers {
		if policy.Spec.Issuers[n].IssuerURL() == said.Issuer {
			return &policy.Spec.Issuers[n], nil
		}
	}
	return nil, refuse("iss %q is no issuer whose tokens are exchanged here", short(said.Issuer))
}

// signature keeps why the signature of one token could not be verified: the library drops the kind of the error.
type signature struct {
	keys *keys
	err  error
}

// VerifySignature implements oidc.KeySet.
func (s *signature) VerifySignature(ctx context.Context, jwt string) (payload []byte, err error) {
	payload, s.err = s.keys.VerifySignature(ctx, jwt)
	return payload, s.err
}

// isLater reports whether a token can be verified later.
func isLater(err error) bool { return errors.Is(err, errBusy) || errors.Is(err, errNotYet) }

// explain returns the error for the caller.
func (s *signature) explain(err error) error {
	if _, away := errors.AsType[*identity.ProviderError](s.err); away || isLater(s.err) {
		return s.err
	}
	if s.err != nil {
		return refuse("%s", s.err)
	}
	return refuse("it cannot be read as a token: %s", short(err.Error()))
}

// judge checks what a token with a valid signature says about itself.
func (i *Issuers) judge(issuer *v1alpha1.DeployIssuer, verified *oidc.IDToken) (*token, error) {
	claims, err := identity.ClaimsOf(verified)
	if err != nil {
		return nil, refuse("its claims cannot be read")
	}
	t := &token{issuer: issuer, id: claims.Text("jti"), claims: claims}
	switch {
	case len(verified.Audience) != 1 || verified.Audience[0] != i.Audience || i.Audience == "":
		return t, refuse("aud %q: it must be that of this portal alone", short(strings.Join(verified.Audience, ", ")))
	case t.id == "" || len(t.id) > maxID:
		return t, refuse("jti is needed, with %d characters at most", maxID)
	}
	t.expires, err = i.times(claims)
	return t, err
}

// times checks when a token counts, and returns its end.
func (i *Issuers) times(claims identity.ClaimSet) (expires time.Time, err error) {
	at := map[string]time.Time{}
	for _, name := range []string{"exp", "iat", "nbf"} {
		if at[name], err = timeAt(claims, name); err != nil {
			return expires, err
		}
	}
	now := i.Now()
	wrong := func(name, why string) (time.Time, error) {
		return expires, refuse("%s %s: %s", name, at[name].UTC().Format(time.RFC3339), why)
	}
	switch expires = at["exp"]; {
	case expires.IsZero() || at["iat"].IsZero():
		return expires, refuse("exp and iat are needed")
	case !now.Before(expires.Add(clockSlack)):
		return wrong("exp", "it has ended")
	case expires.Sub(now) > longestLife:
		return wrong("exp", "it is valid for longer than a day")
	case at["nbf"].After(now.Add(clockSlack)):
		return wrong("nbf", "it is not valid yet")
	case at["iat"].After(now.Add(clockSlack)):
		return wrong("iat", "it is from the future")
	}
	return expires, nil
}

// timeAt returns a claim that is a time, zero if it is missing.
func timeAt(claims identity.ClaimSet, name string) (time.Time, error) {
	raw, there := claims[name]
	if !there {
		return time.Time{}, nil
	}
	var seconds float64
	if json.Unmarshal(raw, &seconds) != nil || seconds <= 0 || seconds > math.MaxInt32*100 {
		return time.Time{}, refuse("%s %s is no time", name, short(string(raw)))
	}
	return time.Unix(int64(seconds), 0), nil
}
