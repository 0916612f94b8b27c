package deploy

import (
	"strings"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// rolePrefix begins the names of the ClusterRoles that change one kind.
const rolePrefix = "portico-deployer-"

// RoleOf returns the ClusterRole of deployers that change a kind.
func RoleOf(kind v1alpha1.RequestableKind) string { return rolePrefix + strings.ToLower(kind) + "s" }

// Roles returns the ClusterRoles of deployers that change single kinds.
func Roles() []string {
	var all []string
	for _, kind := range v1alpha1.RequestableKinds() {
		all = append(all, RoleOf(kind))
	}
	return all
}
