package auth

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestSessionsHaveTheirNamesAndAttributes(t *testing.T) {
	s, cookies := newSite(t), jar{}
	r := s.signIn(t, cookies, alice)
	i := slices.IndexFunc(r.Cookies(), func(c *http.Cookie) bool { return c.Name == "__Host-portico" })
	if i < 0 {
		t.Fatalf("no session in %v", r.Cookies())
	}
	c := r.Cookies()[i]
	if !c.Secure || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode {
		t.Errorf("cookie %v, want Secure, HttpOnly, SameSite=Lax", c)
	}
	if c.Path != "/" || c.Domain != "" {
		t.Errorf("cookie %v, want Path=/ and no Domain", c)
	}
	if strings.Contains(c.Value, "alice") {
		t.Error("the session can be read")
	}
	s.see(t, cookies, "oidc:alice oidc:dev")
	if len(cookies) != 1 {
		t.Error("the cookie of the sign-in is left")
	}
	s.see(t, jar{}, "")
	other := "x"
	if cookies[sessionCookie][20] == 'x' {
		other = "y"
	}
	cookies[sessionCookie] = cookies[sessionCookie][:20] + other + cookies[sessionCookie][21:]
	s.see(t, cookies, "")
}

func TestSessionsEnd(t *testing.T) {
	short := Life{Idle: time.Minute, Max: 5 * time.Minute}
	for reason, c := range map[string]struct {
		life  Life
		step  time.Duration
		steps int
		alive bool
	}{
		"in use":                       {DefaultLife(), 30 * time.Minute, 23, true},
		"in use for half a day":        {DefaultLife(), 30 * time.Minute, 24, false},
		"not used for most of an hour": {DefaultLife(), 59 * time.Minute, 1, true},
		"not used for an hour":         {DefaultLife(), time.Hour, 1, false},
		"short, and in use":            {short, 50 * time.Second, 5, true},
		"short, and at its end":        {short, 50 * time.Second, 6, false},
		"short, and left alone":        {short, time.Minute, 1, false},
	} {
		t.Run(reason, func(t *testing.T) {
			s, cookies := signedIn(t)
			s.life = c.life
			for range c.steps - 1 {
				s.clock.SetTime(s.clock.Now().Add(c.step))
				s.see(t, cookies, "oidc:alice oidc:dev")
			}
			s.clock.SetTime(s.clock.Now().Add(c.step))
			want := ""
			if c.alive {
				want = "oidc:alice oidc:dev"
			}
			s.see(t, cookies, want)
		})
	}
}

func TestSignOutEndsCopiesToo(t *testing.T) {
	s, cookies := signedIn(t)
	thief := jar{sessionCookie: cookies[sessionCookie]}
	r := s.do("POST", LogoutPath, cookies, "Origin", portalURL)
	if r.StatusCode != http.StatusSeeOther || r.Header.Get("Location") != SignedOutPath {
		t.Fatalf("%d to %q", r.StatusCode, r.Header.Get("Location"))
	}
	if len(cookies) != 0 {
		t.Errorf("cookies left: %v", cookies)
	}
	if got := s.do("GET", SignedOutPath, nil).body; got != "signed out; "+s.issuer.URL+"/logout?client_id=portal" {
		t.Error(got)
	}
	s.see(t, thief, "")
}

// TestASignOutOutlastsTheLivesOfOtherReplicas: a copy of the cookie is refused on replicas with longer sessions.
func TestASignOutOutlastsTheLivesOfOtherReplicas(t *testing.T) {
	for name, rest := range map[string]time.Duration{"in use": 0, "ended already": 2 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			s, cookies := signedIn(t)
			s.life = Life{Idle: time.Hour, Max: time.Hour}
			thief := jar{sessionCookie: cookies[sessionCookie]}
			s.later(rest)
			s.do("POST", LogoutPath, cookies, "Origin", portalURL)
			s.life = Life{Idle: LongestSession, Max: LongestSession}
			for range 21 {
				s.later(time.Hour)
				s.see(t, thief, "")
			}
		})
	}
}

func TestSignOutSaysWhenItReachedThisBrowserOnly(t *testing.T) {
	s, cookies := signedIn(t)
	s.revoked.fail = errors.New("no cluster at secret.internal")
	r := s.do("POST", LogoutPath, cookies, "Origin", portalURL)
	if got := r.body; r.StatusCode != http.StatusServiceUnavailable || strings.Contains(got, "secret.internal") ||
		len(cookies) != 0 {
		t.Errorf("%d %q, cookies %v", r.StatusCode, got, cookies)
	}
}

func TestWhoIsNotSignedInIsSentToSignIn(t *testing.T) {
	s := newSite(t)
	r := s.do("GET", "/teams/a?sort=name", nil)
	if want := SignInPath + "?return_to=%2Fteams%2Fa%3Fsort%3Dname"; r.StatusCode != 303 ||
		r.Header.Get("Location") != want {
		t.Errorf("%d to %q, want %q", r.StatusCode, r.Header.Get("Location"), want)
	}
	if got := s.do("GET", SignInPath+"?return_to=%2Fx", nil).body; got != "sign in at "+LoginPath+"?return_to=%2Fx" {
		t.Error(got)
	}
	for _, headers := range [][]string{{"HX-Request", "true"}, {"Accept", "text/event-stream"}} {
		r := s.do("GET", "/teams/a/live", nil, headers...)
		if r.StatusCode != 401 || r.Header.Get("HX-Redirect") != "" || r.Header.Get("Location") != "" {
			t.Errorf("%v: %d, leads to %q", headers, r.StatusCode, r.Header.Get("HX-Redirect")+r.Header.Get("Location"))
		}
	}
	for referer, back := range map[string]string{
		portalURL + "/teams/a/new/b?like=c": "%2Fteams%2Fa%2Fnew%2Fb%3Flike%3Dc", portalURL: "%2F", "": "%2F",
		"https://evil.example/x":      "%2F",
		portalURL + ".evil.example/x": "%2F", portalURL + "/auth/logout": "%2F", portalURL + "//evil.example": "%2F",
	} {
		r := s.do("POST", "/teams/a", nil, "Origin", portalURL, "Referer", referer)
		if r.StatusCode != 401 || r.body != "ended; sign in at "+LoginPath+"?return_to="+back {
			t.Errorf("POST from %q: %d %s", referer, r.StatusCode, r.body)
		}
	}
	in, cookies := signedIn(t)
	if r := in.do("GET", SignInPath+"?return_to=%2Fy", cookies); r.Header.Get("Location") != "/y" {
		t.Errorf("signed in already, and sent to %q", r.Header.Get("Location"))
	}
}

func TestReturnToStaysHere(t *testing.T) {
	for in, want := range map[string]string{
		"/teams/a?x=1#y": "/teams/a?x=1#y", "": "/", "teams": "/", "//evil.example": "/", `/\evil.example`: "/",
		"/%5Cevil.example":      "/",
		"https://evil.example/": "/", "javascript:alert(1)": "/", "/\tevil": "/", "/%2F/evil": "/", "/auth/logout": "/",
		"http:/x": "/", "/a\r\nSet-Cookie: x": "/", "/" + strings.Repeat("a", 3000): "/",
	} {
		if got := localPath(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestWritesMustComeFromHere(t *testing.T) {
	s, cookies := signedIn(t)
	for _, c := range []struct {
		reason  string
		method  string
		headers []string
		status  int
	}{
		{"a page of ours", "POST", []string{"Origin", portalURL, "Sec-Fetch-Site", "same-origin"}, 200},
		{"fetch metadata alone", "POST", []string{"Sec-Fetch-Site", "same-origin"}, 200},
		{"reading", "GET", []string{"Origin", "https://evil.example"}, 200},
		{"nothing said", "POST", nil, 403},
		{"another site", "POST", []string{"Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"}, 403},
		{"a sibling host", "POST", []string{"Origin", "http://team.127.0.0.1:8080", "Sec-Fetch-Site", "same-site"}, 403},
		{"another port", "POST", []string{"Origin", "http://127.0.0.1:9999"}, 403},
		{"another scheme", "POST", []string{"Origin", "https://127.0.0.1:8080"}, 403},
		{"no origin to tell", "POST", []string{"Origin", "null"}, 403},
		{"typed in", "POST", []string{"Sec-Fetch-Site", "none"}, 403},
		{"DELETE of another site", "DELETE", []string{"Origin", "https://evil.example"}, 403},
	} {
		t.Run(c.reason, func(t *testing.T) {
			if r := s.do(c.method, "/x", cookies, c.headers...); r.StatusCode != c.status {
				t.Errorf("status %d, want %d", r.StatusCode, c.status)
			}
		})
	}
}

func TestAliveEndsWithTheSession(t *testing.T) {
	s, cookies := signedIn(t)
	var stream context.Context
	h := s.Require(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { stream = r.Context() }))
	r := httptest.NewRequestWithContext(t.Context(), "GET", portalURL+"/live", http.NoBody)
	r.AddCookie(&http.Cookie{Name: sessionCookie, Value: cookies[sessionCookie]})
	h.ServeHTTP(httptest.NewRecorder(), r)
	if err := Alive(stream); err != nil {
		t.Fatal(err)
	}
	s.do("POST", LogoutPath, cookies, "Origin", portalURL)
	if Alive(stream) == nil {
		t.Error("alive after signing out")
	}
	if Alive(t.Context()) == nil {
		t.Error("alive without a session")
	}
}
