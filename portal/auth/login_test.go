package auth

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/portico-platform/portico/portal/auth/oidctest"
)

func TestSignInIsRefused(t *testing.T) {
	for _, c := range []struct {
		reason string
		claims oidctest.Claims
		status int
		says   string
	}{
		{"no username claim", oidctest.Claims{"preferred_username": nil}, 403, `"preferred_username"`},
		{"an empty username", oidctest.Claims{"preferred_username": ""}, 403, `"preferred_username"`},
		{"a username that is no text", oidctest.Claims{"preferred_username": 7}, 403, `"preferred_username"`},
		{"a username of the system", oidctest.Claims{"preferred_username": "system:admin"}, 403, "keeps for itself"},
		{"the same in disguise", oidctest.Claims{"preferred_username": " System:admin"}, 403, "blank"},
		{"a username with a mark of no width", oidctest.Claims{"preferred_username": "an\u200bn"}, 403, "cannot be printed"},
		{"a username that turns around", oidctest.Claims{"preferred_username": "\u202enna"}, 403, "cannot be printed"},
		{"a username with a line end", oidctest.Claims{"preferred_username": "a\nb"}, 403, "cannot be printed"},
		{"a group of the system", oidctest.Claims{"groups": []string{"dev", "system:masters"}}, 403, "keeps for itself"},
		{"one group of the system, as text", oidctest.Claims{"groups": "system:masters"}, 403, "keeps for itself"},
		{"an empty group", oidctest.Claims{"groups": []string{""}}, 403, "empty group"},
		{"a group with a blank at its end", oidctest.Claims{"groups": []string{"admins "}}, 403, `"admins " begins or ends with a blank`},
		{"groups that are no list", oidctest.Claims{"groups": map[string]int{"a": 1}}, 403, "not a list"},
		{"too many groups", oidctest.Claims{"groups": groupIDs(520)}, 403, "too many groups (520)"},
		{"too many groups, though they pack well", oidctest.Claims{"groups": slices.Repeat([]string{"dev"}, 20_000)}, 403, "too many groups (20000)"},
		{"a name that is too long", oidctest.Claims{"name": strings.Repeat("n", maxCookie)}, 403, "shorter name"},
		{"a token for another audience", oidctest.Claims{"aud": "other"}, 403, "not meant for this portal"},
		{"a token of another issuer", oidctest.Claims{"iss": "https://other.example"}, 403, "names another issuer"},
		{"a token that has expired", oidctest.Claims{"exp": 1}, 403, "had ended when it came"},
		{"another nonce", oidctest.Claims{"nonce": "other"}, 403, "not meant for this sign-in"},
		{"no nonce", oidctest.Claims{"nonce": nil}, 403, "not meant for this sign-in"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			s, cookies := newSite(t), jar{}
			claims := oidctest.Claims{"preferred_username": "alice"}
			maps.Copy(claims, c.claims)
			r := s.signIn(t, cookies, claims)
			if got := r.body; r.StatusCode != c.status || !strings.Contains(got, c.says) {
				t.Errorf("%d %q, want %d and %q", r.StatusCode, got, c.status, c.says)
			}
			if len(cookies) != 0 {
				t.Errorf("cookies %v", cookies)
			}
		})
	}
}

func TestSignInTakesGroupsInEveryForm(t *testing.T) {
	for want, groups := range map[string]any{"oidc:alice oidc:dev": "dev", "oidc:alice oidc:a,oidc:b": []string{
		"a", "b",
	}, "oidc:alice ": nil} {
		s, cookies := newSite(t), jar{}
		s.signIn(t, cookies, oidctest.Claims{"preferred_username": "alice", "groups": groups})
		s.see(t, cookies, want)
	}
}

func TestSignInBelongsToOneBrowserOnce(t *testing.T) {
	s := newSite(t)
	begin := func() (jar, string) {
		cookies := jar{}
		start := s.do("GET", LoginPath, cookies)
		code, state := s.issuer.Code(start.Header.Get("Location"), alice)
		return cookies, CallbackPath + "?" + url.Values{"code": {code}, "state": {state}}.Encode()
	}
	refused := func(reason string, cookies jar, path string) {
		t.Helper()
		r := s.do("GET", path, cookies)
		if r.StatusCode != http.StatusBadRequest || cookies[sessionCookie] != "" {
			t.Errorf("%s: %d, cookies %v", reason, r.StatusCode, cookies)
		}
	}
	_, path := begin()
	refused("another browser without a sign-in", jar{}, path)

	_, path = begin()
	other, _ := begin()
	refused("another browser's sign-in", other, path)

	cookies, path := begin()
	copied := maps.Clone(cookies)
	if r := s.do("GET", path, cookies); r.StatusCode != http.StatusSeeOther {
		t.Fatalf("status %d", r.StatusCode)
	}
	refused("the same answer again", copied, path)

	cookies, path = begin()
	s.clock.SetTime(s.clock.Now().Add(loginLife))
	refused("too late", cookies, path)

	// A session's cookie is not accepted as a sign-in, though both are sealed with the same key.
	in, inCookies := signedIn(t)
	r := in.do("GET", CallbackPath+"?state=&code=x", jar{login{}.cookie(): inCookies[sessionCookie]})
	if r.StatusCode != http.StatusBadRequest {
		t.Errorf("a session as a sign-in: %d", r.StatusCode)
	}
}

func TestSignInSaysThatTheProviderFailed(t *testing.T) {
	s, cookies := newSite(t), jar{}
	start := s.do("GET", LoginPath, cookies)
	_, state := s.issuer.Code(start.Header.Get("Location"), alice)
	r := s.do("GET", CallbackPath+"?"+url.Values{
		"error": {"access_denied"}, "error_description": {"call 555"},
		"state": {state},
	}.Encode(), cookies)
	if got := r.body; r.StatusCode != http.StatusForbidden || !strings.Contains(got, `access_denied, "call 555"`) {
		t.Errorf("%d %q", r.StatusCode, got)
	}

	start = s.do("GET", LoginPath, cookies)
	_, state = s.issuer.Code(start.Header.Get("Location"), alice)
	r = s.do("GET", CallbackPath+"?"+url.Values{"code": {"wrong"}, "state": {state}}.Encode(), cookies)
	if r.StatusCode != http.StatusBadGateway || cookies[sessionCookie] != "" {
		t.Errorf("a wrong code: %d", r.StatusCode)
	}

	p, err := NewProvider(Config{
		IssuerURL: "http://127.0.0.1:1", ClientID: "x", PublicURL: portalURL, UsernameClaim: "u", GroupsClaim: "g",
		Prefix: "p:", Audiences: []string{"a"},
	}, s.clock.Now)
	if err != nil {
		t.Fatal(err)
	}
	s.Browser.provider = p
	if r := s.do("GET", LoginPath, cookies); r.StatusCode != http.StatusBadGateway ||
		strings.Contains(r.body, "127.0.0.1:1") {
		t.Errorf("no provider: %d", r.StatusCode)
	}
	if got := p.endSessionURL(t.Context(), ""); got != "" {
		t.Errorf("end of session at %q", got)
	}
}

func TestUsernameFromEmailMustBeVerified(t *testing.T) {
	s := newSite(t)
	s.Browser.provider.cfg.UsernameClaim = "email"
	cookies := jar{}
	if r := s.signIn(t, cookies, oidctest.Claims{"email": "a@b.example"}); r.StatusCode != http.StatusForbidden {
		t.Errorf("unverified: %d", r.StatusCode)
	}
	s.signIn(t, cookies, oidctest.Claims{"email": "a@b.example", "email_verified": true})
	s.see(t, cookies, "oidc:a@b.example ")
}

func TestConfigIsChecked(t *testing.T) {
	good := Config{
		IssuerURL: "https://i.example", ClientID: "c", PublicURL: "https://p.example", UsernameClaim: "u",
		GroupsClaim: "g",
		Prefix:      "oidc:", Audiences: []string{"a"},
	}
	if err := good.Check(); err != nil {
		t.Fatal(err)
	}
	for _, fine := range []Config{
		{IssuerURL: "http://127.0.0.1:5556/dex", PublicURL: "http://localhost:8080"},
		{IssuerURL: "https://i.example/realms/a/", PublicURL: "https://p.example:8443"},
		{IssuerURL: "http://[::1]:5556", PublicURL: "https://[2001:db8::1]"},
	} {
		c := good
		c.IssuerURL, c.PublicURL = fine.IssuerURL, fine.PublicURL
		if err := c.Check(); err != nil {
			t.Error(err)
		}
	}
	for _, c := range []struct {
		reason string
		change func(*Config)
		says   string
	}{
		{"no public URL", func(c *Config) { c.PublicURL = "" }, "give a scheme and a host"},
		{"a public URL in a dir", func(c *Config) { c.PublicURL = "https://p.example/portal" }, "lives at the root"},
		{"a slash at the end", func(c *Config) { c.PublicURL = "https://p.example/" }, "leave out the slash"},
		{"a user", func(c *Config) { c.PublicURL = "https://u@p.example" }, "lives at the root"},
		{"an empty query", func(c *Config) { c.PublicURL = "https://p.example?" }, "write it as https://p.example"},
		{"capitals", func(c *Config) { c.PublicURL = "https://P.example" }, "small letters"},
		{"a scheme in capitals", func(c *Config) { c.PublicURL = "HTTPS://p.example" }, "small letters"},
		{"the default port", func(c *Config) { c.PublicURL = "https://p.example:443" }, "leave out the port"},
		{"the default port of http", func(c *Config) { c.PublicURL = "http://localhost:80" }, "leave out the port"},
		{"an empty port", func(c *Config) { c.PublicURL = "https://p.example:" }, "leave out the port"},
		{"no https", func(c *Config) { c.PublicURL = "http://p.example" }, "over https only"},
		{"another scheme", func(c *Config) { c.PublicURL = "ftp://p.example" }, "give a scheme and a host"},
		{"no issuer", func(c *Config) { c.IssuerURL = "" }, "are needed"},
		{"an issuer without https", func(c *Config) { c.IssuerURL = "http://i.example" }, "must be https"},
		{"an issuer that is no URL", func(c *Config) { c.IssuerURL = "i.example" }, "such as https://login.example.com"},
		{"no client", func(c *Config) { c.ClientID = "" }, "are needed"},
		{"no username claim", func(c *Config) { c.UsernameClaim = "" }, "must not be empty"},
		{"no prefix", func(c *Config) { c.Prefix = "" }, "neither empty"},
		{"a prefix with a blank before it", func(c *Config) { c.Prefix = " oidc:" }, "begin with a blank"},
		{"a prefix of the system", func(c *Config) { c.Prefix = "system:x:" }, "begin with system:"},
		{"no audience", func(c *Config) { c.Audiences = nil }, "at least one"},
		{"the client as audience", func(c *Config) { c.Audiences = []string{"a", "c"} }, "must not be the client ID"},
	} {
		changed := good
		c.change(&changed)
		if _, err := NewProvider(changed, time.Now); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.reason, err, c.says)
		}
	}
}

// TestPagesOfOthersCannotBeginASignIn, or they could fill the browser with cookies, and replace sessions.
func TestPagesOfOthersCannotBeginASignIn(t *testing.T) {
	s := newSite(t)
	for from, want := range map[string]string{
		"cross-site": SignInPath + "?return_to=%2Fx", "same-site": SignInPath + "?return_to=%2Fx",
		"same-origin": s.issuer.URL, "none": s.issuer.URL, "": s.issuer.URL,
	} {
		cookies := jar{}
		r := s.do("GET", LoginPath+"?return_to=%2Fx", cookies, "Sec-Fetch-Site", from)
		if to := r.Header.Get("Location"); !strings.HasPrefix(to, want) ||
			strings.HasPrefix(to, SignInPath) != (len(cookies) == 0) {
			t.Errorf("from %q it leads to %q with %d cookies", from, to, len(cookies))
		}
	}
}

// TestSignInsUnderWayStaySmall: each request carries their cookies.
func TestSignInsUnderWayStaySmall(t *testing.T) {
	s, cookies := newSite(t), jar{}
	r := s.do("GET", LoginPath+"?return_to="+url.QueryEscape("/x?"+strings.Repeat("&", 1900)), cookies)
	for _, value := range cookies {
		if len(value) > maxLogin {
			t.Errorf("a cookie of %d bytes", len(value))
		}
	}
	first := r.Header.Get("Location")
	for range maxLogins - 1 {
		s.later(time.Second)
		s.do("GET", LoginPath, cookies)
	}
	code, state := s.issuer.Code(first, alice)
	before := maps.Clone(cookies)
	if r := s.do("GET", CallbackPath+"?"+url.Values{"code": {code}, "state": {state}}.Encode(),
		cookies); r.StatusCode != http.StatusSeeOther || r.Header.Get("Location") != "/" {
		t.Errorf("%d to %q: %s", r.StatusCode, r.Header.Get("Location"), r.body)
	}
	// One too many: the oldest is removed.
	s.later(time.Second)
	last := s.do("GET", LoginPath, before).Header.Get("Location")
	if len(before) != maxLogins {
		t.Errorf("%d sign-ins are under way", len(before))
	}
	for to, want := range map[string]int{first: http.StatusBadRequest, last: http.StatusSeeOther} {
		code, state := s.issuer.Code(to, alice)
		if r := s.do("GET", CallbackPath+"?"+url.Values{"code": {code}, "state": {state}}.Encode(),
			before); r.StatusCode != want {
			t.Errorf("%d, want %d: %s", r.StatusCode, want, r.body)
		}
	}
}
