//go:build integration

package integration

import (
	"regexp"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/stack"
)

// The command in the list restores a database unchanged, except for the size, which the person chooses; people see
// what is left of the kinds that they can list.
func TestThePrintedCommandGetsADatabaseBack(t *testing.T) {
	o := startInspected(t)
	p := startPortal(t, "", sessionKeys(t))
	ns := team(t, o)
	may := func(user string, resources ...string) *terminal {
		name := "deleted-" + user
		create(t, o, &rbacv1.Role{ObjectMeta: meta1(ns, name), Rules: []rbacv1.PolicyRule{
			{
				Verbs: []string{"get", "list", "watch", "create"}, APIGroups: []string{"portico.dev"},
				Resources: resources,
			},
		}})
		create(t, o, &rbacv1.RoleBinding{
			ObjectMeta: meta1(ns, name), RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
			Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: stack.Prefix + user}},
		})
		return newTerminal(t, "PORTICO_SERVER="+p.url, "PORTICO_TOKEN="+userToken(t, user))
	}
	database, queue := databaseOf(ns, "ledger"), queueOf(ns, "letters")
	queue.Spec.DeletionPolicy = v1alpha1.DeletionRetain
	create(t, o, database)
	createReady(t, o, queue)
	ready(t, o, database)
	gone(t, o, queue)
	gone(t, o, database)

	all, some := may("payments-dev", "rdsinstances", "sqsqueues"), may("search-dev", "sqsqueues")
	said := ""
	await(t, "what is left", func() (bool, string) {
		text, err := all.command("deleted", "-n", ns).CombinedOutput()
		said = string(text)
		return err == nil && strings.Contains(said, "ledger") && strings.Contains(said, "letters"), said
	})
	if theirs, _ := some.run(0, "deleted", "-n", ns); !strings.Contains(theirs, "letters") ||
		strings.Contains(theirs, "ledger") {
		t.Errorf("somebody who can list queues alone is shown\n%s", theirs)
	}
	line := regexp.MustCompile(`(?m)^portico (request rdsinstance ledger .*)$`).FindStringSubmatch(said)
	if line == nil || !strings.Contains(line[1], "dbInstanceClass=VALUE") {
		t.Fatalf("no command:\n%s", said)
	}
	all.run(0, strings.Fields(strings.Replace(line[1], "VALUE", "db.t4g.small", 1))...)
	ready(t, o, database)
	if database.Spec.RestoreFrom == nil || database.Status.InstanceClass != "db.t4g.small" {
		t.Errorf("%+v", database.Spec)
	}
}
