package external

import (
	"errors"
	"fmt"
	"testing"

	"github.com/portico-platform/portico/controllers/engine"
)

// A service has its own name for a value that it refuses.
func TestARefusalNamesItsFields(t *testing.T) {
	action := Action{
		Name:    "SetQueueAttributes",
		Changes: []Change{{Path: "tags.team"}, {Path: "kmsMasterKeyId"}, {Path: "tags.cost"}},
	}
	cause := errors.New("cause")
	for name, row := range map[string]struct {
		action Action
		err    error
		want   string
	}{
		"in the service's words": {action, engine.Blocked("InvalidSpec", "KmsMasterKeyId is invalid: %w", cause), "kmsMasterKeyId, tags.cost, tags.team: KmsMasterKeyId is invalid: cause"},
		"in ours":                {action, engine.Blocked("InvalidSpec", "kmsMasterKeyId is odd: %w", cause), "kmsMasterKeyId is odd: cause"},
		"for another reason":     {action, engine.Blocked("AccessDenied", "no: %w", cause), "kmsMasterKeyId, tags.cost, tags.team: no: cause"},
		"of no field":            {Action{Name: "DeleteQueue"}, engine.Blocked("InvalidSpec", "no: %w", cause), "no: cause"},
	} {
		got := naming(row.action, row.err)
		if got.Error() != row.want || !errors.Is(got, cause) {
			t.Errorf("%s: %v, want %s", name, got, row.want)
		}
		was, _ := engine.AsWait(row.err)
		is, _ := engine.AsWait(got)
		summary := func(w *engine.WaitError) string {
			if w == nil {
				return "no pause"
			}
			return fmt.Sprint(w.Reason, ", stalled ", w.Stalled, ", after ", w.After)
		}
		if got, want := summary(is), summary(was); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
