package auth

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	sessionCookie = "__Host-portico"
	// groupsCookie is the prefix of the cookies that hold the groups when the session's own cookie is too small. A
	// number from 1 follows.
	groupsCookie = "__Host-portico-groups-"
	// maxCookie leaves space for name and attributes below the 4,096 bytes that browsers accept.
	maxCookie = 3500
	// maxWithToken bounds a session that keeps its ID token: a smaller one is less likely to exceed the header limits
	// of proxies.
	maxWithToken = 2600
	// maxGroupCookies bounds the cookies of each request to some 14 KB. The 200 groups that Entra ID puts in a token,
	// as IDs, need two.
	maxGroupCookies = maxParts
	// maxParts bounds the cookies into which one value is split.
	maxParts = 3
	// maxSaid bounds names and IDs of a session, which could be small when packed.
	maxSaid = 2500
	// maxGroupsText bounds the unpacked groups, which can be small when packed: each request to Kubernetes carries them
	// unpacked.
	maxGroupsText = 64 << 10
)

// apart says that a session's groups are in separate cookies.
type apart struct {
	// Cookies is their number.
	Cookies int `json:"n"`
	// Sum is the hash of their content: two concurrent responses must not combine the session of one with the groups of
	// the other.
	Sum string `json:"h"`
}

// errGroupsGone makes the portal request the groups from the identity provider again, without asking the user.
var errGroupsGone = &endedError{Lapsed, "the cookies of its groups are not there, or of another answer"}

// readSession opens the request's cookies. It returns errNoSession if there is none that the portal sealed. With any
// other error it returns the session that has ended.
func (b *Browser) readSession(r *http.Request) (session, error) {
	cookies := r.CookiesNamed(sessionCookie)
	if len(cookies) != 1 {
		return session{}, errNoSession
	}
	plain, err := b.keys.open(sessionCookie, cookies[0].Value)
	if err != nil {
		return session{}, errNoSession
	}
	s, err := unpackSession(plain)
	if err != nil {
		return session{}, errNoSession
	}
	if err := b.alive(s, b.now()); err != nil || s.Apart == nil {
		return s, err
	}
	if s.Groups, err = b.readGroups(r, s); err != nil {
		s.Apart = nil // so that they are written again
		return s, errGroupsGone
	}
	return s, nil
}

// writeSession sets the session's cookies. It returns an error for a session that browsers would silently drop. Groups
// that do not fit get separate cookies; a refresh token that does not fit is left out: the session is then renewed
// silently when its ID token expires.
func (b *Browser) writeSession(w http.ResponseWriter, r *http.Request, s session) error {
	known, refresh := s.Apart, s.Refresh
	s, packed, err := fit(s)
	if err != nil {
		return err
	}
	if s.Refresh != refresh {
		b.log.WarnContext(r.Context(), "no room for the refresh token: groups are asked for again when the ID "+
			"token ends", "bytes", len(refresh), "requestID", RequestID(r.Context()))
	}
	plain, err := packSession(s)
	if err != nil {
		return err
	}
	life := b.life.end(s).Sub(b.now())
	setCookie(w, sessionCookie, b.keys.seal(sessionCookie, plain), life)
	if known == nil || s.Apart == nil || *known != *s.Apart {
		var sealed string
		if s.Apart != nil {
			sealed = b.keys.seal(s.groupsPurpose(), packed)
		}
		writeGroups(w, r, sealed, life)
	}
	return nil
}

// fit returns the session for its own cookie, and its packed groups if they are not in it.
func fit(s session) (_ session, packed []byte, err error) {
	s.Apart = nil
	if len(s.Refresh) >= maxCookie {
		s.Refresh = ""
	}
	if len(s.IDToken) >= maxCookie || sealedSize(s) > maxWithToken {
		s.IDToken = ""
	}
	if sealedSize(s) > maxCookie && len(s.Groups) > 0 {
		if packed, err = packGroups(s.Groups); err != nil {
			return s, nil, err
		}
		s.Apart = &apart{Cookies: (sealedLen(packed) + maxCookie - 1) / maxCookie, Sum: groupsSum(packed)}
	}
	if textOf(s.Groups) > maxGroupsText || s.Apart != nil && s.Apart.Cookies > maxGroupCookies {
		return s, nil, refused("Your account is in too many groups (%d) for a session. "+
			"Ask the people who run the identity provider to send only the groups that matter here.", len(s.Groups))
	}
	if s.Apart != nil {
		s.Groups = nil
	}
	if sealedSize(s) > maxCookie {
		s.Refresh = ""
	}
	said := len(s.Username) + len(s.Name) + len(s.Email) + len(s.Subject) + len(s.SID) + len(s.Hint)
	if sealedSize(s) > maxCookie || said > maxSaid {
		return s, nil, refused("What the identity provider says of your account is too long for a session, even " +
			"without groups. Ask the people who run it for a shorter name and e-mail address.")
	}
	return s, packed, nil
}

func refused(format string, args ...any) *RefusedError {
	return &RefusedError{Reason: fmt.Sprintf(format, args...)}
}

// writeGroups sets the cookies of the sealed groups.
func writeGroups(w http.ResponseWriter, r *http.Request, sealed string, life time.Duration) {
	writeParts(w, r, groupsCookie, sealed, life)
}

// writeParts sets the cookies of a sealed value, whose names begin with prefix, and clears those of the request that
// are no longer needed.
func writeParts(w http.ResponseWriter, r *http.Request, prefix, sealed string, life time.Duration) {
	for i := 1; i <= maxParts; i++ {
		name := prefix + strconv.Itoa(i)
		part := sealed[:min(len(sealed), maxCookie)]
		sealed = sealed[len(part):]
		switch {
		case part != "":
			setCookie(w, name, part, life)
		case len(r.CookiesNamed(name)) > 0:
			clearCookie(w, name)
		}
	}
}

func (b *Browser) readGroups(r *http.Request, s session) ([]string, error) {
	sealed, err := readParts(r, groupsCookie, s.Apart.Cookies)
	if err != nil {
		return nil, err
	}
	packed, err := b.keys.open(s.groupsPurpose(), sealed)
	if err != nil || groupsSum(packed) != s.Apart.Sum {
		return nil, errSeal
	}
	return unpackGroups(packed)
}

// readParts returns the value that writeParts split into n cookies.
func readParts(r *http.Request, prefix string, n int) (string, error) {
	var sealed strings.Builder
	for i := range n {
		parts := r.CookiesNamed(prefix + strconv.Itoa(i+1))
		if len(parts) != 1 {
			return "", errSeal
		}
		sealed.WriteString(parts[0].Value)
	}
	return sealed.String(), nil
}

// groupsPurpose returns the sealing purpose of one session: the groups of another session do not open.
func (s session) groupsPurpose() string { return groupsCookie + s.ID }

func groupsSum(packed []byte) string {
	sum := sha256.Sum256(packed)
	return hex.EncodeToString(sum[:8])
}

// clearSession removes the session's cookies from the browser.
func clearSession(w http.ResponseWriter, r *http.Request) {
	clearCookie(w, sessionCookie)
	writeGroups(w, r, "", 0)
	writeParts(w, r, confirmedCookie, "", 0)
}

// sealedSize returns the size of a session in its cookie.
func sealedSize(s session) int {
	plain, err := packSession(s)
	if err != nil {
		return 0 // writing it returns the error
	}
	return sealedLen(plain)
}

func sealedLen(plain []byte) int { return base64.RawURLEncoding.EncodedLen(len(plain) + sealOverhead) }

func setCookie(w http.ResponseWriter, name, value string, life time.Duration) {
	http.SetCookie(w, &http.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: max(int(life.Seconds()), 1), Secure: true,
		HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
}

func clearCookie(w http.ResponseWriter, name string) {
	http.SetCookie(w, &http.Cookie{
		Name: name, Path: "/", MaxAge: -1, Secure: true, HttpOnly: true,
		SameSite: http.SameSiteLaxMode,
	})
}
