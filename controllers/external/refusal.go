package external

import (
	"slices"
	"strings"

	"github.com/portico-platform/portico/controllers/engine"
)

// naming adds the fields of the action to err, a refusal, unless it already names one of them: a service has its own
// names for them.
func naming(a Action, err error) error {
	wait, _ := engine.AsWait(err)
	var fields []string
	for _, c := range a.Changes {
		if strings.Contains(wait.Error(), c.Path) {
			return err
		}
		fields = append(fields, c.Path)
	}
	slices.Sort(fields)
	if fields = slices.Compact(fields); len(fields) == 0 {
		return err
	}
	return engine.Blocked(wait.Reason, "%s: %w", strings.Join(fields, ", "), err)
}
