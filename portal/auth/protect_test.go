package auth

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"
)

var b64 = base64.RawURLEncoding

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestHeadersThatClaimAnIdentityAreRemoved(t *testing.T) {
	r := httptest.NewRequestWithContext(t.Context(), "GET", "/", http.NoBody)
	kept := []string{"Accept", "Authorization", "Content-Type", "Hx-Request", "Origin", "User-Agent"}
	for _, name := range append([]string{
		"Impersonate-User", "Impersonate-Group", "impersonate_user", "Impersonate-Extra-Scopes", "X-Remote-User",
		"x_remote_group", "X-Forwarded-For", "X_Forwarded_Host", "Forwarded", "X-Real-IP", "X-Request-Id", "Connection",
	}, kept...) {
		r.Header[name] = []string{"x"}
	}
	r.Header["Connection"] = []string{"keep-alive, x-hop", "X-Other"}
	r.Header["X-Hop"], r.Header["X-Other"] = []string{"x"}, []string{"x"}
	StripHeaders(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		for name := range r.Header {
			if !strings.Contains(strings.Join(kept, ","), name) {
				t.Errorf("%s travels on", name)
			}
		}
		if len(r.Header) != len(kept) {
			t.Errorf("left: %v", r.Header)
		}
	})).ServeHTTP(httptest.NewRecorder(), r)
}

func TestSecurityHeaders(t *testing.T) {
	w := httptest.NewRecorder()
	SecurityHeaders(http.NotFoundHandler()).ServeHTTP(
		w, httptest.NewRequestWithContext(t.Context(), "GET", "/", http.NoBody))
	for name, want := range map[string]string{
		"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
			"img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
		"X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin",
		"Cross-Origin-Opener-Policy":   "same-origin",
		"Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "no-store",
	} {
		if got := w.Header().Get(name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// A no-store response to a script would keep its page out of the back/forward cache.
func TestAnswersForScriptsAreForNoSharedCache(t *testing.T) {
	for dest, want := range map[string]string{"empty": "private, no-cache", "document": "no-store", "": "no-store"} {
		w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), "GET", "/", http.NoBody)
		r.Header.Set("Sec-Fetch-Dest", dest)
		SecurityHeaders(http.NotFoundHandler()).ServeHTTP(w, r)
		if got := w.Header().Get("Cache-Control"); got != want {
			t.Errorf("%q: %q, want %q", dest, got, want)
		}
	}
}

func TestStrictTransportIsForHTTPSOnly(t *testing.T) {
	for public, want := range map[string]string{"https://p.example": "max-age=31536000", "http://localhost:8080": ""} {
		p := &Provider{cfg: Config{PublicURL: public}}
		w := httptest.NewRecorder()
		p.StrictTransport(http.NotFoundHandler()).ServeHTTP(
			w, httptest.NewRequestWithContext(t.Context(), "GET", "/", http.NoBody))
		if got := w.Header().Get("Strict-Transport-Security"); got != want {
			t.Errorf("%s: %q, want %q", public, got, want)
		}
	}
}

func TestClientsThatDoNotReadAreGivenUp(t *testing.T) {
	ended := make(chan error, 1)
	past := func() time.Time { return time.Now().Add(100*time.Millisecond - answerTime) }
	srv := httptest.NewServer(LimitAnswer(past)(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for {
			if _, err := w.Write(make([]byte, 1<<20)); err != nil {
				ended <- err
				return
			}
		}
	})))
	defer srv.Close()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Error("the answer has no end")
		_ = conn.Close()
	}
}

func TestBodiesAreLimited(t *testing.T) {
	h := LimitBody(10, time.Now)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.ReadAll(r.Body); err != nil {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
		}
	}))
	for body, want := range map[string]int{"0123456789": 200, "0123456789a": 413} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "POST", "/", strings.NewReader(body)))
		if w.Code != want {
			t.Errorf("%d bytes: %d", len(body), w.Code)
		}
	}
}

func TestRecordSaysWhoDidWhat(t *testing.T) {
	var log bytes.Buffer
	failed := func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "opaque", http.StatusInternalServerError) }
	h := Record(slog.New(slog.NewJSONHandler(&log, nil)), time.Now, failed)(
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			note(r.Context(), Identity{Username: "oidc:alice", Name: "Alice", Email: "alice@example.com"})
			if r.URL.Path == "/panic" {
				panic("secret")
			}
			http.Error(w, RequestID(r.Context()), http.StatusForbidden)
		}))
	r := httptest.NewRequestWithContext(t.Context(), "DELETE", "/teams/a?code=secret", strings.NewReader("secret"))
	r.Header.Set("X-Request-Id", "forged")
	r.Header.Set("Authorization", "secret")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	id := w.Header().Get("X-Request-Id")
	if id == "" || id == "forged" || strings.TrimSpace(w.Body.String()) != id {
		t.Errorf("request ID %q, %q inside", id, w.Body)
	}
	var line map[string]any
	if err := json.Unmarshal(log.Bytes(), &line); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]any{
		"actor": "oidc:alice", "actorName": "Alice",
		"actorEmail": "alice@example.com", "verb": "DELETE", "object": "/teams/a", "decision": "deny", "status": 403.0,
		"requestID": id,
	} {
		if line[key] != want {
			t.Errorf("%s is %v, want %v", key, line[key], want)
		}
	}
	if strings.Contains(log.String(), "secret") {
		t.Errorf("the log tells secrets: %s", log.String())
	}
	w = httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/panic", http.NoBody))
	if w.Code != 500 || strings.TrimSpace(w.Body.String()) != "opaque" {
		t.Errorf("after a panic: %d %s", w.Code, w.Body)
	}
}

func TestIdentitiesAreChecked(t *testing.T) {
	for reason, c := range map[string]struct {
		id Identity
		ok bool
	}{
		"a user":                               {Identity{Username: "oidc:a", Groups: []string{"oidc:g"}}, true},
		"a ServiceAccount":                     {Identity{Username: "system:serviceaccount:ns:name", ServiceAccount: true}, true},
		"a ServiceAccount with its own groups": {Identity{Username: "system:serviceaccount:ns:name", Groups: []string{"system:serviceaccounts:ns"}, ServiceAccount: true}, true},
		"nobody":                               {Identity{}, false},
		"groups only":                          {Identity{Groups: []string{"oidc:g"}}, false},
		"the system":                           {Identity{Username: "system:apiserver"}, false},
		"a group of the system":                {Identity{Username: "oidc:a", Groups: []string{"system:masters"}}, false},
		"an empty group":                       {Identity{Username: "oidc:a", Groups: []string{""}}, false},
		"a control character":                  {Identity{Username: "oidc:a\r\nImpersonate-User: b"}, false},
		"a blank at the end":                   {Identity{Username: "oidc:a "}, false},
		"a blank at the beginning":             {Identity{Username: "\u00a0oidc:a"}, false},
		"a group with a blank at its end":      {Identity{Username: "oidc:a", Groups: []string{"oidc:admins\t"}}, false},
		"a group with a blank within":          {Identity{Username: "oidc:a", Groups: []string{"oidc:the admins"}}, true},
		"a ServiceAccount with a blank":        {Identity{Username: "system:serviceaccount:ns:name ", ServiceAccount: true}, false},
		"a user as ServiceAccount":             {Identity{Username: "oidc:a", ServiceAccount: true}, false},
		"another namespace's group":            {Identity{Username: "system:serviceaccount:ns:name", Groups: []string{"system:serviceaccounts:other"}, ServiceAccount: true}, false},
		"a ServiceAccount of three parts":      {Identity{Username: "system:serviceaccount:ns:na:me", ServiceAccount: true}, false},
		"a ServiceAccount without a name":      {Identity{Username: "system:serviceaccount:ns:", ServiceAccount: true}, false},
	} {
		if err := c.id.Check(); (err == nil) != c.ok {
			t.Errorf("%s: %v", reason, err)
		}
	}
}

// TestAProxyMayHandOnAnotherHost: nginx does by default, and not every browser sends fetch metadata.
func TestAProxyMayHandOnAnotherHost(t *testing.T) {
	s, cookies := signedIn(t)
	post := func(origin string) int {
		r := request(http.MethodPost, LogoutPath, cookies)
		r.Host = "portico-portal.portico-system.svc"
		r.Header.Set("Origin", origin)
		w := httptest.NewRecorder()
		s.handler.ServeHTTP(w, r)
		return w.Code
	}
	for _, origin := range []string{
		"https://portico-portal.portico-system.svc",
		"http://portico-portal.portico-system.svc", "null",
	} {
		if got := post(origin); got != http.StatusForbidden {
			t.Errorf("from %s: %d", origin, got)
		}
	}
	if got := post(portalURL); got != http.StatusSeeOther {
		t.Errorf("from the portal: %d", got)
	}
}
