package auth

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
	"golang.org/x/sync/singleflight"
)

// algorithms are the signatures that are accepted: asymmetric ones only, whatever the provider announces.
var algorithms = []string{
	oidc.RS256, oidc.RS384, oidc.RS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.PS256, oidc.PS384,
	oidc.PS512, oidc.EdDSA,
}

// providerTimeout bounds one request to the identity provider.
const providerTimeout = 10 * time.Second

// discoverAgain is how long a provider that told nothing of itself is left alone.
const discoverAgain = 3 * time.Second

// Provider is the identity provider. It is looked up at first use, so that the portal starts without it.
type Provider struct {
	cfg    Config
	client *http.Client
	now    func() time.Time

	flights singleflight.Group
	mu      sync.Mutex
	found   *discovered
	failure error // of the last attempt
	failed  time.Time
	absence absence // as Watch found it
}

// discovered is what the provider says of itself, and its keys.
type discovered struct {
	*oidc.Provider
	keys       *keySet
	endSession string
}

// NewProvider checks cfg; it sends nothing yet.
func NewProvider(cfg Config, now func() time.Time) (*Provider, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	return &Provider{cfg: cfg, now: now, client: &http.Client{Timeout: providerTimeout}}, nil
}

// discover asks once, for all who wait, and again some time after a failure. It gives up waiting when ctx ends.
func (p *Provider) discover(ctx context.Context) (*discovered, error) {
	if found, err := p.known(); found != nil || err != nil {
		return found, err
	}
	ch := p.flights.DoChan("", func() (any, error) {
		if found, err := p.known(); found != nil || err != nil {
			return found, err
		}
		found, err := p.ask(context.WithoutCancel(ctx))
		p.mu.Lock()
		defer p.mu.Unlock()
		p.found, p.failure, p.failed = found, err, p.now()
		return found, err
	})
	select {
	case <-ctx.Done():
		return nil, &ProviderError{Doing: "waiting for the identity provider's settings", Cause: ctx.Err()}
	case r := <-ch:
		found, _ := r.Val.(*discovered)
		return found, r.Err
	}
}

// known is what was found, or the failure of a moment ago; neither when it is time to ask.
func (p *Provider) known() (*discovered, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failure != nil && p.now().Sub(p.failed) < discoverAgain {
		return nil, p.failure
	}
	return p.found, nil
}

func (p *Provider) ask(ctx context.Context) (*discovered, error) {
	found, err := oidc.NewProvider(p.with(ctx), p.cfg.IssuerURL)
	if err != nil {
		return nil, &ProviderError{Doing: "asking the identity provider for its settings", Cause: err}
	}
	var extra struct {
		EndSession string `json:"end_session_endpoint"`
		Keys       string `json:"jwks_uri"`
	}
	if err := found.Claims(&extra); err != nil {
		return nil, &ProviderError{Doing: "reading the identity provider's settings", Cause: err}
	}
	return &discovered{Provider: found, keys: newKeySet(ctx, extra.Keys, p.now), endSession: extra.EndSession}, nil
}

func (p *Provider) with(ctx context.Context) context.Context {
	return oidc.ClientContext(ctx, p.client)
}

func (p *Provider) oauth(found *discovered) *oauth2.Config {
	return &oauth2.Config{
		ClientID: p.cfg.ClientID, ClientSecret: p.cfg.ClientSecret, Endpoint: found.Endpoint(),
		RedirectURL: p.cfg.origin() + CallbackPath,
		Scopes:      []string{oidc.ScopeOpenID, "profile", "email", "groups", oidc.ScopeOfflineAccess},
	}
}

// verify checks signature, issuer, life and audience. The token must be for one of the audiences. ErrBadToken says that
// it is not good, a *ProviderError that nobody can tell for want of the provider's keys.
func (p *Provider) verify(ctx context.Context, raw string, audiences []string) (*oidc.IDToken, error) {
	found, err := p.discover(ctx)
	if err != nil {
		return nil, err
	}
	// The audience is checked below, for there may be several.
	v := oidc.NewVerifier(p.cfg.IssuerURL, found.keys, &oidc.Config{
		SkipClientIDCheck:    true,
		SupportedSigningAlgs: algorithms, Now: p.now,
	})
	ctx, out := withOutage(ctx)
	tok, err := v.Verify(p.with(ctx), raw)
	switch {
	case out.err != nil:
		return nil, &ProviderError{Doing: "fetching the identity provider's keys", Cause: out.err}
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrBadToken, err)
	}
	if !slices.ContainsFunc(tok.Audience, func(a string) bool { return slices.Contains(audiences, a) }) {
		return nil, fmt.Errorf("%w: it is for %q", ErrBadToken, tok.Audience)
	}
	return tok, nil
}

// identity reads the caller from a verified ID token. A *RefusedError says why this user may not come in.
func (p *Provider) identity(tok *oidc.IDToken) (Identity, error) {
	var claims map[string]json.RawMessage
	if err := tok.Claims(&claims); err != nil {
		return Identity{}, fmt.Errorf("%w: its claims: %w", ErrBadToken, err)
	}
	username, err := p.username(claims)
	if err != nil {
		return Identity{}, err
	}
	groups, err := p.groups(claims)
	if err != nil {
		return Identity{}, err
	}
	id := Identity{Username: p.cfg.Prefix + username, Name: optional(claims["name"]), Email: optional(claims["email"])}
	for _, g := range groups {
		id.Groups = append(id.Groups, p.cfg.Prefix+g)
	}
	if err := id.Check(); err != nil {
		return Identity{}, unusable(err)
	}
	return id, nil
}

func (p *Provider) username(claims map[string]json.RawMessage) (string, error) {
	var username string
	raw, ok := claims[p.cfg.UsernameClaim]
	if !ok || json.Unmarshal(raw, &username) != nil || username == "" {
		return "", &RefusedError{Reason: fmt.Sprintf("Your account has no username: the identity provider did not send the claim %q. "+
			"Ask whoever runs it to set one.", p.cfg.UsernameClaim)}
	}
	if p.cfg.UsernameClaim == "email" && string(claims["email_verified"]) != "true" {
		return "", &RefusedError{Reason: "Your e-mail address is not verified, and here it is the username."}
	}
	if err := checkName("username", username); err != nil {
		return "", unusable(err)
	}
	return username, nil
}

func (p *Provider) groups(claims map[string]json.RawMessage) ([]string, error) {
	raw, ok := claims[p.cfg.GroupsClaim]
	if !ok || string(raw) == "null" {
		return nil, nil
	}
	var groups []string
	if json.Unmarshal(raw, &groups) != nil {
		var one string
		if json.Unmarshal(raw, &one) != nil {
			return nil, &RefusedError{Reason: fmt.Sprintf("The identity provider sent the claim %q in a form that is not a list of groups.", p.cfg.GroupsClaim)}
		}
		groups = []string{one}
	}
	for _, g := range groups {
		if err := checkName("group", g); err != nil {
			return nil, unusable(err)
		}
	}
	return groups, nil
}

// optional is a claim's text, "" if it has none.
func optional(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// unusable refuses an account for a name, with checkName's error.
func unusable(name error) *RefusedError {
	return &RefusedError{Reason: "Your account cannot be used here: " + name.Error() + ". Ask whoever runs the identity provider to change it."}
}

// RefusedError says why a user may not come in; Reason is for the user.
type RefusedError struct {
	Reason string
	Cause  error // for the log, may be nil
}

func (e *RefusedError) Error() string {
	if e.Cause == nil {
		return e.Reason
	}
	return e.Reason + " " + e.Cause.Error()
}

func (e *RefusedError) Unwrap() error { return e.Cause }

// ProviderError says that the identity provider could not be asked.
type ProviderError struct {
	Doing string
	Cause error
}

func (e *ProviderError) Error() string { return e.Doing + ": " + e.Cause.Error() }

func (e *ProviderError) Unwrap() error { return e.Cause }
