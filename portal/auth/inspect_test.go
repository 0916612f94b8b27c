package auth

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/portico-platform/portico/portal/auth/oidctest"
)

// inspect returns the output and the number of problems.
func (s *site) inspect(t *testing.T, change func(*Config), token string) (string, int) {
	t.Helper()
	cfg := s.Browser.provider.cfg
	cfg.ClientSecret, cfg.GroupsOptional = "s3cret", false
	if change != nil {
		change(&cfg)
	}
	var out bytes.Buffer
	n, err := Inspect(t.Context(), &out, Inspection{Config: cfg, Token: token, GroupNames: map[string]string{
		"oidc:0760b6cf": "Payments",
	}, Now: s.clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	said := out.String()
	if strings.Contains(said, "s3cret") {
		t.Errorf("the client secret is shown:\n%s", said)
	}
	signature := token[strings.LastIndexByte(token, '.')+1:]
	if token != "" && strings.Contains(said, signature) {
		t.Errorf("the token's signature is shown:\n%s", said)
	}
	return said, n
}

func TestInspectTellsEverythingThatMatters(t *testing.T) {
	s := newSite(t)
	s.issuer.Settings = map[string]any{
		"scopes_supported": []string{"openid", "email"}, "device_authorization_endpoint": s.issuer.URL + "/device",
		"token_endpoint_auth_methods_supported": []string{"client_secret_post"},
	}
	token := s.issuer.Token(oidctest.Claims{
		"preferred_username": "alice", "aud": []string{"portal", "api"}, "email": "a@example.com",
		"name":   "Al\u202eice",
		"groups": []string{"0760b6cf", "dev"},
	})
	said, n := s.inspect(t, func(c *Config) { c.CLIClientID = "cli" }, token)
	if n != 0 {
		t.Errorf("%d problems", n)
	}
	lines := strings.Join(strings.Fields(said), " ")
	for _, want := range []string{
		"issuer " + s.issuer.URL, "token endpoint " + s.issuer.URL + "/token", "keys " + s.issuer.URL + "/keys",
		"device authorization endpoint " + s.issuer.URL + "/device",
		"redirect URI to register " + portalURL + CallbackPath, "asks for scopes openid email",
		"client authentication client_secret_post",
		"Without offline_access", "portico login client cli asks for scopes openid email",
		`"preferred_username": "alice"`,
		"good for signing in", "good for the REST API, by its audience api", "username oidc:alice",
		"e-mail a@example.com",
		"groups 2 oidc:0760b6cf Payments oidc:dev", "Nothing is wrong",
	} {
		if !strings.Contains(lines, want) {
			t.Errorf("no %q in:\n%s", want, said)
		}
	}
	if strings.Contains(said, "\u202e") {
		t.Error("characters that turn a line around are printed")
	}
}

func TestInspectFindsWhatIsWrong(t *testing.T) {
	fine := oidctest.Claims{"preferred_username": "alice", "aud": "api", "groups": []string{"dev"}}
	with := func(name string, value any) oidctest.Claims {
		claims := oidctest.Claims{name: value}
		for name, value := range fine {
			if _, ok := claims[name]; !ok {
				claims[name] = value
			}
		}
		return claims
	}
	many := make([]string, 400) // as short as a token can be, and hard to pack
	for i, id := range groupIDs(400) {
		sum := sha256.Sum256([]byte(id))
		many[i] = base64.RawURLEncoding.EncodeToString(sum[:19])
	}
	for _, c := range []struct {
		reason   string
		settings map[string]any
		set      func(*Config)
		claims   oidctest.Claims
		token    string
		says     string
	}{
		{"no provider", nil, func(c *Config) { c.IssuerURL = "http://127.0.0.1:1" }, nil, "", "does not answer"},
		{"another path", nil, func(c *Config) { c.IssuerURL += "/realms/x" }, nil, "", "/realms/x/.well-known/openid-configuration"},
		{"a slash too much", nil, func(c *Config) { c.IssuerURL += "/" }, nil, "", "letter by letter"},
		{"no keys", map[string]any{"jwks_uri": "http://127.0.0.1:1/keys"}, nil, nil, "", "keys cannot be fetched"},
		{"keys that are none", map[string]any{"jwks_uri": nil}, nil, nil, "", "keys cannot be fetched"},
		{"symmetric signatures", map[string]any{"id_token_signing_alg_values_supported": []string{"HS256"}}, nil, nil, "", "signs with none of RS256"},
		{"no way to show the secret", map[string]any{"token_endpoint_auth_methods_supported": []string{"private_key_jwt"}}, nil, nil, "", "Nobody can sign in"},
		{"no token endpoint", map[string]any{"token_endpoint": nil}, nil, nil, "", "no token_endpoint"},
		{"scopes without openid", nil, func(c *Config) { c.Scopes = []string{"email"} }, nil, "", "openid must be among them"},
		{"a public URL with a slash", nil, func(c *Config) { c.PublicURL += "/" }, nil, "", "leave out the slash"},
		{"an opaque token", nil, nil, nil, "opaque", "no signed token"},
		{"a huge token", nil, nil, nil, strings.Repeat("x", maxToken) + ".e30.x", "more than 16384 are not checked"},
		{"a token that has ended", nil, nil, with("exp", 1), "", "expired"},
		{"another audience", nil, nil, with("aud", "elsewhere"), "", `it is for ["elsewhere"]. It must be of this issuer, not have ended, and be for portal (signing in), api`},
		{"another issuer", nil, nil, with("iss", "https://other.example"), "", "https://other.example"},
		{"no groups", nil, nil, with("groups", nil), "", "--oidc-groups-claim"},
		{"no username", nil, nil, with("preferred_username", nil), "", `the claim "preferred_username"`},
		{"a group of the system", nil, nil, with("groups", "system:masters"), "", "keeps for itself"},
		{"too many groups for a session", nil, nil, with("groups", many), "", "too many groups (400)"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			s := newSite(t)
			s.issuer.Settings = c.settings
			token := c.token
			if c.claims != nil {
				token = s.issuer.Token(c.claims)
			}
			said, n := s.inspect(t, c.set, token)
			_, problems, _ := strings.Cut(said, "Problems\n")
			if n == 0 || !strings.Contains(problems, c.says) {
				t.Errorf("%d problems, want %q:\n%s", n, c.says, said)
			}
			if c.claims != nil && !strings.Contains(said, `"iss": `) {
				t.Errorf("the claims are not shown:\n%s", said)
			}
		})
	}
	s := newSite(t)
	if said, n := s.inspect(t, nil, s.issuer.Token(with("exp", s.clock.Now().Add(time.Minute).Unix()))); n != 0 {
		t.Errorf("a good token: %s", said)
	}
}
