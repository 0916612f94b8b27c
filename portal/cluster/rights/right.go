package rights

import "github.com/portico-platform/portico/portal/catalog"

// Right is something that a caller can be allowed to do. An empty namespace means all namespaces, or a cluster-scoped
// resource; an empty object means all objects.
type Right struct {
	Verb, Group, Resource, Sub, Namespace, Object string
	kind                                          string // plural of the catalog's kind that it is about, "" if none
	closed                                        bool   // the kind's entry does not allow it to anybody
}

// Rights to resources other than the platform's own kinds.
var (
	ListPods   = Right{Verb: "list", Resource: "pods"}
	ListEvents = Right{Verb: "list", Resource: "events"}
	GetLogs    = Right{Verb: "get", Resource: "pods", Sub: "log"}
	GetUsage   = Right{Verb: "get", Group: "metrics.k8s.io", Resource: "pods"}
)

// To returns the right to do verb with objects of the kind.
func To(verb string, k catalog.Kind, namespace string) Right {
	return Right{
		Verb: verb, Group: k.Resource.Group, Resource: k.Resource.Resource, Namespace: namespace, kind: k.Plural,
		closed: !k.Allows(verb),
	}
}

// ToEach returns the rights to do verb with objects of each of the kinds.
func ToEach(verb string, kinds catalog.Catalog, namespace string) []Right {
	out := make([]Right, 0, len(kinds))
	for _, k := range kinds {
		out = append(out, To(verb, k, namespace))
	}
	return out
}

// In returns the same right in the namespace.
func (r Right) In(namespace string) Right {
	r.Namespace = namespace
	return r
}

// To returns the same right restricted to one object.
func (r Right) To(object string) Right {
	r.Object = object
	return r
}

// Name returns the resource as users write it: pods/log, pods.metrics.k8s.io.
func (r Right) Name() string {
	if r.Group == GetUsage.Group {
		return r.Resource + "." + r.Group
	}
	if r.kind != "" {
		return r.kind
	}
	if r.Sub != "" {
		return r.Resource + "/" + r.Sub
	}
	return r.Resource
}
