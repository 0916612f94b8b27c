package auth

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/portico-platform/portico/portal/auth/oidctest"
)

// connect begins a stream and returns its context, nil if it was refused.
func (s *site) connect(t *testing.T, cookies jar) context.Context {
	t.Helper()
	var stream context.Context
	h := s.Require(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { stream = r.Context() }))
	r := httptest.NewRequestWithContext(t.Context(), "GET", portalURL+"/live", http.NoBody)
	r.Header.Set("Accept", "text/event-stream")
	r.AddCookie(&http.Cookie{Name: sessionCookie, Value: cookies[sessionCookie]})
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	for _, c := range (&http.Response{Header: w.Header()}).Cookies() {
		cookies[c.Name] = c.Value
	}
	return stream
}

func TestStreamsEndWhenTheProviderIsToBeAskedAgain(t *testing.T) {
	for _, c := range []struct {
		reason string
		claims oidctest.Claims
		status int
		again  string // the user of the next connection; "" refuses it
	}{
		{"the user was locked out", nil, http.StatusBadRequest, ""},
		{"a group was removed", oidctest.Claims{"groups": []string{"other"}}, http.StatusOK, "oidc:other"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			s, cookies := signedIn(t)
			s.refreshedTo(c.claims, c.status)
			stream := s.connect(t, cookies)
			s.later(checkEvery - time.Second)
			if err := Alive(stream); err != nil {
				t.Fatalf("before the check is due: %v", err)
			}
			s.later(time.Second + streamSpread)
			if Alive(stream) == nil {
				t.Fatal("it goes on with groups of long ago")
			}
			again := s.connect(t, cookies)
			if (again == nil) != (c.again == "") {
				t.Fatalf("connecting again: %v", again)
			}
			if again != nil {
				if id, _ := FromContext(again); id.Groups[0] != c.again || Alive(again) != nil {
					t.Errorf("groups %v, %v", id.Groups, Alive(again))
				}
			}
		})
	}
}

func TestStreamsOutliveAProviderThatIsDownForAWhile(t *testing.T) {
	s, cookies := signedIn(t)
	s.refreshedTo(nil, http.StatusServiceUnavailable)
	begin := s.clock.Now()
	s.later(checkEvery)
	connected := 0
	for s.clock.Now().Before(begin.Add(checkGrace)) {
		stream := s.connect(t, cookies)
		if stream == nil {
			t.Fatalf("refused after %s", s.clock.Now().Sub(begin))
		}
		connected++
		for Alive(stream) == nil {
			s.later(time.Second)
		}
	}
	if took := s.clock.Now().Sub(begin); took > checkGrace+time.Second || connected > 10 {
		t.Errorf("%d connections, the last until %s", connected, took)
	}
	if s.connect(t, cookies) != nil {
		t.Error("connected after the grace")
	}
}

func TestStreamsAreNoUseOfTheSession(t *testing.T) {
	s, cookies := signedIn(t)
	for range 5 {
		s.later(10 * time.Minute)
		if s.connect(t, cookies) == nil {
			t.Fatal("refused")
		}
	}
	s.later(10 * time.Minute)
	s.see(t, cookies, "")
}

func TestSessionsWaitForTheListOfRevokedOnes(t *testing.T) {
	s, cookies := signedIn(t)
	s.revoked.loading = true
	r := s.do("GET", "/x", cookies)
	if r.StatusCode != http.StatusServiceUnavailable || r.Header.Get("Retry-After") == "" ||
		cookies[sessionCookie] == "" {
		t.Errorf("%d, cookies %v", r.StatusCode, cookies)
	}
	s.see(t, jar{}, "")
	s.revoked.loading = false
	s.see(t, cookies, "oidc:alice oidc:dev")
}
