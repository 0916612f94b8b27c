package people

import (
	"context"
	"net/http"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/portico-platform/portico/api/identity"
	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/api/v1alpha1"
)

// Bound is an object that has a binding Secret.
type Bound struct {
	UID types.UID
	// Secret is the name of the binding Secret, which may not exist yet.
	Secret string
	// Binding is nil until it is published.
	Binding *v1alpha1.Binding
	// Elsewhere is text that says where the password is if the binding has none; "" if unknown.
	Elsewhere string
	// Tell records an event on the object: the person was shown its password or, if access is not empty, that of their
	// own user with this access.
	Tell func(actor, access string)
}

// FindBound returns the object. found is false if there is none; b then only has Secret, the name that the binding
// Secret would have. known is false for a kind without bindings.
type FindBound func(ctx context.Context, kind string, of types.NamespacedName) (b Bound, found, known bool, err error)

// Own is a person's own user in a database.
type Own struct {
	DatabaseUser types.NamespacedName
	Access       v1alpha1.BindingAccess
	ExpiresAt    time.Time
}

// MakeOwn creates the person's user in a database, or extends the life of an existing one, and waits until it is Ready.
// Errors are *Error.
type MakeOwn func(ctx context.Context, person string, database types.NamespacedName, access v1alpha1.BindingAccess) (
	Own, error)

// reveal returns the password of an object to a person. For a database it is that of the person's own user, unless
// master asks for the master password, which is for owners. For other objects the person must have the right to get the
// binding Secret.
func (h *Handler) reveal(ctx context.Context, id identity.Identity, kind string, of types.NamespacedName, master bool) (
	operatorapi.Password, error,
) {
	if err := h.store.checkNamespace(of.Namespace); err != nil {
		return operatorapi.Password{}, err
	}
	if err := checkName(of.Name); err != nil {
		return operatorapi.Password{}, problem(http.StatusUnprocessableEntity, "%q is not the name of an object",
			shorten(of.Name))
	}
	bound, found, known, err := h.find(ctx, kind, of)
	switch {
	case err != nil:
		return operatorapi.Password{}, unavailable(err)
	case !known:
		return operatorapi.Password{}, problem(http.StatusNotFound, "objects of the kind %s have no passwords", shorten(
			kind))
	}
	// Authorise before anything about existing objects is disclosed.
	access := v1alpha1.BindingAccess("")
	if kind == v1alpha1.KindRDSInstance {
		access, err = h.rights.inDatabase(ctx, id, of, bound.Secret, master)
	} else {
		err = h.rights.require(ctx, id, toRead(of.Namespace, bound.Secret))
	}
	switch {
	case err != nil:
		return operatorapi.Password{}, err
	case !found:
		return operatorapi.Password{}, problem(http.StatusNotFound, "there is no %s %s in namespace %s", kind, of.Name,
			of.Namespace)
	case bound.Binding == nil:
		return operatorapi.Password{},
			problem(http.StatusConflict, "%s has no connection details yet: wait until it is Ready", of.Name)
	}
	if access != "" {
		return h.revealOwn(ctx, id, of, access)
	}
	return h.readPassword(ctx, of, bound)
}

// revealOwn returns the password of the person's own user in a database.
func (h *Handler) revealOwn(ctx context.Context, id identity.Identity, database types.NamespacedName,
	access v1alpha1.BindingAccess,
) (out operatorapi.Password, err error) {
	own, err := h.own(ctx, id.Username, database, access)
	if err != nil {
		return out, err
	}
	bound, found, _, err := h.find(ctx, v1alpha1.KindDatabaseUser, own.DatabaseUser)
	switch {
	case err != nil:
		return out, unavailable(err)
	case !found || bound.Binding == nil:
		return out, problem(http.StatusConflict, "your user in %s is being dropped: try again in a moment",
			database.Name)
	}
	if out, err = h.readPassword(ctx, own.DatabaseUser, bound); err == nil {
		out.Access, out.ExpiresAt = string(own.Access), &own.ExpiresAt
	}
	return out, err
}

func (h *Handler) readPassword(ctx context.Context, of types.NamespacedName, bound Bound) (
	operatorapi.Password, error,
) {
	secret, err := h.store.find(ctx, of.Namespace, bound.Secret)
	if err != nil {
		return operatorapi.Password{}, err
	}
	if secret == nil || !strings.HasPrefix(string(secret.Type), "servicebinding.io/") ||
		len(secret.OwnerReferences) != 1 || secret.OwnerReferences[0].UID != bound.UID {
		return operatorapi.Password{},
			problem(http.StatusConflict, "the Secret %s is not the one with the connection details of %s", bound.Secret,
				of.Name)
	}
	text := func(key string) string { return string(secret.Data[key]) }
	if text("password") == "" {
		if bound.Elsewhere != "" {
			return operatorapi.Password{}, problem(http.StatusConflict, "%s: %s", of.Name, bound.Elsewhere)
		}
		return operatorapi.Password{}, problem(http.StatusConflict, "the connection details of %s have no password",
			of.Name)
	}
	return operatorapi.Password{
		Password: text("password"), Username: text("username"), Host: text("host"), Port: text("port"),
		Database: text("database"), Type: text("type"),
	}, nil
}
