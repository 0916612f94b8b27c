package auth

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/portico-platform/portico/api/identity"
)

// DefaultScopes are requested if no scopes are configured, as far as the provider lists them.
const DefaultScopes = "openid profile email groups offline_access"

// DefaultConfirmPrompt makes the provider ask users again who have a session there.
const DefaultConfirmPrompt = "login"

// The methods of client authentication at the token endpoint, by their OpenID Connect names.
const (
	secretBasic = "client_secret_basic"
	secretPost  = "client_secret_post"
)

// settingsPath is the path of a provider's metadata below its issuer.
const settingsPath = "/.well-known/openid-configuration"

// settings are the provider's metadata that the library does not read.
type settings struct {
	EndSession  string   `json:"end_session_endpoint"`
	Revocation  string   `json:"revocation_endpoint"`
	BackChannel bool     `json:"backchannel_logout_supported"`
	Keys        string   `json:"jwks_uri"`
	Pushed      string   `json:"pushed_authorization_request_endpoint"`
	MustPush    bool     `json:"require_pushed_authorization_requests"`
	UserInfo    string   `json:"userinfo_endpoint"`
	Scopes      []string `json:"scopes_supported"`
	AuthMethods []string `json:"token_endpoint_auth_methods_supported"`
	Algorithms  []string `json:"id_token_signing_alg_values_supported"`
}

// discovered is the provider's metadata and its keys.
type discovered struct {
	*oidc.Provider
	settings settings
	keys     *identity.Keys
}

// after returns d with before's keys if they have the same URL, so that they are not fetched more often than allowed.
func (d *discovered) after(before *discovered) *discovered {
	if before != nil && before.settings.Keys == d.settings.Keys {
		d.keys = before.keys
	}
	return d
}

func (p *Provider) ask(ctx context.Context) (*discovered, error) {
	const doing = "asking the identity provider for its settings"
	found, err := oidc.NewProvider(p.with(ctx), p.cfg.IssuerURL)
	if err != nil {
		if _, ok := errors.AsType[*url.Error](err); !ok && ctx.Err() == nil {
			err = &AnswerError{Doing: doing, Detail: clean(err.Error()), Advice: issuerAdvice(err), cause: err}
		}
		return nil, &ProviderError{Doing: doing, Cause: err}
	}
	var said settings
	if err := found.Claims(&said); err != nil {
		return nil, &ProviderError{Doing: doing, Cause: &AnswerError{Doing: doing, Detail: clean(err.Error())}}
	}
	if err := said.checkAddresses(found.Endpoint()); err != nil {
		const advice = "Ask the people who run it to correct that."
		return nil, &ProviderError{
			Doing: doing, Cause: &AnswerError{Doing: doing, Detail: err.Error(), Advice: advice, cause: err},
		}
	}
	return &discovered{Provider: found, settings: said, keys: identity.NewKeys(said.Keys, p.now)}, nil
}

// issuerAdvice returns what to do about metadata of another issuer; "" for other errors.
func issuerAdvice(err error) string {
	if _, ok := errors.AsType[*oidc.IssuerMismatchError](err); !ok {
		return ""
	}
	return "Ask the portal's admins to look at --oidc-issuer-url: it must be the provider's issuer letter by letter, " +
		"a slash at the end included."
}

// checkAddresses refuses URLs that would send secrets unencrypted, or keys that could be replaced in transit.
func (s *settings) checkAddresses(endpoint oauth2.Endpoint) error {
	for name, address := range map[string]string{
		"authorization_endpoint": endpoint.AuthURL, "token_endpoint": endpoint.TokenURL,
		"device_authorization_endpoint": endpoint.DeviceAuthURL,
		"jwks_uri":                      s.Keys, "revocation_endpoint": s.Revocation,
		"pushed_authorization_request_endpoint": s.Pushed, "userinfo_endpoint": s.UserInfo,
	} {
		if u, err := url.Parse(address); err != nil || u.Scheme == "http" && !loopback(u.Hostname()) {
			return fmt.Errorf("%s is %s: %w. A provider behind a proxy must know the address that it has outside",
				name, clean(address), identity.ErrNotHTTPS)
		}
	}
	return nil
}

// scopes returns the configured scopes, else the default ones that the provider lists.
func (d *discovered) scopes(set []string) []string {
	if len(set) > 0 {
		return slices.Clone(set)
	}
	return slices.DeleteFunc(strings.Fields(DefaultScopes), func(scope string) bool {
		return scope != oidc.ScopeOpenID && len(d.settings.Scopes) > 0 && !slices.Contains(d.settings.Scopes, scope)
	})
}

// authMethod returns the client authentication method: the configured one, else the first supported one that the
// provider lists, and "none" without a secret. A provider that lists none accepts client_secret_basic.
func (d *discovered) authMethod(cfg Config) (string, error) {
	offered := d.settings.AuthMethods
	switch {
	case cfg.ClientSecret == "":
		return "none", nil
	case cfg.AuthMethod != "":
		return cfg.AuthMethod, nil
	case len(offered) == 0 || slices.Contains(offered, secretBasic):
		return secretBasic, nil
	case slices.Contains(offered, secretPost):
		return secretPost, nil
	}
	return "", &AnswerError{
		Doing: "reading the identity provider's settings",
		Detail: clean("token_endpoint_auth_methods_supported: " + strings.Join(offered, ", ") +
			"; the portal can do " + secretBasic + " and " + secretPost),
		Advice: "Ask the portal's admins to let its client there show its secret in one of these two ways.",
	}
}

// oauth returns the client for this provider. It sets the authentication method: trying one after the other would send
// a code twice.
func (p *Provider) oauth(found *discovered) (*oauth2.Config, error) {
	method, err := found.authMethod(p.cfg)
	if err != nil {
		return nil, err
	}
	endpoint := found.Endpoint()
	if endpoint.AuthURL == "" || endpoint.TokenURL == "" {
		return nil, &AnswerError{
			Doing:  "reading the identity provider's settings",
			Detail: "no authorization_endpoint, or no token_endpoint",
			Advice: "Ask the portal's admins to look at --oidc-issuer-url.",
		}
	}
	endpoint.AuthStyle = oauth2.AuthStyleInParams
	if method == secretBasic {
		endpoint.AuthStyle = oauth2.AuthStyleInHeader
	}
	return &oauth2.Config{
		ClientID: p.cfg.ClientID, ClientSecret: p.cfg.ClientSecret, Endpoint: endpoint,
		RedirectURL: p.cfg.redirectURL(), Scopes: found.scopes(p.cfg.Scopes),
	}, nil
}

// CLI is how command-line tools get a token for the REST API. None of it is secret.
type CLI struct {
	Issuer    string
	ClientID  string // of a public client; "" if there is none
	Scopes    []string
	Audiences []string // a token must have one of them
	// JobAudience is the audience of tokens of CI jobs that are exchanged: the portal's URL.
	JobAudience string
}

// cliWait is how long tools wait for a provider that is not known yet; they could not sign in there anyway.
const cliWait = 2 * time.Second

// CLI returns the settings with which command-line tools sign in. Until the provider answers, it contains all default
// scopes.
func (p *Provider) CLI(ctx context.Context) CLI {
	found := &discovered{}
	if len(p.cfg.CLIScopes) == 0 {
		ctx, cancel := context.WithTimeout(ctx, cliWait)
		defer cancel()
		if d, err := p.discover(ctx); err == nil {
			found = d
		}
	}
	return CLI{
		Issuer: p.cfg.IssuerURL, ClientID: p.cfg.CLIClientID,
		Scopes: found.scopes(p.cfg.CLIScopes), Audiences: slices.Clone(p.cfg.Audiences),
		JobAudience: p.cfg.PublicURL,
	}
}

// PublicURL returns the portal's URL, scheme and host only.
func (p *Provider) PublicURL() string { return p.cfg.PublicURL }

// endSessionURL returns the URL of the provider's sign-out page, "" if it has none or does not answer. hint is the ID
// token of the session there, "" if unknown: some providers do not redirect back without it.
func (p *Provider) endSessionURL(ctx context.Context, hint string) string {
	found, err := p.discover(ctx)
	if err != nil {
		return ""
	}
	u, err := url.Parse(found.settings.EndSession)
	if err != nil || (u.Scheme != "https" && u.Scheme != "http") {
		return ""
	}
	q := u.Query()
	q.Set("client_id", p.cfg.ClientID)
	if hint != "" {
		q.Set("id_token_hint", hint)
	}
	if p.cfg.PostLogoutRedirect {
		q.Set("post_logout_redirect_uri", p.cfg.postLogoutURL())
		q.Set("logout_uri", p.cfg.postLogoutURL()) // Cognito's parameter
	}
	u.RawQuery = q.Encode()
	return u.String()
}
