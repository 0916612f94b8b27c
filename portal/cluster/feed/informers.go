package feed

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
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
	filled map[string]func() bool  // by resource; true once all initial objects have been handled
	kinds  map[string]catalog.Kind // those of the catalog whose objects are watched, by plural
}

// Resources that are watched for the catalog, by which filled finds them.
const (
	entries     = "catalogentries, for the catalog"
	definitions = "customresourcedefinitions"
)

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

// Watch requests the informers of everything but the objects of the catalog's kinds before the cache starts, so that
// readiness covers them all. onBindings handles changes of RoleBindings and ClusterRoleBindings.
func (f *Feed) Watch(ctx context.Context, onBindings toolscache.ResourceEventHandler) error {
	for _, one := range Indexes() {
		if err := f.informers.IndexField(ctx, one.Of, one.Name, one.By); err != nil {
			return fmt.Errorf("index %T by %s: %w", one.Of, one.Name, err)
		}
	}
	for what, obj := range map[string]client.Object{entries: entryObject(), definitions: definitionMeta()} {
		if err := f.watchKind(ctx, what, obj, f.offered.handler()); err != nil {
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

// follow watches the objects of the kinds, and no longer those of kinds that are not there any more.
func (f *Feed) follow(ctx context.Context, kinds catalog.Catalog) (failed error) {
	now := map[string]catalog.Kind{}
	for _, k := range kinds {
		now[k.Plural] = k
	}
	f.watches.mu.Lock()
	before := maps.Clone(f.watches.kinds)
	f.watches.mu.Unlock()
	for plural, k := range before {
		if is, stays := now[plural]; !stays || is.GVK() != k.GVK() || !is.Own() && derivesOtherwise(is, k) {
			failed = errors.Join(failed, f.leave(ctx, k))
			delete(before, plural)
		}
	}
	for plural, k := range now {
		if _, watched := before[plural]; watched {
			continue
		}
		f.mapper.add(k)
		if err := f.watchKind(ctx, plural, objectOf(k), f.Handler(plural)); err != nil {
			failed = errors.Join(failed, err)
			delete(now, plural)
		}
	}
	f.watches.mu.Lock()
	defer f.watches.mu.Unlock()
	f.watches.kinds = now
	return failed
}

// derivesOtherwise reports whether the rows of lists are made differently of the same objects.
func derivesOtherwise(a, b catalog.Kind) bool {
	return a.Endpoint != b.Endpoint || !reflect.DeepEqual(a.States, b.States)
}

// Reading reports whether the objects of the kind are still being read for the first time.
func (f *Feed) Reading(k catalog.Kind) bool { return f.informers != nil && !f.filled(k.Plural) }

// leave stops watching the objects of a kind, and forgets them.
func (f *Feed) leave(ctx context.Context, k catalog.Kind) error {
	f.watches.mu.Lock()
	delete(f.watches.filled, k.Plural)
	f.watches.mu.Unlock()
	if err := f.informers.RemoveInformer(ctx, objectOf(k)); err != nil {
		return fmt.Errorf("no longer watching %s: %w", k.Plural, err)
	}
	f.Overview.Forget(k.Plural)
	return nil
}

// objectOf returns an empty object of the kind.
func objectOf(k catalog.Kind) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{}
	obj.SetGroupVersionKind(k.GVK())
	return obj
}

// filled reports whether the caches of all these have their initial objects.
func (f *Feed) filled(all ...string) bool {
	f.watches.mu.Lock()
	defer f.watches.mu.Unlock()
	return !slices.ContainsFunc(all, func(what string) bool {
		filled := f.watches.filled[what]
		return filled == nil || !filled()
	})
}

// Ready returns why the cache cannot be read yet; nil once it and the overview are complete. It does not wait for the
// objects of kinds of others, each of which could be slow to read.
func (f *Feed) Ready() error {
	w := &f.watches
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.begun {
		return errors.New("nothing is watched yet")
	}
	for what, filled := range w.filled {
		if k, ofKind := w.kinds[what]; !filled() && (!ofKind || k.Own()) {
			return fmt.Errorf("the cache of %s is not filled yet", what)
		}
	}
	return f.offered.ready()
}

// Handler handles the changes of the objects of the kind with that plural: it updates the overview and then publishes
// them.
func (f *Feed) Handler(plural string) toolscache.ResourceEventHandler {
	next := f.Changes.named(plural)
	put := func(obj any) {
		k, known := f.Kinds.Now().ByPlural(plural)
		if u, ok := obj.(*unstructured.Unstructured); ok && known {
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
				f.Overview.Remove(plural, u.GetNamespace(), u.GetName())
			}
			next.OnDelete(obj)
		},
	}
}
