package people

import (
	"net/http"
	"strings"
	"testing"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/cluster/failure"
)

// TestOnlyPeopleWithATokenOfTheirOwnAreCarried: nothing is sent for others, and the portal's own token is never used
// for a user.
func TestOnlyPeopleWithATokenOfTheirOwnAreCarried(t *testing.T) {
	c := &People{} // without an operator: a request would panic
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
			said, ok := err.(*failure.PersonError) //nolint:errorlint // as it is returned
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
