package feed

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

	"github.com/portico-platform/portico/portal/catalog"
)

// EventUID is the index of events by the UID of the object they are about.
const EventUID = "involvedObject.uid"

// watches are the informers that fill the cache.
type watches struct {
	mu     sync.Mutex
	begun  bool
	filled map[string]func() bool // by resource; true once all initial objects have been handled
}

// Index is a name by which the cache finds objects.
type Index struct {
	Of   client.Object
	Name string
	By   client.IndexerFunc
}

// Indexes returns the indexes that the cache has.
func Indexes() []Index {
	return []Index{
		{&corev1.Event{}, EventUID, indexUIDs},
		{&corev1.Event{}, EventController, indexControllers},
		{&rbacv1.ClusterRoleBinding{}, ByTeamSubject, indexTeamSubjects},
		{&rbacv1.ClusterRoleBinding{}, BySubject, indexSubjects},
		{&rbacv1.RoleBinding{}, BySubject, indexNames},
		{&rbacv1.RoleBinding{}, ByOurRole, indexOurRoles},
	}
}

// Watch requests every informer before the cache starts, so that readiness covers them all. onBindings handles changes
// of RoleBindings and ClusterRoleBindings.
func (f *Feed) Watch(ctx context.Context, onBindings toolscache.ResourceEventHandler) error {
	for _, one := range Indexes() {
		if err := f.informers.IndexField(ctx, one.Of, one.Name, one.By); err != nil {
			return fmt.Errorf("index %T by %s: %w", one.Of, one.Name, err)
		}
	}
	for _, k := range f.Kinds {
		obj := &unstructured.Unstructured{}
		obj.SetGroupVersionKind(k.GVK())
		if err := f.watchKind(ctx, k.Plural, obj, f.Handler(k)); err != nil {
			return err
		}
	}
	if err := f.watchKind(ctx, "events", &corev1.Event{}, f.Changes.events(f.Kinds)); err != nil {
		return err
	}
	if err := f.watchKind(ctx, "pods", &corev1.Pod{}, f.Changes.pods(f.Kinds)); err != nil {
		return err
	}
	if err := f.watchKind(ctx, "namespaces", namespaceMeta(), toolscache.ResourceEventHandlerFuncs{}); err != nil {
		return err
	}
	for what, obj := range map[string]client.Object{
		"clusterrolebindings":      &rbacv1.ClusterRoleBinding{},
		"rolebindings, for rights": &rbacv1.RoleBinding{},
	} {
		if err := f.watchKind(ctx, what, obj, onBindings); err != nil {
			return err
		}
	}
	for plural, obj := range teamObjects() {
		if err := f.watchKind(ctx, plural, obj, f.Changes.named(plural)); err != nil {
			return err
		}
	}
	f.watches.mu.Lock()
	defer f.watches.mu.Unlock()
	f.watches.begun = true
	return nil
}

func (f *Feed) watchKind(ctx context.Context, what string, obj client.Object,
	handler toolscache.ResourceEventHandler,
) error {
	inf, err := f.informers.GetInformer(ctx, obj, cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("watching %s: %w", what, err)
	}
	registration, err := inf.AddEventHandler(handler)
	if err != nil {
		return fmt.Errorf("watching %s: %w", what, err)
	}
	f.watches.mu.Lock()
	defer f.watches.mu.Unlock()
	if f.watches.filled == nil {
		f.watches.filled = map[string]func() bool{}
	}
	f.watches.filled[what] = registration.HasSynced
	return nil
}

// Ready returns why the cache cannot be read yet; nil once it and the overview are complete.
func (f *Feed) Ready() error {
	w := &f.watches
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

// Handler handles the changes of one kind: it updates the overview and then publishes them.
func (f *Feed) Handler(k catalog.Kind) toolscache.ResourceEventHandler {
	next := f.Changes.named(k.Plural)
	put := func(obj any) {
		if u, ok := obj.(*unstructured.Unstructured); ok {
			f.Overview.Put(k, u)
		}
	}
	return toolscache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(obj any, initial bool) {
			put(obj)
			next.OnAdd(obj, initial)
		},
		UpdateFunc: func(before, after any) {
			if !SameVersion(before, after) {
				put(after)
			}
			next.OnUpdate(before, after)
		},
		DeleteFunc: func(obj any) {
			if u, ok := LastState(obj).(*unstructured.Unstructured); ok {
				f.Overview.Remove(k.Plural, u.GetNamespace(), u.GetName())
			}
			next.OnDelete(obj)
		},
	}
}
