// Package oidctest is an OpenID Connect provider for tests: it signs real tokens with the claims that a test sets.
package oidctest

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Claims are the claims of an ID token.
type Claims map[string]any

// T is the part of testing.TB that a provider needs.
type T interface {
	Helper()
	Cleanup(f func())
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// Provider is one issuer. Its exported fields can be set before the server is used.
type Provider struct {
	URL string
	Now func() time.Time // the time in tokens; nil is the real time
	// Refreshed returns the claims of an ID token after a refresh; nil repeats those of the sign-in.
	Refreshed func() (Claims, int)
	// WithoutRefresh issues no refresh tokens.
	WithoutRefresh bool
	// RefreshToken is the prefix of refresh tokens.
	RefreshToken string
	// Settings override the provider's metadata; nil removes a setting.
	Settings map[string]any
	// Refusal returns the token endpoint's response to a grant of this type instead of tokens; status 0 is none.
	Refusal func(grantType string) (status int, answer map[string]any)
	// Revocation is the status of responses of /revoke; 0 is 200.
	Revocation int
	// UserInfo returns the response of the userinfo endpoint, which exists if UserInfo is not nil: claims other than
	// sub, or a status.
	UserInfo func() (Claims, int)
	// Push accepts pushed authorization requests; RequirePush accepts no others.
	Push, RequirePush bool
	// DetectReuse revokes all tokens of a sign-in when one of its refresh tokens is sent again.
	DetectReuse bool
	// Before, if not nil, is called before each request to the token endpoint is handled.
	Before func(grantType string)
	// Failing reports whether requests for the settings and keys fail; nil is never.
	Failing func() bool

	t       T
	handler http.Handler

	mu        sync.Mutex
	key       *rsa.PrivateKey
	kid       int
	grants    map[string]grant // by code, and by refresh token
	refreshes int
	fetches   map[string]int
	asked     []string
	revoked   []string
	used      map[string]string // consumed refresh tokens, and their sign-ins
	reuses    int
	pushed    map[string]url.Values
	access    map[string]any // access tokens, and their subjects
}

type grant struct {
	challenge string
	claims    Claims
	signIn    string
}

// New starts a provider that stops at the end of the test.
func New(tb T) *Provider {
	tb.Helper()
	p := &Provider{
		t: tb, key: newKey(tb), kid: 1, grants: map[string]grant{}, fetches: map[string]int{}, used: map[string]string{},
		pushed: map[string]url.Values{}, access: map[string]any{},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", p.counted(p.discovery))
	mux.HandleFunc("GET "+KeysPath, p.counted(p.keys))
	mux.HandleFunc("POST /token", p.token)
	mux.HandleFunc("POST /revoke", p.revoke)
	mux.HandleFunc("POST /par", p.push)
	mux.HandleFunc("GET "+UserInfoPath, p.counted(p.userInfo))
	p.handler = mux
	srv := httptest.NewServer(mux)
	tb.Cleanup(srv.Close)
	p.URL = srv.URL
	return p
}

// Handler returns the provider's handler, for tests that serve it at another URL.
func (p *Provider) Handler() http.Handler { return p.handler }

func (p *Provider) now() time.Time {
	if p.Now != nil {
		return p.Now()
	}
	return time.Now() //nolint:forbidigo // tests without a clock of their own want the real time
}

// KeysPath is the path of the keys.
const KeysPath = "/keys"

// Fetches returns how many times a path was requested.
func (p *Provider) Fetches(path string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fetches[path]
}

// counted counts requests, and fails them while Failing returns true.
func (p *Provider) counted(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		p.fetches[r.URL.Path]++
		p.mu.Unlock()
		if p.Failing != nil && p.Failing() {
			http.Error(w, "down", http.StatusInternalServerError)
			return
		}
		next(w, r)
	}
}

func (p *Provider) discovery(w http.ResponseWriter, _ *http.Request) {
	said := map[string]any{
		"issuer": p.URL, "authorization_endpoint": p.URL + "/auth", "token_endpoint": p.URL + "/token",
		"jwks_uri":             p.URL + "/keys",
		"end_session_endpoint": p.URL + "/logout", "id_token_signing_alg_values_supported": []string{
			"RS256", "HS256", "none",
		},
	}
	if p.Push || p.RequirePush {
		said["pushed_authorization_request_endpoint"] = p.URL + "/par"
		said["require_pushed_authorization_requests"] = p.RequirePush
	}
	if p.UserInfo != nil {
		said["userinfo_endpoint"] = p.URL + UserInfoPath
	}
	maps.Copy(said, p.Settings)
	maps.DeleteFunc(said, func(_ string, v any) bool { return v == nil })
	reply(w, http.StatusOK, said)
}

func (p *Provider) keys(w http.ResponseWriter, _ *http.Request) {
	p.mu.Lock()
	pub, kid := p.key.PublicKey, strconv.Itoa(p.kid)
	p.mu.Unlock()
	reply(w, http.StatusOK, map[string]any{"keys": []map[string]any{{
		"kty": "RSA", "use": "sig", "alg": "RS256", "kid": kid, "n": b64(pub.N.Bytes()),
		"e": b64(big.NewInt(int64(pub.E)).Bytes()),
	}}})
}

// NewKey makes the provider sign with a new key from now on, and publish only that one.
func (p *Provider) NewKey() {
	p.t.Helper()
	key := newKey(p.t)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.key = key
	p.kid++
}

// Code signs in a user with these claims and returns the code and the state of the provider's redirect; authURL is
// where the portal sent the browser. The nonce is that of authURL unless the claims have one.
func (p *Provider) Code(authURL string, claims Claims) (code, state string) {
	p.t.Helper()
	u, err := url.Parse(authURL)
	if err != nil {
		p.t.Fatal(err)
	}
	q := p.wanted(u.Query())
	if q.Get("code_challenge_method") != "S256" || q.Get("nonce") == "" || q.Get("state") == "" {
		p.t.Fatalf("sign-in without PKCE, nonce or state: %s", authURL)
	}
	with := Claims{"nonce": q.Get("nonce"), "aud": q.Get("client_id")}
	maps.Copy(with, claims)
	code = rand.Text()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.grants[code] = grant{challenge: q.Get("code_challenge"), claims: with, signIn: code}
	return code, q.Get("state")
}

// Refreshes returns how many times a refresh token was presented.
func (p *Provider) Refreshes() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.refreshes
}

// Asked lists the requests to the token endpoint, each as its grant type and how the client authenticated:
// client_secret_basic, client_secret_post or none.
func (p *Provider) Asked() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.asked)
}

// Revoked lists the revocations of the refresh tokens that it issued, each as how the client authenticated.
func (p *Provider) Revoked() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.revoked)
}

// Subject is the sub of tokens whose claims have none.
const Subject = "subject-1"

// Token signs an ID token. Claims override iss, sub, iat and exp (an hour).
func (p *Provider) Token(claims Claims) string {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sign(claims)
}

// sign signs a token. The caller must hold the lock.
func (p *Provider) sign(claims Claims) string {
	p.t.Helper()
	now := p.now()
	all := Claims{"iss": p.URL, "sub": Subject, "iat": now.Unix(), "exp": now.Add(time.Hour).Unix()}
	maps.Copy(all, claims)
	maps.DeleteFunc(all, func(_ string, v any) bool { return v == nil })
	body := part(p.t, map[string]any{"alg": "RS256", "kid": strconv.Itoa(p.kid)}) + "." + part(p.t, all)
	sum := sha256.Sum256([]byte(body))
	sig, err := rsa.SignPKCS1v15(rand.Reader, p.key, crypto.SHA256, sum[:])
	if err != nil {
		p.t.Fatal(err)
	}
	return body + "." + b64(sig)
}

// Unsigned returns a token with alg none.
func (p *Provider) Unsigned(claims Claims) string {
	p.t.Helper()
	all := Claims{"iss": p.URL, "sub": Subject, "exp": p.now().Add(time.Hour).Unix()}
	maps.Copy(all, claims)
	return part(p.t, map[string]any{"alg": "none"}) + "." + part(p.t, all) + "."
}

func part(tb T, v any) string {
	tb.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		tb.Fatal(err)
	}
	return b64(b)
}

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client has gone
}
