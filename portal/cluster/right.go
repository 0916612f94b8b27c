package cluster

import (
	"context"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
)

// Right is what a caller may be allowed to do; an empty namespace means all of them, or a cluster-scoped resource.
type Right struct{ verb, group, resource, sub, namespace string }

// What is asked about besides the platform's own kinds.
var (
	ListPods   = Right{verb: "list", resource: "pods"}
	ListEvents = Right{verb: "list", resource: "events"}
	GetLogs    = Right{verb: "get", resource: "pods", sub: "log"}
)

// RightTo is the right to do verb with objects of the kind.
func RightTo(verb string, k catalog.Kind, namespace string) Right {
	return Right{verb: verb, group: k.Resource.Group, resource: k.Plural, namespace: namespace}
}

// RightsTo are the rights to do verb with objects of each of the kinds.
func RightsTo(verb string, kinds catalog.Catalog, namespace string) []Right {
	out := make([]Right, 0, len(kinds))
	for _, k := range kinds {
		out = append(out, RightTo(verb, k, namespace))
	}
	return out
}

// In is the same right in the namespace.
func (r Right) In(namespace string) Right {
	r.namespace = namespace
	return r
}

// name is the resource as people write it: pods/log.
func (r Right) name() string {
	if r.sub != "" {
		return r.resource + "/" + r.sub
	}
	return r.resource
}

// Ahead asks for rights that the caller is about to need, all at once, and waits for no answer: whoever needs one then
// finds it, or waits for the question that is under way. It decides nothing. A page asks a dozen questions, one after
// the other, and this makes of as many times to the API server and back about one.
func (c *Cluster) Ahead(ctx context.Context, id auth.Identity, rights ...Right) {
	open := make([]Right, 0, len(rights))
	for _, r := range rights {
		if _, known := c.access.answers.get(asked(id, r)); !known {
			open = append(open, r)
		}
	}
	if len(open) < 2 {
		return // whoever needs it asks as soon
	}
	go func() {
		_, _ = among(ctx, open, func(ctx context.Context, r Right) (bool, error) {
			_, _ = c.access.allowed(ctx, id, r) // an error meets whoever needs the answer
			return false, nil
		})
	}()
}
