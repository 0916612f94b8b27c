package engine

import "k8s.io/apimachinery/pkg/types"

// AtWork reports whether a pass over the object runs now. A write to the object during one makes the pass begin again.
func (r *Records) AtWork(kind string, of types.NamespacedName) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	_, busy := r.atWork[recordKey{kind, of}]
	return busy
}

// begin notes that a pass begins, and returns what notes its end. There is one over an object at a time.
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
