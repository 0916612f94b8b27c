package cluster

import (
	"net/http"
	"strings"
	"testing"

	"github.com/portico-platform/portico/portal/auth"
)

// TestOnlyPeopleWithATokenOfTheirOwnAreCarried: nothing is sent for others, and the portal's own token is never used
// for a user.
func TestOnlyPeopleWithATokenOfTheirOwnAreCarried(t *testing.T) {
	c := &Cluster{} // without an operator: a request would panic
	for name, id := range map[string]struct {
		id     auth.Identity
		status int
		says   string
	}{
		"a ServiceAccount": {auth.Identity{Username: "system:serviceaccount:payments:ci", ServiceAccount: true}, http.StatusForbidden, "this is for people who sign in"},
		"a session":        {auth.Identity{Username: "oidc:jane"}, http.StatusUnauthorized, "sign in again to confirm"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := c.Secrets(t.Context(), id.id, "payments")
			said, ok := err.(*PersonError) //nolint:errorlint // as it is returned
			if !ok || said.Status != id.status || !strings.Contains(said.Error(), id.says) {
				t.Errorf("%v", err)
			}
			if _, err := c.DeleteSecret(t.Context(), id.id, "payments", "shop", "shop"); err == nil ||
				!strings.Contains(err.Error(), id.says) {
				t.Errorf("to delete: %v", err)
			}
		})
	}
}

func TestWhatTheOperatorSaysHasAnOutcome(t *testing.T) {
	for status, want := range map[int]auth.Outcome{
		401: auth.Forbidden, 403: auth.Forbidden, 404: auth.Refused, 409: auth.Conflict, 413: auth.Refused,
		422: auth.Refused, 501: auth.Failed, 503: auth.Failed,
	} {
		if got := outcomeOf(&PersonError{Status: status}); got != want {
			t.Errorf("%d: %s, want %s", status, got, want)
		}
	}
	if outcomeOf(nil) != auth.Done {
		t.Error("nothing went wrong, and it is not done")
	}
}
