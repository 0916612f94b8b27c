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

// Offers lists what an account has for a field of a request; it is offers.Lists.
type Offers interface {
	List(ctx context.Context, q operatorapi.OfferQuery) ([]operatorapi.Offer, error)
}

const (
	// offersTimeout bounds one list, of some ten pages.
	offersTimeout = 20 * time.Second
	// offersKept is how many answers are shared for a while, errors too: who types on asks no sooner.
	offersKept = 64
	// longestOfferQuery bounds what is asked with.
	longestOfferQuery = 2048
)

// mostLists is how many lists are read from AWS at once: reconciling goes first. Teams take turns at them, and a team
// that has none is never kept waiting by another that has all of them.
const mostLists = 4

// listsBusy is said while others' lists are read.
const listsBusy = "too many lists are being read from AWS: try again in a moment"

type offerKey string

func (k offerKey) String() string { return string(k) }

type offerAnswer struct {
	operatorapi.Offers
	unknown bool
}

func newOfferLooks(now func() time.Time) *looks[offerKey, offerAnswer] {
	return &looks[offerKey, offerAnswer]{timeout: offersTimeout, recent: expiring.New[offerKey, offerAnswer](liveFor, offersKept, now)}
}

func (h handlers) listOffers(w http.ResponseWriter, r *http.Request) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil || len(r.URL.RawQuery) > longestOfferQuery {
		writeProblem(w, http.StatusBadRequest, "the query cannot be read, or is too long")
		return
	}
	q := operatorapi.OfferQuery{Kind: r.PathValue("kind"), Namespace: r.PathValue("namespace"), Provider: r.PathValue("provider"), Field: r.PathValue("field")}
	q.Parameters(query)
	answer, answered := h.offerLooks.get(r.Context(), offerKey(q.Path()), func(ctx context.Context) offerAnswer { return h.offersOf(ctx, q) })
	switch {
	case !answered:
		writeJSON(w, operatorapi.Offers{Items: []operatorapi.Offer{}, Pending: true})
	case answer.unknown:
		writeProblem(w, http.StatusNotFound, offers.ErrUnknown.Error())
	default:
		writeJSON(w, answer.Offers)
	}
}

// forTeam returns a context whose lists count as those of the namespace's team.
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
