package auth

import (
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/portico-platform/portico/api/identity"
	"github.com/portico-platform/portico/portal/auth/oidctest"
)

func TestClaimsByNameAndByPath(t *testing.T) {
	var c identity.ClaimSet
	if err := json.Unmarshal([]byte(`{
		"groups": "plain", "cognito:groups": "cognito", "https://example.com/groups": "a URL", "realm_access": {"roles": "realm"},
		"resource_access": {"my.app": {"roles": "of a client with a dot"}, "my": {"app": {"roles": "of another"}}},
		"a.b": {"c": "long"}, "a": {"b.c": "short", "b": {"d": "nested"}}, "text": "a text", "https://example.com/claims": {"team": "below a URL"}
	}`), &c); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"groups": "plain", "cognito:groups": "cognito", "https://example.com/groups": "a URL",
		"realm_access.roles":           "realm",
		"resource_access.my.app.roles": "of a client with a dot", "a.b.c": "long", "a.b.d": "nested",
		"https://example.com/claims.team": "below a URL",
		"realm_access.other":              "", "text.more": "", "none": "", "none.at.all": "", ".": "",
		"realm_access.": "", ".roles": "", "": "",
	} {
		raw, ok := c.At(path)
		var got string
		if ok && json.Unmarshal(raw, &got) != nil {
			t.Errorf("%s: %s is no string", path, raw)
		}
		if ok != (want != "") || got != want {
			t.Errorf("At(%s) = %q, %v, want %q", path, got, ok, want)
		}
	}
}

// TestGroupsThatAreNotToldAreRefused in the browser and by REST, with advice.
func TestGroupsThatAreNotToldAreRefused(t *testing.T) {
	graph := map[string]any{"src1": map[string]any{
		"endpoint": "https://graph.microsoft.com/v1.0/users/x/getMemberObjects",
	}}
	for _, c := range []struct {
		reason, claim string
		optional      bool
		claims        oidctest.Claims
		says          string // "": accepted
	}{
		{"no claim", "groups", false, nil, `there is no claim "groups"`},
		{"no claim, which is fine", "groups", true, nil, ""},
		{"no claim at the end of a path", "realm_access.roles", false, oidctest.Claims{"realm_access": map[string]any{}}, `there is no claim "realm_access.roles"`},
		{"an empty list", "groups", false, oidctest.Claims{"groups": []string{}}, ""},
		{"null", "groups", false, oidctest.Claims{"groups": json.RawMessage("null")}, ""},
		{"a number", "groups", false, oidctest.Claims{"groups": 7}, "not a list of groups"},
		{"a list of objects", "groups", true, oidctest.Claims{"groups": []any{map[string]any{"id": "x"}}}, "not a list of groups"},
		{"too many for Entra", "groups", false, oidctest.Claims{"_claim_names": map[string]any{"groups": "src1"}, "_claim_sources": graph}, "assigned to the application"},
		{"too many for Entra, where none is fine", "groups", true, oidctest.Claims{"_claim_names": map[string]any{"groups": "src1"}, "_claim_sources": graph}, "assigned to the application"},
		{"too many for Entra's implicit flow", "groups", true, oidctest.Claims{"hasgroups": true}, "assigned to the application"},
		{"too many for a URL of Entra", "groups", true, oidctest.Claims{"groups:src1": "https://graph.microsoft.com/x"}, "assigned to the application"},
		{"another claim is elsewhere", "groups", true, oidctest.Claims{"_claim_names": map[string]any{"address": "src1"}, "_claim_sources": graph}, ""},
		{"roles, though there are too many groups", "roles", false, oidctest.Claims{"roles": []string{"dev"}, "hasgroups": true}, ""},
	} {
		t.Run(c.reason, func(t *testing.T) {
			g := newGate(t)
			g.Browser.provider.cfg.GroupsClaim, g.Browser.provider.cfg.GroupsOptional = c.claim, c.optional
			g.bearer.cfg.GroupsClaim, g.bearer.cfg.GroupsOptional = c.claim, c.optional
			claims := oidctest.Claims{"preferred_username": "alice", "aud": []string{"portal", "api"}}
			maps.Copy(claims, c.claims)
			log, cookies := g.logged(), jar{}
			r, w := g.signIn(t, cookies, claims), g.call("Bearer "+g.issuer.Token(claims))
			if c.says == "" {
				if r.StatusCode != http.StatusSeeOther || w.Code != http.StatusOK {
					t.Errorf("%d %q, by REST %d %q", r.StatusCode, r.body, w.Code, w.Body)
				}
				return
			}
			if r.StatusCode != http.StatusForbidden || !strings.Contains(r.body, c.says) || len(cookies) != 0 {
				t.Errorf("%d %q, want %q; cookies %v", r.StatusCode, r.body, c.says, cookies)
			}
			if w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), c.says) {
				t.Errorf("by REST: %d %q, want %q", w.Code, w.Body, c.says)
			}
			if strings.Contains(c.says, "no claim") &&
				!strings.Contains(log.String(), "the token has the claims aud, exp, iat, iss") {
				t.Errorf("the log does not say which there are: %s", log)
			}
		})
	}
}

// TestGroupsThatAreNotToldAnyMoreEndASession, and the page shows why.
func TestGroupsThatAreNotToldAnyMoreEndASession(t *testing.T) {
	s, cookies := signedIn(t)
	s.Browser.provider.cfg.GroupsOptional = false
	log := s.logged()
	s.refreshedTo(nil, http.StatusOK)
	s.later(checkEvery)
	if r := s.do("GET", "/x", cookies); r.StatusCode != http.StatusForbidden ||
		!strings.Contains(r.body, "--oidc-groups-optional") || len(cookies) != 0 {
		t.Errorf("%d %q, cookies %v", r.StatusCode, r.body, cookies)
	}
	if !strings.Contains(log.String(), "session refused") {
		t.Errorf("the log says %s", log)
	}
}

// TestARefreshTokenWithoutRoomIsLeftOut: some are kilobytes, and groups matter more.
func TestARefreshTokenWithoutRoomIsLeftOut(t *testing.T) {
	s, cookies := newSite(t), jar{}
	claims := oidctest.Claims{"preferred_username": "alice", "groups": []string{"dev"}}
	s.issuer.RefreshToken = strings.Repeat("r", maxCookie)
	log := s.logged()
	if r := s.signIn(t, cookies, claims); r.StatusCode != http.StatusSeeOther ||
		len(cookies[sessionCookie]) > maxCookie {
		t.Fatalf("%d %q", r.StatusCode, r.body)
	}
	s.later(checkEvery)
	s.see(t, cookies, "oidc:alice oidc:dev")
	if n := strings.Count(log.String(), "no room for the refresh token"); n != 1 {
		t.Errorf("the log says so %d times: %s", n, log)
	}
	if n := s.issuer.Refreshes(); n != 0 {
		t.Errorf("%d refreshes", n)
	}
}
