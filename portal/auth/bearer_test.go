package auth

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/portico-platform/portico/portal/auth/oidctest"
)

// reviewer accepts one token, and counts reviews.
type reviewer struct {
	token string
	err   error
	asked int
}

// inCluster is the issuer of ServiceAccounts' tokens.
const inCluster = "https://kubernetes.default.svc"

func (r *reviewer) IssuesTokens(_ context.Context, issuer string) (bool, error) {
	return issuer == inCluster, nil
}

// VerifyToken accepts the signatures "x" and "y", the latter for a ServiceAccount of another namespace.
func (r *reviewer) VerifyToken(_ context.Context, _, token string, _ []string) (string, error) {
	switch token[strings.LastIndex(token, ".")+1:] {
	case "x":
		return "a", nil
	case "y":
		return "c", nil
	}
	return "", ErrBadToken
}

func (r *reviewer) ReviewToken(_ context.Context, token string, audiences []string) (Identity, error) {
	r.asked++
	if r.err != nil {
		return Identity{}, r.err
	}
	if token != r.token || len(audiences) != 1 || audiences[0] != "api" {
		return Identity{}, ErrBadToken
	}
	return Identity{Username: "system:serviceaccount:a:b", ServiceAccount: true}, nil
}

type gate struct {
	*site
	bearer   *Provider
	reviewer *reviewer
	handler  http.Handler
}

func newGate(t *testing.T) *gate {
	t.Helper()
	g := &gate{site: newSite(t), reviewer: &reviewer{}}
	g.bearer = g.provider(t)
	b := NewBearer(g.bearer, g.reviewer, g.revoked, g.clock, slog.New(slog.DiscardHandler))
	refuse := func(w http.ResponseWriter, _ *http.Request, status int, detail string) { http.Error(w, detail, status) }
	g.handler = b.Require(refuse)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, _ := FromContext(r.Context())
		if r.Header.Get("Cookie") != "" || r.Header.Get("Authorization") != "" || Alive(r.Context()) != nil {
			w.WriteHeader(http.StatusTeapot)
		}
		_, _ = w.Write([]byte(id.Username))
	}))
	return g
}

func (g *gate) call(authorization ...string) *httptest.ResponseRecorder {
	return g.callFrom(context.Background(), authorization...)
}

func (g *gate) callFrom(ctx context.Context, authorization ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(ctx, "GET", "/", http.NoBody)
	r.Header.Set("Cookie", "__Host-portico=x")
	for _, a := range authorization {
		r.Header.Add("Authorization", a)
	}
	w := httptest.NewRecorder()
	g.handler.ServeHTTP(w, r)
	return w
}

func TestBearerTakesTokensForThisAPI(t *testing.T) {
	g := newGate(t)
	token := g.issuer.Token(oidctest.Claims{"preferred_username": "alice", "aud": []string{"other", "api"}})
	for _, header := range []string{"Bearer " + token, "bearer " + token} {
		if w := g.call(header); w.Code != 200 || w.Body.String() != "oidc:alice" {
			t.Errorf("%d %q", w.Code, w.Body)
		}
	}
	g.reviewer.token = part(`{}`) + "." + part(`{"iss":"https://kubernetes.default.svc"}`) + ".x"
	for range 3 {
		if w := g.call("Bearer " + g.reviewer.token); w.Code != 200 || w.Body.String() != "system:serviceaccount:a:b" {
			t.Errorf("%d %q", w.Code, w.Body)
		}
	}
	if g.reviewer.asked != 1 {
		t.Errorf("asked %d times within seconds", g.reviewer.asked)
	}
	g.later(bearerTTL + time.Second)
	g.reviewer.err = ErrBadToken
	if w := g.call("Bearer " + g.reviewer.token); w.Code != 401 {
		t.Errorf("a token that was revoked: %d", w.Code)
	}
}

func TestBearerRefuses(t *testing.T) {
	g := newGate(t)
	claims := oidctest.Claims{"preferred_username": "alice", "aud": "api"}
	good := g.issuer.Token(claims)
	for _, c := range []struct {
		reason  string
		headers []string
		status  int
	}{
		{"nothing", nil, 401},
		{"another scheme", []string{"Basic " + good}, 401},
		{"two tokens", []string{"Bearer " + good, "Bearer " + good}, 401},
		{"an empty token", []string{"Bearer "}, 401},
		{"no JWT", []string{"Bearer abc"}, 401},
		{"no JSON inside", []string{"Bearer a.bm8.c"}, 401},
		{"a huge token", []string{"Bearer " + strings.Repeat("a", 20000) + ".b.c"}, 401},
		{"another signature", []string{"Bearer " + good[:len(good)-8] + "AAAAAAAA"}, 401},
		{"no signature", []string{"Bearer " + g.issuer.Unsigned(claims)}, 401},
		{"another audience", []string{"Bearer " + g.issuer.Token(oidctest.Claims{"preferred_username": "alice", "aud": "portal"})}, 401},
		{"no username", []string{"Bearer " + g.issuer.Token(oidctest.Claims{"aud": "api"})}, 403},
		{"a group of the system", []string{"Bearer " + g.issuer.Token(oidctest.Claims{"preferred_username": "a", "aud": "api", "groups": []string{"system:masters"}})}, 403},
	} {
		t.Run(c.reason, func(t *testing.T) {
			w := g.call(c.headers...)
			if w.Code != c.status || (w.Code == 401) != (w.Header().Get("WWW-Authenticate") != "") {
				t.Errorf("%d, WWW-Authenticate %q", w.Code, w.Header().Get("WWW-Authenticate"))
			}
		})
	}
}

func TestBearerForgetsATokenWhenItExpires(t *testing.T) {
	g := newGate(t)
	token := g.issuer.Token(oidctest.Claims{
		"preferred_username": "alice", "aud": "api",
		"exp": g.clock.Now().Add(3 * time.Second).Unix(),
	})
	if w := g.call("Bearer " + token); w.Code != 200 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	g.later(4 * time.Second)
	if w := g.call("Bearer " + token); w.Code != 401 {
		t.Errorf("after its end: %d", w.Code)
	}
}

// stream begins a stream with the token and returns its context.
func (g *gate) stream(t *testing.T, token string) context.Context {
	t.Helper()
	var stream context.Context
	b := NewBearer(g.provider(t), g.reviewer, g.revoked, g.clock, slog.New(slog.DiscardHandler))
	r := httptest.NewRequestWithContext(t.Context(), "GET", "/", http.NoBody)
	r.Header.Set("Authorization", "Bearer "+token)
	b.Require(func(_ http.ResponseWriter, _ *http.Request, status int, detail string) {
		t.Fatalf("%d %s", status, detail)
	})(
		http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { stream = r.Context() })).ServeHTTP(
		httptest.NewRecorder(), r)
	return stream
}

func TestStreamsEndWithTheTokenOfAServiceAccount(t *testing.T) {
	for _, c := range []struct {
		reason string
		answer error // of Kubernetes, after a minute
		later  time.Duration
		alive  bool
	}{
		{"it still holds", nil, time.Minute, true},
		{"it has expired", nil, 11 * time.Minute, false},
		{"its ServiceAccount is gone", ErrBadToken, time.Minute, false},
		{"Kubernetes does not answer", errors.New("connection refused"), time.Minute, true},
		{"Kubernetes does not answer, and it has expired", errors.New("connection refused"), 11 * time.Minute, false},
	} {
		t.Run(c.reason, func(t *testing.T) {
			g := newGate(t)
			end := strconv.FormatInt(g.clock.Now().Add(10*time.Minute).Unix(), 10)
			g.reviewer.token = part(`{}`) + "." + part(`{"iss":"https://kubernetes.default.svc","exp":`+end+`}`) + ".x"
			stream := g.stream(t, g.reviewer.token)
			if err := Alive(stream); err != nil || g.reviewer.asked != 1 {
				t.Errorf("at once: %v after %d questions", err, g.reviewer.asked)
			}
			g.later(c.later)
			g.reviewer.err = c.answer
			if err := Alive(stream); (err == nil) != c.alive {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestBearerSaysWhenNobodyCanBeAsked(t *testing.T) {
	g := newGate(t)
	g.reviewer.err = errors.New("dial 10.0.0.1: refused")
	token := func(n int, signature string) string {
		return "Bearer " + part(`{}`) + "." + part(`{"iss":"`+inCluster+`","n":`+strconv.Itoa(n)+`}`) + "." + signature
	}
	w := g.call(token(0, "x"))
	if w.Code != 503 || strings.Contains(w.Body.String(), "10.0.0.1") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	for i := range teamBurst {
		w = g.call(token(i+1, "x"))
	}
	if w.Code != 429 || w.Header().Get("Retry-After") == "" {
		t.Errorf("a flood of new tokens: %d", w.Code)
	}
	if w := g.call(token(0, "y")); w.Code != 503 {
		t.Errorf("a token of another namespace meanwhile: %d", w.Code)
	}
	g.later(time.Second)
	if w := g.call(token(100, "x")); w.Code != 503 {
		t.Errorf("a second later: %d", w.Code)
	}
}

// TestUnknownTokensSpendLittle: a token of a foreign issuer and one that was refused cause no request, and no client
// uses up the rate of others.
func TestUnknownTokensSpendLittle(t *testing.T) {
	g := newGate(t)
	ours := func(n int) string {
		return "Bearer " + part(`{}`) + "." + part(`{"iss":"`+inCluster+`","n":`+strconv.Itoa(n)+`}`) + ".x"
	}
	for n := range 10 * reviewBurst {
		token := "Bearer " + part(`{}`) + "." + part(`{"iss":"https://foreign.example","n":`+strconv.Itoa(n)+`}`) + ".x"
		if w := g.call(token); w.Code != 401 {
			t.Fatalf("a token of a foreign issuer: %d", w.Code)
		}
	}
	if w := g.call("Bearer " + part(`{}`) + "." + part(`{}`) + ".x"); w.Code != 401 || g.reviewer.asked != 0 {
		t.Errorf("%d, and %d questions about tokens of foreign issuers", w.Code, g.reviewer.asked)
	}
	for range 10 * reviewBurst {
		if w := g.call(ours(0)); w.Code != 401 {
			t.Fatalf("a refused token, again: %d", w.Code)
		}
	}
	if g.reviewer.asked != 1 {
		t.Errorf("%d questions about one token that was refused", g.reviewer.asked)
	}
	g.later(refusedTTL + time.Second)
	if g.call(ours(0)); g.reviewer.asked != 2 {
		t.Error("a refusal lasts for good")
	}
	g.later(time.Minute)
	asked := g.reviewer.asked
	for n := range 10 * reviewBurst {
		if w := g.call("Bearer " + part(`{}`) + "." + part(`{"iss":"`+inCluster+`","n":`+strconv.Itoa(n)+`}`) +
			".forged"); w.Code != 401 {
			t.Fatalf("a forged token: %d", w.Code)
		}
	}
	if g.reviewer.asked != asked {
		t.Errorf("%d questions about tokens that Kubernetes did not sign", g.reviewer.asked-asked)
	}
	g.reviewer.token = strings.TrimPrefix(ours(1000), "Bearer ")
	if w := g.call(ours(1000)); w.Code != 200 {
		t.Errorf("a good one, after a flood of forged ones: %d", w.Code)
	}
}

func part(json string) string { return b64.EncodeToString([]byte(json)) }

// TestATokenThatIsTooLongIsCalledThat, and not an expired one.
func TestATokenThatIsTooLongIsCalledThat(t *testing.T) {
	g := newGate(t)
	claims := oidctest.Claims{"preferred_username": "alice", "aud": "api", "groups": groupIDs(370)}
	token := g.issuer.Token(claims)
	w := g.call("Bearer " + token)
	if w.Code != http.StatusUnauthorized || !strings.Contains(w.Body.String(), "too many groups") {
		t.Errorf("%d bytes: %d %s", len(token), w.Code, w.Body)
	}
	var out strings.Builder
	_, err := Inspect(t.Context(), &out, Inspection{Config: g.Browser.provider.cfg, Token: token, Now: g.clock.Now})
	if err != nil || !strings.Contains(out.String(), "more than 16384 are not checked") ||
		strings.Contains(out.String(), "JWT") {
		t.Errorf("%v, %s", err, out.String())
	}
}

func TestWhoHasATokenThatIsTooLongHearsOfOtherWaysThatWork(t *testing.T) {
	for bytes, says := range map[int]string{maxToken: "command line works", maxToken + 1: "takes no token of more " +
		"than 16 KiB"} {
		if got := tooLong(bytes).Reason; !strings.Contains(got, says) {
			t.Errorf("%d: %s", bytes, got)
		}
	}
}
