package architecture

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/portico-platform/portico/api/deploy"
)

// TestTheOperatorHasNoRightToMoreRights checks that the operator has none of the permissions that would give it the
// whole cluster, or a namespace other than its own, regardless of admission policies.
func TestTheOperatorHasNoRightToMoreRights(t *testing.T) {
	roles := (&places{files: os.DirFS(root)}).clusterRoles()
	rules := slices.Concat(roles["portico-operator"], withoutValues(t, roles["portico-operator-secrets"]),
		withoutTeams(t, roles["portico-operator-teams"]))
	if len(rules) < 10 {
		t.Fatalf("%d rules", len(rules))
	}
	for _, rule := range rules {
		for _, verb := range rule.Verbs {
			if slices.Contains([]string{"*", "escalate", "bind", "impersonate", "deletecollection", "approve", "sign"},
				verb) || strings.HasPrefix(verb, "impersonate") {
				t.Errorf("it may %s %v", verb, rule.Resources)
			}
			for _, resource := range rule.Resources {
				if !harmless(rule, resource, verb) {
					t.Errorf("it may %s %v/%s", verb, rule.APIGroups, resource)
				}
			}
		}
	}
}

// withoutValues returns the rules of the role for Secrets, except the permission to delete Secrets, which
// config/policy/operator.yaml restricts to those whose values users set. TestAStolenOperatorTouchesNothingOfOthers
// tests that policy.
func withoutValues(t *testing.T, rules []rbacv1.PolicyRule) []rbacv1.PolicyRule {
	t.Helper()
	rest := slices.DeleteFunc(slices.Clone(rules), func(r rbacv1.PolicyRule) bool {
		return reflect.DeepEqual(
			r, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"delete"}})
	})
	if len(rest)+1 != len(rules) {
		t.Errorf("portico-operator-secrets has %d rules, and %d of them are not known", len(rules), len(rest))
	}
	return rest
}

// withoutTeams returns the rules of the role for Teams, except the permissions that would give the whole cluster if
// config/policy/operator.yaml did not restrict them to objects of Teams. TestAStolenOperatorOnboardsNobodyElse tests
// that policy.
func withoutTeams(t *testing.T, rules []rbacv1.PolicyRule) []rbacv1.PolicyRule {
	t.Helper()
	held := []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"namespaces"}, Verbs: []string{"create", "patch"}},
		{
			APIGroups: []string{rbacv1.GroupName}, Resources: []string{"rolebindings", "clusterroles", "clusterrolebindings"},
			Verbs: []string{"get", "list", "watch", "create", "patch", "delete"},
		},
		{
			APIGroups: []string{rbacv1.GroupName}, Resources: []string{"clusterroles"}, Verbs: []string{"bind"},
			ResourceNames: []string{"portico-viewer", "portico-developer", "portico-owner", "portico-secret-writer", "portico-database-reader", "portico-database-owner"},
		},
		{
			APIGroups: []string{rbacv1.GroupName}, Resources: []string{"clusterroles"}, Verbs: []string{"bind"},
			ResourceNames: deploy.Roles(),
		},
	}
	rest := slices.DeleteFunc(slices.Clone(rules), func(r rbacv1.PolicyRule) bool {
		return slices.ContainsFunc(held, func(h rbacv1.PolicyRule) bool { return reflect.DeepEqual(h, r) })
	})
	if len(rest)+len(held) != len(rules) || len(rest) == 0 {
		t.Errorf("portico-operator-teams has %d rules, and %d of them are not known", len(rules), len(rest))
	}
	return rest
}

func harmless(rule rbacv1.PolicyRule, resource, verb string) bool {
	reads := slices.Contains([]string{"get", "list", "watch"}, verb)
	base, sub, _ := strings.Cut(resource, "/")
	switch {
	case strings.Contains(resource, "*"), slices.Contains(rule.APIGroups, "*"):
		return false
	case slices.Contains(rule.APIGroups, rbacv1.GroupName):
		return false
	case slices.Contains(rule.APIGroups, "admissionregistration.k8s.io"),
		slices.Contains(rule.APIGroups, "apiextensions.k8s.io"):
		return reads // it reads them to decide whether it is ready
	case sub != "":
		// no token, exec, proxy, scale or ephemeral container
		return slices.Equal(rule.APIGroups, []string{"portico.dev"})
	case base == "secrets":
		return verb != "list" && verb != "watch" && verb != "delete" && verb != "update"
	case slices.Contains([]string{"pods", "nodes", "namespaces", "replicasets"}, base):
		return reads
	}
	return true
}

// givingRoles are the permissions with which portico-admin grants and withdraws Portico's roles. RBAC lets it bind no
// other roles, and config/policy/roles.yaml lets it delete no other bindings
// (TestAPlatformAdminGivesTheRolesOfPortico).
var givingRoles = []rbacv1.PolicyRule{
	{APIGroups: []string{rbacv1.GroupName}, Resources: []string{"rolebindings", "clusterrolebindings"}, Verbs: []string{"create", "delete"}},
	{
		APIGroups: []string{rbacv1.GroupName}, Resources: []string{"clusterroles"}, Verbs: []string{"bind"},
		ResourceNames: []string{
			"portico-viewer", "portico-developer", "portico-owner", "portico-admin", "portico-secret-writer",
			"portico-database-reader", "portico-database-owner",
			"portico-service-binding", "portico-metrics-reader",
		},
	},
}

// TestARoleOfPeopleIsWorthNoServiceAccount checks the roles that are bound to users or their tools. None gives access
// to Secrets, tokens or ServiceAccounts, lets anyone run something in a Pod other than through a WebApp, or grants
// further permissions.
func TestARoleOfPeopleIsWorthNoServiceAccount(t *testing.T) {
	roles := (&places{files: os.DirFS(root)}).clusterRoles()
	for _, name := range []string{
		"portico-viewer", "portico-developer", "portico-owner", "portico-admin", "portico-secret-writer",
		"portico-database-reader", "portico-database-owner",
		"portico-service-binding",
	} {
		if len(roles[name]) == 0 {
			t.Errorf("there is no role %s", name)
		}
		for _, rule := range roles[name] {
			if name == "portico-admin" && slices.ContainsFunc(givingRoles, func(r rbacv1.PolicyRule) bool {
				return reflect.DeepEqual(r, rule)
			}) {
				continue
			}
			for _, resource := range rule.Resources {
				reads := len(slices.DeleteFunc(slices.Clone(rule.Verbs), func(v string) bool {
					return slices.Contains([]string{"get", "list", "watch"}, v)
				})) == 0
				base, sub, _ := strings.Cut(resource, "/")
				of := slices.Contains(rule.APIGroups, "portico.dev") ||
					slices.Contains(rule.APIGroups, "gateway.networking.k8s.io")
				all := strings.Contains(resource+strings.Join(rule.Verbs, "")+strings.Join(rule.APIGroups, ""), "*")
				if all || slices.Contains([]string{"secrets", "serviceaccounts", "configmaps"}, base) {
					t.Errorf("%s may %v %v/%s", name, rule.Verbs, rule.APIGroups, resource)
				}
				acts := !reads || sub != "" && sub != "log"
				if !of && acts {
					t.Errorf("%s may %v %v/%s, want to read it, or logs, only", name, rule.Verbs, rule.APIGroups,
						resource)
				}
			}
		}
	}
}
