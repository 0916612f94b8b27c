package rest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/feed"
	"github.com/portico-platform/portico/portal/listing"
	"github.com/portico-platform/portico/portal/overview"
	"github.com/portico-platform/portico/portal/sse"
)

// Watch is the query parameter that requests a stream.
type Watch struct {
	Watch bool `query:"watch" doc:"Answer with a stream of server-sent events: what is there, then what changes."`
}

// watchWords describe the stream in the document.
const watchWords = "With watch=true the answer is a stream (text/event-stream) that lasts until the token expires, a " +
	"platform admin ends the sessions of its user, or the right to see one of the kinds is lost or gained. Events: " +
	"snapshot, one or more, with {\"items\":[…]}, and on the last \"complete\":true and \"forbidden\", as in " +
	"lists; " +
	"changed, with an object that is new or another " +
	"one; deleted, with {\"kind\",\"namespace\",\"name\",\"uid\",\"reason\"}, where reason is gone (it is no more), " +
	"unmatched (it no " +
	"longer matches the filters) or forbidden (it may no longer be seen). Changes within 300 ms are sent together. " +
	"Comments keep the " +
	"connection open. After a break, connect again: there is a new snapshot."

// wholly refuses parameters that would select a page of a stream.
func (q ListQuery) wholly(ctx context.Context) error {
	if q.Cursor == "" {
		return nil
	}
	return problem(ctx, http.StatusUnprocessableEntity, "a stream tells of all that matches: leave out the cursor",
		&huma.ErrorDetail{Location: "query.cursor", Message: "cannot be given with watch"})
}

// view is the content of a list or a stream.
type view struct {
	kinds     catalog.Catalog
	namespace string // "": all, or none for cluster-scoped kinds
	name      string // of the only object, "" for all
	filter    listing.Filter
	order     listing.Compare // of the first events; nil for a single object
}

// String returns the view without its filters.
func (v view) String() string {
	return strings.Join(append(plurals(v.kinds), v.namespace, v.name), "/")
}

// single reports whether the view is of one object.
func (v view) single() bool { return v.name != "" }

// concerns reports whether the change can affect the view.
func (v view) concerns(c feed.Change) bool {
	if c.Events || c.Pods || v.namespace != "" && c.Namespace != v.namespace || v.single() && c.Name != v.name {
		return false
	}
	_, ours := v.kinds.ByPlural(c.Kind)
	return ours
}

// in returns the view's objects of the kinds in namespace, whether they match or not.
func (a *API) in(ctx context.Context, v view, kinds catalog.Catalog, namespace string) (listing.Found, error) {
	if !v.single() {
		return listing.Read(ctx, a.cluster, caller(ctx), kinds, namespace)
	}
	found := listing.Found{Kinds: kinds}
	obj, err := a.cluster.Objects.Get(ctx, caller(ctx), ref(kinds[0], namespace, v.name))
	if apierrors.IsNotFound(err) {
		return found, nil
	}
	if err == nil {
		found.Items = []listing.Item{{Row: overview.NewRow(kinds[0], obj), Kind: &kinds[0]}}
	}
	return found, err
}

// seen returns the kinds of the view that the caller can see, and a *ForbiddenError if there are none. For a view
// across namespaces it does not check namespaced kinds: each read does.
func (v view) seen(ctx context.Context, a *API) (catalog.Catalog, error) {
	verb := "list"
	if v.single() {
		verb = "get"
	}
	var seen catalog.Catalog
	var refused error
	for _, k := range v.kinds {
		if !k.Namespaced || v.namespace != "" {
			err := a.allowed(ctx, verb, ref(k, v.namespace, v.name))
			if _, forbidden := errors.AsType[*failure.ForbiddenError](err); forbidden {
				refused = cmp.Or(refused, err)
				continue
			}
			if err != nil {
				return nil, err
			}
		}
		seen = append(seen, k)
	}
	if len(seen) == 0 {
		return nil, refused
	}
	return seen, nil
}

// errOtherKinds ends a stream when the kinds that the caller can see have changed: the next stream begins with all of
// them.
var errOtherKinds = errors.New("the caller can see other kinds than before")

// watch responds with the view as a stream.
func (a *API) watch(v view) func(huma.Context) {
	return func(hc huma.Context) {
		ctx, cancel := context.WithCancel(hc.Context())
		defer cancel()
		w := newWatching(a, v, a.cluster.Changes.Subscribe(ctx))
		a.stream(ctx, hc, sse.Source{Changed: w.changes.Ready(), Render: w.render, Allowed: w.allowed})
	}
}

// stream serves the source, and responds with an error if the stream cannot begin.
func (a *API) stream(ctx context.Context, hc huma.Context, s sse.Source) {
	r, w := humachi.Unwrap(hc)
	w.Header().Del("ETag")
	s.Alive, s.Allowed = auth.Alive, failure.NotingDenied(s.Allowed)
	err := a.streams.Serve(w, r.WithContext(ctx), caller(ctx).Username, s)
	if err == nil {
		return
	}
	if tooMany, ok := errors.AsType[*sse.TooManyError](err); ok {
		w.Header().Set("Retry-After", strconv.Itoa(streamRetry))
		writeProblem(w, r, http.StatusTooManyRequests,
			fmt.Sprintf("you have %d streams open, and there can be no more at a time: end one of them first",
				tooMany.Open))
		return
	}
	if ended := s.Alive(ctx); ended != nil {
		writeProblem(w, r, http.StatusUnauthorized, auth.TokenEnding(ended))
		return
	}
	a.answer(w, r, err)
}

// streamRetry is the Retry-After, in seconds, of a refused stream.
const streamRetry = 10
