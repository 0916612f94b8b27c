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

// eventUID is the index of events by the UID of what they are about.
const eventUID = "involvedObject.uid"

// watches are what the cache is filled from.
type watches struct {
	mu     sync.Mutex
	begun  bool
	filled map[string]func() bool // by what is watched; true once all that was there at the start has been handled
}

// watch asks for every informer before the cache starts, so that readiness covers them all.
func (c *Cluster) watch(ctx context.Context) error {
	byUID := func(obj client.Object) []string { return []string{string(obj.(*corev1.Event).InvolvedObject.UID)} }
	if err := c.cache.IndexField(ctx, &corev1.Event{}, eventUID, byUID); err != nil {
		return fmt.Errorf("indexing events: %w", err)
	}
	if err := c.cache.IndexField(ctx, &corev1.Event{}, eventController, indexControllers); err != nil {
		return fmt.Errorf("indexing events of the portal: %w", err)
	}
	if err := c.cache.IndexField(ctx, &rbacv1.ClusterRoleBinding{}, byTeamSubject, indexTeamSubjects); err != nil {
		return fmt.Errorf("indexing cluster role bindings of teams: %w", err)
	}
	if err := c.cache.IndexField(ctx, &rbacv1.ClusterRoleBinding{}, bySubject, indexSubjects); err != nil {
		return fmt.Errorf("indexing cluster role bindings: %w", err)
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
	for what, obj := range map[string]client.Object{"namespaces": namespaceMeta(), "clusterrolebindings": &rbacv1.ClusterRoleBinding{}} {
		if err := c.watchKind(ctx, what, obj, toolscache.ResourceEventHandlerFuncs{}); err != nil {
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

func (c *Cluster) watchKind(ctx context.Context, what string, obj client.Object, handler toolscache.ResourceEventHandler) error {
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

// Ready says why the portal cannot serve yet; nil once the cache, what is counted from it and the revocation list are
// complete.
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
