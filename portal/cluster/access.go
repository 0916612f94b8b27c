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

// reviewTimeout bounds one access review; it outlives the request that asked first, since others share it.
const reviewTimeout = 5 * time.Second

// access answers whether a caller can do something, by SubjectAccessReview with the portal's own ServiceAccount.
type access struct {
	reviews authorizationclient.SubjectAccessReviewInterface
	cache   *accessCache
	flights singleflight.Group
	// worth says whether a right in the whole cluster is worth asking about: the answer is no where it is not. nil is
	// always.
	worth func(context.Context, auth.Identity, Right) (bool, error)
	// exists says whether there is such a namespace; nil is always.
	exists func(ctx context.Context, namespace string) (bool, error)
}

func newAccess(reviews authorizationclient.SubjectAccessReviewInterface, c clock.PassiveClock) *access {
	return &access{reviews: reviews, cache: newAccessCache(accessEntries, c)}
}

// require returns a *ForbiddenError if id may not do act.
func (a *access) require(ctx context.Context, id auth.Identity, act Right) error {
	is, err := a.decide(ctx, id, act)
	if err != nil {
		return err
	}
	if !is.ok {
		return &ForbiddenError{Verb: act.verb, Resource: act.name(), Namespace: act.namespace, Name: act.object, AuditID: is.auditID}
	}
	return nil
}

// allowed reports whether id may do act.
func (a *access) allowed(ctx context.Context, id auth.Identity, act Right) (bool, error) {
	is, err := a.decide(ctx, id, act)
	return is.ok, err
}

// decide returns whether id may do act, by the last seconds' reviews or a new one. In a namespace that does not exist
// callers may do what they may in all of them, and in one whose name none can have nothing: addresses with made-up
// names cost no reviews.
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

// there reports whether the namespace exists; "" is all of them.
func (a *access) there(ctx context.Context, namespace string) (bool, error) {
	if namespace == "" || a.exists == nil {
		return true, nil
	}
	return a.exists(ctx, namespace)
}

// ask waits for a review. All who ask the same at once share one.
func (a *access) ask(ctx context.Context, id auth.Identity, act Right, key question) (decision, error) {
	if err := ctx.Err(); err != nil {
		return decision{}, err // nobody waits for the answer
	}
	ch := a.flights.DoChan(string(key[:]), func() (any, error) {
		detached, cancel := context.WithTimeout(context.WithoutCancel(ctx), reviewTimeout)
		defer cancel()
		if is, known := a.cache.get(key, act.namespace); known {
			return is, nil // it came between the look at the answers and this flight
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
			Verb: act.verb, Group: act.group, Resource: act.resource, Subresource: act.sub, Namespace: act.namespace, Name: act.object, Version: "*",
		},
	}}
	ctx, sent := withTrail(ctx, asPortal)
	asked := a.cache.clock.Now()
	answer, err := a.reviews.Create(ctx, review, metav1.CreateOptions{})
	if err != nil {
		return decision{}, &UnavailableError{Doing: fmt.Sprintf("asking whether %s may %s %s", id.Username, act.verb, act.name()), Cause: err}
	}
	is, ttl := decision{ok: answer.Status.Allowed && !answer.Status.Denied}, grantTTL(act)
	if !is.ok {
		is.auditID, ttl = sent.auditID(), refusalTTL(act)
	}
	a.cache.add(key, is, asked, ttl)
	return is, nil
}

// lately returns nil if id could do act within the last minute (emptyTTL), else what require returns. It is for lists
// without objects.
func (a *access) lately(ctx context.Context, id auth.Identity, act Right) error {
	if a.cache.granted(questionOf(id, act)) {
		return nil
	}
	return a.require(ctx, id, act)
}

// forget drops the answer, so that the API server is asked the next time.
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

// Can reports whether the caller can do verb on objects of the kind in namespace; "" means in every namespace, or for
// a cluster-scoped kind the only scope there is.
func (c *Cluster) Can(ctx context.Context, id auth.Identity, verb string, k catalog.Kind, namespace string) (bool, error) {
	return c.access.allowed(ctx, id, RightTo(verb, k, namespace))
}

// RequireOne returns a *ForbiddenError unless the caller can do verb with one object; as for CanOne, a right to it
// alone counts. It refuses a ref without the namespace that its kind needs, which would ask about every namespace, and
// unasked one whose name no object can have: names become part of the path of a request. What is to be created may have
// any name, for the API server's refusal says what is wrong with it.
func (c *Cluster) RequireOne(ctx context.Context, id auth.Identity, verb string, ref Ref) error {
	if ref.Kind.Namespaced != (ref.Namespace != "") {
		return fmt.Errorf("%s %s %q in namespace %q: one is needed for namespaced kinds only", verb, ref.Kind.Plural, ref.Name, ref.Namespace)
	}
	if verb != "create" && len(validation.IsDNS1123Subdomain(ref.Name)) > 0 {
		return &ForbiddenError{Verb: verb, Resource: ref.Kind.Plural, Namespace: ref.Namespace, Name: ref.Name}
	}
	return about(ref.Name, c.access.require(ctx, id, c.rightTo(ctx, id, verb, ref)))
}

// Require returns a *ForbiddenError unless the caller can do verb with objects of the kind in the namespace of ref. The
// name, which may be empty, is for the log.
func (c *Cluster) Require(ctx context.Context, id auth.Identity, verb string, ref Ref) error {
	return about(ref.Name, c.access.require(ctx, id, RightTo(verb, ref.Kind, ref.Namespace)))
}

// rightTo returns the right by which the caller can do verb with one object, or that which is lacking.
func (c *Cluster) rightTo(ctx context.Context, id auth.Identity, verb string, ref Ref) Right {
	act := RightTo(verb, ref.Kind, ref.Namespace)
	if ref.Kind.Namespaced || verb == "create" || ref.Name == "" {
		return act
	}
	if ok, err := c.access.allowed(ctx, id, act); ok || err != nil {
		return act // an error meets whoever asks for it
	}
	return act.to(ref.Name)
}

// CanOne reports whether the caller can do verb with one object. Rights to single objects count for kinds without
// namespaces: members have them to their Team. Of others nobody is asked about each object of a list.
func (c *Cluster) CanOne(ctx context.Context, id auth.Identity, verb string, ref Ref) (bool, error) {
	return c.access.allowed(ctx, id, c.rightTo(ctx, id, verb, ref))
}

// filter returns those for which ask says yes, in any order. It asks several at once.
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

// reviewsAtOnce bounds the access reviews that one request has under way.
const reviewsAtOnce = 16
