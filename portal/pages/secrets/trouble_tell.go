package secrets

import (
	"context"
	"errors"
	"net/http"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/portal/humanize"
	"github.com/portico-platform/portico/web/views"
)

// trouble is why something cannot be done, or was not, as the page shows it.
type trouble struct {
	status int
	words  string // "" for a sign-in that does not count, which the page asks for anyway
	off    bool
	stale  bool // the sign-in counts no more
}

// ok says that there is none.
var ok = trouble{status: http.StatusOK}

// troubleOf returns the operator's error. Other errors have their own pages.
func troubleOf(err error) (trouble, error) {
	told, is := errors.AsType[*cluster.PersonError](err)
	switch {
	case err == nil:
		return ok, nil
	case !is:
		return trouble{}, err
	case told.Status == http.StatusUnauthorized:
		return trouble{status: told.Status, stale: true}, nil
	}
	return trouble{status: told.Status, words: humanize.Sentence(told.Detail), off: told.Status == http.StatusNotImplemented}, nil
}

// confirming says whether the request has a token of a fresh sign-in, and how to get one and come back. stale says what
// came to nothing for want of it.
func (p *Pages) confirming(ctx context.Context, back, stale string) views.Confirming {
	until := auth.ConfirmedUntil(ctx)
	if until.IsZero() || stale != "" {
		return views.Confirming{Href: auth.ConfirmAt(back), Stale: stale}
	}
	return views.Confirming{Until: p.Moment(until)}
}

// served returns why the operator does nothing for people now.
func (p *Pages) served(ctx context.Context) (trouble, error) {
	return troubleOf(p.cluster.ServesPeople(ctx))
}
