package engine

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// Record is what the engine remembers of its passes over one object: data that is not in the status, because it changes
// with every pass. It is kept in memory and lost with the process.
type Record struct {
	Kind      string
	Namespace string
	Name      string
	UID       types.UID
	// LastChecked is when the last pass ended; Reason and Message are its outcome, as in the Ready condition.
	LastChecked time.Time
	Reason      string
	Message     string
	// NextCheck is when the next pass is due without other events; absent after a failure, which is retried with
	// back-off, and while the object is paused.
	NextCheck *time.Time
	// LastPlan is the last non-empty plan of a pass; absent if there was none since the operator started.
	LastPlan *Plan
	// Passes counts passes since the operator started; Failures counts the latest consecutive failed ones.
	Passes   int64
	Failures int64

	generation   int64
	triggers     string
	lastObserved time.Time          // end of the last pass that was not routine, or had a plan
	lastAudit    time.Time          // last audit in sync; before one, the first pass; zero if the last was not in sync
	since        time.Time          // first pass with the current outcome
	ineffective  ineffectiveActions // never changed, only replaced
	refused      refusals           // never changed, only replaced
	released     bool               // nothing is left to undo, for this generation of the spec
}

// Plan is the plan of one pass.
type Plan struct {
	At      time.Time
	Actions []PlannedAction
}

// Records keeps a Record of each object, over all kinds. Safe for concurrent use; the zero value is ready.
type Records struct {
	mu     sync.RWMutex
	all    map[recordKey]Record
	atWork map[recordKey]struct{} // objects with a running pass
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

// All returns the records for which filter returns true, sorted by kind, namespace and name. nil selects all.
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

// update changes the record of obj. It starts a new one if there is none, or if it belongs to an earlier object of this
// name.
func (r *Records) update(kind string, obj client.Object, change func(one *Record)) {
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
	change(&one)
	one.generation, one.triggers = obj.GetGeneration(), triggersOf(obj)
	r.all[key] = one
}

// release records that nothing is left to undo of obj. If its finalizer cannot be removed at once, the next pass need
// not prove this again, which only the pass that did the work could.
func (r *Records) release(kind string, obj client.Object) {
	r.update(kind, obj, func(one *Record) { one.released = true })
}

// released reports whether release was called for obj, and its spec has not changed since.
func (r *Records) released(kind string, obj client.Object) bool {
	one, ok := r.last(kind, obj)
	return ok && one.released && one.UID == obj.GetUID() && one.generation == obj.GetGeneration()
}

// add records a pass.
func (r *Records) add(kind string, obj client.Object, pass passResult) {
	r.update(kind, obj, func(one *Record) {
		if !one.sameOutcome(obj, pass) {
			one.since = pass.at
		}
		one.ineffective, one.refused = one.ineffective.after(pass), one.refused.after(pass)
		one.LastChecked, one.Reason, one.Message, one.released = pass.at, pass.reason, pass.message, false
		one.Passes++
		one.Failures++
		if !pass.failed {
			one.Failures = 0
		}
		one.NextCheck = nil
		if pass.next > 0 {
			one.NextCheck = new(pass.at.Add(pass.next))
		}
		if !pass.routine || len(pass.plan) > 0 {
			one.lastObserved = pass.at
		}
		one.noteAudit(pass)
		if len(pass.plan) > 0 {
			one.LastPlan = &Plan{At: pass.at, Actions: pass.plan}
		}
	})
}

// noteAudit records the outcome of an audit. The interval starts with the first pass over an object: a restart causes
// no audits.
func (r *Record) noteAudit(pass passResult) {
	switch {
	case pass.audit && pass.reason != v1alpha1.ReasonInSync:
		r.lastAudit = time.Time{}
	case pass.audit, r.Passes == 1:
		r.lastAudit = pass.at
	}
}

// passResult is a finished pass.
type passResult struct {
	at              time.Time
	reason, message string
	failed          bool
	routine, audit  bool
	next            time.Duration
	plan            []PlannedAction
	ineffective     ineffectiveActions
	refused         refusals
}

// sameOutcome reports whether the last pass had the outcome of this one, and nobody has requested anything since.
func (r Record) sameOutcome(obj client.Object, pass passResult) bool {
	return r.Passes > 0 && r.UID == obj.GetUID() && r.Reason == pass.reason && r.Message == pass.message &&
		r.generation == obj.GetGeneration() && r.triggers == triggersOf(obj)
}

// unchangedFor returns for how long passes have had this outcome; 0 if it is new.
func (r *Records) unchangedFor(kind string, obj client.Object, pass passResult) time.Duration {
	last, ok := r.last(kind, obj)
	if !ok || !last.sameOutcome(obj, pass) {
		return 0
	}
	return pass.at.Sub(last.since)
}

// ineffectiveOf returns the ineffective actions of earlier passes over obj.
func (r *Records) ineffectiveOf(kind string, obj client.Object) ineffectiveActions {
	last, ok := r.last(kind, obj)
	if !ok || last.UID != obj.GetUID() {
		return nil
	}
	return last.ineffective
}

// refusedOf returns the actions refused in earlier passes over obj; nothing once somebody has changed obj or requested
// a pass.
func (r *Records) refusedOf(kind string, obj client.Object) refusals {
	last, ok := r.last(kind, obj)
	if !ok || last.UID != obj.GetUID() || last.generation != obj.GetGeneration() || last.triggers != triggersOf(obj) {
		return nil
	}
	return last.refused
}

// last returns what Get does, for a Records that may be nil.
func (r *Records) last(kind string, obj client.Object) (Record, bool) {
	if r == nil {
		return Record{}, false
	}
	return r.Get(kind, client.ObjectKeyFromObject(obj))
}

// lastObserved returns when the object was last observed live, if known.
func (r *Records) lastObserved(kind string, obj client.Object) time.Time {
	last, _ := r.last(kind, obj)
	return last.lastObserved
}

// routine reports whether a pass over obj that starts now is routine: the last one was in sync, nobody has requested
// anything since, and the pass is only due by time.
func (r *Records) routine(kind string, obj client.Object, now time.Time) bool {
	last, ok := r.last(kind, obj)
	return ok && last.UID == obj.GetUID() && last.Reason == v1alpha1.ReasonInSync &&
		last.generation == obj.GetGeneration() &&
		last.triggers == triggersOf(obj) && last.NextCheck != nil && !now.Before(*last.NextCheck)
}

// audit reports whether a pass over obj that starts now is an audit: it is routine, or requested, or interval has
// passed since the last audit in sync.
func (r *Records) audit(kind string, obj client.Object, now time.Time, interval time.Duration) bool {
	last, ok := r.last(kind, obj)
	return ok && last.UID == obj.GetUID() &&
		(r.routine(kind, obj, now) || last.triggers != triggersOf(obj) || now.Sub(last.lastAudit) >= interval)
}
