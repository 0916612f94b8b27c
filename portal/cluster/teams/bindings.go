package teams

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/cluster/failure"
)

// Bindings returns the Secrets with connection details that the objects of a namespace publish in their status: by the
// Secret's name, its sorted keys. Kinds that the caller cannot list are left out. It neither reads nor lists Secrets.
func (t *Teams) Bindings(ctx context.Context, id auth.Identity, namespace string) (map[string][]string, error) {
	out := map[string][]string{}
	for _, k := range t.feed.Kinds.Now().Requestable() {
		if !k.Namespaced {
			continue
		}
		list, err := t.objects.List(ctx, id, k, namespace)
		if _, forbidden := errors.AsType[*failure.ForbiddenError](err); forbidden {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, obj := range list {
			name, _, _ := unstructured.NestedString(obj.Object, "status", "binding", "name")
			keys, _, _ := unstructured.NestedStringSlice(obj.Object, "status", "binding", "keys")
			if name != "" {
				out[name] = keys
			}
		}
	}
	return out, nil
}
