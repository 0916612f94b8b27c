package stack

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/crypto/bcrypt"
	"sigs.k8s.io/yaml"

	"github.com/portico-platform/portico/test/stack/process"
)

const (
	// PortalClient is the portal's OIDC client; its secret is PortalSecret.
	PortalClient = "portal"
	// CLIClient is a public client: for portico login, and for curl.
	CLIClient = "portico-cli"
	// Audience is the audience of tokens for the portal's REST API.
	Audience = "rest-api"
	// PortalSecret is not secret outside of this stack. Tests search for it where no secret may appear.
	PortalSecret = "planted-7c1e-secret-of-the-portal-at-dex"

	// APIScopes request a token with groups and the REST API's audience.
	APIScopes = "openid profile email groups audience:server:client_id:" + Audience
)

// issuer returns the issuer URL, which is known before the server starts.
func (s *Stack) issuer() string {
	if s.inPods() {
		return fmt.Sprintf("https://%s:%d/dex", LoginHost, s.ports.dex)
	}
	return "http://" + s.forPeople(s.ports.dex) + "/dex"
}

func (s *Stack) startDex(ctx context.Context) error {
	if !s.opts.Parts.has(Dex) {
		return nil
	}
	s.Issuer = s.issuer()
	config, err := s.dexConfig()
	if err != nil {
		return err
	}
	path := filepath.Join(s.Dir, "dex.yaml")
	if err := os.WriteFile(path, config, 0o600); err != nil {
		return err
	}
	return s.run(ctx, process.Spec{
		Name: "dex", Path: s.opts.bin("dex"), Args: []string{"serve", path},
		// Without sessions the refresh grant of this version deadlocks.
		Env:   []string{"DEX_SESSIONS_ENABLED=true"},
		Ready: answers(s.client, s.Issuer+"/.well-known/openid-configuration"),
	})
}

type object = map[string]any

func (s *Stack) dexConfig() ([]byte, error) {
	passwords, err := dexPasswords()
	if err != nil {
		return nil, err
	}
	return yaml.Marshal(object{
		"issuer":   s.Issuer,
		"storage":  object{"type": "memory"},
		"web":      s.dexServer(),
		"logger":   object{"level": "info"},
		"frontend": object{"issuer": "Portico (local)"},
		"expiry":   object{"idTokens": "1h"},
		"sessions": object{
			"cookieName": "portico_local_dex", "absoluteLifetime": "24h", "validIfNotUsedFor": "1h",
		},
		"oauth2": object{
			"grantTypes": []string{
				"authorization_code", "refresh_token", "password", "urn:ietf:params:oauth:grant-type:device_code",
			},
			"responseTypes":      []string{"code"},
			"skipApprovalScreen": true,
			"passwordConnector":  "local",
			// Not enforced: Dex leaves it out of its own redirect in the device flow. Portico's clients send it
			// nevertheless.
			"pkce": object{"codeChallengeMethodsSupported": []string{"S256"}},
		},
		"enablePasswordDB": true,
		"staticPasswords":  passwords,
		"staticClients":    s.dexClients(),
	})
}

func (s *Stack) dexServer() object {
	if s.inPods() {
		return object{"https": s.address(s.ports.dex), "tlsCert": s.pki.ServingCert, "tlsKey": s.pki.ServingKey}
	}
	return object{"http": s.address(s.ports.dex)}
}

func (s *Stack) dexClients() []object {
	return []object{
		{
			"id": PortalClient, "name": "Portico", "secret": PortalSecret,
			"redirectURIs":           []string{s.PortalURL + "/auth/callback"},
			"postLogoutRedirectURIs": []string{s.PortalURL + "/", s.PortalURL + "/auth/signed-out"},
			// Otherwise a refresh token outlives the sign-out.
			"refreshTokenLifetime": "session",
		},
		{
			"id": CLIClient, "name": "Command line", "public": true, "refreshTokenLifetime": "session",
			// When served below a path, Dex needs its own callback of the device flow in this list.
			"redirectURIs": []string{"http://127.0.0.1:8000/callback", "http://127.0.0.1:18000/callback", "/dex/device/callback"},
		},
		{
			"id": Audience, "name": "Portico REST API", "secret": PortalSecret + "-api",
			"trustedPeers": []string{PortalClient, CLIClient},
		},
	}
}

func dexPasswords() ([]object, error) {
	hash, err := bcrypt.GenerateFromPassword([]byte(Password), bcrypt.DefaultCost)
	if err != nil {
		return nil, err
	}
	passwords := make([]object, len(Users))
	for i, user := range Users {
		passwords[i] = object{
			"email": user.Email(), "username": user.Name, "preferredUsername": user.Name, "name": user.Title,
			"userID": "local-" + user.Name, "groups": user.Groups, "emailVerified": true, "hash": string(hash),
		}
	}
	return passwords, nil
}

// Token signs in a sample user with Dex's password grant and returns an ID token with the groups, for the REST API's
// audience.
func (s *Stack) Token(ctx context.Context, user string) (string, error) {
	u, ok := userNamed(user)
	if !ok {
		return "", fmt.Errorf("no sample user %q", user)
	}
	form := url.Values{
		"grant_type": {"password"}, "client_id": {CLIClient}, "scope": {APIScopes},
		"username": {u.Email()}, "password": {Password},
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.Issuer+"/token", strings.NewReader(form.Encode()))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := s.client.Do(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	var answer struct {
		IDToken     string `json:"id_token"`
		Error       string `json:"error"`
		Description string `json:"error_description"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return "", fmt.Errorf("token for %s: %s: %w", user, resp.Status, err)
	}
	if answer.IDToken == "" {
		return "", fmt.Errorf("token for %s: %s: %s %s", user, resp.Status, answer.Error, answer.Description)
	}
	return answer.IDToken, nil
}

// TokenCommand returns a command line that prints the token that Token returns.
func (s *Stack) TokenCommand(user string) string {
	u, _ := userNamed(user)
	return fmt.Sprintf(
		`curl -s %s/token -d grant_type=password -d client_id=%s -d username=%s -d password=%s --data-urlencode 'scope=%s'`+
			` | python3 -c 'import json, sys; print(json.load(sys.stdin)["id_token"])'`,
		s.Issuer, CLIClient, u.Email(), Password, APIScopes)
}
