package people

import (
	"context"
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/portico-platform/portico/api/identity"
	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/api/v1alpha1"
)

// Bound is what the operator knows of an object that has a binding Secret.
type Bound struct {
	UID types.UID
	// Secret is the name of the binding Secret, whether or not there is one yet.
	Secret string
	// Binding is nil until it is published.
	Binding *v1alpha1.Binding
	// Elsewhere is where the password is if the binding has none, in words; "" if nobody knows.
	Elsewhere string
	// Tell notes on the object that the person was shown its password.
	Tell func(actor string)
}

// FindBound returns the object; found is false if there is none, and then only Secret is told: the name that it would have. known is
// false for a kind without bindings.
type FindBound func(ctx context.Context, kind string, of types.NamespacedName) (b Bound, found, known bool, err error)

// reveal returns the password of an object to a person who may get its binding Secret.
func (h *Handler) reveal(ctx context.Context, id identity.Identity, kind string, of types.NamespacedName) (operatorapi.Password, error) {
	if err := h.store.checkNamespace(of.Namespace); err != nil {
		return operatorapi.Password{}, err
	}
	if err := checkName(of.Name); err != nil {
		return operatorapi.Password{}, problem(http.StatusUnprocessableEntity, "%q is not the name of an object", shorten(of.Name))
	}
	bound, found, known, err := h.find(ctx, kind, of)
	switch {
	case err != nil:
		return operatorapi.Password{}, unavailable(err)
	case !known:
		return operatorapi.Password{}, problem(http.StatusNotFound, "objects of the kind %s have no passwords", shorten(kind))
	}
	// Before anything is told of what is there.
	if err := h.rights.require(ctx, id, toRead(of.Namespace, bound.Secret)); err != nil {
		return operatorapi.Password{}, err
	}
	switch {
	case !found:
		return operatorapi.Password{}, problem(http.StatusNotFound, "there is no %s %s in namespace %s", kind, of.Name, of.Namespace)
	case bound.Binding == nil:
		return operatorapi.Password{}, problem(http.StatusConflict, "%s has no connection details yet: wait until it is Ready", of.Name)
	}
	return h.readPassword(ctx, of, bound)
}

func (h *Handler) readPassword(ctx context.Context, of types.NamespacedName, bound Bound) (operatorapi.Password, error) {
	secret, err := h.store.find(ctx, of.Namespace, bound.Secret)
	if err != nil {
		return operatorapi.Password{}, err
	}
	if secret == nil || !strings.HasPrefix(string(secret.Type), "servicebinding.io/") || len(secret.OwnerReferences) != 1 || secret.OwnerReferences[0].UID != bound.UID {
		return operatorapi.Password{}, problem(http.StatusConflict, "the Secret %s is not the one with the connection details of %s", bound.Secret, of.Name)
	}
	text := func(key string) string { return string(secret.Data[key]) }
	if text("password") == "" {
		if bound.Elsewhere != "" {
			return operatorapi.Password{}, problem(http.StatusConflict, "%s: %s", of.Name, bound.Elsewhere)
		}
		return operatorapi.Password{}, problem(http.StatusConflict, "the connection details of %s have no password", of.Name)
	}
	return operatorapi.Password{
		Password: text("password"), Username: text("username"), Host: text("host"), Port: text("port"), Database: text("database"), Type: text("type"),
	}, nil
}
