package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

const growth = `{"apiVersion": "portico.dev/v1alpha1", "kind": "Team", "metadata": {"name": "growth", "uid": "u", "generation": 1},
	"spec": {"title": "Growth", "members": [{"group": "oidc:growth", "role": "Developer"}, {"user": "oidc:jo", "role": "Owner"}]},
	"status": {"observedGeneration": 1, "conditions": [{"type": "Ready", "status": "True", "reason": "Ready", "message": "done"}]}}`

// growing returns a portal with the Team growth.
func growing(t *testing.T) *fake {
	t.Helper()
	p := newPortal(t)
	p.on("GET /teams/growth", 200, growth, "ETag", etag)
	p.on("PATCH /teams/growth", 200, growth)
	return p
}

// membersSent returns the members of the last patch, as JSON.
func membersSent(t *testing.T, p *fake) string {
	t.Helper()
	spec, _ := p.bodies["PATCH /teams/growth"]["spec"].(map[string]any)
	b, err := json.Marshal(spec["members"])
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestMembersOfATeamOnTheCommandLine(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		code int
		sent string
		said string
	}{
		{
			"a group",
			[]string{"add-member", "growth", "group:oidc:ops", "--role", "viewer"},
			0,
			`[{"group":"oidc:growth","role":"Developer"},{"role":"Owner","user":"oidc:jo"},{"group":"oidc:ops","role":"Viewer"}]`, "group oidc:ops is a member of team growth, as Viewer.",
		},
		{"another role", []string{"add-member", "growth", "user:oidc:jo"}, 0, `[{"group":"oidc:growth","role":"Developer"},{"role":"Developer","user":"oidc:jo"}]`, "is Developer now"},
		{"one less", []string{"remove-member", "growth", "group:oidc:growth"}, 0, `[{"role":"Owner","user":"oidc:jo"}]`, "is no member of team growth any more"},
		{"who is none", []string{"remove-member", "growth", "group:oidc:ops"}, 2, "null", "is no member of team growth; see portico team members growth"},
		{"neither group nor user", []string{"add-member", "growth", "oidc:ops"}, 2, "null", "want group:NAME or user:NAME"},
		{"no role", []string{"add-member", "growth", "group:a", "--role", "King"}, 2, "null", `there is no role "King": want Viewer, Developer or Owner`},
		{"no name", []string{"add-member", "a/b", "group:a"}, 2, "null", "is no name of a team"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := growing(t)
			_, said := newTerminal(t, p.url).run(c.code, append([]string{"team"}, c.args...)...)
			if got := membersSent(t, p); got != c.sent || !strings.Contains(said, c.said) {
				t.Errorf("sent %s, want %s; said %q", got, c.sent, said)
			}
			if c.code == 0 && p.headers["PATCH /teams/growth"].Get("If-Match") != etag {
				t.Error("the change does not name the version that was read")
			}
		})
	}
}

func TestWhatAPolicyRefusesComesThrough(t *testing.T) {
	p := growing(t)
	p.on("PATCH /teams/growth", 403, `{"detail": "owners of a team change spec.members only"}`)
	if _, said := newTerminal(t, p.url).run(6, "team", "resume", "growth"); !strings.Contains(
		said, "owners of a team change spec.members only") {
		t.Errorf("said %q", said)
	}
}

func TestMembersAreListed(t *testing.T) {
	for format, want := range map[string]string{
		"table": "Owner ", "json": `"user": "oidc:jo"`, "yaml": "user: oidc:jo",
	} {
		if got, _ := newTerminal(t, growing(t).url).run(
			0, "team", "members", "growth", "-o", format); !strings.Contains(got, want) {
			t.Errorf("%s: %s", format, got)
		}
	}
}

func TestSuspendingATeamIsConfirmed(t *testing.T) {
	for _, c := range []struct {
		name, typed string
		asks        bool
		args        []string
		code        int
	}{
		{"yes", "yes\n", true, nil, 0},
		{"y", "what\nY\n", true, nil, 0},
		{"no", "no\n", true, nil, 1},
		{"nobody is asked", "", false, []string{"--yes"}, 0},
		{"nobody can be asked", "", false, nil, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := growing(t)
			term := newTerminal(t, p.url)
			term.in, term.asks = strings.NewReader(c.typed), c.asks
			term.run(c.code, append([]string{"team", "suspend", "growth"}, c.args...)...)
			if slices.Contains(p.asked, "PATCH /teams/growth") != (c.code == 0) {
				t.Errorf("asked %q", p.asked)
			}
		})
	}
	p := growing(t)
	newTerminal(t, p.url).run(0, "team", "resume", "growth")
	if got := p.bodies["PATCH /teams/growth"]["spec"].(map[string]any)["suspended"]; got != false {
		t.Errorf("resume sends %v", got)
	}
}

func TestATeamIsMade(t *testing.T) {
	p := newPortal(t)
	p.on("POST /teams", 201, growth)
	newTerminal(t, p.url).run(0, "team", "create", "growth", "--set", "title=Growth", "--member",
		"group:oidc:growth=developer", "--account", "aws")
	b, err := json.Marshal(p.bodies["POST /teams"]["spec"])
	if err != nil {
		t.Fatal(err)
	}
	want := `{"defaults":{"provider":"aws"},"members":[{"group":"oidc:growth","role":"Developer"}],"providers":[{"name":"aws"}],"title":"Growth"}`
	if string(b) != want {
		t.Errorf("sent %s, want %s", b, want)
	}
	for _, args := range [][]string{{"--member", "group:a"}, {"--member", "a=Viewer"}, {"--set", "nothing=1"}} {
		newTerminal(t, p.url).run(2, append([]string{"team", "create", "growth"}, args...)...)
	}
}

func TestATeamIsDeletedByName(t *testing.T) {
	for typed, code := range map[string]int{"growth\n": 0, "other\n": 1} {
		p := growing(t)
		p.on("DELETE /teams/growth?confirm=growth", 202, growth)
		term := newTerminal(t, p.url)
		term.in, term.asks = strings.NewReader(typed), true
		if _, said := term.run(code, "team", "delete", "growth"); !strings.Contains(said, "its namespaces stay") {
			t.Errorf("does not say what is lost: %s", said)
		}
		if slices.Contains(p.asked, "DELETE /teams/growth?confirm=growth") != (code == 0) {
			t.Errorf("asked %q", p.asked)
		}
	}
}
