package failure

import (
	"testing"

	"github.com/portico-platform/portico/portal/auth"
)

func TestErrorsHaveAnOutcome(t *testing.T) {
	for status, want := range map[int]auth.Outcome{
		401: auth.Forbidden, 403: auth.Forbidden, 404: auth.Refused, 409: auth.Conflict, 413: auth.Refused,
		422: auth.Refused, 501: auth.Failed, 503: auth.Failed,
	} {
		if got := OutcomeOf(&PersonError{Status: status}); got != want {
			t.Errorf("%d: %s, want %s", status, got, want)
		}
	}
	if got := OutcomeOf(&NoLogError{}); got != auth.Refused {
		t.Errorf("without a log: %s, want %s", got, auth.Refused)
	}
	if OutcomeOf(nil) != auth.Done {
		t.Error("nothing went wrong, and it is not done")
	}
}
