package activity

import (
	"cmp"
	"context"
	"log/slog"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	eventsclient "k8s.io/client-go/kubernetes/typed/events/v1"
	"k8s.io/utils/clock"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/limit"
)

// Limits: Events are kept for an hour or so in a store that the whole cluster shares.
const (
	// userRate and userBurst limit each user, in each replica: a whole folder of files can be applied at once.
	userRate, userBurst = 1, 200
	// maxEntries bounds the Events about one object that each user causes in a seriesRest.
	maxEntries = 20
	// seriesRest is after how long without an occurrence a new Event is written instead of a higher count.
	seriesRest = 10 * time.Minute
	// oneLook is how long repeated reads of a log count as one: a page reads it, and then follows it.
	oneLook = time.Minute
	// FlushEvery is the interval of writing higher counts.
	FlushEvery = 10 * time.Second
	maxQueue   = 1000
	maxSeries  = 10_000
	// writeTimeout bounds one write, and lastWrites all of those at the end.
	writeTimeout = 5 * time.Second
	lastWrites   = 2 * time.Second
)

// Recorder writes Events in the background: no request waits for them, or fails because of them. nil records nothing.
type Recorder struct {
	events   eventsclient.EventsGetter
	instance string
	limiter  *limit.Limiter
	clock    clock.PassiveClock
	log      *slog.Logger
	queue    chan entry
	// Used by Run only.
	series map[entry]*series
	each   map[about]int // of the series, by user and object
	away   bool          // the last write failed
}

// about is a user with an object.
type about struct {
	actor  string
	object Object
}

// series is a repeated action.
type series struct {
	namespace, name string
	count, written  int32
	last            time.Time
}

// New returns a Recorder that writes with the portal's own identity. Run starts it.
func New(events eventsclient.EventsGetter, c clock.PassiveClock, log *slog.Logger) *Recorder {
	host, _ := os.Hostname() // for display only, can be empty
	return &Recorder{
		events: events, instance: cut("portico-portal-"+host, 128),
		limiter: limit.New(limit.Rate{PerSecond: userRate, Burst: userBurst}, c),
		clock:   c, log: cmp.Or(log, slog.New(slog.DiscardHandler)), queue: make(chan entry, maxQueue),
		series: map[entry]*series{}, each: map[about]int{},
	}
}

// Note records that id did something to an object. It never blocks: excess actions are dropped, and counted.
func (r *Recorder) Note(id auth.Identity, o Object, deeds []Deed) {
	if r == nil || o.UID == "" {
		return
	}
	for _, d := range deeds {
		if r.limiter.Wait(id.Username) > 0 {
			count(dropped)
			continue
		}
		select {
		case r.queue <- entryOf(id, o, d):
		default:
			count(dropped)
		}
	}
}

// Run writes recorded actions until ctx ends, and then the remaining ones. It writes higher counts at each tick.
func (r *Recorder) Run(ctx context.Context, ticks <-chan time.Time) {
	for {
		select {
		case e := <-r.queue:
			r.tell(ctx, e)
		case <-ticks:
			r.flush(ctx)
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWrites)
			defer cancel()
			for len(r.queue) > 0 && last.Err() == nil {
				r.tell(last, <-r.queue)
			}
			r.flush(last)
			return
		}
	}
}

// tell writes an Event, or counts the action if there is a recent one.
func (r *Recorder) tell(ctx context.Context, e entry) {
	now := r.clock.Now()
	if s := r.series[e]; s != nil && now.Sub(s.last) < seriesRest {
		if e.deed.Reason != LogsRead || now.Sub(s.last) >= oneLook {
			s.count++
		}
		s.last = now
		return
	}
	r.forget(e)
	if of := e.about(); r.each[of] >= maxEntries || len(r.series) >= maxSeries {
		count(dropped)
		return
	}
	event := e.event(now, r.instance)
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	if _, err := r.events.Events(event.Namespace).Create(ctx, event, metav1.CreateOptions{}); err != nil {
		r.failed(err)
		return
	}
	r.succeeded()
	r.series[e] = &series{namespace: event.Namespace, name: event.Name, count: 1, written: 1, last: now}
	r.each[e.about()]++
}

func (e entry) about() about { return about{e.actor, e.object} }

// flush writes higher counts, and drops series without recent occurrences.
func (r *Recorder) flush(ctx context.Context) {
	now := r.clock.Now()
	for e, s := range r.series {
		if s.count > s.written && ctx.Err() == nil && !r.countOn(ctx, s) {
			r.forget(e) // the next occurrence gets a new Event
		}
		if now.Sub(s.last) >= seriesRest {
			r.forget(e)
		}
	}
}

// countOn writes the count of a series, and reports whether that succeeded.
func (r *Recorder) countOn(ctx context.Context, s *series) bool {
	body, err := again(s.count, s.last)
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, writeTimeout)
		defer cancel()
		_, err = r.events.Events(s.namespace).Patch(ctx, s.name, types.MergePatchType, body, metav1.PatchOptions{})
	}
	if err != nil {
		r.failed(err)
		return false
	}
	s.written = s.count
	r.succeeded()
	return true
}

func (r *Recorder) forget(e entry) {
	if r.series[e] == nil {
		return
	}
	delete(r.series, e)
	of := e.about()
	if r.each[of]--; r.each[of] <= 0 {
		delete(r.each, of)
	}
}

// failed logs the first failure until a write succeeds. A namespace that is being deleted accepts no Events, which is
// not logged.
func (r *Recorder) failed(err error) {
	count(failed)
	if apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) || apierrors.IsNotFound(err) {
		return
	}
	if !r.away {
		r.log.Warn("recent activity cannot be written as Events of Kubernetes; nothing else is amiss for that", "cause",
			err)
	}
	r.away = true
}

func (r *Recorder) succeeded() {
	count(written)
	if r.away {
		r.log.Info("recent activity is written again")
	}
	r.away = false
}
