package rest

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster/feed"
	"github.com/portico-platform/portico/portal/listing"
	"github.com/portico-platform/portico/portal/sse"
)

// sent is the client's version of an object.
type sent struct {
	UID       string `json:"uid"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	version   string
	plural    string // of the kind
}

func sentOf(l listing.Item) sent {
	return sent{
		UID: string(l.Object.GetUID()), Kind: l.Kind.Name, Namespace: l.Namespace, Name: l.Name,
		version: l.Object.GetResourceVersion(), plural: l.Kind.Plural,
	}
}

func (s sent) key() string { return s.plural + "/" + s.Namespace + "/" + s.Name }

// in reports whether the object is of the kinds and in the namespace, "" for any.
func (s sent) in(kinds catalog.Catalog, namespace string) bool {
	_, ok := kinds.ByPlural(s.plural)
	return ok && (namespace == "" || namespace == s.Namespace)
}

// telling is a pending event. Its data is encoded only when it is sent, since there may be thousands.
type telling struct {
	event string
	data  any
}

// snapshotPart is the data of one snapshot event.
type snapshotPart struct {
	Items     []any    `json:"items"`
	Complete  bool     `json:"complete"`
	Forbidden []string `json:"forbidden,omitempty"`
}

// watching is the state of one stream.
type watching struct {
	api     *API
	view    view
	changes *feed.Subscription

	begun     bool
	seen      []string // kinds that the caller can see
	forbidden []string // the others
	sent      map[string]sent
	waiting   []telling // pending events, in order
	beginning bool      // the pending events are the snapshot
}

func newWatching(a *API, v view, changes *feed.Subscription) *watching {
	return &watching{api: a, view: v, changes: changes, sent: map[string]sent{}}
}

// perMessage is the maximum number of objects in one message.
const perMessage = 200

// render returns the next message, with perMessage objects at most: first the snapshot, then the changes. It looks for
// changes only when nothing is pending, so that they come in order.
func (w *watching) render(ctx context.Context) ([]sse.Part, error) {
	if len(w.waiting) == 0 {
		if err := w.look(ctx); err != nil {
			return nil, err
		}
	}
	now := w.waiting[:min(len(w.waiting), perMessage)]
	w.waiting = w.waiting[len(now):]
	var out []sse.Part
	if w.beginning {
		out = []sse.Part{w.snapshot(now)}
	} else {
		for _, t := range now {
			out = append(out, told(t.event, t.data))
		}
	}
	clear(now) // the array may be kept, and must not keep the objects alive
	if len(w.waiting) > 0 {
		return out, sse.ErrMore
	}
	w.waiting, w.beginning = nil, false
	return out, nil
}

func (w *watching) snapshot(now []telling) sse.Part {
	part := snapshotPart{Items: make([]any, 0, len(now)), Complete: len(w.waiting) == 0}
	if part.Complete {
		part.Forbidden = w.forbidden
	}
	for _, t := range now {
		part.Items = append(part.Items, t.data)
	}
	return told("snapshot", part)
}

// look adds the pending events.
func (w *watching) look(ctx context.Context) error {
	changes, lost := w.changes.Take()
	if !w.begun {
		return w.begin(ctx)
	}
	if lost {
		return w.compare(ctx, w.view.kinds, w.view.namespace)
	}
	looked := map[string]bool{}
	for _, c := range changes {
		at := c.Kind + "/" + c.Namespace
		if !w.view.concerns(c) || looked[at] {
			continue
		}
		looked[at] = true
		k, _ := w.view.kinds.ByPlural(c.Kind)
		if err := w.compare(ctx, catalog.Catalog{k}, c.Namespace); err != nil {
			return err
		}
	}
	return nil
}

func (w *watching) begin(ctx context.Context) error {
	found, err := w.api.in(ctx, w.view, w.view.kinds, w.view.namespace)
	if err != nil {
		return err
	}
	w.begun, w.beginning = true, true
	w.seen, w.forbidden = plurals(found.Kinds), plurals(found.Forbidden)
	matching := w.view.filter.Of(found.Items)
	if w.view.order != nil {
		slices.SortFunc(matching, w.view.order)
	}
	for _, l := range matching {
		s := sentOf(l)
		w.sent[s.key()] = s
		w.waiting = append(w.waiting, telling{data: l.Object.Object})
	}
	return nil
}

// allowed returns nil while the kinds that the caller can see are the same as at the start.
func (w *watching) allowed(ctx context.Context) error {
	seen, err := w.view.seen(ctx, w.api)
	if err == nil && !slices.Equal(plurals(seen), w.seen) {
		err = errOtherKinds
	}
	return err
}

// told returns a server-sent event with v as JSON.
func told(name string, v any) sse.Part {
	b, err := json.Marshal(v)
	if err != nil {
		b = []byte("{}") // does not happen: objects were JSON
	}
	return sse.Part{Event: name, Text: string(b)}
}
