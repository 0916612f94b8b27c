package engine

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Record is what the engine remembers of its passes over one object: more than the status says, because it changes with
// every pass. It lives in memory and is lost with the process.
type Record struct {
	Kind      string    `json:"kind"`
	Namespace string    `json:"namespace,omitempty"`
	Name      string    `json:"name"`
	UID       types.UID `json:"uid"`
	// LastChecked is when the last pass ended; Reason and Message are its outcome, as in the Ready condition.
	LastChecked time.Time `json:"lastChecked"`
	Reason      string    `json:"reason"`
	Message     string    `json:"message"`
	// NextCheck is when the next pass is due if nothing happens before; absent after a failure, which is tried again with
	// back-off, and while the object is paused.
	NextCheck *time.Time `json:"nextCheck,omitempty"`
	// LastPlan is the last that a pass found to do; absent if none did since the operator started.
	LastPlan *Plan `json:"lastPlan,omitempty"`
	// Passes counts them since the operator started; Failures are those at the end that failed.
	Passes   int64 `json:"passes"`
	Failures int64 `json:"failures"`

	generation int64
	asked      string
	lastLook   time.Time // when the last pass ended that was not routine, or found something to do
	since      time.Time // when a pass first ended as the last one has
	unkept     unkept
}

// Plan is what one pass found to do.
type Plan struct {
	At    time.Time `json:"at"`
	Steps []string  `json:"steps"` // the call, and in parentheses why
}

// Records keeps a Record of each object, over all kinds. Safe for concurrent use; the zero value is ready.
type Records struct {
	mu  sync.RWMutex
	all map[recordKey]Record
}

type recordKey struct {
	kind string
	types.NamespacedName
}

// Get returns the record of one object.
func (r *Records) Get(kind string, of types.NamespacedName) (Record, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	found, ok := r.all[recordKey{kind, of}]
	return found, ok
}

// All returns the records that the filter lets pass, sorted by kind, namespace and name. nil lets all pass.
func (r *Records) All(filter func(Record) bool) []Record {
	r.mu.RLock()
	defer r.mu.RUnlock()
	all := make([]Record, 0, len(r.all))
	for _, one := range r.all {
		if filter == nil || filter(one) {
			all = append(all, one)
		}
	}
	slices.SortFunc(all, func(a, b Record) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return all
}

func (r *Records) forget(kind string, of types.NamespacedName) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.all, recordKey{kind, of})
}

// ended notes a pass.
func (r *Records) ended(kind string, obj client.Object, pass ended) {
	if r == nil {
		return
	}
	key := recordKey{kind, client.ObjectKeyFromObject(obj)}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == nil {
		r.all = map[recordKey]Record{}
	}
	one := r.all[key]
	if one.UID != obj.GetUID() {
		one = Record{Kind: kind, Namespace: obj.GetNamespace(), Name: obj.GetName(), UID: obj.GetUID()}
	}
	if !one.endedLike(obj, pass) {
		one.since = pass.at
	}
	if pass.unkept.what != "" || pass.reason == ReasonInSync {
		one.unkept = pass.unkept
	}
	one.LastChecked, one.Reason, one.Message = pass.at, pass.reason, pass.message
	one.generation, one.asked = obj.GetGeneration(), askedOf(obj)
	one.Passes++
	one.Failures++
	if !pass.failed {
		one.Failures = 0
	}
	one.NextCheck = nil
	if pass.next > 0 {
		next := pass.at.Add(pass.next)
		one.NextCheck = &next
	}
	if !pass.routine || len(pass.plan) > 0 {
		one.lastLook = pass.at
	}
	if len(pass.plan) > 0 {
		one.LastPlan = &Plan{At: pass.at, Steps: pass.plan}
	}
	r.all[key] = one
}

// ended is a pass when it is over.
type ended struct {
	at              time.Time
	reason, message string
	failed          bool
	routine         bool
	next            time.Duration
	plan            []string
	unkept          unkept
}

// endedLike tells whether the last pass ended as this one does, and nobody has asked for anything since.
func (r Record) endedLike(obj client.Object, pass ended) bool {
	return r.Passes > 0 && r.UID == obj.GetUID() && r.Reason == pass.reason && r.Message == pass.message &&
		r.generation == obj.GetGeneration() && r.asked == askedOf(obj)
}

// stood is for how long passes have ended as this one does; 0 if it is the first.
func (r *Records) stood(kind string, obj client.Object, pass ended) time.Duration {
	last, ok := r.last(kind, obj)
	if !ok || !last.endedLike(obj, pass) {
		return 0
	}
	return pass.at.Sub(last.since)
}

// unkeptBy is what the passes over obj up to now have tried in vain.
func (r *Records) unkeptBy(kind string, obj client.Object) unkept {
	last, ok := r.last(kind, obj)
	if !ok || last.UID != obj.GetUID() {
		return unkept{}
	}
	return last.unkept
}

// last is Get for a Records that may be nil.
func (r *Records) last(kind string, obj client.Object) (Record, bool) {
	if r == nil {
		return Record{}, false
	}
	return r.Get(kind, client.ObjectKeyFromObject(obj))
}

// lastLook is when the object was last looked at live, as far as that is remembered.
func (r *Records) lastLook(kind string, obj client.Object) time.Time {
	last, _ := r.last(kind, obj)
	return last.lastLook
}

// routine tells whether a pass over obj that starts now is routine: the last one found everything in sync, nobody has
// asked for anything since, and it is simply time.
func (r *Records) routine(kind string, obj client.Object, now time.Time) bool {
	last, ok := r.last(kind, obj)
	return ok && last.UID == obj.GetUID() && last.Reason == ReasonInSync && last.generation == obj.GetGeneration() &&
		last.asked == askedOf(obj) && last.NextCheck != nil && !now.Before(*last.NextCheck)
}
