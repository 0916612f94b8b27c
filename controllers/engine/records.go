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

// Record is what the engine remembers of its passes over one object: more than the status says, because it changes with
// every pass. It lives in memory and is lost with the process.
type Record struct {
	Kind      string
	Namespace string
	Name      string
	UID       types.UID
	// LastChecked is when the last pass ended; Reason and Message are its outcome, as in the Ready condition.
	LastChecked time.Time
	Reason      string
	Message     string
	// NextCheck is when the next pass is due if nothing happens before; absent after a failure, which is tried again
	// with back-off, and while the object is paused.
	NextCheck *time.Time
	// LastPlan is the last that a pass found to do; absent if none did since the operator started.
	LastPlan *Plan
	// Passes counts them since the operator started; Failures are those at the end that failed.
	Passes   int64
	Failures int64

	generation   int64
	triggers     string
	lastObserved time.Time          // when the last pass ended that was not routine, or found something to do
	lastAudit    time.Time          // when the last audit found everything in sync; the first pass, before one did; zero, if the last did not
	since        time.Time          // when a pass first ended as the last one has
	ineffective  ineffectiveActions // never changed, only replaced
	refused      refusals           // never changed, only replaced
	released     bool               // nothing is left to undo, by this generation of the spec
}

// Plan is what one pass found to do.
type Plan struct {
	At      time.Time
	Actions []PlannedAction
}

// Records keeps a Record of each object, over all kinds. Safe for concurrent use; the zero value is ready.
type Records struct {
	mu     sync.RWMutex
	all    map[recordKey]Record
	atWork map[recordKey]struct{} // the objects over which a pass runs now
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

// update changes the record of obj: a new one, if there is none or it is of an earlier object of this name.
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

// release notes that nothing is left to undo of obj. If its finalizer cannot be removed at once, the next pass need not
// prove again what it could only prove by having done it.
func (r *Records) release(kind string, obj client.Object) {
	r.update(kind, obj, func(one *Record) { one.released = true })
}

// released reports whether release was called for obj, and nobody has changed its spec since.
func (r *Records) released(kind string, obj client.Object) bool {
	one, ok := r.last(kind, obj)
	return ok && one.released && one.UID == obj.GetUID() && one.generation == obj.GetGeneration()
}

// add notes a pass.
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

// noteAudit notes how an audit ended. Time counts from the first pass over an object: a restart costs no audits.
func (r *Record) noteAudit(pass passResult) {
	switch {
	case pass.audit && pass.reason != v1alpha1.ReasonInSync:
		r.lastAudit = time.Time{}
	case pass.audit, r.Passes == 1:
		r.lastAudit = pass.at
	}
}

// passResult is a pass when it is over.
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

// sameOutcome reports whether the last pass ended as this one does, and nobody has asked for anything since.
func (r Record) sameOutcome(obj client.Object, pass passResult) bool {
	return r.Passes > 0 && r.UID == obj.GetUID() && r.Reason == pass.reason && r.Message == pass.message &&
		r.generation == obj.GetGeneration() && r.triggers == triggersOf(obj)
}

// unchangedFor returns for how long passes have ended as this one does; 0 if it is the first.
func (r *Records) unchangedFor(kind string, obj client.Object, pass passResult) time.Duration {
	last, ok := r.last(kind, obj)
	if !ok || !last.sameOutcome(obj, pass) {
		return 0
	}
	return pass.at.Sub(last.since)
}

// ineffectiveOf returns what the passes over obj up to now have tried in vain.
func (r *Records) ineffectiveOf(kind string, obj client.Object) ineffectiveActions {
	last, ok := r.last(kind, obj)
	if !ok || last.UID != obj.GetUID() {
		return nil
	}
	return last.ineffective
}

// refusedOf returns what the passes over obj up to now have seen refused; nothing once somebody has changed obj or
// asked for a pass.
func (r *Records) refusedOf(kind string, obj client.Object) refusals {
	last, ok := r.last(kind, obj)
	if !ok || last.UID != obj.GetUID() || last.generation != obj.GetGeneration() || last.triggers != triggersOf(obj) {
		return nil
	}
	return last.refused
}

// last does what Get does, for a Records that may be nil.
func (r *Records) last(kind string, obj client.Object) (Record, bool) {
	if r == nil {
		return Record{}, false
	}
	return r.Get(kind, client.ObjectKeyFromObject(obj))
}

// lastObserved returns when the object was last looked at live, as far as that is remembered.
func (r *Records) lastObserved(kind string, obj client.Object) time.Time {
	last, _ := r.last(kind, obj)
	return last.lastObserved
}

// routine reports whether a pass over obj that starts now is routine: the last one found everything in sync, nobody has
// asked for anything since, and it is simply time.
func (r *Records) routine(kind string, obj client.Object, now time.Time) bool {
	last, ok := r.last(kind, obj)
	return ok && last.UID == obj.GetUID() && last.Reason == v1alpha1.ReasonInSync && last.generation == obj.GetGeneration() &&
		last.triggers == triggersOf(obj) && last.NextCheck != nil && !now.Before(*last.NextCheck)
}

// audit reports whether a pass over obj that starts now is an audit: it is routine, somebody asked for it, or the last
// one was so long ago, or did not find everything in sync.
func (r *Records) audit(kind string, obj client.Object, now time.Time, interval time.Duration) bool {
	last, ok := r.last(kind, obj)
	return ok && last.UID == obj.GetUID() &&
		(r.routine(kind, obj, now) || last.triggers != triggersOf(obj) || now.Sub(last.lastAudit) >= interval)
}
