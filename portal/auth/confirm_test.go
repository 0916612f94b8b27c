package auth

import (
	"bytes"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/portico-platform/portico/api/identity"
	"github.com/portico-platform/portico/portal/auth/oidctest"
)

// asked returns the URL of the redirect to sign in again; it fails if the response is another one.
func (s *site) asked(t *testing.T, cookies jar, back string, headers ...string) string {
	t.Helper()
	r := s.do("GET", ConfirmAt(back), cookies, headers...)
	to, err := url.Parse(r.Header.Get("Location"))
	if err != nil || r.StatusCode != http.StatusSeeOther || !strings.HasPrefix(to.String(), s.issuer.URL) {
		t.Fatalf("%d to %q: %v", r.StatusCode, to, err)
	}
	q := to.Query()
	if q.Get("prompt") != "login" || q.Get("max_age") != "300" {
		t.Errorf("prompt = %q, max_age = %q, want login, 300", q.Get("prompt"), q.Get("max_age"))
	}
	if scope := q.Get("scope"); strings.Contains(scope, "offline_access") {
		t.Errorf("scope = %q, want no offline_access", scope)
	}
	if q.Get("nonce") == "" || q.Get("code_challenge") == "" {
		t.Errorf("nonce = %q, code_challenge = %q; want both", q.Get("nonce"), q.Get("code_challenge"))
	}
	return to.String()
}

// confirmedAs returns the claims of alice after a fresh sign-in.
func (s *site) confirmedAs(change oidctest.Claims) oidctest.Claims {
	all := maps.Clone(alice)
	all["auth_time"] = s.clock.Now().Unix()
	maps.Copy(all, change)
	return all
}

func (s *site) token(cookies jar) string { return s.do("GET", "/token", cookies).body }

// claimsIn returns the payload of a token.
func claimsIn(token string) string {
	parts := strings.Split(token, ".")
	if len(parts) < 2 {
		return "not a token"
	}
	return parts[1]
}

func TestAFreshSignInConfirmsTheUserForFiveMinutes(t *testing.T) {
	for name, change := range map[string]oidctest.Claims{"with auth_time": nil, "without, as some providers": {
		"auth_time": nil,
	}} {
		t.Run(name, func(t *testing.T) {
			s, cookies := signedIn(t)
			session := cookies[sessionCookie]
			if got := s.token(cookies); got != "" {
				t.Fatalf("a session alone has the token %q", got)
			}
			r := s.back(t, cookies, s.asked(t, cookies, "/teams/a/secrets?name=b"), s.confirmedAs(change))
			if r.StatusCode != http.StatusSeeOther || r.Header.Get("Location") != "/teams/a/secrets?name=b" {
				t.Fatalf("back: %d to %q: %s", r.StatusCode, r.Header.Get("Location"), r.body)
			}
			token := s.token(cookies)
			for _, c := range r.Cookies() {
				readable := strings.Contains(c.Value, claimsIn(token))
				if !strings.HasPrefix(c.Name, confirmedCookie) {
					continue
				}
				if !c.HttpOnly || !c.Secure || c.SameSite != http.SameSiteLaxMode {
					t.Errorf("cookie %v, want HttpOnly, Secure, SameSite=Lax", c)
				}
				if c.MaxAge < 290 || c.MaxAge > 300 {
					t.Errorf("MaxAge = %d, want about 300", c.MaxAge)
				}
				if readable {
					t.Errorf("cookie %v has the token in plain text", c)
				}
			}
			if token == "" || IssuerOf(token) != s.issuer.URL || cookies[sessionCookie] != session {
				t.Errorf("the token %q, the session is the same: %v", token, cookies[sessionCookie] == session)
			}
			s.see(t, cookies, "oidc:alice oidc:dev")
			s.later(identity.Fresh - clockSlack - time.Second)
			if s.token(cookies) != token {
				t.Error("it is gone too soon")
			}
			s.later(2 * time.Second)
			if got := s.token(cookies); got != "" {
				t.Errorf("after five minutes there is %q", got)
			}
		})
	}
}

// TestProvidersThatRefuseAPromptAreAskedWithoutIt: Google does.
func TestProvidersThatRefuseAPromptAreAskedWithoutIt(t *testing.T) {
	s, cookies := signedIn(t)
	for _, prompt := range []string{"select_account", ""} {
		s.Browser.provider.cfg.ConfirmPrompt = prompt
		to, err := url.Parse(s.do("GET", ConfirmAt("/x"), cookies).Header.Get("Location"))
		if err != nil || to.Query().Get("prompt") != prompt || to.Query().Get("max_age") != "300" {
			t.Errorf("with %q it asks at %s", prompt, to)
		}
	}
}

func TestASignInThatDoesNotConfirmSaysWhy(t *testing.T) {
	for name, c := range map[string]struct {
		claims oidctest.Claims
		status int
		says   []string
	}{
		"an old sign-in":        {oidctest.Claims{"auth_time": 1}, 403, []string{"did not ask you to sign in again", "/logout?", "portico secret"}},
		"a token made long ago": {oidctest.Claims{"auth_time": nil, "iat": 1}, 403, []string{"did not ask you to sign in again"}},
		"somebody else":         {oidctest.Claims{"sub": "bob", "preferred_username": "bob"}, 403, []string{"somebody else", "/logout?"}},
		"another name":          {oidctest.Claims{"preferred_username": "bob"}, 403, []string{"somebody else"}},
		"another nonce":         {oidctest.Claims{"nonce": "other"}, 403, []string{"not meant for this sign-in"}},
		"an auth_time of words": {oidctest.Claims{"auth_time": "now"}, 403, []string{"cannot be read"}},
		"a token for others":    {oidctest.Claims{"aud": "other"}, 403, []string{"not meant for this portal"}},
		"a refused account":     {oidctest.Claims{"groups": "system:masters"}, 403, []string{"keeps for itself"}},
		"a token without room":  {oidctest.Claims{"groups": groupIDs(400)}, 403, []string{"too long to be kept", "no token of more than 16 KiB"}},
	} {
		t.Run(name, func(t *testing.T) {
			s, cookies := signedIn(t)
			r := s.back(t, cookies, s.asked(t, cookies, "/x?a=b"), s.confirmedAs(c.claims))
			if r.StatusCode != c.status || !strings.HasPrefix(r.body, "oidc:alice: ") ||
				!strings.Contains(r.body, "Back to /x?a=b") {
				t.Errorf("%d %s", r.StatusCode, r.body)
			}
			for _, words := range c.says {
				if !strings.Contains(r.body, words) {
					t.Errorf("it lacks %q: %s", words, r.body)
				}
			}
			if got := s.token(cookies); got != "" {
				t.Errorf("there is the token %q", got)
			}
			s.see(t, cookies, "oidc:alice oidc:dev")
		})
	}
}

func TestAProviderThatDoesNotConfirmSaysWhy(t *testing.T) {
	s, cookies := signedIn(t)
	refuse := func(code string) page {
		_, state := s.issuer.Code(s.asked(t, cookies, "/x"), alice)
		return s.do("GET", CallbackPath+"?"+url.Values{"error": {code}, "state": {state}}.Encode(), cookies)
	}
	if r := refuse("access_denied"); r.StatusCode != http.StatusForbidden ||
		!strings.Contains(r.body, "access_denied") || !strings.Contains(r.body, "Back to /x") {
		t.Errorf("refused: %d %s", r.StatusCode, r.body)
	}
	if r := refuse("login_required"); r.StatusCode != http.StatusBadGateway {
		t.Errorf("refused without a code of our own: %d %s", r.StatusCode, r.body)
	}
	s.issuer.Refusal = func(string) (int, map[string]any) { return http.StatusBadGateway, nil }
	if r := s.back(t, cookies, s.asked(t, cookies, "/x"), s.confirmedAs(nil)); r.StatusCode != http.StatusBadGateway {
		t.Errorf("while it is away: %d %s", r.StatusCode, r.body)
	}
	s.see(t, cookies, "oidc:alice oidc:dev")
}

// TestAConfirmationIsOfOneSession: no other session opens it, and it ends with its session.
func TestAConfirmationIsOfOneSession(t *testing.T) {
	s, cookies := signedIn(t)
	s.back(t, cookies, s.asked(t, cookies, "/x"), s.confirmedAs(nil))
	kept := cookies[confirmedCookie+"1"]
	other := jar{}
	s.signIn(t, other, alice)
	other[confirmedCookie+"1"] = kept
	if got := s.token(other); got != "" {
		t.Errorf("another session opens it: %q", got)
	}
	first := map[bool]string{true: "B", false: "A"}[kept[0] == 'A']
	for name, value := range map[string]string{
		"changed": first + kept[1:], "of a session": cookies[sessionCookie],
		"of nothing": "",
	} {
		with := maps.Clone(cookies)
		with[confirmedCookie+"1"] = value
		if got := s.token(with); got != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
	torn := maps.Clone(cookies)
	torn[confirmedCookie+"2"] = kept
	if got := s.token(torn); got != "" {
		t.Errorf("with a part too many: %q", got)
	}
	thief := maps.Clone(cookies)
	s.do("POST", LogoutPath, cookies, "Origin", portalURL)
	if len(cookies) != 0 {
		t.Errorf("signing out leaves %v", cookies)
	}
	if r := s.do("GET", "/token", thief); r.StatusCode != http.StatusSeeOther {
		t.Errorf("after signing out a copy gets %d %q", r.StatusCode, r.body)
	}
}

// TestConfirmingLeadsBackWhereItCannotBegin: without a session, from pages of other sites, and after another sign-in.
func TestConfirmingLeadsBackWhereItCannotBegin(t *testing.T) {
	s, cookies := signedIn(t)
	for name, c := range map[string]struct {
		cookies jar
		headers []string
		back    string
		want    string
	}{
		"nobody":                 {jar{}, nil, "/x", "/x"},
		"a page of others":       {cookies, []string{"Sec-Fetch-Site", "cross-site"}, "/x", "/x"},
		"a page of a neighbour":  {cookies, []string{"Sec-Fetch-Site", "same-site"}, "/x", "/x"},
		"nobody, and elsewhere":  {jar{}, nil, "https://evil.example/", "/"},
		"nobody, and to confirm": {jar{}, nil, ConfirmPath, "/"},
	} {
		if r := s.do("GET", ConfirmPath+"?"+url.Values{"return_to": {c.back}}.Encode(), c.cookies,
			c.headers...); r.StatusCode != http.StatusSeeOther || r.Header.Get("Location") != c.want {
			t.Errorf("%s: %d to %q", name, r.StatusCode, r.Header.Get("Location"))
		}
	}
	to := s.asked(t, cookies, "/x", "Sec-Fetch-Site", "same-origin")
	fresh := maps.Clone(cookies)
	s.signIn(t, fresh, alice) // in another tab
	if r := s.back(t, fresh, to, s.confirmedAs(nil)); r.StatusCode != http.StatusSeeOther ||
		r.Header.Get("Location") != "/x" || s.token(fresh) != "" {
		t.Errorf("of the session before: %d to %q", r.StatusCode, r.Header.Get("Location"))
	}
}

// TestConfirmationsAreOnTheRecord, without tokens.
func TestConfirmationsAreOnTheRecord(t *testing.T) {
	s, cookies := signedIn(t)
	var log bytes.Buffer
	s.log = slog.New(slog.NewJSONHandler(&log, nil))
	s.handler = Record(s.log, s.clock.Now, func(http.ResponseWriter, *http.Request) {})(s.handler)
	s.back(t, cookies, s.asked(t, cookies, "/x"), s.confirmedAs(nil))
	s.back(t, cookies, s.asked(t, cookies, "/x"), s.confirmedAs(oidctest.Claims{"auth_time": 1}))
	s.back(t, cookies, s.asked(t, cookies, "/x"), s.confirmedAs(oidctest.Claims{"sub": "bob"}))
	for _, line := range []string{
		`"msg":"sign-in","actor":"oidc:alice","verb":"confirm","resource":"sessions","namespace":"","name":"","decision":"allow","outcome":"done"`,
		`"verb":"confirm","resource":"sessions","namespace":"","name":"","decision":"deny","outcome":"forbidden","reason":"notFresh"`,
		`"decision":"deny","outcome":"forbidden","reason":"another"`,
	} {
		if !strings.Contains(log.String(), line) {
			t.Errorf("the log lacks %s:\n%s", line, log.String())
		}
	}
	if token := s.token(cookies); token == "" || strings.Contains(log.String(), claimsIn(token)) {
		t.Error("the log has a token, or there is none")
	}
}
