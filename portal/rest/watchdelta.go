package rest

import (
	"context"
	"errors"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/listing"
)

// gone is the event that an object left the view.
type gone struct {
	sent
	Reason string `json:"reason"`
}

// Reasons why an object left the view.
const (
	reasonGone      = "gone"
	reasonUnmatched = "unmatched"
	reasonForbidden = "forbidden"
)

// compare finds what has changed among the kinds in namespace.
func (w *watching) compare(ctx context.Context, kinds catalog.Catalog, namespace string) error {
	found, err := w.api.in(ctx, w.view, kinds, namespace)
	whole := namespace == w.view.namespace && len(kinds) == len(w.view.kinds)
	if _, forbidden := errors.AsType[*failure.ForbiddenError](err); forbidden && !whole { // one of several places
		found, err = listing.Found{Forbidden: kinds}, nil
	}
	if err != nil {
		return err
	}
	stands := make(map[string]bool, len(found.Items)) // by key: whether it matches
	for _, l := range found.Items {
		s := sentOf(l)
		if stands[s.key()] = w.view.filter.Matches(l); stands[s.key()] {
			w.tell(s, l)
		}
	}
	why := w.absent(found)
	for _, s := range w.sent {
		if matches, there := stands[s.key()]; !matches && s.in(kinds, namespace) {
			if err := w.leave(ctx, s, there, why); err != nil {
				return err
			}
		}
	}
	return nil
}

// leave adds the event that an object left the view, which may still exist without matching.
func (w *watching) leave(ctx context.Context, s sent, there bool, why func(context.Context, sent) (
	string, error),
) error {
	reason := reasonUnmatched
	if !there {
		var err error
		if reason, err = why(ctx, s); err != nil {
			return err
		}
	}
	delete(w.sent, s.key())
	w.waiting = append(w.waiting, telling{"deleted", gone{s, reason}})
	return nil
}

// absent returns why an object is not among those found: it was deleted, or the caller can no longer see it. Results
// across namespaces leave out objects that the caller cannot see.
func (w *watching) absent(found listing.Found) func(context.Context, sent) (string, error) {
	known := map[string]bool{} // by kind and namespace: whether the caller can see it
	return func(ctx context.Context, s sent) (string, error) {
		if _, forbidden := found.Forbidden.ByPlural(s.plural); forbidden {
			return reasonForbidden, nil
		}
		at := s.plural + "/" + s.Namespace
		may, asked := known[at]
		if k, ok := found.Kinds.ByPlural(s.plural); !asked && ok && w.view.namespace == "" && k.Namespaced {
			var err error
			if may, err = w.api.cluster.Rights.Can(ctx, caller(ctx), "list", k, s.Namespace); err != nil {
				return "", err
			}
			known[at], asked = may, true
		}
		if asked && !may {
			return reasonForbidden, nil
		}
		return reasonGone, nil
	}
}

// tell adds an event for a matching object, if the client has another version or none.
func (w *watching) tell(s sent, l listing.Item) {
	before, had := w.sent[s.key()]
	if before == s {
		return
	}
	if had && before.UID != s.UID { // another object of the same name
		w.waiting = append(w.waiting, telling{"deleted", gone{before, reasonGone}})
	}
	w.sent[s.key()] = s
	w.waiting = append(w.waiting, telling{"changed", l.Object.Object})
}
