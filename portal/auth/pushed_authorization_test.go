package auth

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// TestASignInIsPushedWhereThatIsTaken: the browser's URL has only the request URI. The same for a silent sign-in and
// for one that asks again.
func TestASignInIsPushedWhereThatIsTaken(t *testing.T) {
	for _, c := range []struct{ secret, method, asked string }{
		{"", "", "none"}, {"s3cret&=", secretBasic, secretBasic}, {"s3cret&=", secretPost, secretPost},
	} {
		s, cookies := newSite(t), jar{}
		s.issuer.RequirePush = true
		s.Browser.provider.cfg.ClientSecret, s.Browser.provider.cfg.AuthMethod = c.secret, c.method
		s.signIn(t, cookies, alice)
		s.see(t, cookies, "oidc:alice oidc:dev")
		if asked := s.issuer.Asked(); !slices.Contains(asked, "push "+c.asked) {
			t.Errorf("asked %v", asked)
		}
		s.refreshedTo(nil, http.StatusBadRequest)
		s.later(checkEvery)
		for want, path := range map[string]string{"none": "/x", DefaultConfirmPrompt: ConfirmPath + "?return_to=%2Fx"} {
			mine := maps.Clone(cookies)
			if want == DefaultConfirmPrompt {
				mine = jar{}
				s.signIn(t, mine, alice)
			}
			to, err := url.Parse(s.do("GET", path, mine).Header.Get("Location"))
			if err != nil || len(to.Query()) != 2 || s.issuer.Pushed(to.Query().Get("request_uri")).Get(
				"prompt") != want {
				t.Errorf("%s leads to %s, %v: no pushed prompt %s", path, to, err, want)
			}
		}
	}
}

// TestAPushThatFails ends the sign-in if a push is required; else the parameters are in the browser's URL.
func TestAPushThatFails(t *testing.T) {
	s, cookies := newSite(t), jar{}
	s.issuer.RequirePush = true
	s.answers(http.StatusBadRequest, map[string]any{"error": "invalid_request", "error_description": "redirect_uri " +
		"is not registered"})
	r := s.do("GET", LoginPath, cookies)
	if r.StatusCode != http.StatusBadGateway || !strings.Contains(r.body, "the redirect URI must be the portal's") ||
		len(cookies) != 0 {
		t.Errorf("%d %s, cookies %v", r.StatusCode, r.body, cookies)
	}
	s.issuer.RequirePush, s.issuer.Push = false, true
	other := s.replica(t)
	if to := other.do("GET", LoginPath, cookies).Header.Get("Location"); !strings.Contains(to, "code_challenge=") {
		t.Errorf("it leads to %s", to)
	}
}

// TestInspectPushesASignIn, and so finds parameters that the provider refuses.
func TestInspectPushesASignIn(t *testing.T) {
	for what, c := range map[string]struct {
		require  bool
		status   int
		settings map[string]any
		says     string
		problems int
	}{
		"taken":                  {true, 0, nil, "It took a pushed sign-in", 0},
		"not taken":              {true, 400, nil, `invalid_client, "unknown". Ask the portal's admins to look at its client`, 1},
		"not taken, and no must": {false, 400, nil, "need not", 0},
		"nowhere": {
			true, 0,
			map[string]any{"pushed_authorization_request_endpoint": nil},
			"requires pushed authorization requests, and does not say where", 1,
		},
	} {
		t.Run(what, func(t *testing.T) {
			s := newSite(t)
			s.issuer.Push, s.issuer.RequirePush, s.issuer.Settings = true, c.require, c.settings
			if c.status != 0 {
				s.answers(c.status, map[string]any{"error": "invalid_client", "error_description": "unknown"})
			}
			var out strings.Builder
			problems, err := Inspect(t.Context(), &out, Inspection{Config: s.Browser.provider.cfg, Now: s.clock.Now})
			if err != nil || problems != c.problems || !strings.Contains(out.String(), c.says) {
				t.Errorf("%d problems, %v, and not %q in %s", problems, err, c.says, out.String())
			}
		})
	}
}
