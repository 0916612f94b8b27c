package attributes

import (
	"cmp"
	"time"

	"github.com/portico-platform/portico/controllers/external"
)

// Attribute is one setting that a service takes and gives as text.
type Attribute[T external.Object] struct {
	Name    string // in the service
	Path    string // in the spec
	Default string // AWS's default, used once no longer declared
	Want    func(T) (value string, declared bool)
	// Normal makes equal meanings equal texts, to compare them; nil: they are. What is written is what Want returns.
	Normal func(string) string
	// Settles is how long a change may take to show; 0 is as long as for most.
	Settles time.Duration
	// Unlisted is what it means that the service does not list the attribute; empty: Default.
	Unlisted string
	// Later says that the call that creates the resource does not take it.
	Later bool
	// Refuse returns why Portico does not write the value, though the service may take it; nil: it writes all. What is
	// there is left.
	Refuse func(value string) error
}

// refusal returns why the value is not written, nil if it is.
func (a Attribute[T]) refusal(value string) error {
	if a.Refuse == nil {
		return nil
	}
	return a.Refuse(value)
}

// field returns the attribute for comparison. One that the service does not list has its default, or is what Unlisted
// says.
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
			return cmp.Or(a.Unlisted, normal(a.Default))
		},
		Same: func(have, want string) bool { return have == normal(want) },
	}
}
