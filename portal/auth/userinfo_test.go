package auth

import (
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/portico-platform/portico/portal/auth/oidctest"
)

// elsewhere sets the userinfo endpoint's response.
func (s *site) elsewhere(claims oidctest.Claims, status int) {
	s.issuer.UserInfo = func() (oidctest.Claims, int) { return claims, status }
}

func (s *site) askedElsewhere() int { return s.issuer.Fetches(oidctest.UserInfoPath) }

func TestWhatTheIDTokenLacksIsReadElsewhere(t *testing.T) {
	whole := oidctest.Claims{
		"preferred_username": "mallory", "groups": []string{"ops"}, "name": "Ann Lee",
		"email": "ann@example.com",
	}
	for what, c := range map[string]struct {
		says  oidctest.Claims
		asked int
		sees  string
		name  string
	}{
		"everything is there": {
			oidctest.Claims{
				"preferred_username": "alice", "groups": []string{"dev"}, "name": "Alice",
				"email": "a@example.com",
			},
			0, "oidc:alice oidc:dev", "Alice",
		},
		"no groups":      {oidctest.Claims{"preferred_username": "alice", "name": "Alice"}, 1, "oidc:alice oidc:ops", "Alice"},
		"no username":    {oidctest.Claims{"groups": []string{"dev"}}, 1, "oidc:mallory oidc:dev", "Ann Lee"},
		"no name":        {oidctest.Claims{"preferred_username": "alice", "groups": []string{"dev"}}, 1, "oidc:alice oidc:dev", "Ann Lee"},
		"empty groups":   {oidctest.Claims{"preferred_username": "alice", "groups": []string{}, "name": "A", "email": "a@b.c"}, 0, "oidc:alice ", "A"},
		"nothing at all": {nil, 1, "oidc:mallory oidc:ops", "Ann Lee"},
		"groups elsewhere": {
			oidctest.Claims{"preferred_username": "alice", "hasgroups": true, "name": "A", "email": "a@b.c"}, 0, "", "",
		},
	} {
		t.Run(what, func(t *testing.T) {
			s, cookies := newSite(t), jar{}
			s.elsewhere(whole, http.StatusOK)
			r := s.signIn(t, cookies, c.says)
			if s.askedElsewhere() != c.asked {
				t.Errorf("asked %d times", s.askedElsewhere())
			}
			if c.sees == "" {
				if r.StatusCode != http.StatusForbidden {
					t.Errorf("%d %s", r.StatusCode, r.body)
				}
				return
			}
			s.see(t, cookies, c.sees)
			if got, err := s.readSession(request("GET", "/x", cookies)); err != nil || got.Name != c.name {
				t.Errorf("shown as %q, %v", got.Name, err)
			}
		})
	}
}

func TestARenewalReadsElsewhereWhatDecides(t *testing.T) {
	s, cookies := newSite(t), jar{}
	s.elsewhere(oidctest.Claims{"groups": []string{"dev"}, "name": "Ann Lee"}, http.StatusOK)
	bare := oidctest.Claims{"preferred_username": "alice"}
	s.signIn(t, cookies, bare)
	s.see(t, cookies, "oidc:alice oidc:dev")
	s.refreshedTo(nil, http.StatusOK)
	s.elsewhere(oidctest.Claims{"groups": []string{"ops"}}, http.StatusOK)
	s.later(checkEvery)
	s.see(t, cookies, "oidc:alice oidc:ops")
	if got, err := s.readSession(request("GET", "/x", cookies)); err != nil || got.Name != "Ann Lee" {
		t.Errorf("shown as %q, %v", got.Name, err)
	}
	// During an outage the groups are kept as long as the other claims; then the response asks to wait.
	s.elsewhere(nil, http.StatusServiceUnavailable)
	s.later(checkEvery)
	s.see(t, cookies, "oidc:alice oidc:ops")
	s.later(checkGrace)
	if r := s.do("GET", "/x", cookies); r.StatusCode != http.StatusBadGateway || cookies[sessionCookie] == "" {
		t.Errorf("%d %s, cookies %v", r.StatusCode, r.body, cookies)
	}
	s.elsewhere(oidctest.Claims{"groups": []string{"dev"}}, http.StatusOK)
	s.later(retryAfter + time.Second)
	s.see(t, cookies, "oidc:alice oidc:dev")
	// A refusal is retried once at the provider, and shown then.
	s.elsewhere(nil, http.StatusForbidden)
	s.later(checkEvery)
	if r := s.back(t, cookies, s.sent(t, s.do("GET", "/x", cookies)), bare); r.StatusCode == http.StatusOK {
		t.Errorf("%d %s", r.StatusCode, r.body)
	}
}

// TestAnErrorElsewhereIsNoAbsenceOfGroups, even if groups are optional.
func TestAnErrorElsewhereIsNoAbsenceOfGroups(t *testing.T) {
	for what, c := range map[string]struct {
		claims oidctest.Claims
		status int
		code   int
		says   string
	}{
		"another user":     {oidctest.Claims{"sub": "bob", "groups": []string{"admins"}}, http.StatusOK, http.StatusBadGateway, "about somebody else"},
		"no user":          {oidctest.Claims{"sub": nil}, http.StatusOK, http.StatusBadGateway, "about somebody else"},
		"a refusal":        {nil, http.StatusForbidden, http.StatusBadGateway, "403 Forbidden"},
		"an outage":        {nil, http.StatusServiceUnavailable, http.StatusBadGateway, "503 Service Unavailable"},
		"too much":         {oidctest.Claims{"x": strings.Repeat("x", maxUserInfo)}, http.StatusOK, http.StatusBadGateway, "256 KiB"},
		"groups of a form": {oidctest.Claims{"groups": 7}, http.StatusOK, http.StatusForbidden, "not a list of groups"},
	} {
		t.Run(what, func(t *testing.T) {
			s, cookies := newSite(t), jar{}
			s.elsewhere(c.claims, c.status)
			r := s.signIn(t, cookies, oidctest.Claims{"preferred_username": "alice"})
			if r.StatusCode != c.code || !strings.Contains(r.body, c.says) || cookies[sessionCookie] != "" {
				t.Errorf("%d %s, cookies %v", r.StatusCode, r.body, cookies)
			}
			cookies = jar{} // names decide nothing
			named := maps.Clone(c.claims)
			delete(named, "groups")
			s.elsewhere(named, c.status)
			if r := s.signIn(t, cookies,
				oidctest.Claims{"preferred_username": "alice", "groups": []string{
					"dev",
				}}); r.StatusCode != http.StatusSeeOther {
				t.Errorf("with groups: %d %s", r.StatusCode, r.body)
			}
		})
	}
}

// TestAVerifiedAddressIsTheOneBesideIt: email_verified says nothing about another address.
func TestAVerifiedAddressIsTheOneBesideIt(t *testing.T) {
	for address, in := range map[string]bool{"ann@example.com": true, "other@example.com": false} {
		s := newSite(t)
		s.Browser.provider.cfg.UsernameClaim = "email"
		s.elsewhere(oidctest.Claims{"email": address, "email_verified": true}, http.StatusOK)
		r := s.signIn(t, jar{}, oidctest.Claims{"email": "ann@example.com", "groups": []string{"dev"}})
		if (r.StatusCode == http.StatusSeeOther) != in {
			t.Errorf("%s: %d %s", address, r.StatusCode, r.body)
		}
	}
}
