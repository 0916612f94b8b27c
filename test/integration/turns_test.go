//go:build integration

package integration

import (
	"maps"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/portico-platform/portico/portal"
	"github.com/portico-platform/portico/portal/auth/oidctest"
)

// ahead is a clock that can be put forward. It runs at the usual speed, because deadlines of responses depend on it.
type ahead struct{ by atomic.Int64 }

func (c *ahead) Now() time.Time                  { return time.Now().Add(time.Duration(c.by.Load())) }
func (c *ahead) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// askedAgain is the time after which the portal asks the provider about a session again.
const askedAgain = 5*time.Minute + time.Second

// TestReplicasRenewASessionOnce sends requests from two tabs to two replicas when the session has to be renewed, behind
// a proxy without affinity. The provider ends a session whose refresh token is used twice.
func TestReplicasRenewASessionOnce(t *testing.T) {
	issuer, keys, later := oidctest.New(t), sessionKeys(t), &ahead{}
	issuer.DetectReuse = true
	issuer.Before = func(string) { time.Sleep(300 * time.Millisecond) } // so that both replicas try at the same time
	timed := func(p *portal.Parts) { p.Clock = later }
	one, other := startPortalOf(t, issuer.URL, keys, timed), startPortalOf(t, issuer.URL, keys, timed)
	in := one.signIn(t, issuer, oidctest.Claims{"preferred_username": "payments-dev", "groups": []string{
		"team-payments",
	}})
	session := map[string]string{"__Host-portico": in.want(t, http.StatusSeeOther).session()}
	for round := 1; round <= 3; round++ {
		later.by.Add(int64(askedAgain))
		var tabs sync.WaitGroup
		answers := make([]answer, 2)
		for i, r := range []*replica{one, other} {
			tabs.Go(func() { answers[i] = r.visit(t, "GET", "/teams/payments", maps.Clone(session)) })
		}
		tabs.Wait()
		for i, got := range answers {
			got.want(t, http.StatusOK)
			if session["__Host-portico"] = got.session(); got.session() == "" {
				t.Fatalf("round %d, tab %d: no new cookie", round, i)
			}
		}
		if issuer.Refreshes() != round || issuer.Reuses() != 0 {
			t.Errorf("round %d: %d refreshes, %d with a token that came before", round, issuer.Refreshes(),
				issuer.Reuses())
		}
	}
}
