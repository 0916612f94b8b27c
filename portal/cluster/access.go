package cluster

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
)

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

// require returns a *ForbiddenError if id lacks the right act.
func (a *access) require(ctx context.Context, id auth.Identity, act Right) error {
	is, err := a.decide(ctx, id, act)
	if err != nil {
		return err
	}
	if !is.ok {
		return &ForbiddenError{
			Verb: act.verb, Resource: act.name(), Namespace: act.namespace, Name: act.object,
			AuditID: is.auditID,
		}
	}
	return nil
}

// allowed reports whether id has the right act.
func (a *access) allowed(ctx context.Context, id auth.Identity, act Right) (bool, error) {
	is, err := a.decide(ctx, id, act)
	return is.ok, err
}

// decide returns whether id has the right act, from the cache or by a new review. For a namespace that does not exist
// it checks the cluster-wide right, and for an invalid name it denies, so that URLs with made-up names cost no reviews.
func (a *access) decide(ctx context.Context, id auth.Identity, act Right) (decision, error) {
	if err := id.Check(); err != nil {
		return decision{}, fmt.Errorf("refusing the caller: %w", err)
	}
	if act.namespace != "" && len(validation.IsDNS1123Label(act.namespace)) > 0 {
		return decision{}, nil
	}
	if there, err := a.there(ctx, act.namespace); err != nil {
		return decision{}, err
	} else if !there {
		act.namespace = ""
	}
	key := questionOf(id, act)
	if is, known := a.cache.get(key, act.namespace); known {
		return is, nil
	}
	if act.namespace == "" && a.worth != nil {
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
func (a *access) ask(ctx context.Context, id auth.Identity, act Right, key question) (decision, error) {
	if err := ctx.Err(); err != nil {
		return decision{}, err // the caller has gone
	}
	ch := a.flights.DoChan(string(key[:]), func() (any, error) {
		detached, cancel := context.WithTimeout(context.WithoutCancel(ctx), reviewTimeout)
		defer cancel()
		if is, known := a.cache.get(key, act.namespace); known {
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

func (a *access) review(ctx context.Context, id auth.Identity, act Right, key question) (decision, error) {
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: id.Username, Groups: reviewGroups(id),
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Verb: act.verb, Group: act.group, Resource: act.resource, Subresource: act.sub, Namespace: act.namespace,
			Name: act.object, Version: "*",
		},
	}}
	ctx, sent := withTrail(ctx, asPortal)
	asked := a.cache.clock.Now()
	answer, err := a.reviews.Create(ctx, review, metav1.CreateOptions{})
	if err != nil {
		return decision{}, &UnavailableError{
			Doing: fmt.Sprintf("asking whether %s may %s %s", id.Username, act.verb, act.name()), Cause: err,
		}
	}
	is, ttl := decision{ok: answer.Status.Allowed && !answer.Status.Denied}, grantTTL(act)
	if !is.ok {
		is.auditID, ttl = sent.auditID(), refusalTTL(act)
	}
	a.cache.add(key, is, asked, ttl)
	return is, nil
}

// lately returns nil if id had the right act within the last minute (emptyTTL), else the result of require. It is for
// empty lists.
func (a *access) lately(ctx context.Context, id auth.Identity, act Right) error {
	if a.cache.granted(questionOf(id, act)) {
		return nil
	}
	return a.require(ctx, id, act)
}

// forget drops the cached decision, so that the next call sends a review.
func (a *access) forget(id auth.Identity, act Right) { a.cache.remove(questionOf(id, act)) }

// onBindings handles changes of RoleBindings and ClusterRoleBindings: cached rights to change objects in their
// namespaces expire early.
func (a *access) onBindings() toolscache.ResourceEventHandler {
	note := func(obj any) {
		if m, err := meta.Accessor(lastState(obj)); err == nil {
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
			if !sameVersion(before, after) { // a resync changes nothing
				note(after)
			}
		},
	}
}

// Can reports whether the caller can do verb on objects of the kind in namespace; "" means every namespace, or is the
// only value for a cluster-scoped kind.
func (c *Cluster) Can(ctx context.Context, id auth.Identity, verb string, k catalog.Kind, namespace string) (
	bool, error,
) {
	return c.access.allowed(ctx, id, RightTo(verb, k, namespace))
}

// RequireOne returns a *ForbiddenError unless the caller can do verb with one object; as for CanOne, a right to that
// object alone is enough. It refuses a ref without the namespace that its kind needs, which would check all namespaces.
// Except for create, it also refuses an invalid name without a review, because names become part of a request's path;
// on create the API server's error explains what is wrong with the name.
func (c *Cluster) RequireOne(ctx context.Context, id auth.Identity, verb string, ref Ref) error {
	if ref.Kind.Namespaced != (ref.Namespace != "") {
		return fmt.Errorf("%s %s %q in namespace %q: one is needed for namespaced kinds only", verb, ref.Kind.Plural,
			ref.Name, ref.Namespace)
	}
	if verb != "create" && len(validation.IsDNS1123Subdomain(ref.Name)) > 0 {
		return &ForbiddenError{Verb: verb, Resource: ref.Kind.Plural, Namespace: ref.Namespace, Name: ref.Name}
	}
	return about(ref.Name, c.access.require(ctx, id, c.rightTo(ctx, id, verb, ref)))
}

// Require returns a *ForbiddenError unless the caller can do verb with objects of the kind in ref's namespace. The
// name, which can be empty, is only for the log.
func (c *Cluster) Require(ctx context.Context, id auth.Identity, verb string, ref Ref) error {
	return about(ref.Name, c.access.require(ctx, id, RightTo(verb, ref.Kind, ref.Namespace)))
}

// rightTo returns the right that lets the caller do verb with one object, or the one that is missing.
func (c *Cluster) rightTo(ctx context.Context, id auth.Identity, verb string, ref Ref) Right {
	act := RightTo(verb, ref.Kind, ref.Namespace)
	if ref.Kind.Namespaced || verb == "create" || ref.Name == "" {
		return act
	}
	if ok, err := c.access.allowed(ctx, id, act); ok || err != nil {
		return act // the caller's own check reports the error
	}
	return act.to(ref.Name)
}

// CanOne reports whether the caller can do verb with one object. Rights to single objects are checked for
// cluster-scoped kinds only, where members have a right to their own Team: for other kinds this would be one review per
// object of a list.
func (c *Cluster) CanOne(ctx context.Context, id auth.Identity, verb string, ref Ref) (bool, error) {
	return c.access.allowed(ctx, id, c.rightTo(ctx, id, verb, ref))
}

// filter returns the elements for which ask returns true, in any order. It calls ask concurrently.
func filter[T any](ctx context.Context, all []T, ask func(context.Context, T) (bool, error)) ([]T, error) {
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
