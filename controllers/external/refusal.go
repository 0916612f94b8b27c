package external

import (
	"slices"
	"strings"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// naming returns err with the fields that the action is about, if it says that they cannot be had and names none of them: a service has
// words of its own for them. A creation is about all of them.
func naming(create bool, a Action, err error) error {
	wait, ok := engine.AsWait(err)
	if create || !ok || !wait.Stalled || wait.Reason != v1alpha1.ReasonInvalidSpec {
		return err
	}
	var fields []string
	for _, c := range a.Changes {
		field, _, _ := strings.Cut(c.Path, ".")
		if strings.Contains(wait.Error(), field) {
			return err
		}
		fields = append(fields, field)
	}
	slices.Sort(fields)
	if fields = slices.Compact(fields); len(fields) == 0 {
		return err
	}
	return engine.Blocked(wait.Reason, "%s: %w", strings.Join(fields, ", "), err)
}
