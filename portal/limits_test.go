package portal

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/limit"
)

// problems responds to errors with their status only.
type problems struct{ Pages }

func (problems) Problem(w http.ResponseWriter, _ *http.Request, status int, _, _ string) {
	w.WriteHeader(status)
}

// TestVisitorsAreLimitedByAddress only with trusted proxies: without them, all visitors could have one address.
func TestVisitorsAreLimitedByAddress(t *testing.T) {
	for _, c := range []struct {
		proxies []netip.Prefix
		want    int // status of a request above the limit
	}{
		{nil, http.StatusOK},
		{[]netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, http.StatusTooManyRequests},
	} {
		p := Parts{
			Rate: limit.Rate{PerSecond: 1, Burst: 1}, Proxies: c.proxies,
			Clock: clocktesting.NewFakePassiveClock(time.Now()), Pages: problems{},
		}
		h := auth.Address(p.Proxies)(p.perAddress()(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})))
		visit := func(from string) int {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, auth.LoginPath, http.NoBody)
			r.RemoteAddr = "10.0.0.1:1"
			r.Header.Set("X-Forwarded-For", from)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			return w.Code
		}
		for range perClient {
			if got := visit("203.0.113.9"); got != http.StatusOK {
				t.Fatalf("%d", got)
			}
		}
		if got := visit("203.0.113.9"); got != c.want {
			t.Errorf("with proxies %v: %d, want %d", c.proxies, got, c.want)
		}
		if got := visit("203.0.113.10"); got != http.StatusOK {
			t.Errorf("another client: %d", got)
		}
	}
}
