package use

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	"github.com/portico-platform/portico/controllers/watch"
)

// Options are what the controller of marks needs.
type Options struct {
	Users []watch.Referrer // the kinds that refer to others
	Used  []client.Object  // the kinds that are referred to
	// AtWork reports whether an object is being reconciled now; see engine.Records.
	AtWork func(kind string, of types.NamespacedName) bool
}

// workers is the number of concurrent workers: each mostly reads the cache, and rarely writes.
const workers = 4

// queue is the controller's workqueue.
type queue = workqueue.TypedRateLimitingInterface[Request]

// Setup registers the controller with the manager, and indexes users by their references.
func Setup(ctx context.Context, mgr ctrl.Manager, o Options) error {
	m := &marker{mgr: mgr, users: o.Users, used: map[string]client.Object{}, atWork: o.AtWork}
	b := builder.TypedControllerManagedBy[Request](mgr).Named("use").WithOptions(
		controller.TypedOptions[Request]{MaxConcurrentReconciles: workers})
	for _, proto := range o.Users {
		if err := watch.IndexReferences(ctx, mgr, proto); err != nil {
			return err
		}
		b.Watches(proto, enqueueReferred())
	}
	for _, proto := range o.Used {
		kind := watch.KindOf(mgr, proto)
		m.used[kind] = proto
		b.Watches(proto, enqueueNew(kind))
	}
	return b.Complete(m)
}

// enqueueReferred enqueues what an object refers to, or referred to before the update.
func enqueueReferred() handler.TypedEventHandler[client.Object, Request] {
	return handler.TypedFuncs[client.Object, Request]{
		CreateFunc: func(_ context.Context, e event.CreateEvent, q queue) { add(q, e.Object) },
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, q queue) { add(q, e.Object) },
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, q queue) {
			was, is := e.ObjectOld.(watch.Referrer), e.ObjectNew.(watch.Referrer)
			if was.GetDeletionTimestamp().IsZero() != is.GetDeletionTimestamp().IsZero() ||
				!slices.Equal(was.References(), is.References()) {
				add(q, was)
				add(q, is)
			}
		},
	}
}

func add(q queue, user client.Object) {
	for _, r := range user.(watch.Referrer).References() {
		q.Add(Request{
			Kind: r.Kind, NamespacedName: types.NamespacedName{Namespace: user.GetNamespace(), Name: r.Name},
			Follow: true,
		})
	}
}

// enqueueNew enqueues a created object: others may have referred to it before it existed.
func enqueueNew(kind string) handler.TypedEventHandler[client.Object, Request] {
	return handler.TypedFuncs[client.Object, Request]{
		CreateFunc: func(_ context.Context, e event.CreateEvent, q queue) {
			q.Add(Request{Kind: kind, NamespacedName: client.ObjectKeyFromObject(e.Object)})
		},
	}
}
