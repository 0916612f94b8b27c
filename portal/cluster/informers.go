package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// eventUID is the index of events by the UID of the object they are about.
const eventUID = "involvedObject.uid"

// watches are the informers that fill the cache.
type watches struct {
	mu     sync.Mutex
	begun  bool
	filled map[string]func() bool // by resource; true once all initial objects have been handled
}

// index adds the indexes that pages need to the cache.
func (c *Cluster) index(ctx context.Context) error {
	for _, one := range []struct {
		of   client.Object
		name string
		by   client.IndexerFunc
	}{
		{&corev1.Event{}, eventUID, func(obj client.Object) []string { return []string{string(obj.(*corev1.Event).InvolvedObject.UID)} }},
		{&corev1.Event{}, eventController, indexControllers},
		{&rbacv1.ClusterRoleBinding{}, byTeamSubject, indexTeamSubjects},
		{&rbacv1.ClusterRoleBinding{}, bySubject, indexSubjects},
		{&rbacv1.RoleBinding{}, bySubject, indexNames},
		{&rbacv1.RoleBinding{}, byOurRole, indexOurRoles},
	} {
		if err := c.cache.IndexField(ctx, one.of, one.name, one.by); err != nil {
			return fmt.Errorf("index %T by %s: %w", one.of, one.name, err)
		}
	}
	return nil
}

// watch requests every informer before the cache starts, so that readiness covers them all.
func (c *Cluster) watch(ctx context.Context) error {
	if err := c.index(ctx); err != nil {
		return err
	}
	for _, k := range c.kinds {
		obj := &unstructured.Unstructured{}
		obj.SetGroupVersionKind(k.GVK())
		if err := c.watchKind(ctx, k.Plural, obj, c.counting(k, c.feed.objects(k))); err != nil {
			return err
		}
	}
	if err := c.watchKind(ctx, "events", &corev1.Event{}, c.feed.events(c.kinds)); err != nil {
		return err
	}
	if err := c.watchKind(ctx, "pods", &corev1.Pod{}, c.feed.pods(c.kinds)); err != nil {
		return err
	}
	if err := c.watchKind(ctx, "namespaces", namespaceMeta(), toolscache.ResourceEventHandlerFuncs{}); err != nil {
		return err
	}
	for what, obj := range map[string]client.Object{
		"clusterrolebindings":      &rbacv1.ClusterRoleBinding{},
		"rolebindings, for rights": &rbacv1.RoleBinding{},
	} {
		if err := c.watchKind(ctx, what, obj, c.access.onBindings()); err != nil {
			return err
		}
	}
	for plural, obj := range teamObjects() {
		if err := c.watchKind(ctx, plural, obj, c.feed.named(plural)); err != nil {
			return err
		}
	}
	c.watches.mu.Lock()
	defer c.watches.mu.Unlock()
	c.watches.begun = true
	return nil
}

func (c *Cluster) watchKind(ctx context.Context, what string, obj client.Object,
	handler toolscache.ResourceEventHandler,
) error {
	inf, err := c.cache.GetInformer(ctx, obj, cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("watching %s: %w", what, err)
	}
	registration, err := inf.AddEventHandler(handler)
	if err != nil {
		return fmt.Errorf("watching %s: %w", what, err)
	}
	c.watches.mu.Lock()
	defer c.watches.mu.Unlock()
	if c.watches.filled == nil {
		c.watches.filled = map[string]func() bool{}
	}
	c.watches.filled[what] = registration.HasSynced
	return nil
}

// Ready returns why the portal cannot serve yet; nil once the cache, the overview and the revocation list are complete.
func (c *Cluster) Ready() error {
	if !c.revoked.Loaded() {
		return errors.New("the list of revoked sessions is not loaded yet")
	}
	return c.watches.ready()
}

func (w *watches) ready() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.begun {
		return errors.New("nothing is watched yet")
	}
	for what, filled := range w.filled {
		if !filled() {
			return fmt.Errorf("the cache of %s is not filled yet", what)
		}
	}
	return nil
}
