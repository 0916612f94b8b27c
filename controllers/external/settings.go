package external

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Setting describes one setting of a resource, with its values as text: where it is in the spec and in AWS, when both
// differ, what applies when the spec does not declare it, and what AWS requires of a change. Every kind describes its
// settings in tables of these, and adds only how its calls read and write them. What AWS cannot change is in a table of
// its own, and a difference there blocks. T is the custom resource, S the observed state.
type Setting[T, S any] struct {
	Path string // in the spec, and in status.managedFields
	Name string // in AWS; only for services whose calls take settings by name
	// Want returns the value in the spec; declared false leaves the setting to AWS.
	Want func(T) (value string, declared bool)
	Have func(*S) string
	// Normal returns the same text for values with the same meaning, to compare them; nil: no conversion. The value
	// that Want returns is what is written.
	Normal func(string) string
	// Same reports whether two different texts are equivalent; nil: never.
	Same func(have, want string) bool
	// Default is the value to which the setting is reset, once, when it is no longer declared. Sticky settings have no
	// AWS default to reset to: they keep their value.
	Default string
	Sticky  bool
	// Guard is the value that keeps others out or protects the data: it is written before everything else. Empty: none;
	// for Safe settings it is Default.
	Guard string
	// Safe means that Default keeps others out: where Portico keeps it, the setting has it whenever the spec declares
	// nothing. See SafePather.
	Safe bool
	// Together names settings that AWS validates together: their changes are not divided. Empty: AWS validates the
	// setting alone. PlanCall and PlanCalls apply this, Settles and Refuse.
	Together string
	// Settles is how long AWS may take to show a change; 0: the default time.
	Settles time.Duration
	// Later means that the call that creates the resource does not accept the setting.
	Later bool
	// Refuse returns why Portico does not write the value, though the service may accept it; nil: it writes every
	// value. The current value then stays.
	Refuse func(value string) error
}

// Change is a setting that differs.
type Change struct {
	Path, From, To string
	Name, Together string // as in Setting
	Guards         bool   // To keeps others out or protects the data: see Setting.Guard

	settles time.Duration
	refusal error
}

// DeclaredPaths returns the paths of the settings that obj declares.
func DeclaredPaths[T, S any](settings []Setting[T, S], obj T) []string {
	var paths []string
	for _, s := range settings {
		if _, declared := s.Want(obj); declared {
			paths = append(paths, s.Path)
		}
	}
	return paths
}

// AnyInUse reports whether any of the settings is declared, or still managed: then they must be read.
func AnyInUse[T Object, S any](settings []Setting[T, S], obj T) bool {
	managed := ManagedBy(obj).Paths()
	return slices.ContainsFunc(settings, func(s Setting[T, S]) bool {
		_, declared := s.Want(obj)
		return declared || slices.Contains(managed, s.Path)
	})
}

// SafePaths lists the Safe settings that have their default in seen; all of them, if that is nil.
func SafePaths[T, S any](settings []Setting[T, S], seen *S) []string {
	var paths []string
	for _, s := range settings {
		if s.Safe && (seen == nil || s.have(seen) == s.Default) {
			paths = append(paths, s.Path)
		}
	}
	return paths
}

// Changes returns the settings whose observed value differs from the declared one, or from the default if they are
// managed or kept safe and no longer declared.
func Changes[T Object, S any](settings []Setting[T, S], obj T, seen *S) []Change {
	var all []Change
	managed := ManagedBy(obj)
	for _, s := range settings {
		want, due := s.due(obj, seen, managed)
		if !due {
			continue
		}
		have := s.have(seen)
		if have != s.normal(want) && (s.Same == nil || !s.Same(have, want)) {
			all = append(all, Change{
				Path: s.Path, From: have, To: want, Name: s.Name, Together: s.Together, Guards: s.guards(want),
				settles: s.Settles, refusal: s.Refusal(want),
			})
		}
	}
	return all
}

// have returns the observed value, for comparison.
func (s Setting[T, S]) have(seen *S) string { return s.normal(s.Have(seen)) }

func (s Setting[T, S]) normal(value string) string {
	if s.Normal == nil {
		return value
	}
	return s.Normal(value)
}

func (s Setting[T, S]) guards(value string) bool {
	return (s.Safe && value == s.Default) || (s.Guard != "" && value == s.Guard)
}

// Refusal returns why Portico does not write the value; nil if it does.
func (s Setting[T, S]) Refusal(value string) error {
	if s.Refuse == nil {
		return nil
	}
	return s.Refuse(value)
}

// due returns the wanted value of the setting: the declared one, or the default of one that is managed or kept safe.
// due is false if the setting is left alone.
func (s Setting[T, S]) due(obj T, seen *S, managed Managed) (want string, due bool) {
	if want, declared := s.Want(obj); declared {
		return want, true
	}
	if s.Safe && managed.KeepsSafe(s.Path) {
		return s.Default, true
	}
	return s.Default, !s.Sticky && managed.mayOwn(s.Path) && managed.Owns(s.Path, s.have(seen))
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
