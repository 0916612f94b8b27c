//go:build integration

package integration

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/stack"
)

// TestATeamIsMadeAndKeptByTheCommandLine manages a team as an administrator, and as an owner within an owner's
// permissions, through the REST API of a real portal.
func TestATeamIsMadeAndKeptByTheCommandLine(t *testing.T) {
	c := withOperator(t)
	p := startPortal(t, "", sessionKeys(t))
	by := func(user string) *terminal {
		return newTerminal(t, "PORTICO_SERVER="+p.url, "PORTICO_TOKEN="+userToken(t, user))
	}
	platform, owner := by("platform-admin"), by("payments-dev")
	name := fmt.Sprintf("squad-cli-%d", counter.Add(1))
	t.Cleanup(func() {
		abandon(t, c, name)
		dismiss(t, c, &v1alpha1.Team{ObjectMeta: meta1("", name)})
	})

	create := []string{
		"team", "create", name, "--set", "title=Squad", "--set", "defaults.deletionPolicy=Retain",
		"--account", stack.Provider,
	}
	if _, said := owner.run(6, create...); !strings.Contains(said, "you are not allowed to create teams") {
		t.Errorf("somebody who is no admin makes a team: %s", said)
	}
	_, said := platform.run(0, append(create, "--member", "user:oidc:payments-dev=Owner", "--wait", "--timeout",
		"2m")...)
	if !strings.Contains(said, "Made team "+name+".") || !strings.Contains(said, "Ready") {
		t.Errorf("create says %s", said)
	}
	state := func(path ...string) (any, string) {
		t.Helper()
		out, _ := platform.run(0, "team", "get", name, "-o", "json")
		var team map[string]any
		if err := json.Unmarshal([]byte(out), &team); err != nil {
			t.Fatalf("%v in %s", err, out)
		}
		return nested(team, path...), out
	}
	if got, all := state("status", "members"); got != 1.0 {
		t.Errorf("the team has %v members, want 1: %s", got, all)
	}
	owner.may(t, "the owner's rights", "team", "add-member", name, "group:oidc:contractors", "--role", "Viewer")
	if out, _ := owner.run(0, "team", "members", name); !strings.Contains(out, "Viewer") ||
		!strings.Contains(out, "oidc:contractors") {
		t.Errorf("the members are %s", out)
	}
	if _, said := owner.run(6, "team", "suspend", name, "--yes"); !strings.Contains(
		said, "owners of a team change spec.members and spec.deployers only, and this changes spec.suspended") {
		t.Errorf("an owner suspends the team: %s", said)
	}
	owner.run(6, "team", "delete", name, "--yes")
	request := []string{"request", "bucket", "kept", "-n", name, "--dry-run"}
	if out := owner.may(t, "the owner's rights in the namespace", request...); !strings.Contains(
		out, "deletionPolicy: Retain") || !strings.Contains(out, "name: "+stack.Provider) {
		t.Errorf("a request does not begin as the team wants:\n%s", out)
	}

	platform.run(0, "team", "suspend", name, "--yes")
	await(t, "the team to be suspended", func() (bool, string) {
		out, err := owner.command(request...).CombinedOutput()
		return err != nil && strings.Contains(string(out), "you are not allowed to create"), string(out)
	})
	if _, said := owner.run(6, "team", "add-member", name, "group:oidc:more"); !strings.Contains(
		said, "you are not allowed to patch") {
		t.Errorf("the owner of a suspended team changes the members: %s", said)
	}
	platform.run(0, "team", "resume", name)
	owner.may(t, "the owner's rights again", request...)
	if got, all := state("spec", "suspended"); got == true {
		t.Errorf("it is still suspended: %s", all)
	}
	platform.run(0, "team", "delete", name, "--yes")
	await(t, "the team to be gone", func() (bool, string) {
		out, err := platform.command("team", "get", name).CombinedOutput()
		return err != nil, string(out)
	})
	platform.run(5, "team", "get", name)
}

// may runs the command until it is allowed, and returns its output.
func (c *terminal) may(t *testing.T, what string, args ...string) string {
	t.Helper()
	var out string
	await(t, what, func() (bool, string) {
		text, err := c.command(args...).CombinedOutput()
		out = string(text)
		secrets.Write("the command line", "portico "+strings.Join(args, " "), out)
		return err == nil, out
	})
	return out
}
