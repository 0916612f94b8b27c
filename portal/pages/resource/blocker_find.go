package resource

import (
	"cmp"
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/phase"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/portal/status"
	"github.com/portico-platform/portico/web/views"
)

// maxDepth bounds the chain of references: an application, its queue, that queue's dead-letter queue.
const maxDepth = 3

// obstacle is a referenced object that is not ready, or does not exist.
type obstacle struct {
	views.Relation
	urgency, depth int
}

// blocker returns the object, among those that obj refers to directly or indirectly, that blocks it most: the worst by
// phase, and among equals the deepest. A missing object is as bad as one that needs attention. It returns nil if there
// is none, or none that the caller can see.
func (p *Pages) blocker(ctx context.Context, l objectRequest, obj *unstructured.Unstructured) (*views.Relation, error) {
	is, _ := status.PhaseIn(l.ref.Kind, obj)
	if is == phase.Ready || is == phase.Paused || obj.GetDeletionTimestamp() != nil {
		return nil, nil //nolint:nilnil // nothing is in the way of what is ready, or left alone
	}
	seen := map[catalog.Target]bool{{Kind: l.ref.Kind.ID(), Name: l.ref.Name}: true}
	all, err := p.obstacles(ctx, l, l.ref.Kind, obj, seen, 1)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	worst := slices.MinFunc(all, func(a, b obstacle) int {
		return cmp.Or(cmp.Compare(a.urgency, b.urgency), cmp.Compare(b.depth, a.depth))
	})
	return &worst.Relation, nil
}

// obstacles returns the obstacles below obj, in the order of its references.
func (p *Pages) obstacles(ctx context.Context, l objectRequest, k catalog.Kind, obj *unstructured.Unstructured,
	seen map[catalog.Target]bool, depth int,
) ([]obstacle, error) {
	var all []obstacle
	for _, r := range k.Refers {
		for _, t := range r.Targets(obj) {
			if seen[t] || depth > maxDepth {
				continue
			}
			seen[t] = true
			some, err := p.obstaclesAt(ctx, l, r.Role, t, seen, depth)
			if err != nil {
				return nil, err
			}
			all = append(all, some...)
		}
	}
	return all, nil
}

// obstaclesAt returns t and the obstacles below it; none if t is ready, or cannot be seen.
func (p *Pages) obstaclesAt(ctx context.Context, l objectRequest, role string, t catalog.Target,
	seen map[catalog.Target]bool, depth int,
) ([]obstacle, error) {
	kind, obj, err := p.targetOf(ctx, l, t)
	switch {
	case apierrors.IsNotFound(err):
		missing := views.Relation{Role: role, Missing: true, Resource: views.Resource{Name: t.Name, Kind: kind.Title}}
		return []obstacle{{missing, phase.NeedsYou.Urgency(), depth}}, nil
	case err != nil || obj == nil:
		return nil, err
	}
	is, _ := status.PhaseIn(kind, obj)
	if is == phase.Ready {
		return nil, nil
	}
	below, err := p.obstacles(ctx, l, kind, obj, seen, depth+1)
	here := views.Relation{Role: role, Resource: page.ResourceOf(l.space, kind, obj, p.Now())}
	return append([]obstacle{{here, is.Urgency(), depth}}, below...), err
}
