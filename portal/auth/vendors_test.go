package auth

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/portico-platform/portico/portal/auth/oidctest"
)

// vendor is an identity provider as its vendor documents it: the settings that matter to a client, and the claims of an
// ID token beyond the common ones. Names and IDs are made up.
type vendor struct {
	settings string
	claims   string
	set      func(*Config)
	secret   string
	scopes   string // requested at a sign-in
	asked    string // client authentication method
	renews   bool   // it issues refresh tokens for these scopes
	sees     string
	name     string
	email    string
	noGroups string // error for a user whose token has no groups claim; "" accepts
	tooMany  string // claims instead of groups if there are too many
}

var vendors = map[string]vendor{
	"Entra ID": {
		// https://login.microsoftonline.com/common/v2.0/.well-known/openid-configuration, and
		// https://learn.microsoft.com/en-us/entra/identity-platform/v2-protocols-oidc#sample-response
		settings: `{"scopes_supported": ["openid", "profile", "email", "offline_access"], "subject_types_supported": ["pairwise"],
			"token_endpoint_auth_methods_supported": ["client_secret_post", "private_key_jwt", "client_secret_basic"],
			"id_token_signing_alg_values_supported": ["RS256"], "response_modes_supported": ["query", "fragment", "form_post"]}`,
		// https://learn.microsoft.com/en-us/entra/identity-platform/id-token-claims-reference
		claims: `{"oid": "aaaaaaaa-0000-1111-2222-bbbbbbbbbbbb", "sub": "pairwise-of-this-app", "tid": "bbbbcccc-1111-dddd-2222-eeee3333ffff",
			"preferred_username": "ann@contoso.example", "name": "Ann Lee", "ver": "2.0",
			"groups": ["0760b6cf-170e-4a14-91b3-4b78e0739963", "3b2b0c93-acd8-4208-8eba-7a48db1cd4c0"]}`,
		set:    func(c *Config) { c.UsernameClaim = "oid" }, // sub differs for each client
		secret: "s3cret", scopes: "openid profile email offline_access", asked: secretBasic, renews: true,
		sees: "oidc:aaaaaaaa-0000-1111-2222-bbbbbbbbbbbb " +
			"oidc:0760b6cf-170e-4a14-91b3-4b78e0739963,oidc:3b2b0c93-acd8-4208-8eba-7a48db1cd4c0",
		name: "Ann Lee", noGroups: `there is no claim "groups"`,
		// https://learn.microsoft.com/en-us/security/zero-trust/develop/configure-tokens-group-claims-app-roles#group-overages
		tooMany: `{"_claim_names": {"groups": "src1"}, "_claim_sources": {"src1": {"endpoint": "https://graph.microsoft.com/v1.0/users/x/getMemberObjects"}}}`,
	},
	"Google": {
		// https://developers.google.com/identity/openid-connect/openid-connect#discovery: no offline_access, no groups
		settings: `{"scopes_supported": ["openid", "email", "profile"], "token_endpoint_auth_methods_supported": ["client_secret_post", "client_secret_basic"],
			"subject_types_supported": ["public"], "id_token_signing_alg_values_supported": ["RS256"], "end_session_endpoint": null}`,
		// https://developers.google.com/identity/openid-connect/openid-connect#an-id-tokens-payload
		claims: `{"azp": "portal", "sub": "110169484474386276334", "hd": "example.com", "email": "ann@example.com", "email_verified": true, "name": "Ann Lee"}`,
		set:    func(c *Config) { c.GroupsOptional = true },
		secret: "s3cret", scopes: "openid profile email", asked: secretBasic,
		sees: "oidc:110169484474386276334 ", name: "Ann Lee", email: "ann@example.com",
	},
	"Okta": {
		// https://developer.okta.com/docs/api/openapi/okta-oauth/oauth/tag/OrgAS/#tag/OrgAS/operation/getWellKnownOpenIDConfiguration
		settings: `{"scopes_supported": ["openid", "email", "profile", "address", "phone", "offline_access", "groups"],
			"token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post", "client_secret_jwt", "private_key_jwt", "none"]}`,
		// https://developer.okta.com/docs/guides/customize-tokens-groups-claim/main/
		claims: `{"sub": "00uid4BxXw6I6TV4m0g3", "ver": 1, "amr": ["pwd"], "idp": "00oid1", "name": "Ann Lee", "email": "ann@example.com",
			"preferred_username": "ann@example.com", "groups": ["Everyone", "team-payments"]}`,
		secret: "s3cret", scopes: "openid profile email groups offline_access", asked: secretBasic, renews: true,
		sees: "oidc:00uid4BxXw6I6TV4m0g3 oidc:Everyone,oidc:team-payments", name: "Ann Lee", email: "ann@example.com",
		noGroups: `there is no claim "groups"`,
	},
	"Cognito": {
		// https://docs.aws.amazon.com/cognito/latest/developerguide/federation-endpoints-oauth-grants.html, and
		// https://cognito-idp.<region>.amazonaws.com/<pool>/.well-known/openid-configuration
		settings: `{"scopes_supported": ["openid", "email", "phone", "profile"], "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"],
			"id_token_signing_alg_values_supported": ["RS256"], "subject_types_supported": ["public"]}`,
		// https://docs.aws.amazon.com/cognito/latest/developerguide/amazon-cognito-user-pools-using-the-id-token.html
		claims: `{"sub": "a1b2c3d4-5678-90ab-cdef-example11111", "cognito:groups": ["team-payments"], "cognito:username": "ann", "email_verified": true,
			"token_use": "id", "email": "ann@example.com", "event_id": "64f513be", "origin_jti": "aaaa"}`,
		set:    func(c *Config) { c.GroupsClaim = "cognito:groups" },
		secret: "s3cret", scopes: "openid profile email", asked: secretBasic, renews: true,
		sees: "oidc:a1b2c3d4-5678-90ab-cdef-example11111 oidc:team-payments", email: "ann@example.com",
		noGroups: `there is no claim "cognito:groups"`,
	},
	"Keycloak": {
		// https://www.keycloak.org/securing-apps/oidc-layers#_endpoints; the lists are those of a new realm of 26.2
		settings: `{"scopes_supported": ["openid", "offline_access", "microprofile-jwt", "profile", "address", "email", "organization", "phone", "acr", "roles", "web-origins", "service_account", "basic"],
			"token_endpoint_auth_methods_supported": ["private_key_jwt", "client_secret_basic", "client_secret_post", "tls_client_auth", "client_secret_jwt"]}`,
		// https://www.keycloak.org/docs/latest/server_admin/#protocol-mappers
		claims: `{"typ": "ID", "azp": "portal", "sub": "6f1c0c2e-0f51-4c8e-9a34-0f3c2d1b7a55", "sid": "d2c5", "email_verified": true, "name": "Ann Lee",
			"preferred_username": "ann", "given_name": "Ann", "family_name": "Lee", "email": "ann@example.com",
			"realm_access": {"roles": ["offline_access", "team-payments"]}, "resource_access": {"portal": {"roles": ["look"]}}}`,
		set:    func(c *Config) { c.GroupsClaim = "realm_access.roles" },
		secret: "s3cret", scopes: "openid profile email offline_access", asked: secretBasic, renews: true,
		sees: "oidc:6f1c0c2e-0f51-4c8e-9a34-0f3c2d1b7a55 oidc:offline_access,oidc:team-payments", name: "Ann Lee",
		email:    "ann@example.com",
		noGroups: `there is no claim "realm_access.roles"`,
	},
}

// play configures the site's provider as this vendor.
func (v vendor) play(t *testing.T) *site {
	t.Helper()
	s := newSite(t)
	if err := json.Unmarshal([]byte(v.settings), &s.issuer.Settings); err != nil {
		t.Fatal(err)
	}
	s.issuer.WithoutRefresh = !v.renews
	cfg := &s.Browser.provider.cfg
	cfg.UsernameClaim, cfg.GroupsOptional, cfg.ClientSecret = "sub", false, v.secret
	if v.set != nil {
		v.set(cfg)
	}
	return s
}

func (v vendor) said(t *testing.T) oidctest.Claims {
	t.Helper()
	var claims oidctest.Claims
	if err := json.Unmarshal([]byte(v.claims), &claims); err != nil {
		t.Fatal(err)
	}
	return claims
}

func TestVendorsSignIn(t *testing.T) {
	for name, v := range vendors {
		t.Run(name, func(t *testing.T) {
			s, cookies := v.play(t), jar{}
			to := s.do("GET", LoginPath, cookies).Header.Get("Location")
			if want := "scope=" + strings.ReplaceAll(v.scopes, " ", "+") + "&"; !strings.Contains(to, want) {
				t.Errorf("asks %s, want %s", to, want)
			}
			if r := s.signIn(t, cookies, v.said(t)); r.StatusCode != http.StatusSeeOther {
				t.Fatalf("%d %q", r.StatusCode, r.body)
			}
			s.see(t, cookies, v.sees)
			in, err := s.readSession(request("GET", "/x", cookies))
			if err != nil || in.Name != v.name || in.Email != v.email {
				t.Errorf("%q, %q: %v", in.Name, in.Email, err)
			}
			s.later(checkEvery)
			s.see(t, cookies, v.sees)
			want := []string{"authorization_code " + v.asked}
			if v.renews {
				want = append(want, "refresh_token "+v.asked)
			}
			if asked := s.issuer.Asked(); !slices.Equal(asked, want) {
				t.Errorf("asked for tokens by %v, want %v", asked, want)
			}
		})
	}
}

// TestVendorsRenewInSilence after a refused refresh token, or without one.
func TestVendorsRenewInSilence(t *testing.T) {
	for name, v := range vendors {
		t.Run(name, func(t *testing.T) {
			s, cookies := v.play(t), jar{}
			s.life = Life{Idle: 90 * time.Minute, Max: 12 * time.Hour}
			s.signIn(t, cookies, v.said(t))
			if v.renews {
				s.refreshedTo(nil, http.StatusBadRequest)
			}
			s.later(time.Hour) // the lifetime of the ID token
			r := s.back(t, cookies, s.sent(t, s.do("GET", "/x?tab=yaml", cookies)), v.said(t))
			if r.StatusCode != http.StatusSeeOther || r.Header.Get("Location") != "/x?tab=yaml" {
				t.Fatalf("%d to %q: %s", r.StatusCode, r.Header.Get("Location"), r.body)
			}
			s.see(t, cookies, v.sees)
		})
	}
}

func TestVendorsLeaveGroupsOut(t *testing.T) {
	for name, v := range vendors {
		t.Run(name, func(t *testing.T) {
			for what, says := range map[string]string{"no groups": v.noGroups, "too many": "more groups than"} {
				s, cookies, claims := v.play(t), jar{}, v.said(t)
				for _, at := range []string{"groups", "cognito:groups", "realm_access"} {
					delete(claims, at)
				}
				if what == "too many" {
					if v.tooMany == "" {
						continue
					}
					if err := json.Unmarshal([]byte(v.tooMany), &claims); err != nil {
						t.Fatal(err)
					}
				}
				r := s.signIn(t, cookies, claims)
				status := http.StatusSeeOther
				if says != "" {
					status = http.StatusForbidden
				}
				if r.StatusCode != status {
					t.Errorf("%s: status = %d, want %d", what, r.StatusCode, status)
				}
				if !strings.Contains(r.body, says) {
					t.Errorf("%s: body %q, want %q in it", what, r.body, says)
				}
			}
		})
	}
}

func TestScopesAndClientAuthentication(t *testing.T) {
	all := DefaultScopes
	for _, c := range []struct {
		reason   string
		settings map[string]any
		set      func(*Config)
		scopes   string
		asked    string
	}{
		{"nothing is said", nil, nil, all, secretBasic},
		{"an empty list", map[string]any{"scopes_supported": []string{}, "token_endpoint_auth_methods_supported": []string{}}, nil, all, secretBasic},
		{"openid is not listed", map[string]any{"scopes_supported": []string{"email"}}, nil, "openid email", secretBasic},
		{"scopes that were set", map[string]any{"scopes_supported": []string{"openid"}}, func(c *Config) { c.Scopes = []string{"openid", "x"} }, "openid x", secretBasic},
		{"by post alone", map[string]any{"token_endpoint_auth_methods_supported": []string{"client_secret_post", "private_key_jwt"}}, nil, all, secretPost},
		{"by post, as was set", nil, func(c *Config) { c.AuthMethod = secretPost }, all, secretPost},
		{"a public client", map[string]any{"token_endpoint_auth_methods_supported": []string{"client_secret_basic"}}, func(c *Config) { c.ClientSecret = "" }, all, "none"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			s, cookies := newSite(t), jar{}
			s.issuer.Settings, s.Browser.provider.cfg.ClientSecret = c.settings, "s3cret"
			if c.set != nil {
				c.set(&s.Browser.provider.cfg)
			}
			s.signIn(t, cookies, alice)
			s.see(t, cookies, "oidc:alice oidc:dev")
			if asked := s.issuer.Asked(); !slices.Equal(asked, []string{"authorization_code " + c.asked}) {
				t.Errorf("asked for tokens by %v", asked)
			}
			found, err := s.Browser.provider.discover(t.Context())
			if err != nil || strings.Join(found.scopes(s.Browser.provider.cfg.Scopes), " ") != c.scopes {
				t.Errorf("%v, %v", found.scopes(s.Browser.provider.cfg.Scopes), err)
			}
		})
	}
}

// TestToolsAskForWhatTheProviderLists, and for all scopes while the provider is unknown.
func TestToolsAskForWhatTheProviderLists(t *testing.T) {
	s := newSite(t)
	p := s.Browser.provider
	s.issuer.Settings = map[string]any{"scopes_supported": []string{"openid", "email"}}
	down := s.downOnce()
	down.Store(true)
	if got := strings.Join(p.CLI(t.Context()).Scopes, " "); got != DefaultScopes {
		t.Errorf("without a provider: %q", got)
	}
	down.Store(false)
	s.later(discoverAgain)
	if got := strings.Join(p.CLI(t.Context()).Scopes, " "); got != "openid email" {
		t.Errorf("%q", got)
	}
	// The provider's later settings apply, and its keys are not fetched a second time.
	before, _ := p.known()
	s.issuer.Settings = map[string]any{"scopes_supported": []string{"openid", "email", "groups"}}
	if err := p.look(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(p.CLI(t.Context()).Scopes, " "); got != "openid email groups" {
		t.Errorf("%q", got)
	}
	if after, _ := p.known(); after.keys != before.keys {
		t.Error("the keys are forgotten")
	}
	p.cfg.CLIScopes = []string{"openid", "audience:x"}
	if got := strings.Join(p.CLI(t.Context()).Scopes, " "); got != "openid audience:x" {
		t.Errorf("%q", got)
	}
}
