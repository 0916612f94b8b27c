package auth

import (
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/portico-platform/portico/portal/auth/oidctest"
)

// endsAll ends the sessions and tokens of a user, as a platform admin can.
func (s *site) endsAll(t *testing.T, username string) {
	t.Helper()
	if err := s.revoked.RevokeUser(t.Context(), UserRef(username, s.clock.Now())); err != nil {
		t.Fatal(err)
	}
}

// TestAnAdminEndsAllSessionsOfAUser: in each browser, streams too, and nobody else's. A later sign-in stays.
func TestAnAdminEndsAllSessionsOfAUser(t *testing.T) {
	s, one, two, other := twoBrowsers(t)
	streams, others := s.connect(t, one), s.connect(t, other)
	s.endsAll(t, "oidc:alice")
	if err := Alive(streams); endingOf(err) != ByAdmin {
		t.Errorf("the stream: %v", err)
	}
	if err := Alive(others); err != nil {
		t.Errorf("the stream of another user: %v", err)
	}
	for _, cookies := range []jar{one, two} {
		r := s.do("GET", "/x", cookies)
		if to := r.Header.Get("Location"); r.StatusCode != http.StatusSeeOther || to != SignInPath+
			"?return_to=%2Fx&why=by-admin" {
			t.Errorf("%d to %q", r.StatusCode, to)
		}
		if r := s.do("GET", SignInPath+"?return_to=%2Fx&why=by-admin", cookies); !strings.HasSuffix(
			r.body, " by-admin") {
			t.Errorf("the page to sign in says %q", r.body)
		}
		if r := s.do("GET", "/x", cookies, "HX-Request", "true"); r.StatusCode != http.StatusUnauthorized {
			t.Errorf("a script is answered %d", r.StatusCode)
		}
		if s.connect(t, cookies) != nil {
			t.Error("it streams again")
		}
	}
	s.see(t, other, "oidc:bob ")
	s.later(time.Second)
	s.signIn(t, one, oidctest.Claims{"sub": "alice", "preferred_username": "alice"})
	s.see(t, one, "oidc:alice ")
	s.see(t, two, "")
}

// TestASessionThatAnAdminEndedIsNotRenewed: the identity provider would not ask the user anything.
func TestASessionThatAnAdminEndedIsNotRenewed(t *testing.T) {
	s, cookies := lapsed(t)
	to := s.sent(t, s.do("GET", "/x", cookies))
	s.endsAll(t, "oidc:alice")
	if r := s.back(t, cookies, to, alice); !strings.HasSuffix(r.Header.Get("Location"), "why=by-admin") {
		t.Errorf("a renewal that was under way leads to %q", r.Header.Get("Location"))
	}
	s.see(t, cookies, "")
}

func TestBearerRefusesTokensOfSessionsThatAnAdminEnded(t *testing.T) {
	g := newGate(t)
	token := func(more oidctest.Claims) string {
		claims := oidctest.Claims{"preferred_username": "alice", "aud": "api"}
		maps.Copy(claims, more)
		return g.issuer.Token(claims)
	}
	old, others := token(nil), token(oidctest.Claims{"preferred_username": "bob"})
	g.reviewer.token = part(`{}`) + "." + part(`{"iss":"`+inCluster+`"}`) + ".x"
	stream, tool := g.stream(t, old), g.stream(t, g.reviewer.token)
	for _, one := range []string{old, others} {
		if w := g.call("Bearer " + one); w.Code != http.StatusOK {
			t.Fatalf("before: %d %s", w.Code, w.Body)
		}
	}
	g.endsAll(t, "oidc:alice")
	g.endsAll(t, "system:serviceaccount:a:b") // EndSessions would refuse it
	for reason, one := range map[string]string{
		"known already": old, "of the same second": token(nil),
		"that does not say when": token(oidctest.Claims{"iat": nil}),
	} {
		w := g.call("Bearer " + one)
		if w.Code != http.StatusUnauthorized ||
			!strings.Contains(w.Body.String(), "your sessions were ended by a platform admin; sign in again") ||
			!strings.Contains(w.Header().Get("WWW-Authenticate"), "invalid_token") {
			t.Errorf("a token %s: %d %s", reason, w.Code, w.Body)
		}
	}
	if err := Alive(stream); TokenEnding(err) != TokenEnding(errByAdmin) {
		t.Errorf("the stream: %v", err)
	}
	if w := g.call("Bearer " + others); w.Code != http.StatusOK || Alive(tool) != nil {
		t.Errorf("another user's token: %d; the stream of a ServiceAccount: %v", w.Code, Alive(tool))
	}
	g.later(time.Second)
	if w := g.call("Bearer " + token(nil)); w.Code != http.StatusOK {
		t.Errorf("after signing in again: %d %s", w.Code, w.Body)
	}
}

// TestNoTokenOutlivesWhatIsRememberedOfIt: a revocation is removed after a day.
func TestNoTokenOutlivesWhatIsRememberedOfIt(t *testing.T) {
	g := newGate(t)
	token := func(issued any) string {
		return g.issuer.Token(oidctest.Claims{
			"preferred_username": "alice", "aud": "api", "iat": issued,
			"exp": g.clock.Now().Add(30 * 24 * time.Hour).Unix(),
		})
	}
	long, now := token(g.clock.Now().Unix()), g.clock.Now()
	stream := g.stream(t, long)
	g.clock.SetTime(time.Unix(now.Unix(), 0).Add(LongestSession - time.Second))
	if w := g.call("Bearer " + long); w.Code != http.StatusOK || Alive(stream) != nil {
		t.Errorf("within the day: %d %s, %v", w.Code, w.Body, Alive(stream))
	}
	g.later(time.Second)
	for reason, one := range map[string]string{"after a day": long, "that does not say when": token(nil)} {
		if w := g.call("Bearer " + one); w.Code != http.StatusUnauthorized ||
			!strings.Contains(w.Body.String(), "longer ago than 24 hours") {
			t.Errorf("a token %s: %d %s", reason, w.Code, w.Body)
		}
	}
	if Alive(stream) == nil {
		t.Error("its stream goes on")
	}
}

func TestTokensWaitForTheListOfRevokedSessions(t *testing.T) {
	g := newGate(t)
	token := "Bearer " + g.issuer.Token(oidctest.Claims{"preferred_username": "alice", "aud": "api"})
	g.revoked.loading = true
	if w := g.call(token); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	g.revoked.loading = false
	if w := g.call(token); w.Code != http.StatusOK {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestWhomANameMeans(t *testing.T) {
	for text, want := range map[string]string{
		"oidc:jo@example.com":       "oidc:jo@example.com",
		"\tjo@example.com\n":        "oidc:jo@example.com",
		"user:jo":                   "oidc:jo, sure",
		"user:oidc:jo":              "oidc:jo, sure",
		"oidc:user:jo":              "oidc:user:jo",
		"https://idp.example#jo":    "oidc:https://idp.example#jo",
		"":                          "! name a user",
		"oidc:":                     "! it has an empty username",
		"group:oidc:dev":            "! oidc:dev is a group",
		"system:serviceaccount:a:b": "! system:serviceaccount:a:b is a ServiceAccount",
		"system:admin":              "! the username \"system:admin\" is one that Kubernetes keeps",
		"oidc:System:masters":       "! the username \"System:masters\" is one that Kubernetes keeps",
		"jo\x00":                    "! the username \"jo\\x00\" has characters",
		strings.Repeat("j", 257):    "! that is longer than the name of any user: 256",
	} {
		got, err := NameUser("oidc:", text)
		said := got.Username
		if got.Sure {
			said += ", sure"
		}
		if err != nil {
			said = "! " + err.Error()
		}
		if said != want && (err == nil || !strings.HasPrefix(said, want)) {
			t.Errorf("%q: %s, want %s", text, said, want)
		}
	}
	if got, err := NameUser("user:", "user:jo"); err != nil || got != (Named{Username: "user:jo"}) {
		t.Errorf("where that is the prefix: %+v, %v", got, err)
	}
}
