package people

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/types"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"

	"github.com/portico-platform/portico/api/expiring"
	"github.com/portico-platform/portico/api/identity"
	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/api/v1alpha1"
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

func (h *Handler) list(r *http.Request, id identity.Identity) (any, int, error) {
	ctx, namespace := r.Context(), r.PathValue("namespace")
	if err := h.store.checkNamespace(namespace); err != nil {
		return nil, 0, err
	}
	if err := h.rights.names(ctx, id, namespace); err != nil {
		return nil, 0, err
	}
	all, err := h.store.List(ctx, namespace)
	if err != nil {
		return nil, 0, err
	}
	uses, err := h.usesFor(ctx, id, namespace)
	if err != nil {
		return nil, 0, err
	}
	for i := range all {
		all[i].UsedBy = uses[all[i].Name]
	}
	return operatorapi.SecretList{Items: all}, http.StatusOK, nil
}

// resources are the resource names of the kinds that refer to Secrets.
var resources = map[string]string{
	v1alpha1.KindWebApp: "webapps", v1alpha1.KindRDSInstance: "rdsinstances",
	v1alpha1.KindEC2Instance: "ec2instances",
}

// usesFor returns the objects that use Secrets, limited to kinds that the person may list.
func (h *Handler) usesFor(ctx context.Context, id identity.Identity, namespace string) (
	map[string][]operatorapi.SecretUse, error,
) {
	all, err := h.uses(ctx, namespace)
	if err != nil {
		return nil, unavailable(err)
	}
	hidden := map[string]bool{}
	for kind, resource := range resources {
		ok, err := h.rights.has(ctx, id, right{
			verb: "list", group: v1alpha1.GroupVersion.Group, resource: resource,
			namespace: namespace,
		})
		if err != nil {
			return nil, err
		}
		hidden[kind] = !ok
	}
	for name, uses := range all {
		all[name] = slices.DeleteFunc(uses, func(u operatorapi.SecretUse) bool { return hidden[u.Kind] })
	}
	return all, nil
}

func (h *Handler) set(r *http.Request, id identity.Identity) (any, int, error) {
	ctx, namespace, name := r.Context(), r.PathValue("namespace"), r.PathValue("name")
	if err := firstOf(h.store.checkNamespace(namespace), checkName(name)); err != nil {
		return nil, 0, err
	}
	may, err := h.rights.change(ctx, id, namespace, name) // before the body is read
	if err != nil {
		return nil, 0, err
	}
	var change operatorapi.SecretChange
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, operatorapi.MaxSecretRequest))
	if err != nil {
		return nil, 0, problem(http.StatusRequestEntityTooLarge, "the values are larger than 1 MiB together, which "+
			"is all that a Secret can hold")
	}
	if json.Unmarshal(body, &change) != nil { // its error could quote a value
		return nil, 0, problem(http.StatusBadRequest, "the body is not a change of a Secret as JSON")
	}
	set, created, err := h.store.Set(ctx, namespace, name, change, id.Username, may)
	if err != nil {
		return nil, 0, err
	}
	if uses, err := h.usesFor(ctx, id, namespace); err == nil { // the value is set even if this fails
		set.UsedBy = uses[name]
	}
	if created {
		return set, http.StatusCreated, nil
	}
	return set, http.StatusOK, nil
}

func (h *Handler) remove(r *http.Request, id identity.Identity) (any, int, error) {
	ctx, namespace, name := r.Context(), r.PathValue("namespace"), r.PathValue("name")
	if err := firstOf(h.store.checkNamespace(namespace), checkName(name)); err != nil {
		return nil, 0, err
	}
	// The right to update includes the right to remove all keys, so no separate right is required.
	if err := h.rights.require(ctx, id, onValues("update", namespace, name)); err != nil {
		return nil, 0, err
	}
	if err := h.confirmed(r, id, namespace, name); err != nil {
		return nil, 0, err
	}
	was, err := h.store.Delete(ctx, namespace, name)
	return was, http.StatusOK, err
}

// confirmed rejects deleting a Secret in use, unless the request repeats its name.
func (h *Handler) confirmed(r *http.Request, id identity.Identity, namespace, name string) error {
	if r.URL.Query().Get("confirm") == name {
		return nil
	}
	uses, err := h.usesFor(r.Context(), id, namespace)
	if err != nil || len(uses[name]) == 0 {
		return err
	}
	return problem(http.StatusConflict, "the Secret %s is in use by %s, which cannot start without it: confirm with "+
		"its name", name, named(uses[name]))
}

func (h *Handler) show(r *http.Request, id identity.Identity) (any, int, error) {
	of := types.NamespacedName{Namespace: r.PathValue("namespace"), Name: r.PathValue("name")}
	password, err := h.reveal(r.Context(), id, r.PathValue("kind"), of, r.URL.Query().Has(operatorapi.AsMaster))
	if err != nil {
		return nil, 0, err
	}
	if bound, found, _, err := h.find(r.Context(), r.PathValue("kind"), of); err == nil && found {
		bound.Tell(id.Username, password.Access)
	}
	return password, http.StatusOK, nil
}

func named(uses []operatorapi.SecretUse) string {
	all := make([]string, 0, len(uses))
	for _, u := range uses {
		all = append(all, u.Kind+" "+u.Name)
	}
	return strings.Join(all, ", ")
}
