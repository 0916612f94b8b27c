//go:build browser

package browser

import (
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/go-chi/chi/v5"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/pages"
	"github.com/portico-platform/portico/web/views"
)

// looked are the paths that tests have looked at in both themes and both widths.
var looked struct {
	sync.Mutex
	paths []string
}

func lookedAt(address string) {
	u, err := url.Parse(address)
	if err != nil {
		return
	}
	looked.Lock()
	defer looked.Unlock()
	looked.paths = append(looked.paths, u.Path)
}

// notPages are what pages fetch, or lead on by: nobody looks at them.
var notPages = []string{views.SwitchPath, "/live", "/check", "/names/{resource}", "/download"}

// neverLookedAt are the portal's pages, by their patterns, that no test has looked at.
func neverLookedAt() ([]string, error) {
	r := chi.NewRouter()
	pages.New(nil, pages.Reach{}, slog.New(slog.DiscardHandler)).Routes(r)
	for _, path := range []string{auth.SignInPath, auth.SignedOutPath, views.APIDocsPath, views.APIDocsPath + "/{part}"} {
		r.Get(path, http.NotFound)
	}
	var never []string
	err := chi.Walk(r, func(method, pattern string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		page := strings.TrimSuffix(pattern, "/")
		if method != http.MethodGet || page == "" || slices.ContainsFunc(notPages, func(end string) bool { return strings.HasSuffix(page, end) }) {
			return nil
		}
		if !slices.ContainsFunc(looked.paths, func(path string) bool { return matches(r, path) == page }) {
			never = append(never, page)
		}
		return nil
	})
	return never, err
}

// matches is the pattern of the page that a path leads to.
func matches(r chi.Routes, path string) string {
	c := chi.NewRouteContext()
	if !r.Match(c, http.MethodGet, path) && !r.Match(c, http.MethodGet, path+"/") {
		return ""
	}
	return strings.TrimSuffix(c.RoutePattern(), "/")
}
