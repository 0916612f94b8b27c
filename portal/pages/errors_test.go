package pages

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/podlogs"
)

// TestErrorPagesSayWhatToDo: what happened, what to do, and the ID by which the platform team finds it.
func TestErrorPagesSayWhatToDo(t *testing.T) {
	denied := busySite(t)
	denied.denied = []string{"* search"}
	down := busySite(t)
	down.down = true
	broken := busySite(t)
	broken.broken = errors.New("index out of range near the secret")
	reading := busySite(t)
	reading.broken = fmt.Errorf("reading the log: %w", &podlogs.TooManyReadsError{})
	none := busySite(t)
	none.denied = []string{"* search", "* payments"}
	for name, c := range map[string]struct {
		f      *fakeCluster
		path   string
		status int
		shows  []string
		hides  string
	}{
		"no access": {
			denied, "/teams/search/s3buckets/x", 403,
			[]string{
				"You have no access to this", "get s3buckets in namespace search",
				"kubectl auth can-i get s3buckets -n search", "<code>oidc:payments-dev</code>",
				"Ask a member of that team",
			},
			"data-retry",
		},
		"no access to everything":       {denied, "/admin", 403, []string{"list domainclaims", "kubectl auth can-i list domainclaims --all-namespaces"}, "data-retry"},
		"no team":                       {none, "/", 403, []string{"You are not in a team yet", "Ask a platform admin"}, "data-retry"},
		"no such page":                  {denied, "/nowhere", 404, []string{"Page not found", `href="/"`}, "data-retry"},
		"no such resource":              {denied, "/teams/payments/s3buckets/none", 404, []string{"It does not exist", "Resources of payments"}, "data-retry"},
		"something unforeseen":          {broken, "/teams/payments/new/s3buckets", 500, []string{"Something went wrong on our side", "tell a platform admin"}, "the secret"},
		"an object that cannot be read": {broken, "/teams/payments/s3buckets/invoices", 503, []string{"The cluster does not answer"}, "the secret"},
		"too many logs": {
			reading, "/teams/payments/new/s3buckets", 429,
			[]string{"Too many logs are being read", "4 logs are being read for you already, and there can be no " +
				"more at a time.", "Wait until one of them is done"},
			"data-retry",
		},
		"the API server is away": {
			down, "/teams/payments?status=ready", 503,
			[]string{
				"The cluster does not answer", `href="/teams/payments?status=ready">Try again`, "data-retry",
				"Your resources in AWS are not affected",
			},
			"192.0.2.1",
		},
		"a form of a cluster away": {down, "/teams/payments/new/s3buckets", 503, []string{"The cluster does not answer"}, "192.0.2.1"},
	} {
		t.Run(name, func(t *testing.T) {
			w := httptest.NewRecorder()
			h := auth.Record(slog.New(slog.DiscardHandler), func() time.Time { return noon }, nil)(
				site(c.f, developer, noon))
			h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, c.path, nil))
			body := w.Body.String()
			for _, want := range append(c.shows, `<code id="request-id">`+w.Header().Get("X-Request-Id")+`</code>`,
				`data-copy="request-id"`) {
				if !strings.Contains(body, want) {
					t.Errorf("lacks %q", want)
				}
			}
			if w.Code != c.status || strings.Contains(body, c.hides) || w.Header().Get("X-Request-Id") == "" {
				t.Errorf("answers %d, request %q, or shows %q", w.Code, w.Header().Get("X-Request-Id"), c.hides)
			}
			if again := w.Header().Get("Retry-After"); (again != "") != (c.status == 503) {
				t.Errorf("Retry-After is %q", again)
			}
		})
	}
}

// TestAnEndedSessionLosesNothing: with scripts the user returns to the form, without them another tab signs in.
func TestAnEndedSessionLosesNothing(t *testing.T) {
	w := httptest.NewRecorder()
	p := New(busySite(t).parts(), Reach{}, slog.New(slog.DiscardHandler))
	p.Ended(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, ask, nil), "/auth/login?return_to=%2Fform")
	lacks(t, w.Body.String(), "Your session has ended", "Nothing was changed",
		`<a class="btn first onlyjs" href="/auth/login?return_to=%2Fform">`,
		`<a class="btn first nojs" href="/auth/login?return_to=%2Fform" target="_blank"`, "load this page again")
	if w.Code != http.StatusUnauthorized {
		t.Errorf("answers %d", w.Code)
	}
}

func TestAnAbsentIdentityProviderIsTold(t *testing.T) {
	const told = "Signing in does not work right now."
	for _, away := range []bool{true, false} {
		p := New(busySite(t).parts(), Reach{}, slog.New(slog.DiscardHandler)).Watching(func() time.Time {
			if away {
				return noon
			}
			return time.Time{}
		})
		for _, why := range []auth.Ending{auth.NoSession, auth.Rested} {
			w := httptest.NewRecorder()
			p.SignIn(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/auth/signin", nil), "/auth/login",
				why)
			if w.Code != http.StatusOK || strings.Contains(w.Body.String(), told) != away {
				t.Errorf("away %v, %q: answers %d:\n%s", away, why, w.Code, w.Body)
			}
		}
	}
}

// TestARefusedWriteIsNotRepeatedByItself: reloading would post the form again.
func TestARefusedWriteIsNotRepeatedByItself(t *testing.T) {
	f := busySite(t)
	f.down = true
	if w := post(t, f, ask, filled("create")); w.Code != 503 || strings.Contains(w.Body.String(), "data-retry") {
		t.Errorf("answers %d", w.Code)
	}
}
