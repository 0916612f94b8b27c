package pages

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/portal/phase"
	"github.com/portico-platform/portico/web/views"
)

// maxDepth is how far references are followed: an application, its queue, that one's dead-letter queue.
const maxDepth = 3

// blocker is the object furthest down the references of obj that is not ready, or not there: what it says is what is in
// the way of obj. nil is none, or none that the caller may see.
func (p *Pages) blocker(ctx context.Context, l looking, obj *unstructured.Unstructured) (*views.Relation, error) {
	if is, _ := phase.Of(obj); is == phase.Ready || is == phase.Paused || obj.GetDeletionTimestamp() != nil {
		return nil, nil //nolint:nilnil // nothing is in the way of what is ready, or left alone
	}
	seen := map[catalog.Target]bool{{Kind: l.ref.Kind.Name, Name: l.ref.Name}: true}
	return p.deepest(ctx, l, l.ref.Kind, obj, seen, maxDepth)
}

func (p *Pages) deepest(ctx context.Context, l looking, k catalog.Kind, obj *unstructured.Unstructured,
	seen map[catalog.Target]bool, depth int,
) (*views.Relation, error) {
	for _, r := range k.Refers {
		for _, t := range r.Targets(obj) {
			if seen[t] || depth == 0 {
				continue
			}
			seen[t] = true
			found, err := p.notReady(ctx, l, r.Role, t, seen, depth)
			if found != nil || err != nil {
				return found, err
			}
		}
	}
	return nil, nil //nolint:nilnil // nothing stands in the way here
}

// notReady is t, or what stands in its way, unless it is ready or cannot be seen.
func (p *Pages) notReady(ctx context.Context, l looking, role string, t catalog.Target,
	seen map[catalog.Target]bool, depth int,
) (*views.Relation, error) {
	kind, obj, err := p.targetOf(ctx, l, t)
	switch {
	case apierrors.IsNotFound(err):
		return &views.Relation{Role: role, Missing: true, Resource: views.Resource{Name: t.Name, Kind: kind.Title}}, nil
	case err != nil || obj == nil:
		return nil, err
	}
	if is, _ := phase.Of(obj); is == phase.Ready {
		return nil, nil //nolint:nilnil // it is not in the way
	}
	deeper, err := p.deepest(ctx, l, kind, obj, seen, depth-1)
	if deeper != nil || err != nil {
		return deeper, err
	}
	return &views.Relation{Role: role, Resource: resourceOf(l.space, kind, obj, p.now())}, nil
}

// targetOf reads an object that another one refers to; nil without an error is one that the caller may not see.
func (p *Pages) targetOf(ctx context.Context, l looking, t catalog.Target) (catalog.Kind, *unstructured.Unstructured, error) {
	kind, ok := p.cluster.Kinds().ByName(t.Kind)
	if !ok {
		return kind, nil, nil
	}
	obj, err := p.cluster.Get(ctx, l.id, cluster.Ref{Kind: kind, Namespace: l.space.namespace, Name: t.Name})
	if unseen(err) {
		return kind, nil, nil
	}
	return kind, obj, err
}
