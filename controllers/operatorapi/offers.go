package operatorapi

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/portico-platform/portico/api/expiring"
	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/controllers/fair"
	"github.com/portico-platform/portico/controllers/offers"
)

// Offers lists the values that an account has for a field of a request; offers.Lists implements it.
type Offers interface {
	List(ctx context.Context, q operatorapi.OfferQuery) ([]operatorapi.Offer, error)
}

const (
	// offersTimeout limits one list of about ten pages.
	offersTimeout = 20 * time.Second
	// offersKept is how many results are cached, errors included: a user who goes on typing does not repeat the call
	// sooner.
	offersKept = 64
	// longestOfferQuery limits the length of the query string.
	longestOfferQuery = 2048
)

// mostLists is how many lists are read from AWS at once, so that reconciling has priority. Teams take turns, and a team
// with no list under way never waits for one that uses all of them.
const mostLists = 4

// listsBusy is the message while other lists take all turns.
const listsBusy = "too many lists are being read from AWS: try again in a moment"

type offerKey string

func (k offerKey) String() string { return string(k) }

type offerAnswer struct {
	operatorapi.Offers
	unknown bool
}

func newOfferLooks(now func() time.Time) *looks[offerKey, offerAnswer] {
	return &looks[offerKey, offerAnswer]{timeout: offersTimeout, recent: expiring.New[offerKey, offerAnswer](
		offersKept, now)}
}

func (h handlers) listOffers(w http.ResponseWriter, r *http.Request) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil || len(r.URL.RawQuery) > longestOfferQuery {
		writeProblem(w, http.StatusBadRequest, "the query cannot be read, or is too long")
		return
	}
	q := operatorapi.OfferQuery{
		Kind: r.PathValue("kind"), Namespace: r.PathValue("namespace"),
		Provider: r.PathValue("provider"), Field: r.PathValue("field"),
	}
	q.Parameters(query)
	answer, answered := h.offerLooks.get(r.Context(), offerKey(q.Path()), func(ctx context.Context) offerAnswer {
		return h.offersOf(ctx, q)
	})
	switch {
	case !answered:
		writeJSON(w, operatorapi.Offers{Items: []operatorapi.Offer{}, Pending: true})
	case answer.unknown:
		writeProblem(w, http.StatusNotFound, offers.ErrUnknown.Error())
	default:
		writeJSON(w, answer.Offers)
	}
}

// forTeam returns a context whose lists are counted for the namespace's team.
func (h handlers) forTeam(ctx context.Context, namespace string) context.Context {
	if h.teamOf != nil {
		namespace = h.teamOf(namespace)
	}
	return fair.WithTeam(ctx, namespace)
}

func (h handlers) offersOf(ctx context.Context, q operatorapi.OfferQuery) offerAnswer {
	done, err := h.listSlots.Take(h.forTeam(ctx, q.Namespace))
	if err != nil {
		return offerAnswer{Offers: operatorapi.Offers{Items: []operatorapi.Offer{}, Error: listsBusy}}
	}
	defer done()
	items, err := h.offers.List(ctx, q)
	switch {
	case errors.Is(err, offers.ErrUnknown):
		return offerAnswer{unknown: true}
	case err != nil:
		return offerAnswer{Offers: operatorapi.Offers{Items: []operatorapi.Offer{}, Error: truncate(err.Error())}}
	}
	return offerAnswer{Offers: operatorapi.Offers{Items: items}}
}
