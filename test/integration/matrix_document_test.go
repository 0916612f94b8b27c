//go:build integration

package integration

import (
	"fmt"
	"slices"
	"strings"
)

const matrixIntroduction = `# Who can do what

Written by ` + "`TestTheAuthorisationMatrix`" + ` (test/integration), which walks the portal's routers, sends each request to a real portal in
front of a real API server, and fails when an answer is not the one below, or a route has no row. Do not edit: run
` + "`go test -tags integration -run TestTheAuthorisationMatrix ./test/integration -update`" + `, and read the difference.

The portal decides nothing itself. It asks Kubernetes, by the roles of ` + "`config/rbac/roles.yaml`" + `: kubectl answers the same.

| Who | |
|---|---|
| anonymous | brings nothing |
| expired | a session and a token that were good once |
| wrong audience | a token for somebody else, and a session of another installation |
| ServiceAccount | a tool of the team, with portico-developer, in a namespace where [tools were let in](admin-guide.md#let-tools-in). It brings a token, which is good for the REST API alone |
| deployer | a pipeline of the team ([Deploy from CI](ci.md)), with portico-developer. Its token is good for the REST API and for Kubernetes, and nothing has to be let in |
| viewer, developer, owner | members of the [Team](kinds/team.md) that has the namespace, in that role. The operator has given them portico-viewer, portico-developer or portico-owner there, developers and owners portico-secret-writer, and the right to see their Team, and owners the right to change it, of which a policy leaves them the members and the deployers (` + "`TestOwnersChangeTheMembersAndNothingElse`" + `) |
| developer of another team | portico-developer, elsewhere |
| admin | portico-admin, in the whole cluster |

| Answer | |
|---|---|
| yes | it is done, or shown |
| **no** | 403. The answer is the same, word for word, for an object or a Pod that does not exist, and to people outside of the team for a namespace that does not exist: the test asks for each. Members can know that their own Team exists |
| empty | nothing is in it |
| leads on | to another page, which answers for itself |
| sign in | 401, or the way to the page for signing in. It is the same for what does not exist, too |
| a number | the status, for everybody |

For those who have access, what does not exist is 404. Whatever a method is not listed for is 405. Lists that span teams ("/teams",
"/resources", "/namespaces", "/catalog", "/me") are for everybody who is signed in, and hold what the caller can see:
` + "`TestRESTKeepsTeamsApart`, `TestOtherTeamSeesNothing`" + `. Metrics are served at a port of their own, to tokens of Kubernetes with
the right to get the path; so is what the portal asks the operator: ` + "`TestOnlyThePortalMayInspect`" + `.

Setting values of Secrets ("/secrets") and showing a password ("/password", "/reveal") take rights of their own: developers and
owners have the first, and a Role with get for one binding Secret gives the second ([who is let](admin-guide.md#let-people-set-secrets-and-see-passwords)).
The operator asks Kubernetes for the person whose token it has verified itself: ` + "`TestValuesOfSecretsAreSetByTheirEditors`, `TestAPasswordIsShownOnceAndNoted`, " +
	"`TestTheOperatorBelievesNoPortal`" + `.
`

// document returns the content of docs/authorization.md.
func (m *matrix) document(rows []row, actors []actor, cells map[row][]string) string {
	var b strings.Builder
	b.WriteString(matrixIntroduction)
	table := func(title string, rows [][]string) {
		fmt.Fprintf(&b, "\n## %s\n\n| Request |", title)
		for _, a := range actors {
			b.WriteString(" " + a.name + " |")
		}
		b.WriteString("\n|---|" + strings.Repeat("---|", len(actors)) + "\n")
		for _, r := range rows {
			fmt.Fprintf(&b, "| `%s` | %s |\n", r[0], strings.ReplaceAll(strings.Join(r[1:], " | "), "| no", "| **no**"))
		}
	}
	var pages, programs [][]string
	kinds := map[string][]string{} // kinds with the same line
	var order []string
	for _, r := range rows {
		line := append([]string{r.String()}, cells[r]...)
		switch k := m.kind(r); {
		case !r.isREST():
			pages = append(pages, line)
		case k == nil:
			programs = append(programs, line)
		default:
			line[0] = strings.ReplaceAll(line[0], "/"+k.Plural, "/{kind}")
			key := strings.Join(line, "\t")
			if kinds[key] == nil {
				order = append(order, key)
			}
			kinds[key] = append(kinds[key], k.Plural)
		}
	}
	table("Pages, and what needs no signing in", pages)
	table("REST API", programs)
	for _, of := range sets(order, kinds) {
		var lines [][]string
		for _, key := range order {
			if strings.Join(kinds[key], ", ") == of {
				lines = append(lines, strings.Split(key, "\t"))
			}
		}
		table("REST API: "+of, lines)
	}
	return b.String()
}

// sets returns the sets of kinds with the same lines, in order.
func sets(order []string, kinds map[string][]string) (all []string) {
	for _, key := range order {
		if of := strings.Join(kinds[key], ", "); !slices.Contains(all, of) {
			all = append(all, of)
		}
	}
	slices.SortStableFunc(all, func(a, b string) int { return strings.Count(b, ",") - strings.Count(a, ",") })
	return all
}
