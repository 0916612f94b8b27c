package auth

import (
	"encoding/binary"
	"fmt"
	mathrand "math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/portico-platform/portico/portal/auth/oidctest"
)

// groupIDs returns IDs like Entra ID's, the same each time.
func groupIDs(n int) []string {
	random := mathrand.New(mathrand.NewPCG(1, 2))
	ids := make([]string, n)
	for i := range ids {
		var b [16]byte
		binary.BigEndian.PutUint64(b[:8], random.Uint64())
		binary.BigEndian.PutUint64(b[8:], random.Uint64())
		ids[i] = fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
	}
	return ids
}

// groupCookies counts the cookies of groups.
func groupCookies(cookies jar) (n int) {
	for name := range cookies {
		if strings.HasPrefix(name, groupsCookie) {
			n++
		}
	}
	return n
}

func inGroups(groups []string) string { return "oidc:alice oidc:" + strings.Join(groups, ",oidc:") }

// withGroups signs in a user in 200 groups, the maximum in a token of Entra ID, with a refresh token as long as
// Entra's.
func withGroups(t *testing.T) (*site, jar, []string) {
	t.Helper()
	s, cookies, groups := newSite(t), jar{}, groupIDs(200)
	s.issuer.RefreshToken = strings.Repeat("r", 1800)
	if r := s.signIn(t, cookies, oidctest.Claims{
		"preferred_username": "alice", "groups": groups,
	}); r.StatusCode != http.StatusSeeOther {
		t.Fatalf("%d %q", r.StatusCode, r.body)
	}
	return s, cookies, groups
}

func TestASessionHoldsTheGroupsOfALargeTenant(t *testing.T) {
	s, cookies, groups := withGroups(t)
	s.see(t, cookies, inGroups(groups))
	for name, value := range cookies {
		if len(value) > maxCookie {
			t.Errorf("%s has %d bytes", name, len(value))
		}
	}
	if n := groupCookies(cookies); n != 2 {
		t.Errorf("%d cookies of groups", n)
	}
	// Only the session's own cookie records use.
	s.later(2 * touchEvery)
	r := s.do("GET", "/x", cookies)
	if set := r.Cookies(); len(set) != 1 || set[0].Name != sessionCookie || r.body != inGroups(groups) {
		t.Errorf("use sets %d cookies", len(set))
	}
	// A user who has left most groups needs no cookies for them.
	s.refreshedTo(oidctest.Claims{"preferred_username": "alice", "groups": groups[:2]}, http.StatusOK)
	s.later(checkEvery)
	s.see(t, cookies, inGroups(groups[:2]))
	if n := groupCookies(cookies); n != 0 {
		t.Errorf("%d cookies of groups are left", n)
	}
	s.see(t, cookies, inGroups(groups[:2]))
}

func TestSigningOutClearsTheGroups(t *testing.T) {
	s, cookies, _ := withGroups(t)
	if s.do("POST", LogoutPath, cookies, "Origin", portalURL); len(cookies) != 0 {
		t.Errorf("%d cookies are left", len(cookies))
	}
	_, cookies, _ = withGroups(t)
	// another user, in the same browser
	if r := s.signIn(t, cookies, alice); r.StatusCode != http.StatusSeeOther || len(cookies) != 1 {
		t.Errorf("%d, %d cookies", r.StatusCode, len(cookies))
	}
	s.see(t, cookies, "oidc:alice oidc:dev")
}

// TestGroupsThatAreNotOfTheSessionAreAskedFor without asking the user, who stays signed in.
func TestGroupsThatAreNotOfTheSessionAreAskedFor(t *testing.T) {
	first := groupsCookie + "1"
	for name, spoil := range map[string]func(s *site, cookies jar){
		"one is gone":       func(_ *site, cookies jar) { delete(cookies, first) },
		"one is another's":  func(_ *site, cookies jar) { cookies[first] = strings.Repeat("A", maxCookie) },
		"all are another's": func(_ *site, cookies jar) { _, other, _ := withGroups(t); copyGroups(cookies, other) },
		"they are of an earlier answer": func(s *site, cookies jar) {
			before := jar{}
			copyGroups(before, cookies)
			s.refreshedTo(oidctest.Claims{"preferred_username": "alice", "groups": groupIDs(199)}, http.StatusOK)
			s.later(checkEvery)
			s.see(t, cookies, inGroups(groupIDs(199)))
			copyGroups(cookies, before)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, cookies, groups := withGroups(t)
			spoil(s, cookies)
			s.later(renewPause)
			to := s.sent(t, s.do("GET", "/x", cookies))
			claims := oidctest.Claims{"preferred_username": "alice", "groups": groups}
			if r := s.back(t, cookies, to, claims); r.StatusCode != http.StatusSeeOther ||
				r.Header.Get("Location") != "/x" {
				t.Fatalf("%d to %q: %s", r.StatusCode, r.Header.Get("Location"), r.body)
			}
			s.see(t, cookies, inGroups(groups))
		})
	}
}

func copyGroups(to, from jar) {
	for name, value := range from {
		if strings.HasPrefix(name, groupsCookie) {
			to[name] = value
		}
	}
}

// TestABrowserThatKeepsNoGroupsIsTold instead of being redirected for ever.
func TestABrowserThatKeepsNoGroupsIsTold(t *testing.T) {
	s, cookies, groups := withGroups(t)
	forget := func() {
		delete(cookies, groupsCookie+"1")
		delete(cookies, groupsCookie+"2")
	}
	forget()
	s.later(renewPause)
	claims := oidctest.Claims{"preferred_username": "alice", "groups": groups}
	s.back(t, cookies, s.sent(t, s.do("GET", "/x", cookies)), claims)
	forget()
	if r := s.do("GET", "/x", cookies); r.StatusCode != http.StatusBadRequest ||
		!strings.Contains(r.body, "keep all cookies") {
		t.Errorf("%d to %q: %s", r.StatusCode, r.Header.Get("Location"), r.body)
	}
	if s.do("POST", LogoutPath, cookies, "Origin", portalURL); len(cookies) != 0 {
		t.Errorf("after signing out %d cookies are left", len(cookies))
	}
}
