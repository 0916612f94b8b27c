package architecture

import (
	"os"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
)

// Each of these is worth the whole cluster, or a namespace that is not the operator's, whatever a policy says of objects.
func TestTheOperatorHasNoRightToMoreRights(t *testing.T) {
	roles := (&places{files: os.DirFS(root)}).clusterRoles()
	rules := slices.Concat(roles["portico-operator"], roles["portico-operator-secrets"])
	if len(rules) < 10 {
		t.Fatalf("%d rules", len(rules))
	}
	for _, rule := range rules {
		for _, verb := range rule.Verbs {
			if slices.Contains([]string{"*", "escalate", "bind", "impersonate", "deletecollection", "approve", "sign"}, verb) || strings.HasPrefix(verb, "impersonate") {
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

func harmless(rule rbacv1.PolicyRule, resource, verb string) bool {
	reads := slices.Contains([]string{"get", "list", "watch"}, verb)
	base, sub, _ := strings.Cut(resource, "/")
	switch {
	case strings.Contains(resource, "*"), slices.Contains(rule.APIGroups, "*"):
		return false
	case slices.Contains(rule.APIGroups, rbacv1.GroupName):
		return false
	case slices.Contains(rule.APIGroups, "admissionregistration.k8s.io"), slices.Contains(rule.APIGroups, "apiextensions.k8s.io"):
		return reads // what it finds there tells whether it is ready
	case sub != "":
		return slices.Equal(rule.APIGroups, []string{"portico.dev"}) // no token, exec, proxy, scale or ephemeral container
	case base == "secrets":
		return verb != "list" && verb != "watch" && verb != "delete" && verb != "update"
	case slices.Contains([]string{"pods", "nodes", "namespaces", "replicasets"}, base):
		return reads
	}
	return true
}
