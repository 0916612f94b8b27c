package auth

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	mathrand "math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/portico-platform/portico/portal/auth/oidctest"
)

// proxyBuffer is nginx's default limit of a response's headers.
const proxyBuffer = 4 << 10

// signInSize returns the size of the headers of a sign-in's response, as the portal's server sends them.
func signInSize(t *testing.T, groups []string, refresh int) int {
	t.Helper()
	s, cookies := newSite(t), jar{}
	s.issuer.RefreshToken = randomText(refresh)
	s.Browser.provider.cfg.PublicURL = "https://portal.example.com"
	start := s.do("GET", LoginPath+"?return_to=%2Fteams%2Fpayments", cookies)
	code, state := s.issuer.Code(start.Header.Get("Location"), oidctest.Claims{
		"preferred_username": "alice.archer@example.com", "email": "alice.archer@example.com", "name": "Alice Archer",
		"sid": "0f3c2a54-5a0e-4bd5-8c0b-6a0f2d1c7e11", "groups": groups,
	})
	return s.headerSize(t, cookies, code, state)
}

// freshSignInSize returns the size of those of a fresh sign-in's response.
func freshSignInSize(t *testing.T, groups []string) int {
	t.Helper()
	s, cookies := newSite(t), jar{}
	claims := s.confirmedAs(oidctest.Claims{
		"preferred_username": "alice.archer@example.com", "email": "alice.archer@example.com", "name": "Alice Archer",
		"sid": "0f3c2a54-5a0e-4bd5-8c0b-6a0f2d1c7e11", "groups": groups,
	})
	s.signIn(t, cookies, claims)
	s.Browser.provider.cfg.PublicURL = "https://portal.example.com"
	code, state := s.issuer.Code(s.asked(t, cookies, "/teams/payments"), claims)
	return s.headerSize(t, cookies, code, state)
}

// headerSize returns the size of the headers of the response to the provider's redirect.
func (s *site) headerSize(t *testing.T, cookies jar, code, state string) int {
	t.Helper()
	w := httptest.NewRecorder()
	Record(s.log, s.now, nil)(SecurityHeaders(s.Browser.provider.StrictTransport(s.handler))).
		ServeHTTP(w, request("GET", CallbackPath+"?"+url.Values{"code": {code}, "state": {state}}.Encode(), cookies))
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/teams/payments" {
		t.Fatalf("%d to %q: %s", w.Code, w.Header().Get("Location"), w.Body)
	}
	h := w.Header()
	h.Set("Date", "Mon, 02 Jan 2006 15:04:05 GMT") // added by the server
	h.Set("Content-Length", "44")
	var all bytes.Buffer
	all.WriteString("HTTP/1.1 303 See Other\r\n")
	if err := h.Write(&all); err != nil {
		t.Fatal(err)
	}
	all.WriteString("\r\n")
	return all.Len()
}

// randomText returns text that does not compress beyond its alphabet, like tokens, the same each time.
func randomText(n int) string {
	b := make([]byte, n)
	random := mathrand.NewChaCha8([32]byte{1})
	_, _ = random.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)[:n]
}

// TestTheHeadersOfASignInPassProxies with default buffers, and those of a fresh sign-in, for as many groups as the
// admin guide says.
func TestTheHeadersOfASignInPassProxies(t *testing.T) {
	for _, c := range []struct{ groups, refresh, most int }{
		{0, 0, 1400},
		{46, 0, proxyBuffer},
		{55, 0, proxyBuffer},
		{61, 0, proxyBuffer},
		{130, 0, proxyBuffer},
		{0, 1000, proxyBuffer},
		{85, 1000, proxyBuffer}, // as long as Keycloak's
		{200, 0, 8 << 10},
		{480, 1800, 16 << 10}, // as long as Entra ID's
	} {
		n := signInSize(t, groupIDs(c.groups), c.refresh)
		t.Logf("%3d groups and %4d bytes of refresh token: %5d bytes", c.groups, c.refresh, n)
		if n > c.most {
			t.Errorf("%d groups and %d bytes of refresh token: %d bytes, more than %d", c.groups, c.refresh, n, c.most)
		}
	}
	for groups, most := range map[int]int{0: proxyBuffer, 50: proxyBuffer, 200: 16 << 10} {
		n := freshSignInSize(t, groupIDs(groups))
		t.Logf("a fresh sign-in with %3d groups: %5d bytes", groups, n)
		if n > most {
			t.Errorf("a fresh sign-in with %d groups: %d bytes, more than %d", groups, n, most)
		}
	}
}

// TestGroupsArePackedAndUnpacked for any names, and those of earlier versions can be read.
func TestGroupsArePackedAndUnpacked(t *testing.T) {
	ids := groupIDs(3)
	for name, groups := range map[string][]string{
		"IDs":                    {"oidc:" + ids[0], "oidc:" + ids[1]},
		"IDs without prefix":     ids,
		"IDs and names":          {"oidc:" + ids[0], "oidc:dev", "oidc:ops"},
		"IDs of two prefixes":    {"a:" + ids[0], "b:" + ids[1], "b:" + ids[2]},
		"names":                  {"oidc:dev", "oidc:ops", ""},
		"in capitals":            {strings.ToUpper(ids[0])},
		"without hyphens":        {strings.ReplaceAll(ids[0], "-", "")},
		"with hyphens elsewhere": {"------------" + ids[0][12:], strings.Repeat("-", 36), strings.Repeat("0", 36)},
		"letters of others":      {"Entwicklung-äöü", "開発"},
	} {
		want := session{ID: "i", Username: "u", Groups: groups, Name: strings.Repeat("n", packFrom)}
		plain, err := packSession(want)
		if err != nil || plain[0] != packedForm {
			t.Fatalf("%s: %v %q", name, err, plain)
		}
		if got, err := unpackSession(plain); err != nil || !slices.Equal(got.Groups, groups) || got.Name != want.Name {
			t.Errorf("%s: %v, %q", name, err, got.Groups)
		}
		packed, err := packGroups(groups)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := unpackGroups(packed); err != nil || !slices.Equal(got, groups) {
			t.Errorf("%s: apart: %v, %q", name, err, got)
		}
		before, err := json.Marshal(groups)
		if err != nil {
			t.Fatal(err)
		}
		if packed, err = pack(before); err != nil {
			t.Fatal(err)
		}
		if got, err := unpackGroups(packed); err != nil || !slices.Equal(got, groups) {
			t.Errorf("%s: of before: %v, %q", name, err, got)
		}
		if before, err = json.Marshal(want); err != nil {
			t.Fatal(err)
		}
		if got, err := unpackSession(before); err != nil || !slices.Equal(got.Groups, groups) {
			t.Errorf("%s: a session of before: %v, %q", name, err, got.Groups)
		}
	}
}

// TestShortSessionsAreAsTheyWere: replicas of the previous version can read them during an update.
func TestShortSessionsAreAsTheyWere(t *testing.T) {
	s, cookies := signedIn(t)
	plain, err := s.Browser.keys.open(sessionCookie, cookies[sessionCookie])
	if err != nil {
		t.Fatal(err)
	}
	var got session
	err = json.Unmarshal(plain, &got)
	if err != nil || got.Username != "oidc:alice" || !slices.Equal(got.Groups, []string{"oidc:dev"}) {
		t.Errorf("%v: %s", err, plain)
	}
}

func TestWhatIsNoSessionIsRefused(t *testing.T) {
	for _, plain := range []string{"", "{", "\x01", "\x01nonsense", "[]", `{"k":{"i":"AAAA"}}`} {
		if s, err := unpackSession([]byte(plain)); err == nil {
			t.Errorf("%q is %v", plain, s)
		}
	}
}
