package engine

import "k8s.io/apimachinery/pkg/types"

// AtWork reports whether a pass over the object is running. A write to the object during a pass makes it start again.
func (r *Records) AtWork(kind string, of types.NamespacedName) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	_, busy := r.atWork[recordKey{kind, of}]
	return busy
}

// begin records that a pass begins, and returns a function that records its end. There is one pass over an object at a
// time.
func (r *Records) begin(kind string, of types.NamespacedName) (end func()) {
	if r == nil {
		return func() {}
	}
	key := recordKey{kind, of}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.atWork == nil {
		r.atWork = map[recordKey]struct{}{}
	}
	r.atWork[key] = struct{}{}
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.atWork, key)
	}
}
