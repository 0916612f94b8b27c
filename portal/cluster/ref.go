package cluster

import (
	"k8s.io/client-go/dynamic"

	"github.com/portico-platform/portico/portal/catalog"
)

// Ref names one object; Namespace is empty for a cluster-scoped kind.
type Ref struct {
	Kind      catalog.Kind
	Namespace string
	Name      string
}

// in returns the client for one kind, in ref's namespace if the kind is namespaced.
func in(client dynamic.Interface, ref Ref) dynamic.ResourceInterface {
	r := client.Resource(ref.Kind.Resource)
	if ref.Kind.Namespaced {
		return r.Namespace(ref.Namespace)
	}
	return r
}
