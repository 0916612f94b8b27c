//go:build integration && idp

package integration

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/test/stack"
	"github.com/portico-platform/portico/test/stack/process"
)

// keycloak is a Keycloak with a realm for Portico.
type keycloak struct {
	url, realm string
	process    *process.Process
}

const keycloakAdmin = "admin"

func startKeycloak(t *testing.T, portal string) identityProvider {
	t.Helper()
	home := os.Getenv("KEYCLOAK_HOME")
	if home == "" {
		t.Fatal("KEYCLOAK_HOME is not set: make test-idp downloads Keycloak, and sets it")
	}
	address := freeAddress(t)
	k := &keycloak{url: "http://" + address, realm: unique("portico")}
	host, port, _ := strings.Cut(address, ":")
	var err error
	k.process, err = world.Run(t.Context(), process.Spec{
		Name: "keycloak", Path: filepath.Join(home, "bin", "kc.sh"),
		Args: []string{"start-dev", "--http-host=" + host, "--http-port=" + port},
		Env: []string{
			"KC_BOOTSTRAP_ADMIN_USERNAME=" + keycloakAdmin, "KC_BOOTSTRAP_ADMIN_PASSWORD=" + stack.Password,
			"KC_DB_URL=jdbc:h2:file:" + filepath.Join(t.TempDir(), "keycloak") +
				";NON_KEYWORDS=VALUE;DB_CLOSE_ON_EXIT=0", "JAVA_OPTS_KC_HEAP=-Xmx768m",
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = k.process.Stop() })
	isServed(t, k.url+"/realms/master/.well-known/openid-configuration")
	k.admin(t, http.MethodPost, "/admin/realms", k.settings(portal), nil)
	return k
}

func (k *keycloak) issuer() string           { return k.url + "/realms/" + k.realm }
func (k *keycloak) server() *process.Process { return k.process }

// scopes omits offline_access from the portal's scopes: Keycloak issues refresh tokens without it, and with it a
// sign-out at Keycloak does not end the portal's session.
func (k *keycloak) scopes() (portal, cli string) {
	return "openid profile email", "openid profile email offline_access"
}

func (k *keycloak) comesBack() bool { return true }

// settings returns the settings of a realm with the sample users.
func (k *keycloak) settings(portal string) map[string]any {
	type object = map[string]any
	groups := object{
		"name": "groups", "protocol": "openid-connect", "protocolMapper": "oidc-group-membership-mapper",
		"config": object{"claim.name": "groups", "full.path": "false", "id.token.claim": "true", "access.token.claim": "true"},
	}
	audience := object{
		"name": stack.Audience, "protocol": "openid-connect", "protocolMapper": "oidc-audience-mapper",
		"config": object{"included.custom.audience": stack.Audience, "id.token.claim": "true", "access.token.claim": "true"},
	}
	var users []object
	all := map[string]bool{}
	for _, u := range stack.Users {
		users = append(users, object{
			"username": u.Name, "email": u.Email(), "emailVerified": true, "firstName": u.Title,
			"lastName": "of Portico", "enabled": true,
			"credentials": []object{{"type": "password", "value": stack.Password}}, "groups": u.Groups, "realmRoles": []string{"default-roles-" + k.realm},
		})
		for _, g := range u.Groups {
			all[g] = true
		}
	}
	var teams []object
	for g := range all {
		teams = append(teams, object{"name": g})
	}
	return object{
		"realm": k.realm, "enabled": true, "sslRequired": "none", "groups": teams, "users": users,
		"clients": []object{
			{
				"clientId": stack.PortalClient, "secret": stack.PortalSecret, "publicClient": false,
				"standardFlowEnabled": true,
				"redirectUris":        []string{portal + "/auth/callback"},
				"attributes": object{
					"post.logout.redirect.uris":           portal + auth.SignInPath,
					"backchannel.logout.url":              portal + auth.BackChannelPath,
					"backchannel.logout.session.required": "true",
				},
				"protocolMappers": []object{groups},
			},
			{
				"clientId": stack.CLIClient, "publicClient": true, "standardFlowEnabled": true,
				"directAccessGrantsEnabled": true,
				"redirectUris":              []string{"http://127.0.0.1:8000/callback", "http://127.0.0.1:18000/callback"},
				"attributes":                object{"oauth2.device.authorization.grant.enabled": "true"},
				"protocolMappers":           []object{groups, audience},
			},
		},
	}
}

// groups removes the user from all groups and adds it to these.
func (k *keycloak) groups(t *testing.T, user string, groups ...string) (soon bool) {
	t.Helper()
	realm := "/admin/realms/" + k.realm
	type group struct{ ID, Name string }
	var has, all []group
	at := realm + "/users/" + k.user(t, user) + "/groups"
	k.admin(t, http.MethodGet, at, nil, &has)
	for _, g := range has {
		k.admin(t, http.MethodDelete, at+"/"+g.ID, nil, nil)
	}
	k.admin(t, http.MethodGet, realm+"/groups", nil, &all)
	for _, g := range all {
		for _, want := range groups {
			if g.Name == want {
				k.admin(t, http.MethodPut, at+"/"+g.ID, nil, nil)
			}
		}
	}
	return true
}

func (k *keycloak) signOut(t *testing.T, user string) bool {
	t.Helper()
	k.admin(t, http.MethodPost, "/admin/realms/"+k.realm+"/users/"+k.user(t, user)+"/logout", nil, nil)
	return true
}

func (k *keycloak) user(t *testing.T, name string) (id string) {
	t.Helper()
	var users []struct{ ID string }
	k.admin(t, http.MethodGet, "/admin/realms/"+k.realm+"/users?exact=true&username="+name, nil, &users)
	return users[0].ID
}

// newKey adds a key that takes precedence over the existing ones.
func (k *keycloak) newKey(t *testing.T) {
	t.Helper()
	var realm struct{ ID string }
	k.admin(t, http.MethodGet, "/admin/realms/"+k.realm, nil, &realm)
	k.admin(t, http.MethodPost, "/admin/realms/"+k.realm+"/components", map[string]any{
		"name": unique("key"), "parentId": realm.ID, "providerId": "rsa-generated",
		"providerType": "org.keycloak.keys.KeyProvider",
		"config": map[string][]string{
			"priority": {fmt.Sprint(time.Now().Unix())}, "algorithm": {"RS256"},
			"enabled": {"true"}, "active": {"true"},
		},
	}, nil)
}

// admin calls Keycloak's admin API.
func (k *keycloak) admin(t *testing.T, method, path string, body, into any) {
	t.Helper()
	resp, err := http.PostForm(k.url+"/realms/master/protocol/openid-connect/token", url.Values{
		"grant_type": {"password"}, "client_id": {"admin-cli"}, "username": {keycloakAdmin}, "password": {stack.Password},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var token struct {
		Access string `json:"access_token"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&token); err != nil {
		t.Fatal(err)
	}
	payload, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), method, k.url+path, bytes.NewReader(payload))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token.Access)
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	said, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode >= 300 {
		t.Fatalf("%s %s: %s %s, %v", method, path, answer.Status, said, err)
	}
	if into != nil {
		if err := json.Unmarshal(said, into); err != nil {
			t.Fatal(err)
		}
	}
}
