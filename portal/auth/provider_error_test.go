package auth

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/portico-platform/portico/portal/auth/oidctest"
)

// logged makes the site write its log to the returned buffer.
func (s *site) logged() *bytes.Buffer {
	var out bytes.Buffer
	s.log = slog.New(slog.NewTextHandler(&out, nil))
	return &out
}

// answers sets the token endpoint's response.
func (s *site) answers(status int, answer map[string]any) {
	s.issuer.Refusal = func(string) (int, map[string]any) { return status, answer }
}

// TestTheProvidersAnswerIsTold: errors from the browser's redirect and from the token endpoint are shown. The third is
// Keycloak's for a user without its role offline_access; AADSTS are Entra's.
func TestTheProvidersAnswerIsTold(t *testing.T) {
	for _, c := range []struct {
		reason  string
		browser url.Values     // parameters of the browser's redirect
		status  int            // else the token endpoint's response
		answer  map[string]any // its body
		says    string
		advises string
		code    int
	}{
		{"access denied", url.Values{"error": {"access_denied"}}, 0, nil, "access_denied", "let you in", 403},
		{
			"a scope it does not know",
			url.Values{"error": {"invalid_scope"}, "error_description": {"Invalid scopes: openid groups"}},
			0, nil,
			`invalid_scope, "Invalid scopes: openid groups"`, "--oidc-scopes", 502,
		},
		{
			"no offline tokens", nil, 400,
			map[string]any{"error": "not_allowed", "error_description": "Offline tokens " +
				"not allowed for the user or client"},
			`not_allowed, "Offline tokens not allowed for the user or client"`,
			"--oidc-scopes", 502,
		},
		{"a wrong secret", nil, 401, map[string]any{"error": "invalid_client", "error_description": "AADSTS7000215: " +
			"Invalid client secret provided."}, "AADSTS7000215", "--oidc-client-auth-method", 502},
		{"a wrong redirect", url.Values{"error": {"invalid_request"}, "error_description": {"redirect_uri"}}, 0, nil, "invalid_request", CallbackPath, 502},
		{"cancelled", url.Values{"error": {"access_denied"}, "error_description": {"cancelled"}}, 0, nil, "cancelled", "If you cancelled there, sign in again", 403},
		{"not pushed", url.Values{"error": {"invalid_request"}, "error_description": {"Pushed Authorization Request must be used"}}, 0, nil, "Pushed", "wants the request to be pushed", 502},
		{"a prompt", url.Values{"error": {"invalid_request"}, "error_description": {"prompt login is not allowed"}}, 0, nil, "prompt", "--oidc-confirm-prompt", 502},
		{"something of the request", url.Values{"error": {"invalid_request"}}, 0, nil, "invalid_request", "portal --check-oidc", 502},
		{"a user who must do something", url.Values{"error": {"interaction_required"}}, 0, nil, "interaction_required", "Sign in again", 502},
		{"a code that was used", nil, 400, map[string]any{"error": "invalid_grant", "error_description": "Code not valid"}, `invalid_grant, "Code not valid"`, "Sign in again", 502},
		{"an error with a status that is none", nil, 200, map[string]any{"error": "bad_verification_code"}, "bad_verification_code", "ask the people who run it", 502},
		{"away for a moment", nil, 503, map[string]any{"error": "temporarily_unavailable"}, "temporarily_unavailable", "in a minute", 502},
		{"a failure without words", nil, 500, nil, "500 Internal Server Error", "in a minute", 502},
		{"too many requests", nil, 429, nil, "429 Too Many Requests", "in a minute", 502},
		{"no tokens at all", nil, 200, map[string]any{}, "missing access_token", "in a minute", 502},
		{"no ID token", nil, 200, map[string]any{"access_token": "t0ken", "token_type": "Bearer"}, "without an ID token", "ask the people who run it", 502},
	} {
		t.Run(c.reason, func(t *testing.T) {
			s, cookies := newSite(t), jar{}
			log := s.logged()
			start := s.do("GET", LoginPath, cookies)
			code, state := s.issuer.Code(start.Header.Get("Location"), alice)
			query := url.Values{"code": {code}}
			if c.browser != nil {
				query = c.browser
			} else {
				s.answers(c.status, c.answer)
			}
			query.Set("state", state)
			r := s.do("GET", CallbackPath+"?"+query.Encode(), cookies)
			for _, want := range []string{
				"The identity provider did not sign you in: It answered ", c.says,
				c.advises,
			} {
				if r.StatusCode != c.code || !strings.Contains(r.body, want) {
					t.Errorf("%d %q, want %d and %q", r.StatusCode, r.body, c.code, want)
				}
			}
			if said := strings.ReplaceAll(log.String(), `\`, ""); !strings.Contains(said, c.says) ||
				strings.Contains(said, code) || strings.Contains(said, "t0ken") {
				t.Errorf("the log says %s", said)
			}
			if asked := s.issuer.Asked(); len(asked) > 1 {
				t.Errorf("the code went there %d times: %v", len(asked), asked)
			}
		})
	}
}

func TestTheProvidersWordsAreCleanShortAndWithoutSecrets(t *testing.T) {
	s, cookies := newSite(t), jar{}
	s.Browser.provider.cfg.ClientSecret = "s3cret"
	log := s.logged()
	start := s.do("GET", LoginPath, cookies)
	code, state := s.issuer.Code(start.Header.Get("Location"), alice)
	s.answers(http.StatusBadRequest, map[string]any{
		"error": "bad\x1b[31m\u202e\nlevel=ERROR", "error_description": "secret s3cret of code " +
			code + strings.Repeat(" and more", 1000),
	})
	r := s.do("GET", CallbackPath+"?"+url.Values{"code": {code}, "state": {state}}.Encode(), cookies)
	for _, said := range []string{r.body, log.String()} {
		if strings.ContainsAny(said, "\x1b\u202e") || len(said) > 4*maxAnswer {
			t.Errorf("%q of %d bytes, want no control characters, and at most %d bytes", said, len(said), 4*maxAnswer)
		}
		if strings.Contains(said, "s3cret") || strings.Contains(said, code) {
			t.Errorf("%q has the secret or the code", said)
		}
		if !strings.Contains(said, "secret [hidden] of code [hidden] and more") {
			t.Errorf("%q does not say what it answered", said)
		}
	}
}

func TestAProviderThatIsNotThereDoesNotAnswer(t *testing.T) {
	for what, address := range map[string]string{"settings": "", "token endpoint": "http://127.0.0.1:1/token"} {
		again := LoginPath
		s, cookies := newSite(t), jar{}
		if address == "" {
			s.Browser.provider.cfg.IssuerURL = "http://127.0.0.1:1"
		} else {
			s.issuer.Settings = map[string]any{"token_endpoint": address}
		}
		r := s.do("GET", LoginPath, cookies)
		if address != "" {
			_, state := s.issuer.Code(r.Header.Get("Location"), alice)
			r = s.do("GET", CallbackPath+"?"+url.Values{"code": {"x"}, "state": {state}}.Encode(), cookies)
			again = LoginPath + "?return_to=%2F"
		}
		if !r.isAway(again) {
			t.Errorf("%s: %d %q", what, r.StatusCode, r.body)
		}
	}
}

// TestSettingsThatAreNoneAreToldApart from an outage: a server answers, but not with the provider's metadata.
func TestSettingsThatAreNoneAreToldApart(t *testing.T) {
	for says, change := range map[string]func(s *site){
		"did not match the issuer URL returned": func(s *site) {
			s.issuer.Settings = map[string]any{"issuer": "https://other.example"}
		},
		"500 Internal Server Error": func(s *site) { s.issuer.Failing = func() bool { return true } },
		"404 Not Found":             func(s *site) { s.Browser.provider.cfg.IssuerURL += "/realms/none" },
		"no token_endpoint":         func(s *site) { s.issuer.Settings = map[string]any{"token_endpoint": nil} },
		"client_secret_basic and client_secret_post": func(s *site) {
			s.Browser.provider.cfg.ClientSecret = "s3cret"
			s.issuer.Settings = map[string]any{"token_endpoint_auth_methods_supported": []string{"private_key_jwt"}}
		},
	} {
		s, cookies := newSite(t), jar{}
		change(s)
		if r := s.do("GET", LoginPath, cookies); r.StatusCode != http.StatusBadGateway ||
			!strings.Contains(r.body, says) || strings.Contains(r.body, "does not answer") {
			t.Errorf("%d %q, want %q", r.StatusCode, r.body, says)
		}
	}
}

// TestARenewalThatIsRefusedSaysWhyInTheLog, and a temporary failure ends nothing.
func TestARenewalThatIsRefusedSaysWhyInTheLog(t *testing.T) {
	s, cookies := signedIn(t)
	log := s.logged()
	s.answers(http.StatusBadRequest,
		map[string]any{"error": "invalid_grant", "error_description": "Session not active"})
	s.later(checkEvery)
	to := s.sent(t, s.do("GET", "/x", cookies))
	if !strings.Contains(log.String(), "Session not active") {
		t.Errorf("the log says %s", log)
	}
	s.answers(http.StatusServiceUnavailable, nil)
	if r := s.back(t, cookies, to, alice); r.StatusCode != http.StatusBadGateway || cookies[sessionCookie] == "" ||
		!strings.Contains(r.body, "503 Service Unavailable") {
		t.Errorf("%d %q, cookies %v", r.StatusCode, r.body, cookies)
	}
	s.answers(http.StatusUnauthorized, map[string]any{"error": "invalid_client"})
	r := s.back(t, cookies, s.sent(t, s.do("GET", "/x", cookies)), alice)
	if to := r.Header.Get("Location"); !strings.Contains(to, "why=lapsed") ||
		!strings.Contains(log.String(), "invalid_client") {
		t.Errorf("%d to %q; the log says %s", r.StatusCode, to, log)
	}
}

func TestARefreshThatIsRefusedForNowIsTriedAgain(t *testing.T) {
	for name, answer := range map[string]struct {
		status int
		body   map[string]any
	}{
		"a failure": {500, nil}, "too many requests": {429, map[string]any{"error": "slow_down"}}, "away": {400, map[string]any{"error": "temporarily_unavailable"}},
		"nothing that can be read": {200, map[string]any{}},
	} {
		s, cookies := signedIn(t)
		s.answers(answer.status, answer.body)
		s.later(checkEvery)
		s.see(t, cookies, "oidc:alice oidc:dev")
		s.answers(0, nil)
		s.refreshedTo(oidctest.Claims{"groups": []string{"ops"}}, http.StatusOK)
		s.later(retryAfter + time.Second)
		if r := s.do("GET", "/x", cookies); r.body != "oidc:alice oidc:ops" {
			t.Errorf("%s: %d %q", name, r.StatusCode, r.body)
		}
	}
}

// TestWhatNoOtherTryCanMendIsNotTriedAgain: wrong settings must be changed by an admin.
func TestWhatNoOtherTryCanMendIsNotTriedAgain(t *testing.T) {
	for what, c := range map[string]struct {
		settings map[string]any
		says     string
	}{
		"private_key_jwt only": {
			map[string]any{"token_endpoint_auth_methods_supported": []string{"private_key_jwt"}},
			"let its client there show its secret",
		},
		"another issuer": {map[string]any{"issuer": "https://other.example"}, "--oidc-issuer-url"},
		"plain http":     {map[string]any{"userinfo_endpoint": "http://login.example/me"}, "Ask the people who run it to correct that"},
	} {
		t.Run(what, func(t *testing.T) {
			s := newSite(t)
			s.issuer.Settings, s.Browser.provider.cfg.ClientSecret = c.settings, "s3cret"
			r := s.do("GET", LoginPath, nil)
			if r.StatusCode != http.StatusBadGateway || !strings.Contains(r.body, c.says) ||
				strings.Contains(r.body, "in a minute") {
				t.Errorf("%d %s", r.StatusCode, r.body)
			}
		})
	}
}

// TestAnAddressAsAUsernameMustBeVerified, and the page says who does not verify it.
func TestAnAddressAsAUsernameMustBeVerified(t *testing.T) {
	for _, c := range []struct {
		said any
		says string // "": accepted
	}{
		{true, ""}, {"true", ""}, {nil, "does not say whether"}, {false, "Verify it"}, {"false", "Verify it"}, {7, "Verify it"},
	} {
		s := newSite(t)
		s.Browser.provider.cfg.UsernameClaim = "email"
		claims := oidctest.Claims{"email": "ann@example.com", "email_verified": c.said}
		r := s.signIn(t, jar{}, claims)
		if (r.StatusCode == http.StatusSeeOther) != (c.says == "") || !strings.Contains(r.body, c.says) {
			t.Errorf("%v: %d %s", c.said, r.StatusCode, r.body)
		}
	}
}
