// Package rights decides what callers can do in Kubernetes, by access reviews whose answers it keeps for seconds.
package rights

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/singleflight"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/feed"
)

// Options of Rights.
type Options struct {
	Reviews authorizationclient.SubjectAccessReviewInterface
	// Feed has the namespaces, and the bindings that name callers; without one, every namespace exists and every right
	// is worth a review.
	Feed *feed.Feed
	// AskEverywhere is for API servers with authorizers other than RBAC: each user's rights are then reviewed in the
	// whole cluster and in every namespace, and not only where bindings name the user.
	AskEverywhere bool
	Clock         clock.PassiveClock
}

// Rights decides what callers can do. It is safe for concurrent use.
type Rights struct {
	*access
	feed          *feed.Feed
	askEverywhere bool
}

// New returns Rights.
func New(o Options) *Rights {
	r := &Rights{access: newAccess(o.Reviews, o.Clock), feed: o.Feed, askEverywhere: o.AskEverywhere}
	if o.Feed != nil {
		r.worth, r.exists = r.worthAsking, o.Feed.NamespaceExists
	}
	return r
}

// reviewTimeout bounds one access review. The review outlives the request that started it, since others share it.
const reviewTimeout = 5 * time.Second

// access checks what a caller can do, by SubjectAccessReview with the portal's own ServiceAccount.
type access struct {
	reviews authorizationclient.SubjectAccessReviewInterface
	cache   *accessCache
	flights singleflight.Group
	// worth reports whether a cluster-wide right is worth a review; if not, the decision is no. nil reviews every
	// right.
	worth func(context.Context, auth.Identity, Right) (bool, error)
	// exists reports whether the namespace exists; nil means that every namespace does.
	exists func(ctx context.Context, namespace string) (bool, error)
}

func newAccess(reviews authorizationclient.SubjectAccessReviewInterface, c clock.PassiveClock) *access {
	return &access{reviews: reviews, cache: newAccessCache(accessEntries, c)}
}

// RequireRight returns a *failure.ForbiddenError if id lacks the right act.
func (a *access) RequireRight(ctx context.Context, id auth.Identity, act Right) error {
	is, err := a.decide(ctx, id, act)
	if err != nil {
		return err
	}
	if !is.ok {
		return &failure.ForbiddenError{
			Verb: act.Verb, Resource: act.Name(), Namespace: act.Namespace, Name: act.Object,
			AuditID: is.auditID,
		}
	}
	return nil
}

// Allowed reports whether id has the right act.
func (a *access) Allowed(ctx context.Context, id auth.Identity, act Right) (bool, error) {
	is, err := a.decide(ctx, id, act)
	return is.ok, err
}

// decide returns whether id has the right act, from the cache or by a new review. For a namespace that does not exist
// it checks the cluster-wide right, and for an invalid name it denies, so that URLs with made-up names cost no reviews.
func (a *access) decide(ctx context.Context, id auth.Identity, act Right) (decision, error) {
	if err := id.Check(); err != nil {
		return decision{}, fmt.Errorf("refusing the caller: %w", err)
	}
	if act.closed {
		return decision{}, nil
	}
	if act.Namespace != "" && len(validation.IsDNS1123Label(act.Namespace)) > 0 {
		return decision{}, nil
	}
	if there, err := a.there(ctx, act.Namespace); err != nil {
		return decision{}, err
	} else if !there {
		act.Namespace = ""
	}
	key := QuestionOf(id, act)
	if is, known := a.cache.get(key, act.Namespace); known {
		return is, nil
	}
	if act.Namespace == "" && a.worth != nil {
		worth, err := a.worth(ctx, id, act)
		if err == nil && !worth {
			a.cache.add(key, decision{}, a.cache.clock.Now(), refusalTTL(act))
		}
		if err != nil || !worth {
			return decision{}, err
		}
	}
	return a.ask(ctx, id, act, key)
}

// there reports whether the namespace exists; true for "", which means all namespaces.
func (a *access) there(ctx context.Context, namespace string) (bool, error) {
	if namespace == "" || a.exists == nil {
		return true, nil
	}
	return a.exists(ctx, namespace)
}

// ask waits for a review. Concurrent callers with the same question share one.
func (a *access) ask(ctx context.Context, id auth.Identity, act Right, key Question) (decision, error) {
	if err := ctx.Err(); err != nil {
		return decision{}, err // the caller has gone
	}
	ch := a.flights.DoChan(string(key[:]), func() (any, error) {
		detached, cancel := context.WithTimeout(context.WithoutCancel(ctx), reviewTimeout)
		defer cancel()
		if is, known := a.cache.get(key, act.Namespace); known {
			return is, nil // cached after the caller's own lookup
		}
		return a.review(detached, id, act, key)
	})
	select {
	case <-ctx.Done():
		return decision{}, ctx.Err()
	case r := <-ch:
		if r.Err != nil {
			return decision{}, r.Err
		}
		return r.Val.(decision), nil
	}
}

func (a *access) review(ctx context.Context, id auth.Identity, act Right, key Question) (decision, error) {
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: id.Username, Groups: reviewGroups(id),
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Verb: act.Verb, Group: act.Group, Resource: act.Resource, Subresource: act.Sub, Namespace: act.Namespace,
			Name: act.Object, Version: "*",
		},
	}}
	ctx, sent := failure.WithTrail(ctx, failure.AsPortal)
	asked := a.cache.clock.Now()
	answer, err := a.reviews.Create(ctx, review, metav1.CreateOptions{})
	if err != nil {
		return decision{}, &failure.UnavailableError{
			Doing: fmt.Sprintf("asking whether %s may %s %s", id.Username, act.Verb, act.Name()), Cause: err,
		}
	}
	is, ttl := decision{ok: answer.Status.Allowed && !answer.Status.Denied}, grantTTL(act)
	if !is.ok {
		is.auditID, ttl = sent.AuditID(), refusalTTL(act)
	}
	a.cache.add(key, is, asked, ttl)
	return is, nil
}

// Lately returns nil if id had the right act within the last minute (emptyTTL), else the result of RequireRight. It is
// for empty lists.
func (a *access) Lately(ctx context.Context, id auth.Identity, act Right) error {
	if a.cache.granted(QuestionOf(id, act)) {
		return nil
	}
	return a.RequireRight(ctx, id, act)
}

// Forget drops the cached decision, so that the next call sends a review.
func (a *access) Forget(id auth.Identity, act Right) { a.cache.remove(QuestionOf(id, act)) }

// OnBindings handles changes of RoleBindings and ClusterRoleBindings: cached rights to change objects in their
// namespaces expire early.
func (a *access) OnBindings() toolscache.ResourceEventHandler {
	note := func(obj any) {
		if m, err := meta.Accessor(feed.LastState(obj)); err == nil {
			a.cache.noteChange(m.GetNamespace())
		}
	}
	return toolscache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(obj any, initial bool) {
			if !initial {
				note(obj)
			}
		},
		DeleteFunc: note,
		UpdateFunc: func(before, after any) {
			if !feed.SameVersion(before, after) { // a resync changes nothing
				note(after)
			}
		},
	}
}

// Can reports whether the caller can do verb on objects of the kind in namespace; "" means every namespace, or is the
// only value for a cluster-scoped kind.
func (r *Rights) Can(ctx context.Context, id auth.Identity, verb string, k catalog.Kind, namespace string) (
	bool, error,
) {
	return r.Allowed(ctx, id, To(verb, k, namespace))
}

// RequireOne returns a *failure.ForbiddenError unless the caller can do verb with one object; as for CanOne, a right to
// that object alone is enough. It refuses a ref without the namespace that its kind needs, which would check all
// namespaces. Except for create, it also refuses an invalid name without a review, because names become part of a
// request's path; on create the API server's error explains what is wrong with the name.
func (r *Rights) RequireOne(ctx context.Context, id auth.Identity, verb string, ref catalog.Ref) error {
	if ref.Kind.Namespaced != (ref.Namespace != "") {
		return fmt.Errorf("%s %s %q in namespace %q: one is needed for namespaced kinds only", verb, ref.Kind.Plural,
			ref.Name, ref.Namespace)
	}
	if verb != "create" && len(validation.IsDNS1123Subdomain(ref.Name)) > 0 {
		return &failure.ForbiddenError{Verb: verb, Resource: ref.Kind.Plural, Namespace: ref.Namespace, Name: ref.Name}
	}
	return failure.About(ref.Name, r.RequireRight(ctx, id, r.RightTo(ctx, id, verb, ref)))
}

// Require returns a *failure.ForbiddenError unless the caller can do verb with objects of the kind in ref's namespace.
// The name, which can be empty, is only for the log.
func (r *Rights) Require(ctx context.Context, id auth.Identity, verb string, ref catalog.Ref) error {
	return failure.About(ref.Name, r.RequireRight(ctx, id, To(verb, ref.Kind, ref.Namespace)))
}

// RightTo returns the right that lets the caller do verb with one object, or the one that is missing.
func (r *Rights) RightTo(ctx context.Context, id auth.Identity, verb string, ref catalog.Ref) Right {
	act := To(verb, ref.Kind, ref.Namespace)
	if ref.Kind.Namespaced || verb == "create" || ref.Name == "" {
		return act
	}
	if ok, err := r.Allowed(ctx, id, act); ok || err != nil {
		return act // the caller's own check reports the error
	}
	return act.To(ref.Name)
}

// CanOne reports whether the caller can do verb with one object. Rights to single objects are checked for
// cluster-scoped kinds only, where members have a right to their own Team: for other kinds this would be one review per
// object of a list.
func (r *Rights) CanOne(ctx context.Context, id auth.Identity, verb string, ref catalog.Ref) (bool, error) {
	return r.Allowed(ctx, id, r.RightTo(ctx, id, verb, ref))
}

// Filter returns the elements for which ask returns true, in any order. It calls ask concurrently.
func Filter[T any](ctx context.Context, all []T, ask func(context.Context, T) (bool, error)) ([]T, error) {
	var mu sync.Mutex
	var out []T
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(reviewsAtOnce)
	for _, one := range all {
		g.Go(func() error {
			ok, err := ask(ctx, one)
			if err != nil || !ok {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			out = append(out, one)
			return nil
		})
	}
	return out, g.Wait()
}

// reviewsAtOnce bounds the concurrent access reviews of one request.
const reviewsAtOnce = 16

// RequireInterest returns a *failure.ForbiddenError unless the caller can create or list objects of the kind in the
// namespace.
func (r *Rights) RequireInterest(ctx context.Context, id auth.Identity, k catalog.Kind, namespace string) error {
	if may, err := r.Can(ctx, id, "create", k, namespace); err != nil || may {
		return err
	}
	return r.RequireRight(ctx, id, To("list", k, namespace))
}
