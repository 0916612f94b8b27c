package cluster

import "github.com/portico-platform/portico/portal/catalog"

// Right is something that a caller can be allowed to do. An empty namespace means all namespaces, or a cluster-scoped
// resource; an empty object means all objects.
type Right struct {
	verb, group, resource, sub, namespace, object string
	ofKind                                        bool // whether it is about objects of one of the platform's kinds
}

// Rights to resources other than the platform's own kinds.
var (
	ListPods   = Right{verb: "list", resource: "pods"}
	ListEvents = Right{verb: "list", resource: "events"}
	GetLogs    = Right{verb: "get", resource: "pods", sub: "log"}
	GetUsage   = Right{verb: "get", group: "metrics.k8s.io", resource: "pods"}
)

// RightTo returns the right to do verb with objects of the kind.
func RightTo(verb string, k catalog.Kind, namespace string) Right {
	return Right{verb: verb, group: k.Resource.Group, resource: k.Plural, namespace: namespace, ofKind: true}
}

// RightsTo returns the rights to do verb with objects of each of the kinds.
func RightsTo(verb string, kinds catalog.Catalog, namespace string) []Right {
	out := make([]Right, 0, len(kinds))
	for _, k := range kinds {
		out = append(out, RightTo(verb, k, namespace))
	}
	return out
}

// In returns the same right in the namespace.
func (r Right) In(namespace string) Right {
	r.namespace = namespace
	return r
}

// to returns the same right restricted to one object.
func (r Right) to(object string) Right {
	r.object = object
	return r
}

// name returns the resource as users write it: pods/log, pods.metrics.k8s.io.
func (r Right) name() string {
	if r.group == GetUsage.group {
		return r.resource + "." + r.group
	}
	if r.sub != "" {
		return r.resource + "/" + r.sub
	}
	return r.resource
}
