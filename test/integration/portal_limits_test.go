//go:build integration

package integration

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"path"
	"strings"
	"testing"

	"github.com/portico-platform/portico/portal"
	"github.com/portico-platform/portico/portal/auth/oidctest"
	"github.com/portico-platform/portico/portal/limit"
)

// of takes the recorded calls, and counts those of one resource.
func (c *calls) of(resource string) (n int) {
	for _, one := range c.take() {
		if path.Base(one.path) == resource {
			n++
		}
	}
	return n
}

// TestMadeUpAddressesAskNobody checks that requests with made-up teams and tokens cause no requests to Kubernetes.
func TestMadeUpAddressesAskNobody(t *testing.T) {
	issuer := oidctest.New(t)
	p := startPortal(t, issuer.URL, sessionKeys(t))
	in := p.signIn(t, issuer, oidctest.Claims{"preferred_username": "payments-dev", "groups": []string{
		"team-payments",
	}}).want(t, http.StatusSeeOther)
	session := map[string]string{"__Host-portico": in.session()}
	told := func(team string) string {
		a := p.visit(t, "GET", "/teams/"+team, session).want(t, http.StatusForbidden)
		_, page, _ := strings.Cut(a.raw, "<main")
		page, _, _ = strings.Cut(page, a.header.Get("X-Request-Id"))
		return strings.ReplaceAll(page, team, "team")
	}
	want := told("search") // which exists
	p.calls.take()
	for n := range 50 {
		if got := told(fmt.Sprintf("made-up-%d", n)); got != want {
			t.Fatalf("a team that does not exist is told of as %s\nand one that does as %s", got, want)
		}
	}
	if n := p.calls.of("subjectaccessreviews"); n > 0 {
		t.Errorf("%d access reviews about teams that do not exist", n)
	}
	part := func(json string) string { return base64.RawURLEncoding.EncodeToString([]byte(json)) }
	for n := range 50 {
		for iss, want := range map[string]int{"https://foreign.example": 401, issuer.URL: 401} {
			token := part(`{"alg":"RS256"}`) + "." + part(fmt.Sprintf(`{"iss":%q,"n":%d}`, iss, n)) + ".x"
			p.call(t, token, "GET", "/me", nil).want(t, want)
		}
	}
	if n := p.calls.of("tokenreviews"); n > 0 {
		t.Errorf("%d token reviews of tokens that cannot be any ServiceAccount's", n)
	}
	good := strings.Split(serviceAccountToken(t), ".")
	for range 20 {
		p.call(t, good[0]+"."+good[1]+".forged", "GET", "/me", nil).want(t, http.StatusUnauthorized)
	}
	reviews, fetches := 0, 0
	for _, one := range p.calls.take() {
		switch path.Base(one.path) {
		case "tokenreviews":
			reviews++
		case "jwks":
			fetches++
		}
	}
	if reviews > 0 || fetches > 10 {
		t.Errorf("%d token reviews of one forged token, and its keys were fetched %d times", reviews, fetches)
	}
}

func TestPagesAreLimitedByUser(t *testing.T) {
	issuer := oidctest.New(t)
	p := startPortalOf(t, issuer.URL, sessionKeys(t), func(p *portal.Parts) {
		p.Rate = limit.Rate{PerSecond: 0.001, Burst: 3}
	})
	session := func(user string) map[string]string {
		in := p.signIn(t, issuer, oidctest.Claims{"sub": user, "preferred_username": user, "groups": []string{
			"team-payments",
		}}).want(t, http.StatusSeeOther)
		return map[string]string{"__Host-portico": in.session()}
	}
	one, other := session("payments-dev"), session("payments-other")
	for range 3 {
		p.visit(t, "GET", "/teams/payments/catalog", one).want(t, http.StatusOK)
	}
	no := p.visit(t, "GET", "/teams/payments/catalog", one).want(t, http.StatusTooManyRequests)
	if no.header.Get("Retry-After") == "" || !strings.Contains(no.raw, "Too many requests at once") ||
		!strings.Contains(no.raw, "<html") {
		t.Errorf("the page does not say what is wrong: %v %s", no.header, no.raw)
	}
	if no := p.visit(t, "GET", "/teams/payments/catalog", one, "HX-Request", "true").want(t, 429); strings.Contains(
		no.raw, "<html") {
		t.Errorf("a script gets a page: %s", no.raw)
	}
	p.visit(t, "GET", "/teams/payments/catalog", other).want(t, http.StatusOK)
	p.visit(t, "POST", "/auth/logout", one, "Origin", p.url).want(t, http.StatusSeeOther) // signing out is not limited
}
