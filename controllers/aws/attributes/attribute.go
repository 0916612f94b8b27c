package attributes

import (
	"strconv"

	"github.com/portico-platform/portico/controllers/external"
)

// Attribute is one setting that a service takes and gives as text.
type Attribute[T external.Object] struct {
	Name    string // in the service
	Path    string // in the spec
	Default string // AWS's own, to which it goes back when it is declared no more
	Want    func(T) (value string, declared bool)
	// Normal makes equal meanings equal texts; nil: they are.
	Normal func(string) string
	// Later says that the call that creates the resource does not take it.
	Later bool
}

// Number returns the text of a number of the spec, which is declared if it is not nil.
func Number[T any](of func(T) *int32) func(T) (string, bool) {
	return func(obj T) (string, bool) {
		if v := of(obj); v != nil {
			return strconv.Itoa(int(*v)), true
		}
		return "", false
	}
}

// Bool returns the text of a boolean of the spec, which is declared if it is not nil.
func Bool[T any](of func(T) *bool) func(T) (string, bool) {
	return func(obj T) (string, bool) {
		if v := of(obj); v != nil {
			return strconv.FormatBool(*v), true
		}
		return "", false
	}
}

// Text returns a text of the spec, which is declared if it is not empty.
func Text[T any](of func(T) string) func(T) (string, bool) {
	return func(obj T) (string, bool) { return of(obj), of(obj) != "" }
}

// field returns the attribute for comparison. One that the service does not list has its default.
func (a Attribute[T]) field() external.Field[T, State] {
	normal := func(value string) string {
		if a.Normal == nil {
			return value
		}
		return a.Normal(value)
	}
	return external.Field[T, State]{
		Path: a.Path, Default: a.Default, Want: a.Want,
		Have: func(seen *State) string {
			if have, listed := seen.Attributes[a.Name]; listed {
				return normal(have)
			}
			return a.Default
		},
	}
}
