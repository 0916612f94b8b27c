package pages

import (
	"bytes"
	"strings"
	"testing"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/cluster/teams"
	"github.com/portico-platform/portico/web/views"
)

// TestSubjectsKeepTheNameThatRightsGoBy beside the display name.
func TestSubjectsKeepTheNameThatRightsGoBy(t *testing.T) {
	p := New(nil, Reach{}, nil).Naming(map[string]string{"oidc:0760b6cf": "Payments", "oidc:CiQx": "a group"})
	p.Saw(auth.Identity{Username: "oidc:CiQx", Name: "Ann Lee", Email: "ann@example.com"})
	for _, c := range []struct {
		kind, name string
		want       views.Subject
	}{
		{"Group", "oidc:0760b6cf", views.Subject{Kind: "group", Name: "0760b6cf", Called: "Payments"}},
		{"Group", "oidc:other", views.Subject{Kind: "group", Name: "other"}},
		{"Group", "0760b6cf", views.Subject{Kind: "group", Name: "0760b6cf"}}, // without the prefix it is another group
		{"User", "oidc:CiQx", views.Subject{Kind: "user", Name: "Ann Lee (ann@example.com, CiQx)"}},
		{"User", "oidc:0760b6cf", views.Subject{Kind: "user", Name: "0760b6cf"}},
		{"ServiceAccount", "ci", views.Subject{Kind: "service account", Name: "ci"}},
	} {
		if got := p.subject(teams.Member{Kind: c.kind, Name: c.name}); got != c.want {
			t.Errorf("%s %s: %+v, want %+v", c.kind, c.name, got, c.want)
		}
	}
	var page bytes.Buffer
	members := views.About{Members: []views.Role{
		{Name: "portico-developer", Who: []views.Subject{{Kind: "group", Name: "0760b6cf", Called: "Pay & co"}}},
	}}
	if err := views.MembersPart(members).Render(t.Context(), &page); err != nil ||
		!strings.Contains(page.String(), "Pay &amp; co <code>0760b6cf</code>") {
		t.Errorf("%v: %s", err, &page)
	}
}
