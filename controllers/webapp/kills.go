package webapp

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/lru"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/portico-platform/portico/api/podcause"
)

const (
	// mostKills bounds the containers whose last end is remembered.
	mostKills = 2000
	// mostEvents bounds the events that are read about one Pod. The kubelet counts equal ones in one event; other
	// authors have no such limit.
	mostEvents = 10
	// eventsDelay is how long after an end an event about it may still arrive.
	eventsDelay = 5 * time.Second
	// eventsWait bounds a read of events: the status is worth more than the cause.
	eventsWait = time.Second
	// eventsPause is how long no events are read after a read that failed.
	eventsPause = time.Minute
	// eventsRate and eventsBurst bound the reads of events about the Pods of all web apps, a second and at once.
	eventsRate, eventsBurst = 5, 20
	// nearEnds is within which time two ends of a container are those of one loop.
	nearEnds = 30 * time.Minute
)

// Kills knows which containers were stopped by the kubelet because a probe failed, and which Pods it evicted. Only
// events say it, and each end is looked up once. It is safe for concurrent use. A nil Kills knows nothing and reads
// nothing.
type Kills struct {
	reader client.Reader
	ends   *lru.Cache // of end, by container
	gone   *lru.Cache // of the event about an eviction or none, by the UID of the Pod

	mu     sync.Mutex
	rate   *rate.Limiter
	paused time.Time // until when no events are read, after a read that failed
}

// NewKills returns Kills that reads events from reader, past any cache.
func NewKills(reader client.Reader) *Kills {
	return &Kills{
		reader: reader, ends: lru.New(mostKills), gone: lru.New(mostKills),
		rate: rate.NewLimiter(eventsRate, eventsBurst),
	}
}

type endKey struct {
	pod       types.UID
	container string
}

// end is an end of a container, and the probe that caused it; "" for none. It is not known where the events do not say
// it.
type end struct {
	at    metav1.Time
	run   time.Duration
	code  int32
	probe podcause.Probe
	known bool
}

// repeats reports whether an end has the cause of the one before: it is of the same loop. A probe needs its time to
// fail, so that a run that was much shorter ended for another reason. A status has whole seconds.
func (was end) repeats(last podcause.End) bool {
	return was.known && was.code == last.ExitCode && 2*(last.Run()+time.Second) >= was.run &&
		last.FinishedAt.Sub(was.at.Time) <= nearEnds
}

// known returns what is known without a request. The same end again has the same cause until it is looked up, or the
// text would change with each end.
func (k *Kills) known(pod *corev1.Pod) podcause.Kills {
	out := podcause.Kills{}
	for name, last := range podcause.Ends(pod) {
		if was, ok := k.last(pod, name); ok && was.repeats(last) {
			out[name] = was.probe
		}
	}
	return out
}

func (k *Kills) last(pod *corev1.Pod, name string) (end, bool) {
	if k == nil {
		return end{}, false
	}
	was, ok := k.ends.Get(endKey{pod.UID, name})
	if !ok {
		return end{}, false
	}
	return was.(end), true
}

// wants reports whether the cause may be that a probe failed, and that was not looked up yet.
func (k *Kills) wants(pod *corev1.Pod, c podcause.Cause) bool {
	if k == nil || c.End == nil {
		return false
	}
	if _, may := podcause.Ends(pod)[c.Container]; !may {
		return false
	}
	was, ok := k.last(pod, c.Container)
	return !ok || !was.at.Equal(&c.End.FinishedAt)
}

// read looks up how the containers of a Pod ended. A read that fails leaves that open, and a later pass tries again;
// so does one that finds nothing right after an end, because the event may arrive later than the status.
func (k *Kills) read(ctx context.Context, pod *corev1.Pod, now time.Time) podcause.Kills {
	events, ok := k.events(ctx, pod, podcause.Killing, now)
	if !ok {
		return k.known(pod)
	}
	found := podcause.KillsIn(events, pod)
	for name, last := range podcause.Ends(pod) {
		k.remember(pod, name, last, found, now)
	}
	return k.known(pod)
}

// late reports whether nothing more is to come about an end: an event would have arrived, or its time is none to go by.
func late(at, now time.Time) bool {
	return !now.Before(at.Add(eventsDelay)) || at.After(now.Add(podcause.ClockSkew))
}

// mayRead reports whether events may be read now.
func (k *Kills) mayRead(now time.Time) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return !now.Before(k.paused) && k.rate.AllowN(now, 1)
}

func (k *Kills) pause(until time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.paused = until
}

// again returns when a pass may know more about an end.
func (k *Kills) again(at, now time.Time) time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch arrives := at.Add(eventsDelay); {
	case now.Before(k.paused):
		return k.paused
	case late(at, now): // the rate is used up
		return now.Add(eventsDelay)
	default:
		return arrives
	}
}

// events reads the events about a Pod that have a reason.
func (k *Kills) events(ctx context.Context, pod *corev1.Pod, reason string, now time.Time) (
	events []*corev1.Event, ok bool,
) {
	if !k.mayRead(now) {
		return nil, false
	}
	ctx, cancel := context.WithTimeout(ctx, eventsWait)
	defer cancel()
	var list corev1.EventList
	err := k.reader.List(ctx, &list, client.InNamespace(pod.Namespace), client.Limit(mostEvents),
		client.MatchingFields{"involvedObject.uid": string(pod.UID), "reason": reason})
	if err != nil {
		k.pause(now.Add(eventsPause))
		log.FromContext(ctx).Info("The events about a Pod cannot be read", "pod", pod.Name, "error", err.Error())
		return nil, false
	}
	for i := range list.Items {
		events = append(events, &list.Items[i])
	}
	return events, true
}

// unsure reports whether the status of a Pod that is over says nothing, and no event was looked up yet.
func (k *Kills) unsure(pod *corev1.Pod) bool {
	if k == nil || pod.Status.Reason != "" {
		return false
	}
	_, known := k.gone.Get(pod.UID)
	return !known
}

// lookUp reads whether a Pod that is over was evicted.
func (k *Kills) lookUp(ctx context.Context, pod *corev1.Pod, now time.Time) {
	events, ok := k.events(ctx, pod, podcause.Eviction, now)
	if ok && (len(events) > 0 || late(podcause.FailedAt(pod, now), now)) {
		k.gone.Add(pod.UID, events[:min(len(events), 1)])
	}
}

// evicted returns a Pod that is over, with the status of an evicted one if an event said that it was.
func (k *Kills) evicted(pod *corev1.Pod) *corev1.Pod {
	if k == nil {
		return pod
	}
	if events, ok := k.gone.Get(pod.UID); ok {
		return podcause.AsEvicted(pod, events.([]*corev1.Event))
	}
	return pod
}

// remember notes which probe ended a container, that none did, or that the events do not say it.
func (k *Kills) remember(pod *corev1.Pod, name string, last podcause.End, found podcause.Kills, now time.Time) {
	probe, known := found[name]
	// The kubelet drops events about a Pod that has many: the same end again has the same cause.
	if was, ok := k.last(pod, name); probe == "" && ok && was.repeats(last) {
		probe, known = was.probe, true
	}
	if probe != "" || late(last.FinishedAt.Time, now) {
		k.ends.Add(endKey{pod.UID, name}, end{last.FinishedAt, last.Run(), last.ExitCode, probe, known})
	}
}
