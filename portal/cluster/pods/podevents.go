package pods

import (
	"context"
	"math"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/feed"
	"github.com/portico-platform/portico/portal/cluster/rights"
)

const (
	// podEventsRest is how long the events about a Pod are watched after the last read; an open page reads them twice
	// as often.
	podEventsRest = time.Minute
	// maxPodsWatched bounds the Pods whose events are watched at a time: each costs a stream on the connection and a
	// few kilobytes.
	maxPodsWatched = 200
	// podEventsWait bounds how long a page waits for the initial list of events.
	podEventsWait = 5 * time.Second
)

// podEvents watches the events about the Pods that are open on pages, with one watch per Pod, so that rendering a page
// again costs no request. Watching the events about all Pods would take too much memory.
type podEvents struct {
	client  kubernetes.Interface
	changed func(feed.Change)
	kinds   *catalog.Live

	mu    sync.Mutex
	all   map[types.UID]*podWatch
	looks uint64
}

// podWatch is the watch of one Pod's events.
type podWatch struct {
	informer toolscache.SharedIndexInformer
	stop     context.CancelFunc
	rest     *time.Timer
	looked   uint64 // sequence number of the last read, over all Pods
}

func newPodEvents(client kubernetes.Interface, kinds *catalog.Live, changed func(feed.Change)) *podEvents {
	return &podEvents{client: client, changed: changed, kinds: kinds, all: map[types.UID]*podWatch{}}
}

// of returns the watch of the Pod's events, which starts with the first read and ends podEventsRest after the last.
func (p *podEvents) of(pod *corev1.Pod) *podWatch {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.looks++
	w := p.all[pod.UID]
	switch {
	case w != nil:
		w.rest.Reset(podEventsRest)
	case len(p.all) >= maxPodsWatched:
		p.end(p.longestUnseen()) // it restarts at the next read
		fallthrough
	default:
		w = p.begin(pod)
		p.all[pod.UID] = w
	}
	w.looked = p.looks
	return w
}

func (p *podEvents) longestUnseen() (oldest types.UID) {
	first := uint64(math.MaxUint64)
	for uid, w := range p.all {
		if w.looked < first {
			oldest, first = uid, w.looked
		}
	}
	return oldest
}

func (p *podEvents) begin(pod *corev1.Pod) *podWatch {
	about, events := fields.OneTermEqualSelector(feed.EventUID, string(pod.UID)).String(),
		p.client.CoreV1().Events(pod.Namespace)
	source := toolscache.ToListWatcherWithWatchListSemantics(&toolscache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			o.FieldSelector = about
			return events.List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			o.FieldSelector = about
			return events.Watch(ctx, o)
		},
	}, p.client)
	informer := toolscache.NewSharedIndexInformer(source, &corev1.Event{}, 0, nil)
	_ = informer.SetTransform(feed.TrimEvent) // it only fails on a running informer
	k, _ := p.kinds.Now().ByName(catalog.AppKind)
	change := feed.Change{Kind: k.Plural, Namespace: pod.Namespace, Name: pod.Labels[v1alpha1.LabelWebApp], Pods: true}
	tell := func() { p.changed(change) }
	_, _ = informer.AddEventHandler(toolscache.ResourceEventHandlerDetailedFuncs{ // it only fails on a stopped informer
		AddFunc: func(_ any, initial bool) {
			if !initial {
				tell()
			}
		},
		UpdateFunc: func(any, any) { tell() },
	})
	ctx, stop := context.WithCancel(context.Background()) // it outlives the first request
	go informer.RunWithContext(ctx)
	w := &podWatch{informer: informer, stop: stop}
	w.rest = time.AfterFunc(podEventsRest, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.all[pod.UID] == w { // and not a watch that started since
			p.end(pod.UID)
		}
	})
	return w
}

// end ends one watch. The caller holds the lock.
func (p *podEvents) end(uid types.UID) {
	if w := p.all[uid]; w != nil {
		w.rest.Stop()
		w.stop()
		delete(p.all, uid)
	}
}

// close ends all watches.
func (p *podEvents) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for uid := range p.all {
		p.end(uid)
	}
}

// Events returns the events about a Pod that List returned, newest first; they are shared. The caller needs the
// right to list events in the namespace.
func (p *Pods) Events(ctx context.Context, id auth.Identity, pod *corev1.Pod) ([]*corev1.Event, error) {
	if err := p.rights.RequireRight(ctx, id, rights.ListEvents.In(pod.Namespace)); err != nil {
		return nil, err
	}
	w := p.events.of(pod) //nolint:contextcheck // the watch outlives the request that looked first
	ctx, cancel := context.WithTimeout(ctx, podEventsWait)
	defer cancel()
	if !toolscache.WaitForCacheSync(ctx.Done(), w.informer.HasSynced) {
		return nil, &failure.UnavailableError{Doing: "reading the events about Pod " +
			pod.Name, Cause: context.DeadlineExceeded}
	}
	all := w.informer.GetStore().List()
	out := make([]*corev1.Event, 0, len(all))
	for _, one := range all {
		if e, ok := one.(*corev1.Event); ok {
			out = append(out, e)
		}
	}
	feed.NewestFirst(out)
	return out[:min(len(out), maxPodEvents)], nil
}
