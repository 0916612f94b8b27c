//go:build browser

package browser

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/go-chi/chi/v5"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/catalog/catalogtest"
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/pages"
	"github.com/portico-platform/portico/web"
)

// failing are the parts of a cluster whose calls return err, which may be nil.
type failing struct{ err atomic.Pointer[error] }

func (f *failing) fail(err error) { f.err.Store(&err) }

type failingRights struct {
	cluster.Rights
	*failing
}

func (f failingRights) Namespaces(context.Context, auth.Identity) ([]string, error) {
	return nil, *f.err.Load()
}

func (f failingRights) Can(context.Context, auth.Identity, string, catalog.Kind, string) (bool, error) {
	return false, nil
}

type failingTeams struct {
	cluster.Teams
	*failing
}

func (f failingTeams) Visible(context.Context, auth.Identity) ([]*unstructured.Unstructured, error) {
	return nil, *f.err.Load()
}

// TestErrorsOfThePlatformAreDesigned checks the error pages that no user can cause: internal errors of the portal, and
// a cluster that does not answer, until it does. It uses the portal's pages with a failing cluster.
func TestErrorsOfThePlatformAreDesigned(t *testing.T) {
	kinds, err := catalogtest.Load()
	if err != nil {
		t.Fatal(err)
	}
	f := &failing{}
	site := pagesOver(t, &cluster.Cluster{
		Kinds: catalog.NewLive(kinds), Rights: failingRights{failing: f}, Teams: failingTeams{failing: f},
	})
	x := open(t)
	x.away.Store(true) // the responses are 500 and 503
	f.fail(errors.New("a mistake"))
	x.do(chromedp.Navigate(site))
	x.await(`main`, "Something went wrong on our side")
	x.every("fault")
	f.fail(&failure.UnavailableError{Doing: "listing namespaces", Cause: context.DeadlineExceeded})
	x.do(chromedp.Navigate(site))
	x.await(`main`, "The cluster does not answer")
	x.every("cluster-away")
	f.fail(nil)
	x.await(`main`, "You are not in a team yet") // without a reload
}

// pagesOver serves the portal's pages for a cluster, to a signed-in user, and returns the address.
func pagesOver(t *testing.T, c *cluster.Cluster) string {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	r := chi.NewRouter()
	r.Use(auth.Record(log, time.Now, nil), auth.SecurityHeaders, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(w, r.WithContext(
				auth.WithIdentity(r.Context(),
					auth.Identity{Username: "oidc:payments-dev", Name: "Developer of team payments"})))
		})
	})
	r.Get(portal.AssetsPath+"*", web.Assets)
	pages.New(c, pages.Reach{}, log).Routes(r)
	s := httptest.NewServer(r)
	t.Cleanup(s.Close)
	return s.URL
}
