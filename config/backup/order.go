package backup

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/config/crd"
)

// first are the kinds that others refer to, in the order in which they are restored; all others come after them.
var first = []string{
	"Namespace", "AWSProvider", "Team", "HostnameGrant", "PoolGateway", "DomainClaim",
	"ClusterRoleBinding", "RoleBinding",
}

// roles are those of people and tools; the bindings of the others belong to the installation.
var roles = []string{
	"portico-viewer", "portico-developer", "portico-owner", "portico-secret-writer",
	"portico-database-reader", "portico-database-owner", "portico-admin",
}

// kind is one whose objects are saved.
type kind struct {
	schema.GroupVersionResource

	name       string
	namespaced bool
}

func (k kind) rank() int {
	if at := slices.Index(first, k.name); at >= 0 {
		return at
	}
	return len(first)
}

// kinds returns all kinds in the order in which they are restored.
func kinds() ([]kind, error) {
	rbac := schema.GroupVersion{Group: "rbac.authorization.k8s.io", Version: "v1"}
	all := []kind{
		{namespaces, "Namespace", false},
		{rbac.WithResource("clusterrolebindings"), "ClusterRoleBinding", false},
		{rbac.WithResource("rolebindings"), "RoleBinding", true},
	}
	files, err := crd.Files.ReadDir("bases")
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		text, err := crd.Files.ReadFile("bases/" + file.Name())
		if err != nil {
			return nil, err
		}
		made := map[string]any{}
		if err := yaml.Unmarshal(text, &made); err != nil {
			return nil, fmt.Errorf("read %s: %w", file.Name(), err)
		}
		all = append(all, kindOf(made))
	}
	slices.SortStableFunc(all, func(a, b kind) int { return a.rank() - b.rank() })
	return all, nil
}

func kindOf(crd map[string]any) kind {
	text := func(fields ...string) string {
		found, _, _ := unstructured.NestedString(crd, fields...)
		return found
	}
	versions, _, _ := unstructured.NestedSlice(crd, "spec", "versions")
	k := kind{name: text("spec", "names", "kind"), namespaced: text("spec", "scope") == "Namespaced"}
	k.Group, k.Resource = text("spec", "group"), text("spec", "names", "plural")
	for _, v := range versions {
		if version, ok := v.(map[string]any); ok && version["storage"] == true {
			k.Version, _ = version["name"].(string)
		}
	}
	return k
}

// saved reports whether users created the object: objects of Kubernetes, an installation or a Team are created again.
func saved(o *object) bool {
	if owner := metav1.GetControllerOf(o); owner != nil && owner.Kind == v1alpha1.KindTeam {
		return false
	}
	switch o.GetKind() {
	case v1alpha1.KindDatabaseUser: // a person's own lives for a day, and Portico makes it when they ask
		owner := metav1.GetControllerOf(o)
		return o.GetDeletionTimestamp() == nil && (owner == nil || owner.Kind != v1alpha1.KindRDSInstance)
	case "RoleBinding", "ClusterRoleBinding":
		ref, _, _ := unstructured.NestedString(o.Object, "roleRef", "name")
		return slices.Contains(roles, ref)
	case "Namespace":
		return !strings.HasPrefix(o.GetName(), "kube-") && o.GetName() != metav1.NamespaceDefault
	}
	return o.GetDeletionTimestamp() == nil
}
