package people

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/portico-platform/portico/api/identity"
	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/api/v1alpha1"
)

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
