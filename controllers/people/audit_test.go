package people

import (
	"net/http/httptest"
	"testing"

	"github.com/portico-platform/portico/api/operatorapi"
)

// TestTheRecordSaysWhosePassword also covers refused requests.
func TestTheRecordSaysWhosePassword(t *testing.T) {
	for name, row := range map[string]struct {
		kind, query string
		answer      any
		want        string
	}{
		"an own user's":             {"RDSInstance", "", operatorapi.Password{Access: "Read"}, "own Read"},
		"an own user's, refused":    {"RDSInstance", "", nil, "own"},
		"the master's, refused":     {"RDSInstance", "?master", nil, "object"},
		"a DatabaseUser's, refused": {"DatabaseUser", "", nil, "object"},
		"no password, but a Secret": {"", "", nil, ""},
	} {
		r := httptest.NewRequest("POST", "/"+row.query, nil)
		r.SetPathValue("kind", row.kind)
		if got := asWhom(r, row.answer); got != row.want {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
}
