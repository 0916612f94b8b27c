package attributes

import (
	"cmp"
	"time"

	"github.com/portico-platform/portico/controllers/external"
)

// Attribute is one setting that a service takes and returns as text.
type Attribute[T external.Object] struct {
	Name    string // in the service
	Path    string // in the spec
	Default string // AWS's default, used once no longer declared
	Want    func(T) (value string, declared bool)
	// Normal returns the same text for values with the same meaning, to compare them; nil: no conversion. The value
	// that Want returns is what is written.
	Normal func(string) string
	// Settles is how long AWS may take to show a change; 0: the default time.
	Settles time.Duration
	// Unlisted is the value that counts if the service does not list the attribute; empty: Default.
	Unlisted string
	// Later says that the call that creates the resource does not accept the attribute.
	Later bool
	// Refuse returns why Portico does not write the value, though the service may accept it; nil: it writes every
	// value. The current value then stays.
	Refuse func(value string) error
}

// refusal returns why the value is not written, or nil if it is.
func (a Attribute[T]) refusal(value string) error {
	if a.Refuse == nil {
		return nil
	}
	return a.Refuse(value)
}

// field returns the attribute for comparison. If the service does not list it, its value is Unlisted, or else its
// default.
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
