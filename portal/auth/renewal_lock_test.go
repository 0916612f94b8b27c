package auth

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/portico-platform/portico/portal/auth/oidctest"
)

// turns implements Turns for replicas in one process.
type turns struct {
	mu    sync.Mutex
	all   map[string]turn
	asked func() // called when a replica wants a turn that another has
	fail  error
}

type turn struct {
	left  string
	until time.Time
}

func (m *turns) Take(_ context.Context, key string, now, until time.Time) (mine bool, left string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil {
		return false, "", m.fail
	}
	if had, ok := m.all[key]; ok && now.Before(had.until) {
		if m.asked != nil {
			m.asked()
		}
		return false, had.left, nil
	}
	m.all[key] = turn{until: until}
	return true, "", nil
}

func (m *turns) Leave(_ context.Context, key, left string, until time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all[key] = turn{left, until}
	return m.fail
}

// strict returns two replicas at a provider that ends a session when one of its refresh tokens is sent twice, and the
// cookies of a user who is due for a renewal.
func strict(t *testing.T) (one, other *site, cookies jar) {
	t.Helper()
	one, cookies = signedIn(t)
	one.issuer.DetectReuse = true
	one.refreshedTo(oidctest.Claims{"groups": []string{"ops"}}, http.StatusOK)
	one.later(checkEvery)
	return one, one.replica(t), cookies
}

// both requests a page from two replicas with the same cookies. The first one waits at the provider until the second
// has tried to renew the session, too.
func both(t *testing.T, one, other *site, cookies jar) (first, second page) {
	t.Helper()
	tried, begun := make(chan struct{}), make(chan struct{})
	var once, since sync.Once
	try := func() { once.Do(func() { close(tried) }) }
	one.turns.asked = try
	calls := 0
	one.issuer.Before = func(string) {
		if calls++; calls > 1 { // without turns
			try()
			return
		}
		since.Do(func() { close(begun) })
		select {
		case <-tried:
		case <-time.After(10 * time.Second):
			t.Error("the second replica did not try")
		}
	}
	var wg sync.WaitGroup
	wg.Go(func() { first = one.do("GET", "/x", maps.Clone(cookies)) })
	<-begun
	wg.Go(func() { second = other.do("GET", "/y", maps.Clone(cookies)) })
	wg.Wait()
	one.issuer.Before, one.turns.asked = nil, nil
	return first, second
}

// keep copies the cookies of a response into the browser's.
func (p page) keep(cookies jar) {
	for _, c := range p.Cookies() {
		if cookies[c.Name] = c.Value; c.MaxAge < 0 {
			delete(cookies, c.Name)
		}
	}
}

func TestReplicasRenewASessionOnce(t *testing.T) {
	one, other, cookies := strict(t)
	first, second := both(t, one, other, cookies)
	for _, p := range []page{first, second} {
		if p.StatusCode != http.StatusOK || p.body != "oidc:alice oidc:ops" {
			t.Errorf("%d to %q: %s", p.StatusCode, p.Header.Get("Location"), p.body)
		}
	}
	if n := one.issuer.Refreshes(); n != 1 {
		t.Errorf("%d refreshes", n)
	}
	first.keep(cookies)
	second.keep(cookies)
	for range 2 {
		one.later(checkEvery)
		other.see(t, cookies, "oidc:alice oidc:ops")
		one.see(t, cookies, "oidc:alice oidc:ops")
	}
	if one.issuer.Reuses() != 0 {
		t.Error("a token came twice")
	}
}

// TestAnAnswerThatGotLostIsTold: a user who left a page before the response has the earlier cookie, and can reach
// another replica.
func TestAnAnswerThatGotLostIsTold(t *testing.T) {
	one, other, cookies := strict(t)
	one.do("GET", "/x", maps.Clone(cookies))
	other.see(t, cookies, "oidc:alice oidc:ops")
	one.later(checkEvery)
	other.see(t, cookies, "oidc:alice oidc:ops")
	if one.issuer.Reuses() != 0 || one.issuer.Refreshes() != 2 {
		t.Errorf("%d refreshes, %d of a token that came before", one.issuer.Refreshes(), one.issuer.Reuses())
	}
}

// TestReplicasTellWhatIsWrong: an error that one found applies to all, for a while.
func TestReplicasTellWhatIsWrong(t *testing.T) {
	for what, c := range map[string]struct {
		claims oidctest.Claims
		status int
		want   int
		says   string
	}{
		"an end": {nil, http.StatusBadRequest, http.StatusSeeOther, "prompt=none"},
		"a refusal": {
			oidctest.Claims{"groups": []string{"system:masters"}},
			http.StatusOK, http.StatusForbidden,
			"keeps for itself",
		},
		"an outage":  {nil, http.StatusServiceUnavailable, http.StatusOK, "oidc:alice oidc:dev"},
		"other user": {oidctest.Claims{"sub": "bob"}, http.StatusOK, http.StatusSeeOther, "why=another"},
	} {
		t.Run(what, func(t *testing.T) {
			one, other, cookies := strict(t)
			one.refreshedTo(c.claims, c.status)
			asked := 0
			for _, s := range []*site{one, other} {
				r := s.do("GET", "/x", maps.Clone(cookies))
				if r.StatusCode != c.want || !strings.Contains(r.body+r.Header.Get("Location"), c.says) {
					t.Errorf("%d to %q: %s", r.StatusCode, r.Header.Get("Location"), r.body)
				}
				if asked == 0 {
					asked = one.issuer.Refreshes()
				}
			}
			if n := one.issuer.Refreshes(); n != asked {
				t.Errorf("asked %d times, and then %d times", asked, n-asked)
			}
		})
	}
}

// TestAReplicaThatWaitsChangesNoCookie: another response may carry a newer one.
func TestAReplicaThatWaitsChangesNoCookie(t *testing.T) {
	one, _, cookies := strict(t)
	plain, err := one.readSession(request("GET", "/x", cookies))
	if err != nil {
		t.Fatal(err)
	}
	for what, left := range map[string]string{"nothing yet": "", "what cannot be read": "x"} {
		t.Run(what, func(t *testing.T) {
			other := one.replica(t)
			other.refresher.wait = 2 * turnPoll
			one.turns.all[plain.renewalKey()] = turn{left, one.clock.Now().Add(time.Hour)}
			r := other.do("GET", "/x", maps.Clone(cookies))
			if r.StatusCode != http.StatusOK || r.body != "oidc:alice oidc:dev" || len(r.Cookies()) != 0 {
				t.Errorf("%d %s, cookies %v", r.StatusCode, r.body, r.Cookies())
			}
		})
	}
	delete(one.turns.all, plain.renewalKey()) // the replica ended while it had the turn
	one.later(turnAgain)
	one.see(t, cookies, "oidc:alice oidc:ops")
}

// TestNobodyRenewsWithoutATurn, and the session goes on.
func TestNobodyRenewsWithoutATurn(t *testing.T) {
	one, _, cookies := strict(t)
	one.turns.fail = errors.New("the API server does not answer")
	one.see(t, cookies, "oidc:alice oidc:dev")
	if n := one.issuer.Refreshes(); n != 0 {
		t.Errorf("%d refreshes", n)
	}
	one.later(checkGrace) // the claims have not been verified for long
	if to := one.do("GET", "/x", maps.Clone(cookies)).Header.Get("Location"); !strings.Contains(to, "prompt=none") {
		t.Errorf("it leads to %q", to)
	}
	one.turns.fail = nil
	one.later(retryAfter + time.Second)
	one.see(t, cookies, "oidc:alice oidc:ops")
}

// TestASilentSignInThatFailsLeavesANewerCookie: another request renewed the session meanwhile.
func TestASilentSignInThatFailsLeavesANewerCookie(t *testing.T) {
	one, cookies := lapsed(t)
	_, state := one.issuer.Code(one.sent(t, one.do("GET", "/x", cookies)), alice)
	// Another replica renewed it.
	old, err := one.readSession(request("GET", "/x", cookies))
	if err != nil {
		t.Fatal(err)
	}
	old.Checked = one.clock.Now().Unix()
	plain := page{Header: http.Header{}}
	w := recorder{plain.Header}
	if err := one.writeSession(w, request("GET", "/x", cookies), old); err != nil {
		t.Fatal(err)
	}
	plain.keep(cookies)
	kept := cookies[sessionCookie]
	r := one.do("GET", CallbackPath+"?"+url.Values{"error": {"login_required"}, "state": {state}}.Encode(), cookies)
	if r.Header.Get("Location") != "/x" || cookies[sessionCookie] != kept {
		t.Errorf("%d to %q, cookies %v", r.StatusCode, r.Header.Get("Location"), cookies)
	}
	one.see(t, cookies, "oidc:alice oidc:dev")
}

// recorder records the headers of a response.
type recorder struct{ header http.Header }

func (r recorder) Header() http.Header         { return r.header }
func (r recorder) Write(b []byte) (int, error) { return len(b), nil }
func (r recorder) WriteHeader(int)             {}
