package external

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// Values of status.pendingFields for a path that is declared and not managed yet: a digest of AWS's value before our
// first write whose outcome is unknown, or one of these.
const (
	// pendingNew means that the resource is being created, and had no value at any path.
	pendingNew = "new"
	// pendingUnwritten means that no write has succeeded so far. The next try will probably fail too, so nothing is
	// saved before it.
	pendingUnwritten = "unwritten"
)

// Managed knows which paths of a resource are Portico's. A path is managed once a write of it has succeeded, or the
// whole spec was found in sync. A refused path is not: resetting it would remove somebody else's value.
type Managed struct {
	held    []string
	pending map[string]string
	safe    []string
}

// ManagedBy returns the managed paths of obj's status.
func ManagedBy(obj Object) Managed {
	_, status := obj.AWS()
	return Managed{held: status.ManagedFields, pending: status.PendingFields, safe: status.SafeFields}
}

// KeepsSafe reports whether the setting at path has its safe value unless the spec declares another.
func (m Managed) KeepsSafe(path string) bool { return slices.Contains(m.safe, path) }

// Paths lists, sorted, what Portico has written or may have written: it must be read even if it is no longer declared.
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

// Below lists those of Paths that are path or below it.
func (m Managed) Below(path string) []string {
	return slices.DeleteFunc(m.Paths(), func(p string) bool { return p != path && !strings.HasPrefix(p, path+".") })
}

// mayOwn reports whether Owns can be true.
func (m Managed) mayOwn(path string) bool {
	_, pending := m.pending[path]
	return pending || slices.Contains(m.held, path)
}

// Owns reports whether Portico may reset AWS's value at path. have is that value, in the format of a Change: after a
// write with an unknown outcome, a value other than the previous one is ours.
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

// digest returns a short hash of a value that may be too long for a status.
func digest(value string) string {
	sum := sha256.Sum256([]byte(value))
	return hex.EncodeToString(sum[:8])
}

// InitialChanges returns the changes of the paths with which a resource is created.
func InitialChanges(paths []string) []Change {
	changes := make([]Change, 0, len(paths))
	for _, path := range paths {
		changes = append(changes, Change{Path: path})
	}
	return changes
}

// markPending records what the actions will write for the first time, and reports whether that must be saved before
// they are executed. For a creation it records all declared paths: the later actions belong to the same pass.
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
		case !slices.Contains(declared, c.Path): // an earlier try succeeded, and is undone
			r.markManaged([]Change{c})
		case tried && was != pendingNew:
			if managed.Owns(c.Path, c.From) { // an earlier try succeeded, and the declared value has changed
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

// markUnwritten ends the pass at changes that failed; without any, before the first. Refused ones are unchanged; others
// may have been written. What this pass intended and did not reach is unchanged.
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
