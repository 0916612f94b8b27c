// Package ciissuer plays the issuers of GitHub Actions and GitLab CI: their discovery documents, keys, and the tokens
// that they give to jobs. The documents and claims are those of GitHub's page "OpenID Connect reference" and of
// GitLab's page "ID token authentication".
package ciissuer

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"encoding/pem"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// Issuer is a CI system's issuer of tokens, over HTTPS with a certificate of its own.
type Issuer struct {
	URL string
	CA  string // its certificate, as PEM
	// Fetches counts how often the keys were fetched, and Delay is how long each takes, in nanoseconds.
	Fetches, Delay atomic.Int64
	// Away makes every request fail.
	Away atomic.Bool

	t    *testing.T
	mu   sync.Mutex
	keys []jose.JSONWebKey // the last one signs
	// runner is the secret with which a job asks for its token, as in ACTIONS_ID_TOKEN_REQUEST_TOKEN.
	runner string
	job    map[string]any // the claims of the job that asks

	transport http.RoundTripper
}

// Start starts an issuer, which ends with the test.
func Start(t *testing.T) *Issuer {
	t.Helper()
	i := &Issuer{t: t, runner: rand.Text()}
	i.Rotate()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, map[string]any{
			"issuer": i.URL, "jwks_uri": i.URL + "/jwks", "response_types_supported": []string{"id_token"},
			"id_token_signing_alg_values_supported": []string{"RS256"}, "subject_types_supported": []string{"public"},
		})
	})
	mux.HandleFunc("GET /jwks", func(w http.ResponseWriter, r *http.Request) {
		i.Fetches.Add(1)
		select {
		case <-time.After(time.Duration(i.Delay.Load())):
		case <-r.Context().Done():
		}
		i.mu.Lock()
		defer i.mu.Unlock()
		set := jose.JSONWebKeySet{}
		for _, k := range i.keys {
			set.Keys = append(set.Keys, k.Public())
		}
		reply(w, set)
	})
	mux.HandleFunc("GET /request", i.request)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if i.Away.Load() {
			http.Error(w, "away", http.StatusBadGateway)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	i.URL, i.transport = server.URL, server.Client().Transport
	i.CA = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	return i
}

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // an error means that the client has gone
}

// Rotate makes the issuer sign with a new key; the one before stays published.
func (i *Issuer) Rotate() {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		i.t.Fatal(err)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	made := jose.JSONWebKey{Key: key, KeyID: rand.Text(), Algorithm: "RS256", Use: "sig"}
	i.keys = append(i.keys[max(0, len(i.keys)-1):], made)
}

// GitHub returns the claims of a job of GitHub Actions that a push to main of acme/shop started.
func (i *Issuer) GitHub(audience string) map[string]any {
	now := time.Now()
	return map[string]any{
		"jti": rand.Text(), "iss": i.URL, "aud": audience, "sub": "repo:acme/shop:ref:refs/heads/main",
		"ref": "refs/heads/main", "ref_type": "branch", "ref_protected": "true",
		"sha":        "1f3a9c04d2b86e75a0c9d8b7e6f5a4b3c2d1e0f9",
		"repository": "acme/shop", "repository_id": "74", "repository_owner": "acme", "repository_owner_id": "65",
		"repository_visibility": "private", "actor": "octocat", "actor_id": "12", "workflow": "Deploy",
		"workflow_ref":     "acme/shop/.github/workflows/deploy.yml@refs/heads/main",
		"job_workflow_ref": "acme/shop/.github/workflows/deploy.yml@refs/heads/main",
		"event_name":       "push", "head_ref": "", "base_ref": "", "run_id": "4711", "run_number": "10",
		"run_attempt": "1", "runner_environment": "github-hosted",
		"nbf": now.Add(-5 * time.Minute).Unix(), "iat": now.Unix(), "exp": now.Add(5 * time.Minute).Unix(),
	}
}

// GitLab returns the claims of a job of GitLab CI that a push to main of acme/shop started.
func (i *Issuer) GitLab(audience string) map[string]any {
	now := time.Now()
	return map[string]any{
		"jti": rand.Text(), "iss": i.URL, "aud": audience, "sub": "project_path:acme/shop:ref_type:branch:ref:main",
		"namespace_id": "65", "namespace_path": "acme", "project_id": "74", "project_path": "acme/shop",
		"user_id": "12", "user_login": "sample-user", "user_email": "sample-user@example.com",
		"pipeline_id": "4711", "pipeline_source": "push", "job_id": "302", "ref": "main", "ref_type": "branch",
		"ref_path": "refs/heads/main", "ref_protected": "true", "runner_id": 1, "runner_environment": "gitlab-hosted",
		"sha":               "1f3a9c04d2b86e75a0c9d8b7e6f5a4b3c2d1e0f9",
		"ci_config_ref_uri": "gitlab.example.com/acme/shop//.gitlab-ci.yml@refs/heads/main",
		"nbf":               now.Add(-5 * time.Second).Unix(), "iat": now.Unix(), "exp": now.Add(time.Hour).Unix(),
	}
}

// Sign returns a token with the claims.
func (i *Issuer) Sign(claims map[string]any) string {
	i.mu.Lock()
	key := i.keys[len(i.keys)-1]
	i.mu.Unlock()
	return Sign(i.t, key, claims)
}

// Key returns the key that signs.
func (i *Issuer) Key() jose.JSONWebKey {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.keys[len(i.keys)-1]
}

// Sign returns a token that is signed with any key.
func Sign(t *testing.T, key jose.JSONWebKey, claims map[string]any) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: key},
		(&jose.SignerOptions{}).WithType("JWT"))
	if err != nil {
		t.Fatal(err)
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		t.Fatal(err)
	}
	text, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Transport trusts the issuer's certificate.
func (i *Issuer) Transport() http.RoundTripper { return i.transport }

// Job returns the environment of a job of GitHub Actions. With it the job can request tokens with these claims.
func (i *Issuer) Job(claims map[string]any) []string {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.job = claims
	return []string{
		"CI=true", "GITHUB_ACTIONS=true",
		"ACTIONS_ID_TOKEN_REQUEST_URL=" + i.URL + "/request?api-version=2.0",
		"ACTIONS_ID_TOKEN_REQUEST_TOKEN=" + i.runner,
	}
}

// request answers as GitHub's runner service does: with a token for the audience that the job names.
func (i *Issuer) request(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	claims := maps.Clone(i.job)
	i.mu.Unlock()
	if r.Header.Get("Authorization") != "bearer "+i.runner || claims == nil {
		http.Error(w, "unauthorized", http.StatusUnauthorized)
		return
	}
	if audience := r.URL.Query().Get("audience"); audience != "" {
		claims["aud"] = audience
	}
	claims["jti"] = rand.Text()
	reply(w, map[string]any{"count": 1, "value": i.Sign(claims)})
}
