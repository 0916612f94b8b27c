package holdup

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/catalog"
)

// needsUser reports whether obj needs its own user in a database to which it refers.
func needsUser(obj *unstructured.Unstructured, t catalog.Target) bool {
	if t.Kind != v1alpha1.KindRDSInstance || obj.GetKind() != v1alpha1.KindWebApp {
		return t.Kind == v1alpha1.KindRDSInstance && obj.GetKind() == v1alpha1.KindDatabaseUser
	}
	bindings, _, _ := unstructured.NestedSlice(obj.Object, "spec", "bindings")
	for _, one := range bindings {
		b, _ := one.(map[string]any)
		if b["kind"] == t.Kind && b["name"] == t.Name && b["user"] == string(v1alpha1.BindingUserOwn) {
			return true
		}
	}
	return false
}
