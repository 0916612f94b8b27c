package operatorapi

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/controllers/offers"
)

// Offers checks whether a namespace can ask for the values that an account has for a field of a request. It returns the
// key under which they are cached, and the function that reads them. Errors of both are shown to users.
type Offers func(ctx context.Context, q operatorapi.OfferQuery) (
	key any, list func(context.Context) ([]operatorapi.Offer, error), err error)

const (
	// offersTimeout limits one list of about ten pages.
	offersTimeout = 20 * time.Second
	// offersFor is how long a list is cached: additions to an account appear after that time at the latest.
	offersFor = 5 * time.Minute
	// longestOfferQuery limits the length of the query string.
	longestOfferQuery = 2048
)

func offersRead(cache *readCache, o Offers) *awsRead[operatorapi.OfferQuery, []operatorapi.Offer] {
	return &awsRead[operatorapi.OfferQuery, []operatorapi.Offer]{
		cache: cache, timeout: offersTimeout, life: offersFor, name: operatorapi.OfferQuery.Path,
		namespace: func(q operatorapi.OfferQuery) string { return q.Namespace }, open: o,
	}
}

// listOffers returns the values for a field. An error is why there are none.
func (h *handlers) listOffers(r *http.Request) (any, error) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil || len(r.URL.RawQuery) > longestOfferQuery {
		return nil, problem{http.StatusBadRequest, "the query cannot be read, or is too long"}
	}
	q := operatorapi.OfferQuery{
		Kind: r.PathValue("kind"), Namespace: r.PathValue("namespace"),
		Provider: r.PathValue("provider"), Field: r.PathValue("field"),
	}
	q.Parameters(query)
	out := operatorapi.Offers{Items: []operatorapi.Offer{}}
	items, err := h.offers.get(r.Context(), q)
	switch {
	case errors.Is(err, errNotYet):
		out.Pending = true
	case errors.Is(err, offers.ErrUnknown):
		return nil, problem{http.StatusNotFound, err.Error()}
	case err != nil:
		out.Error = truncate(err.Error())
	default:
		out.Items = items
	}
	return out, nil
}
