package rest

import (
	"context"
	"encoding/json"
	"errors"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/portal/live"
)

// sent is what the client has of an object.
type sent struct {
	UID       string `json:"uid"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	version   string
}

// gone tells that an object left the view.
type gone struct {
	sent
	Reason string `json:"reason"`
}

// Why an object left the view.
const (
	reasonGone      = "gone"
	reasonUnmatched = "unmatched"
	reasonForbidden = "forbidden"
)

func sentOf(obj *unstructured.Unstructured) sent {
	return sent{
		UID: string(obj.GetUID()), Kind: obj.GetKind(), Namespace: obj.GetNamespace(), Name: obj.GetName(),
		version: obj.GetResourceVersion(),
	}
}

func (s sent) key() string { return s.Kind + "/" + s.Namespace + "/" + s.Name }

// in reports whether the object is of the kinds and in the namespace, "" for any.
func (s sent) in(kinds catalog.Catalog, namespace string) bool {
	_, ok := kinds.ByName(s.Kind)
	return ok && (namespace == "" || namespace == s.Namespace)
}

// watching is one stream on its way.
type watching struct {
	api     *API
	view    view
	changes cluster.Feed
	sent    map[string]sent
	begun   bool
}

// perSnapshot is how many objects one snapshot event carries.
const perSnapshot = 200

// render is what changed since the last message, or all that there is.
func (w *watching) render(ctx context.Context) ([]live.Part, error) {
	changes, lost := w.changes.Take()
	if !w.begun {
		w.begun = true
		return w.snapshot(ctx)
	}
	if lost {
		return w.compare(ctx, w.view.kinds, w.view.namespace)
	}
	var out []live.Part
	looked := map[string]bool{}
	for _, c := range changes {
		at := c.Kind + "/" + c.Namespace
		if !w.view.concerns(c) || looked[at] {
			continue
		}
		looked[at] = true
		k, _ := w.view.kinds.ByPlural(c.Kind)
		parts, err := w.compare(ctx, catalog.Catalog{k}, c.Namespace)
		if err != nil {
			return nil, err
		}
		out = append(out, parts...)
	}
	return out, nil
}

func (w *watching) snapshot(ctx context.Context) ([]live.Part, error) {
	all, err := w.api.in(ctx, w.view, w.view.kinds, w.view.namespace)
	if err != nil {
		return nil, err
	}
	items := make([]map[string]any, 0, len(all))
	for _, at := range w.view.order.sorted(w.view.matcher.of(all)) {
		s := sentOf(at.obj)
		w.sent[s.key()] = s
		items = append(items, at.obj.Object)
	}
	var out []live.Part
	for len(out) == 0 || len(items) > 0 {
		n := min(len(items), perSnapshot)
		out, items = append(out, told("snapshot", map[string]any{"items": items[:n], "complete": len(items) == n})), items[n:]
	}
	return out, nil
}

// compare tells what is another one by now among the kinds in namespace.
func (w *watching) compare(ctx context.Context, kinds catalog.Catalog, namespace string) ([]live.Part, error) {
	all, err := w.api.in(ctx, w.view, kinds, namespace)
	absent := reasonGone // why what is not there is not
	if _, forbidden := errors.AsType[*cluster.ForbiddenError](err); forbidden && w.view.namespace == "" {
		absent, err = reasonForbidden, nil // of one namespace among others
	}
	if err != nil {
		return nil, err
	}
	var out []live.Part
	stands := map[string]bool{} // by key; whether it matches
	for _, obj := range all {
		s := sentOf(obj)
		if stands[s.key()] = w.view.matcher.matches(obj); stands[s.key()] {
			out = append(out, w.tell(s, obj)...)
		}
	}
	for key, s := range w.sent {
		matches, there := stands[key]
		if matches || !s.in(kinds, namespace) {
			continue
		}
		delete(w.sent, key)
		out = append(out, told("deleted", gone{s, map[bool]string{true: reasonUnmatched, false: absent}[there]}))
	}
	return out, nil
}

// tell tells of one object that matches, if the client has another version or none.
func (w *watching) tell(s sent, obj *unstructured.Unstructured) []live.Part {
	before, had := w.sent[s.key()]
	if before == s {
		return nil
	}
	var out []live.Part
	if had && before.UID != s.UID { // a namesake
		out = append(out, told("deleted", gone{before, reasonGone}))
	}
	w.sent[s.key()] = s
	return append(out, told("changed", obj.Object))
}

// told is one server-sent event with v as JSON.
func told(name string, v any) live.Part {
	b, err := json.Marshal(v)
	if err != nil {
		b = []byte("{}") // objects came as JSON
	}
	return live.Part{Event: name, Text: string(b)}
}
