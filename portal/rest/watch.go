package rest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/portal/live"
)

// Watch asks for a stream.
type Watch struct {
	Watch bool `query:"watch" doc:"Answer with a stream of server-sent events: what is there, then what changes."`
}

// watchWords describe the stream in the document.
const watchWords = "With watch=true the answer is a stream (text/event-stream) that lasts until the token expires or the right is lost. " +
	"Events: snapshot, one or more, with {\"items\":[…],\"complete\":true on the last}; changed, with an object that is new or another " +
	"one; deleted, with {\"kind\",\"namespace\",\"name\",\"uid\",\"reason\"}, where reason is gone (it is no more), unmatched (it no " +
	"longer matches the filters) or forbidden (it may no longer be seen). Changes of 300 ms are told together. Comments keep the " +
	"connection open. After a break, connect again: there is a new snapshot."

// wholly refuses parameters that ask for a part of what a stream tells.
func (q ListQuery) wholly(ctx context.Context) error {
	if q.Cursor == "" {
		return nil
	}
	return problem(ctx, http.StatusUnprocessableEntity, "a stream tells of all that matches: leave out the cursor",
		&huma.ErrorDetail{Location: "query.cursor", Message: "cannot be given with watch"})
}

// view is what a list or a stream tells of.
type view struct {
	kinds     catalog.Catalog
	namespace string // "" is every one, or none for kinds without
	name      string // of the only object, "" for all
	matcher   matcher
	order     order
}

// String names the view, without its filters.
func (v view) String() string {
	names := make([]string, 0, len(v.kinds))
	for _, k := range v.kinds {
		names = append(names, k.Plural)
	}
	return strings.Join(append(names, v.namespace, v.name), "/")
}

// single reports whether the view is of one object.
func (v view) single() bool { return v.name != "" }

// concerns reports whether the change can be seen in the view.
func (v view) concerns(c cluster.Change) bool {
	if c.Events || c.Pods || v.namespace != "" && c.Namespace != v.namespace || v.single() && c.Name != v.name {
		return false
	}
	_, ours := v.kinds.ByPlural(c.Kind)
	return ours
}

// in reads the view's objects of the kinds in namespace, whether they match or not.
func (a *API) in(ctx context.Context, v view, kinds catalog.Catalog, namespace string) ([]*unstructured.Unstructured, error) {
	if v.single() {
		obj, err := a.cluster.Get(ctx, caller(ctx), ref(kinds[0], namespace, v.name))
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		return []*unstructured.Unstructured{obj}, nil
	}
	var all []*unstructured.Unstructured
	for _, k := range kinds {
		items, err := a.cluster.List(ctx, caller(ctx), k, namespace)
		if err != nil {
			return nil, err
		}
		all = append(all, items...)
	}
	return all, nil
}

// allowed is nil as long as the caller may see the view. Across namespaces each reading asks for each of them.
func (v view) allowed(ctx context.Context, a *API) error {
	verb := "list"
	if v.single() {
		verb = "get"
	}
	for _, k := range v.kinds {
		if k.Namespaced && v.namespace == "" {
			continue
		}
		if err := a.allowed(ctx, verb, k, v.namespace); err != nil {
			return err
		}
	}
	return nil
}

// watch answers with the view as a stream.
func (a *API) watch(v view) func(huma.Context) {
	return func(hc huma.Context) {
		ctx, cancel := context.WithCancel(hc.Context())
		defer cancel()
		changes := a.cluster.Follow(ctx)
		w := &watching{api: a, view: v, changes: changes, sent: map[string]sent{}}
		a.stream(ctx, hc, live.Source{
			Changed: changes.Ready(), Render: w.render,
			Allowed: func(ctx context.Context) error { return v.allowed(ctx, a) },
		})
	}
}

// stream serves the source, and answers for it if nothing can be sent.
func (a *API) stream(ctx context.Context, hc huma.Context, s live.Source) {
	r, w := humachi.Unwrap(hc)
	w.Header().Del("ETag")
	s.Alive = auth.Alive
	err := a.streams.Serve(w, r.WithContext(ctx), caller(ctx).Username, s)
	if err == nil {
		return
	}
	if tooMany, ok := errors.AsType[*live.TooManyError](err); ok {
		w.Header().Set("Retry-After", strconv.Itoa(streamRetry))
		writeProblem(w, r, http.StatusTooManyRequests,
			fmt.Sprintf("you have %d streams open, and there can be no more at a time: end one of them first", tooMany.Open))
		return
	}
	if s.Alive(ctx) != nil {
		writeProblem(w, r, http.StatusUnauthorized, "the token has expired: get a new one")
		return
	}
	a.answer(w, r, err)
}

// streamRetry is after how many seconds a stream may have ended.
const streamRetry = 10
