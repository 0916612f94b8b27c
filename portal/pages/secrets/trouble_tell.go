package secrets

import (
	"context"
	"errors"
	"net/http"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/humanize"
	"github.com/portico-platform/portico/web/views"
)

// trouble is the reason why something cannot be done, or failed, as the page shows it.
type trouble struct {
	status int
	words  string // "" if the sign-in is too old; the page then asks for a new one
	off    bool
	stale  bool // the sign-in is too old
}

// ok means no trouble.
var ok = trouble{status: http.StatusOK}

// troubleOf converts an error of the operator. Other errors are returned unchanged; they have their own pages.
func troubleOf(err error) (trouble, error) {
	told, is := errors.AsType[*failure.PersonError](err)
	switch {
	case err == nil:
		return ok, nil
	case !is:
		return trouble{}, err
	case told.Status == http.StatusUnauthorized:
		return trouble{status: told.Status, stale: true}, nil
	}
	return trouble{
		status: told.Status, words: humanize.Sentence(told.Detail),
		off: told.Status == http.StatusNotImplemented,
	}, nil
}

// confirming says whether the request has a token of a recent sign-in, or where to sign in again and return to back.
// stale says what was not done because it was missing.
func (p *Pages) confirming(ctx context.Context, back, stale string) views.Confirming {
	until := auth.ConfirmedUntil(ctx)
	if until.IsZero() || stale != "" {
		return views.Confirming{Href: auth.ConfirmAt(back), Stale: stale}
	}
	return views.Confirming{Until: p.Moment(until)}
}

// served returns why the operator does not handle people's requests now, or ok.
func (p *Pages) served(ctx context.Context) (trouble, error) {
	return troubleOf(p.Cluster.People.ServesPeople(ctx))
}
