package page

import (
	"fmt"
	"testing"

	"github.com/portico-platform/portico/portal/auth"
)

func TestPeopleAreCalledByTheirNamesAsFarAsTheyAreKnown(t *testing.T) {
	var p people
	for _, id := range []auth.Identity{
		{Username: "oidc:CiQx", Name: "Ann Lee", Email: "ann@example.com"},
		{Username: "oidc:CiQy", Email: "bob@example.com"},
		{Username: "oidc:carl"},
	} {
		p.saw(id)
	}
	for username, want := range map[string]string{
		"oidc:CiQx": "Ann Lee (ann@example.com, CiQx)",
		"oidc:CiQy": "bob@example.com (CiQy)",
		"oidc:carl": "carl",
		"oidc:CiQz": "CiQz",
	} {
		if got := p.called(username); got != want {
			t.Errorf("%s is called %q, want %q", username, got, want)
		}
	}
	for n := range 3 * maxPeople {
		p.saw(auth.Identity{Username: fmt.Sprint("oidc:", n), Name: "x"})
	}
	if len(p.seen) > maxPeople {
		t.Errorf("%d are known", len(p.seen))
	}
	if got := (*people)(nil).called("oidc:carl"); got != "carl" {
		t.Errorf("%q", got)
	}
}
