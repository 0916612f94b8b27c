package session_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/portico-platform/portico/cmd/portico/session"
	"github.com/portico-platform/portico/portal/auth/oidctest"
)

// deviceProvider is an in-memory identity provider with the device flow. story has the responses to the polls, one
// after the other: an OAuth error or "token"; the last one repeats.
type deviceProvider struct {
	t     *testing.T
	keys  http.Handler
	token string
	story []string
	lasts int // validity of the code in seconds
	polls []time.Duration
	began time.Time
}

const issuer = "https://login.example.com"

func (p *deviceProvider) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		answer(w, 200, map[string]any{
			"issuer": issuer, "authorization_endpoint": issuer + "/auth", "token_endpoint": issuer + "/token",
			"jwks_uri": issuer + oidctest.KeysPath, "device_authorization_endpoint": issuer + "/device",
		})
	case "/device":
		p.began = time.Now()
		answer(w, 200, map[string]any{
			"device_code": "d3vice", "user_code": "ABCD-EFGH", "verification_uri": issuer + "/code",
			"verification_uri_complete": issuer + "/code?user_code=ABCD-EFGH", "expires_in": p.lasts, "interval": 5,
		})
	case "/token":
		p.poll(w, r)
	default:
		p.keys.ServeHTTP(w, r)
	}
	got := w.Result()
	got.Request = r
	return got, r.Context().Err()
}

func (p *deviceProvider) poll(w http.ResponseWriter, r *http.Request) {
	if r.FormValue("device_code") != "d3vice" || r.FormValue("client_id") != "cli" ||
		r.FormValue("code_verifier") == "" {
		p.t.Errorf("asked for a token with %v", r.Form)
	}
	p.polls = append(p.polls, time.Since(p.began))
	word := p.story[0]
	if len(p.story) > 1 {
		p.story = p.story[1:]
	}
	if word == "token" {
		answer(w, 200, map[string]any{
			"access_token": "a", "token_type": "Bearer", "id_token": p.token,
			"refresh_token": "r3fresh",
		})
		return
	}
	code, description, _ := strings.Cut(word, ": ")
	answer(w, 400, map[string]any{"error": code, "error_description": description})
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func TestTheDeviceFlow(t *testing.T) {
	signer := oidctest.New(t)
	for _, c := range []struct {
		name  string
		story []string
		want  string // in the error, "" if the login succeeds
		polls string
	}{
		{"confirmed at once", []string{"token"}, "", "[5s]"},
		{"confirmed after a while", []string{"authorization_pending", "authorization_pending", "token"}, "", "[5s 10s 15s]"},
		{"asked to poll less often", []string{"authorization_pending", "slow_down", "authorization_pending", "token"}, "", "[5s 10s 20s 30s]"},
		{"refused", []string{"authorization_pending", "access_denied"}, "the login was refused in the browser", "[5s 10s]"},
		{"refused by a provider that says why", []string{"access_denied: not you"}, "the login was refused in the browser: not you", "[5s]"},
		{"a code that ended", []string{"authorization_pending", "expired_token"}, "nobody confirmed the code in time: log in again", "[5s 10s]"},
		{"a code that nobody confirms", []string{"authorization_pending"}, "nobody confirmed the code in time: log in again", "[5s 10s 15s 20s 25s 30s 35s 40s 45s 50s 55s 1m0s]"},
		{"a provider that breaks", []string{"server_error: the disk is full"}, "waiting for the login: the disk is full", "[5s]"},
		{"a client that is not known", []string{"invalid_client"}, "waiting for the login: invalid_client", "[5s]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			store := session.Store{Dir: t.TempDir()}
			synctest.Test(t, func(t *testing.T) {
				p := &deviceProvider{t: t, keys: signer.Handler(), story: c.story, lasts: 61}
				p.token = signer.Token(oidctest.Claims{
					"iss": issuer, "aud": "api", "iat": time.Now().Unix(),
					"exp": time.Now().Add(time.Hour).Unix(),
				})
				var said bytes.Buffer
				l := session.Login{
					Server: server,
					Store:  store,
					Say:    &said,
					Via:    p,
					Settings: session.Settings{
						Issuer:    issuer,
						ClientID:  "cli",
						Scopes:    []string{"openid"},
						Audiences: []string{"api"},
					},
				}
				_, err := l.Run(t.Context())
				time.Sleep(time.Minute) // until the timers that the library does not stop have fired
				if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
					t.Errorf("got %v, want %q", err, c.want)
				}
				if got := fmt.Sprint(p.polls); got != c.polls {
					t.Errorf("polled after %s, want %s", got, c.polls)
				}
				if text := said.String(); !strings.Contains(text, issuer+"/code?user_code=ABCD-EFGH\n") ||
					!strings.Contains(text, "  ABCD-EFGH\n") || strings.Contains(text, "d3vice") {
					t.Errorf("says %s", text)
				}
			})
			all, err := store.Read()
			if logged := all.Servers[server] != nil; err != nil || logged != (c.want == "") {
				t.Errorf("kept %v, %v", logged, err)
			}
		})
	}
}

func TestTheDeviceFlowEndsWithItsContext(t *testing.T) {
	signer := oidctest.New(t)
	synctest.Test(t, func(t *testing.T) {
		p := &deviceProvider{t: t, keys: signer.Handler(), story: []string{"authorization_pending"}, lasts: 600}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute+time.Second)
		defer cancel()
		l := session.Login{Server: server, Say: &bytes.Buffer{}, Via: p, Settings: session.Settings{
			Issuer: issuer, ClientID: "cli",
		}}
		_, err := l.Run(ctx)
		time.Sleep(time.Minute) // as above
		if err == nil || ctx.Err() == nil || strings.Contains(err.Error(), "nobody confirmed") {
			t.Errorf("got %v", err)
		}
	})
}
