package v1alpha1

// TeamSecrets say who in a team sets values of Secrets, and who signs in to databases.
type TeamSecrets struct {
	// setBy is who sets and deletes values of Secrets by Portico, which shows them to nobody: Developers (owners are
	// among them), Owners, or Nobody, so that only those can to whom a platform admin gives portico-secret-writer.
	// +kubebuilder:default=Developers
	// +optional
	SetBy TeamReach `json:"setBy,omitempty"`
	// signInBy is who signs in to the databases of the team by a user of their own, for a day: Developers, who read,
	// and owners, who write as well and can see the master password; Owners alone; or Nobody.
	// +kubebuilder:default=Developers
	// +optional
	SignInBy TeamReach `json:"signInBy,omitempty"`
}

// TeamReach are the members of a team who can do something.
// +kubebuilder:validation:Enum=Developers;Owners;Nobody
type TeamReach string

// Who can do it.
const (
	ReachDevelopers TeamReach = "Developers" // and owners
	ReachOwners     TeamReach = "Owners"
	ReachNobody     TeamReach = "Nobody"
)

// Include reports whether members of the role can do it; empty stands for Developers.
func (r TeamReach) Include(role TeamRole) bool {
	switch r {
	case ReachNobody:
		return false
	case ReachOwners:
		return role == TeamOwner
	case ReachDevelopers:
	}
	return role == TeamDeveloper || role == TeamOwner
}

// ClusterRoles that a Team gives beside those of its members' roles.
const (
	SecretWriterRole   = "portico-secret-writer"
	DatabaseReaderRole = "portico-database-reader"
	DatabaseOwnerRole  = "portico-database-owner"
)
