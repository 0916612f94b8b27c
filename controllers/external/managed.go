package external

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// What status.pendingFields says of a path that is declared and not managed yet: a digest of what AWS had there before
// our first write, whose answer is not known; or one of these.
const (
	// pendingNew: the resource is being made, and had nothing at any path.
	pendingNew = "new"
	// pendingUnwritten: no write has got through, as far as it was tried. The next try most likely does not either, so
	// that nothing is saved before it.
	pendingUnwritten = "unwritten"
)

// Managed tells which paths of a resource are Portico's. One is managed once a write of it has succeeded, or all of the
// spec was found to hold. What was refused is not: to take it back would take away what is somebody else's.
type Managed struct {
	held    []string
	pending map[string]string
	safe    []string
}

// ManagedBy reads what obj's status says.
func ManagedBy(obj Object) Managed {
	_, status := obj.AWS()
	return Managed{held: status.ManagedFields, pending: status.PendingFields, safe: status.SafeFields}
}

// KeepsSafe reports whether the setting at path has its safe value unless the spec declares another.
func (m Managed) KeepsSafe(path string) bool { return slices.Contains(m.safe, path) }

// Paths lists, sorted, what Portico has written or may have: it must be read, even if it is declared no more.
func (m Managed) Paths() []string {
	paths := slices.Clone(m.held)
	for path, state := range m.pending {
		if state != pendingUnwritten {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// Below lists those of the Paths that are path or members of it.
func (m Managed) Below(path string) []string {
	return slices.DeleteFunc(m.Paths(), func(p string) bool { return p != path && !strings.HasPrefix(p, path+".") })
}

// mayOwn reports whether Owns may say yes.
func (m Managed) mayOwn(path string) bool {
	_, pending := m.pending[path]
	return pending || slices.Contains(m.held, path)
}

// Owns reports whether what AWS has at path is Portico's to take back. have is that value, in the text of a Change:
// after a write whose answer was lost, another value than before is ours.
func (m Managed) Owns(path, have string) bool {
	if slices.Contains(m.held, path) {
		return true
	}
	was, tried := m.pending[path]
	switch {
	case !tried, was == pendingUnwritten:
		return false
	case was == pendingNew:
		return true
	}
	return was != digest(have)
}

// digest stands for a value that may be long, and has no place in a status.
func digest(value string) string {
	sum := sha256.Sum256([]byte(value))
	return hex.EncodeToString(sum[:8])
}

// InitialChanges returns the changes of the paths that a resource is made with.
func InitialChanges(paths []string) []Change {
	changes := make([]Change, 0, len(paths))
	for _, path := range paths {
		changes = append(changes, Change{Path: path})
	}
	return changes
}

// markPending notes what the actions are about to write for the first time, and tells whether that must be saved before
// they are taken. Of a resource that is to be made it is all that is declared: the actions that follow belong to the
// same pass.
func (r *reconciliation[T, S]) markPending(create bool, actions []Action) bool {
	declared, news := r.Adapter.Declared(r.obj), false
	changes := InitialChanges(declared)
	if !create {
		changes = nil
		for _, a := range actions {
			changes = append(changes, a.Changes...)
		}
	}
	for _, c := range changes {
		managed := ManagedBy(r.obj)
		was, tried := managed.pending[c.Path]
		switch {
		case slices.Contains(managed.held, c.Path), was == pendingUnwritten:
		case !slices.Contains(declared, c.Path): // an earlier try got through, and is taken back
			r.markManaged([]Change{c})
		case tried && was != pendingNew:
			if managed.Owns(c.Path, c.From) { // an earlier try got through, and something else is declared now
				r.markManaged([]Change{c})
			}
		case create:
			r.setPending(c.Path, pendingNew)
			news = news || !tried
		default:
			r.setPending(c.Path, digest(c.From))
			news = news || !tried
		}
	}
	return news
}

func (r *reconciliation[T, S]) setPending(path, state string) {
	_, status := r.obj.AWS()
	if status.PendingFields == nil {
		status.PendingFields = map[string]string{}
	}
	status.PendingFields[path] = state
	r.pending = append(r.pending, path)
}

// markManaged makes paths managed.
func (r *reconciliation[T, S]) markManaged(changes []Change) {
	_, status := r.obj.AWS()
	for _, c := range changes {
		status.ManagedFields = union(status.ManagedFields, []string{c.Path})
		delete(status.PendingFields, c.Path)
	}
}

// markUnwritten ends the pass at changes that failed; without any, before the first. Refused, they are as they were;
// else they may have been written. What this pass intended and has not come to is as it was.
func (r *reconciliation[T, S]) markUnwritten(changes []Change, refused bool) {
	_, status := r.obj.AWS()
	for _, c := range changes {
		r.pending = slices.DeleteFunc(r.pending, func(path string) bool { return path == c.Path && !refused })
		switch was, pending := status.PendingFields[c.Path]; {
		case pending && refused:
			status.PendingFields[c.Path] = pendingUnwritten
		case was == pendingUnwritten:
			status.PendingFields[c.Path] = digest(c.From)
		}
	}
	for _, path := range r.pending {
		if _, pending := status.PendingFields[path]; pending {
			status.PendingFields[path] = pendingUnwritten
		}
	}
}
