package portal

import (
	"net/http"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/limit"
)

// perClient is the number of users assumed behind one address: an office with one router.
const perClient = 10

// perUser limits the rate of each user's pages.
func (p Parts) perUser() func(http.Handler) http.Handler {
	user := func(r *http.Request) string {
		id, _ := auth.FromContext(r.Context())
		return id.Username
	}
	return limit.New(p.Rate, p.Clock).Each(user, p.tooOften)
}

// perAddress limits the rate of each address, including pages for visitors. Addresses are known only with trusted
// proxies.
func (p Parts) perAddress() func(http.Handler) http.Handler {
	rate := limit.Rate{PerSecond: perClient * p.Rate.PerSecond, Burst: perClient * p.Rate.Burst}
	address := func(r *http.Request) string { return auth.AddressOf(r.Context()) }
	return limit.New(rate, p.Clock).Each(address, p.tooOften)
}

// tooOften asks to wait: with a page, except for requests by scripts.
func (p Parts) tooOften(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("HX-Request") == "true" {
		http.Error(w, "You ask too often.", http.StatusTooManyRequests)
		return
	}
	p.Pages.Problem(w, r, http.StatusTooManyRequests, "Too many requests at once",
		"You opened more pages than one user may in so short a time. Nothing was changed. Wait a few seconds, then "+
			"try again.")
}
