//go:build integration && idp

package integration

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/portico-platform/portico/test/stack"
	"github.com/portico-platform/portico/test/stack/process"
)

// dex stores its data in Kubernetes, as in a cluster, so that it can be restarted; the stack's own keeps its data in
// memory.
type dex struct {
	url, path string
	config    map[string]any
	process   *process.Process
}

func startOwnDex(t *testing.T, portal string) identityProvider {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(world.Dir, "dex.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	address := freeAddress(t)
	d := &dex{url: "http://" + address + "/dex", path: filepath.Join(t.TempDir(), "dex.yaml")}
	own := strings.NewReplacer(world.Issuer, d.url, world.PortalURL, portal,
		strings.TrimSuffix(strings.TrimPrefix(world.Issuer, "http://"), "/dex"), address)
	if err := yaml.Unmarshal([]byte(own.Replace(string(text))), &d.config); err != nil {
		t.Fatal(err)
	}
	d.config["storage"] = map[string]any{
		"type": "kubernetes", "config": map[string]any{"kubeConfigFile": world.AdminKubeconfig},
	}
	d.config["expiry"] = map[string]any{"idTokens": "1h", "signingKeys": "20s"}
	d.write(t)
	// Dex exits if the API server does not serve its new CRDs yet; a kubelet would restart it.
	_, err = world.Run(t.Context(), process.Spec{
		Died: func(*process.DiedError) {},
		Name: "dex-kubernetes", Path: filepath.Join("..", "..", "bin", "dex"), Args: []string{"serve", d.path},
		Env: []string{"DEX_SESSIONS_ENABLED=true"}, Ready: serving(d.url + "/.well-known/openid-configuration"),
	})
	d.process = world.Part("dex-kubernetes")
	t.Cleanup(func() { _ = d.process.Stop() })
	await(t, "Dex", func() (bool, string) {
		if err == nil {
			return true, ""
		}
		said := err.Error()
		err = d.process.Start(t.Context())
		return err == nil, said
	})
	return d
}

// comesBack returns false: Dex redirects only to addresses listed for its clients, and the stack lists none.
func (d *dex) comesBack() bool { return false }

func (d *dex) write(t *testing.T) {
	t.Helper()
	text, err := yaml.Marshal(d.config)
	if err == nil {
		err = os.WriteFile(d.path, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (d *dex) issuer() string           { return d.url }
func (d *dex) scopes() (string, string) { return "", stack.APIScopes + " offline_access" }
func (d *dex) server() *process.Process { return d.process }

// groups sets a user's groups in the configuration, which Dex reads when it starts. For users from the configuration,
// new groups appear at the next sign-in only; Dex's connectors, for LDAP and others, read them again.
func (d *dex) groups(t *testing.T, user string, groups ...string) (soon bool) {
	t.Helper()
	passwords, _ := d.config["staticPasswords"].([]any)
	for _, p := range passwords {
		if entry, _ := p.(map[string]any); entry["username"] == user {
			entry["groups"] = groups
		}
	}
	d.write(t)
	if err := d.process.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	return false
}

// signOut returns false: Dex has no back-channel logout.
func (d *dex) signOut(*testing.T, string) bool { return false }

// newKey waits for a new key: this configuration rotates them every 20 s.
func (d *dex) newKey(t *testing.T) {
	t.Helper()
	before := keyIDs(t, d.url+"/keys")
	await(t, "another key", func() (bool, string) {
		now := keyIDs(t, d.url+"/keys")
		return now != before, now
	})
}

// keyIDs returns the IDs of a provider's signing keys.
func keyIDs(t *testing.T, at string) string {
	t.Helper()
	var set struct {
		Keys []struct {
			KID string `json:"kid"`
		}
	}
	getJSON(t, at, &set)
	var ids []string
	for _, key := range set.Keys {
		ids = append(ids, key.KID)
	}
	return strings.Join(ids, " ")
}

// passwordGrant gets tokens with the password grant, without a browser.
func passwordGrant(t *testing.T, p identityProvider, user string) (id, access string) {
	t.Helper()
	var found struct {
		Token string `json:"token_endpoint"`
	}
	getJSON(t, p.issuer()+"/.well-known/openid-configuration", &found)
	form := loginOf(user)
	form.Set("grant_type", "password")
	form.Set("client_id", stack.CLIClient)
	_, scopes := p.scopes()
	form.Set("scope", scopes)
	if _, ok := p.(*dex); ok {
		form.Set("username", user+"@portico.test")
	}
	resp, err := http.PostForm(found.Token, form)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var got struct {
		ID     string `json:"id_token"`
		Access string `json:"access_token"`
		Error  string `json:"error_description"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&got); err != nil || got.ID == "" {
		t.Fatalf("no token for %s: %s %s, %v", user, resp.Status, got.Error, err)
	}
	return got.ID, got.Access
}

func getJSON(t *testing.T, at string, into any) {
	t.Helper()
	resp, err := http.Get(at)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
		t.Fatal(err)
	}
}
