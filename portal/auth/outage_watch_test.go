package auth

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/portico-platform/portico/api/identity"
)

func TestAnOutageOfTheProviderIsKnown(t *testing.T) {
	var away, odd atomic.Bool
	var server *httptest.Server
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if away.Load() {
			http.Error(w, "away", http.StatusBadGateway)
			return
		}
		_, _ = w.Write([]byte(`{"issuer": "` + server.URL + `", "authorization_endpoint": "` + server.URL +
			`/a", "token_endpoint": "` + server.URL + `/t", "jwks_uri": "` + server.URL + `/k"` +
			map[bool]string{true: `, "token_endpoint_auth_methods_supported": ["private_key_jwt"]`}[odd.Load()] + `}`))
	}))
	defer server.Close()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	p, err := NewProvider(Config{
		IssuerURL: server.URL, ClientID: "portal", PublicURL: "https://portal.example.com", UsernameClaim: "sub",
		GroupsClaim: "groups", ClientSecret: "secret",
		Prefix: "oidc:", Audiences: []string{"rest"},
	}, func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	for i, step := range []struct {
		away bool
		want time.Time
	}{
		{true, time.Time{}}, // a single response can be lost
		{true, now},
		{true, now},
		{false, time.Time{}},
		{true, time.Time{}},
	} {
		away.Store(step.away)
		if err := p.look(t.Context()); (err != nil) != step.away {
			t.Errorf("step %d: look() = %v", i, err)
		}
		if got := p.Outage(); !got.Equal(step.want) {
			t.Errorf("step %d: an outage since %s, want %s", i, got, step.want)
		}
	}
	for range 2 { // Watch counts what it misses itself
		if err := p.Reach(t.Context()); err == nil || !p.Outage().IsZero() {
			t.Errorf("Reach() = %v, and an outage since %s", err, p.Outage())
		}
	}
	away.Store(false)
	odd.Store(true)
	says, fix := identity.WhyUnreachable(p.Reach(t.Context()))
	if !strings.Contains(says, "no way for clients to authenticate") ||
		!strings.Contains(fix, secretBasic) {
		t.Errorf("it %s: %s", says, fix)
	}
}
