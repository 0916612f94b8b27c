package people

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/time/rate"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"

	"github.com/portico-platform/portico/api/expiring"
	"github.com/portico-platform/portico/api/identity"
	"github.com/portico-platform/portico/api/operatorapi"
)

// Verifier verifies a person's token; identity.Verifier implements it.
type Verifier interface {
	Caller(ctx context.Context, token string) (identity.Identity, error)
	FreshCaller(ctx context.Context, token string) (identity.Identity, error)
}

// Uses returns the objects in the namespace whose spec names Secrets, by the name of the Secret.
type Uses func(ctx context.Context, namespace string) (map[string][]operatorapi.SecretUse, error)

// Handler serves the requests that the portal forwards for people.
type Handler struct {
	verifier Verifier
	rights   rights
	store    *Store
	find     FindBound
	own      MakeOwn
	uses     Uses
	log      logr.Logger
	paces    *expiring.Cache[string, *rate.Limiter] // by person
	now      func() time.Time
}

// Limits for one person: nobody needs more for long, and the rest is for others.
const (
	actsASecond = 5
	actsAtOnce  = 20
	paceFor     = time.Minute
	pacesKept   = 4096
)

// Options are the parts of a Handler; all are needed.
type Options struct {
	Verifier Verifier
	Reviews  authorizationclient.SubjectAccessReviewInterface
	Store    *Store
	Find     FindBound
	Own      MakeOwn
	Uses     Uses
	Log      logr.Logger // includes the audit log
}

// New returns a Handler with these parts.
func New(o Options) *Handler {
	now := o.Store.Now
	return &Handler{
		paces: expiring.New[string, *rate.Limiter](pacesKept, now), now: now,
		verifier: o.Verifier, rights: rights{o.Reviews}, store: o.Store, find: o.Find, own: o.Own, uses: o.Uses,
		log: o.Log,
	}
}

// act is one kind of request. do returns the response body, or nil for none.
type act struct {
	name  string // in the audit log
	fresh bool   // requires a recent sign-in
	do    func(h *Handler, r *http.Request, id identity.Identity) (answer any, status int, err error)
}

// Routes registers all routes on mux.
func (h *Handler) Routes(mux *http.ServeMux) {
	one := operatorapi.SecretsPath + "/{namespace}"
	for pattern, a := range map[string]act{
		"GET " + one:                {name: "list", do: (*Handler).list},
		"PATCH " + one + "/{name}":  {name: "update", do: (*Handler).set},
		"DELETE " + one + "/{name}": {name: "delete", do: (*Handler).remove},
		"POST " + operatorapi.RevealPath + "/{kind}/{namespace}/{name}": {name: "reveal", fresh: true, do: (*Handler).show},
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { h.serve(w, r, a) })
	}
}

func (h *Handler) serve(w http.ResponseWriter, r *http.Request, a act) {
	id, err := h.person(r, a.fresh)
	if err == nil {
		err = h.pace(id)
	}
	var answer any
	status := 0
	if err == nil {
		answer, status, err = a.do(h, r, id)
	}
	told := asError(err)
	record(h.log, r, a.name, id, asWhom(r, answer), told)
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if told != nil {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(told.Status)
		_ = json.NewEncoder(w).Encode(
			operatorapi.Problem{Title: http.StatusText(told.Status), Status: told.Status, Detail: told.Detail})
		return
	}
	if answer == nil {
		w.WriteHeader(status)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(answer) // an error means that the client has gone
}

// pace rejects a person who sends requests too fast: all people share the handler's rate limit at Kubernetes.
func (h *Handler) pace(id identity.Identity) error {
	own, ok := h.paces.Get(id.Username)
	if !ok {
		own = rate.NewLimiter(actsASecond, actsAtOnce)
		h.paces.Put(id.Username, own, paceFor)
	}
	if !own.AllowN(h.now(), 1) {
		return problem(http.StatusTooManyRequests, "that is more than %d requests a second for Secrets: try again in "+
			"a moment", actsASecond)
	}
	return nil
}

// person returns the identity in the request's token. Everything else that the portal claims about it is ignored.
func (h *Handler) person(r *http.Request, fresh bool) (identity.Identity, error) {
	tokens := r.Header.Values(operatorapi.HeaderPerson)
	r.Header.Del(operatorapi.HeaderPerson)
	if len(tokens) != 1 || tokens[0] == "" {
		return identity.Identity{},
			problem(http.StatusUnauthorized, "this is for people who have signed in: their token is missing")
	}
	verify := h.verifier.Caller
	if fresh {
		verify = h.verifier.FreshCaller
	}
	id, err := verify(r.Context(), tokens[0])
	var refused *identity.RefusedError
	var stale *identity.NotFreshError
	switch {
	case err == nil:
		return id, nil
	case errors.As(err, &stale):
		return id, problem(http.StatusUnauthorized, "%s", stale.Error())
	case errors.As(err, &refused):
		return id, &Error{Status: http.StatusForbidden, Denied: true, Detail: refused.Reason, Cause: refused.Cause}
	case errors.Is(err, identity.ErrBadToken):
		return id, &Error{
			Status: http.StatusUnauthorized, Denied: true, Cause: errors.New(identity.Clean(err.Error())),
			Detail: "the operator does not take the token: it may have expired, or be for another audience. Sign " +
				"in again",
		}
	}
	return id, &Error{
		Status: http.StatusServiceUnavailable, Detail: "the operator cannot verify the token at the moment, for the " +
			"identity provider does not answer; try again",
		Cause: errors.New(identity.Clean(err.Error())),
	}
}

func asError(err error) *Error {
	if err == nil {
		return nil
	}
	if told, ok := errors.AsType[*Error](err); ok {
		return told
	}
	return &Error{
		Status: http.StatusInternalServerError, Detail: "something went wrong; the error has been logged",
		Cause: err,
	}
}
