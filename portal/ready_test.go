package portal

import (
	"errors"
	"fmt"
	"testing"

	"github.com/portico-platform/portico/config/check"
)

func TestOutsidersSeeWhatEverybodyCanSeeOnly(t *testing.T) {
	rights := check.Problem{Object: "ServiceAccount portico-impersonator", Says: "has no rights", Fix: "give them"}
	provider := check.Problem{Object: "the identity provider https://login", Says: "is away", Fix: "look at it"}
	for want, results := range map[string][]check.Result{
		"<nil>": {{Name: "crds", Known: true}, {Name: "identityprovider", Known: true, Public: true}},
		"not ready: the log says what is wrong with crds, impersonation": {
			{Name: "crds", Err: errors.New("dial tcp 10.0.0.1:443")},
			{Name: "impersonation", Known: true, Problems: []check.Problem{rights}},
		},
		"not ready: the log says what is wrong with identityprovider": {{Name: "identityprovider", Public: true}},
		"not ready: the identity provider https://login is away: look at it; the log says what is wrong with crds": {
			{Name: "crds"}, {Name: "identityprovider", Known: true, Public: true, Problems: []check.Problem{provider}},
		},
	} {
		if got := fmt.Sprint(lacking(results)); got != want {
			t.Errorf("lacking() = %q, want %q", got, want)
		}
	}
}
