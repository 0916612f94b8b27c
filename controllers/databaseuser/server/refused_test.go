package server

import (
	"testing"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// Applications name tables, and the server quotes names in its messages.
func TestNamesOfApplicationsAreNoCodes(t *testing.T) {
	err := refusedStatement(`DROP TABLE "x 55P03"`, `cannot drop "x 55P03 (1094)"`, pgDependent)
	for code, want := range map[string]bool{pgDependent: true, pgLocked: false, "1094": false, "": false} {
		if got := hasCode(err, code); got != want {
			t.Errorf("has the code %q: got %v, want %v", code, got, want)
		}
	}
	if secret := secretError("set the password", pgLocked); !locked(secret) {
		t.Errorf("the code of %v is not known", secret)
	}
	if locked(err) || overtaken(err) {
		t.Error("it is taken for a lock, whose owner's connections are ended")
	}
	if wait, ok := engine.AsWait(err); !ok || wait.Reason != v1alpha1.ReasonDatabaseRefused {
		t.Errorf("got %v, want the reason %s", err, v1alpha1.ReasonDatabaseRefused)
	}
}
