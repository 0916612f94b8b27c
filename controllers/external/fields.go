package external

import (
	"fmt"
	"slices"
	"strings"
)

// Field is one setting of a resource, as text, that one call changes alone or together with others. T is the custom
// resource, S the observed state.
type Field[T, S any] struct {
	Path string // in the spec, and in status.managedFields
	// Want returns the value in the spec; declared false leaves the field to AWS.
	Want func(T) (value string, declared bool)
	Have func(*S) string
	// Default is the value to which the field is reset, once, when it is no longer declared. Sticky fields have no AWS
	// default to reset to: they keep their value.
	Default string
	Sticky  bool
	// Guard is the value that keeps others out or protects the data: it is written before everything else. Empty: none;
	// for Safe fields it is Default.
	Guard string
	// Safe means that Default keeps others out: where Portico keeps it, the field has it whenever the spec declares
	// nothing. See SafeKeeper.
	Safe bool
	// Same reports whether two different texts are equivalent; nil: never.
	Same func(have, want string) bool
}

// Change is a field that differs.
type Change struct {
	Path, From, To string
	Guards         bool // To keeps others out or protects the data: see Field.Guard
}

// DeclaredPaths returns the paths of the fields that obj declares.
func DeclaredPaths[T, S any](fields []Field[T, S], obj T) []string {
	var paths []string
	for _, f := range fields {
		if _, declared := f.Want(obj); declared {
			paths = append(paths, f.Path)
		}
	}
	return paths
}

// AnyInUse reports whether any of the fields is declared, or still managed: then they must be read.
func AnyInUse[T Object, S any](fields []Field[T, S], obj T) bool {
	managed := ManagedBy(obj).Paths()
	return slices.ContainsFunc(fields, func(f Field[T, S]) bool {
		_, declared := f.Want(obj)
		return declared || slices.Contains(managed, f.Path)
	})
}

// SafePaths lists the Safe fields that have their default in seen; all of them, if that is nil.
func SafePaths[T, S any](fields []Field[T, S], seen *S) []string {
	var paths []string
	for _, f := range fields {
		if f.Safe && (seen == nil || f.Have(seen) == f.Default) {
			paths = append(paths, f.Path)
		}
	}
	return paths
}

// Changes returns the fields whose observed value differs from the declared one, or from the default if they are
// managed or kept safe and no longer declared.
func Changes[T Object, S any](fields []Field[T, S], obj T, seen *S) []Change {
	var all []Change
	managed := ManagedBy(obj)
	for _, f := range fields {
		want, due := f.due(obj, seen, managed)
		if !due {
			continue
		}
		if have := f.Have(seen); have != want && (f.Same == nil || !f.Same(have, want)) {
			all = append(all, Change{Path: f.Path, From: have, To: want, Guards: f.guards(want)})
		}
	}
	return all
}

func (f Field[T, S]) guards(value string) bool {
	return (f.Safe && value == f.Default) || (f.Guard != "" && value == f.Guard)
}

// due returns the wanted value of the field: the declared one, or the default of a field that is managed or kept safe.
// due is false if the field is left alone.
func (f Field[T, S]) due(obj T, seen *S, managed Managed) (want string, due bool) {
	if want, declared := f.Want(obj); declared {
		return want, true
	}
	if f.Safe && managed.KeepsSafe(f.Path) {
		return f.Default, true
	}
	return f.Default, !f.Sticky && managed.mayOwn(f.Path) && managed.Owns(f.Path, f.Have(seen))
}

// Describe formats changes for people: "visibilityTimeout 30 → 60".
func Describe(changes []Change) string {
	texts := make([]string, 0, len(changes))
	for _, c := range changes {
		texts = append(texts, fmt.Sprintf("%s %s → %s", c.Path, OrNone(c.From), OrNone(c.To)))
	}
	return strings.Join(texts, ", ")
}

// OrNone returns value, or "none" for an empty one.
func OrNone(value string) string {
	if value == "" {
		return "none"
	}
	return value
}
