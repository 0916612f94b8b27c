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
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/catalog/catalogtest"
	"github.com/portico-platform/portico/portal/pages"
	"github.com/portico-platform/portico/web/views"
)

// looked are the paths of pages that tests have checked in both themes and both widths.
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

// notPages are paths that pages fetch or that redirect, which nobody sees.
var notPages = []string{
	views.SwitchPath, "/live", "/_live", "/check", "/names/secrets", "/offers/{kind}/{field}",
	"/download", "/scale", "/rollback", "/members",
}

// neverLookedAt returns the patterns of the portal's pages that no test has checked. Each admin tab, and the form and
// the page of each kind, count separately.
func neverLookedAt() ([]string, error) {
	kinds, err := catalogtest.Load()
	if err != nil {
		return nil, err
	}
	r := chi.NewRouter()
	pages.New(nil, pages.Reach{}, slog.New(slog.DiscardHandler)).Routes(r)
	for _, path := range []string{
		auth.SignInPath, auth.SignedOutPath, views.APIDocsPath, views.APIDocsPath + "/{part}",
		views.DocsPath, views.DocsPath + "/kinds/{kind}",
	} {
		r.Get(path, http.NotFound)
	}
	var seen, never []string
	for _, path := range looked.paths {
		seen = append(seen, variant(r, path))
	}
	err = chi.Walk(r, func(method, pattern string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		page := strings.TrimSuffix(pattern, "/")
		if method != http.MethodGet || page == "" || slices.ContainsFunc(notPages, func(end string) bool {
			return strings.HasSuffix(page, end)
		}) {
			return nil
		}
		for _, one := range variants(page, kinds) {
			if !slices.Contains(seen, one) {
				never = append(never, one)
			}
		}
		return nil
	})
	return never, err
}

const (
	formPage   = "/teams/{team}/new/{kind}"
	detailPage = "/teams/{team}/{kind}/{name}"
	adminPage  = views.AdminPath + "/{tab}"
)

// variants returns the pages of a pattern that differ in their layout.
func variants(page string, kinds catalog.Catalog) (all []string) {
	switch page {
	case adminPage:
		for _, tab := range views.AdminTabs()[1:] { // the first has no name in its address
			all = append(all, strings.Replace(page, "{tab}", tab, 1))
		}
	case formPage, detailPage:
		if page == formPage {
			kinds = kinds.Offered()
		}
		for _, k := range kinds {
			all = append(all, strings.Replace(page, "{kind}", k.Plural, 1))
		}
	default:
		all = []string{page}
	}
	return all
}

// variant returns the variant for a path, or "" if there is no such page.
func variant(r chi.Routes, path string) string {
	c := chi.NewRouteContext()
	if !r.Match(c, http.MethodGet, path) && !r.Match(c, http.MethodGet, path+"/") {
		return ""
	}
	page := strings.TrimSuffix(c.RoutePattern(), "/")
	switch page {
	case adminPage:
		return strings.Replace(page, "{tab}", c.URLParam("tab"), 1)
	case formPage, detailPage:
		return strings.Replace(page, "{kind}", c.URLParam("kind"), 1)
	}
	return page
}
