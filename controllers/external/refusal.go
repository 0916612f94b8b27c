package external

import (
	"slices"
	"strings"

	"github.com/portico-platform/portico/controllers/engine"
)

// naming returns err, a refusal, with the fields that the action is about, unless it names one of them: a service has
// words of its own for them.
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
