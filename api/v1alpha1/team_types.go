package v1alpha1

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TeamRole is what a member of a team can do in the team's namespaces.
// +kubebuilder:validation:Enum=Viewer;Developer;Owner
type TeamRole string

// The roles of a team; each is a ClusterRole of Portico that is bound in the team's namespaces.
const (
	// TeamViewer sees the team's resources.
	TeamViewer TeamRole = "Viewer"
	// TeamDeveloper requests, changes and deletes them, too.
	TeamDeveloper TeamRole = "Developer"
	// TeamOwner is a developer who decides who the members are.
	TeamOwner TeamRole = "Owner"
)

// TeamRoles are the roles of a team, the one with the least rights first.
var TeamRoles = []TeamRole{TeamViewer, TeamDeveloper, TeamOwner}

// ClusterRole returns the name of the ClusterRole that the role stands for.
func (r TeamRole) ClusterRole() string { return "portico-" + strings.ToLower(string(r)) }

// TeamRolePrefix begins the names of the ClusterRoles that are about one Team; no team has a colon in its name.
const TeamRolePrefix = "portico:team:"

// Reasons of Teams.
const (
	// ReasonNamespaceNotGiven is the reason of a Team that names a namespace which exists and does not carry its label.
	ReasonNamespaceNotGiven = "NamespaceNotGiven"
	// ReasonNamespaceOfAnotherTeam is the reason of a Team that names a namespace of another one.
	ReasonNamespaceOfAnotherTeam = "NamespaceOfAnotherTeam"
	// ReasonDeployerNotAllowed is the reason of a Team with a deployer that the DeployPolicy does not allow.
	ReasonDeployerNotAllowed = "DeployerNotAllowed"
	// ReasonNamespaceReleased is the reason of the event that a namespace belongs to its Team no more.
	ReasonNamespaceReleased = "NamespaceReleased" // a namespace no longer belongs to the team
)

// Conditions of a Team, one a step.
const (
	ConditionNamespaces = "Namespaces"
	ConditionAccess     = "Access"
	ConditionQuotas     = "Quotas"
	ConditionIsolation  = "Isolation"
	ConditionHostnames  = "Hostnames"
	ConditionProviders  = "Providers"
	ConditionDeployers  = "Deployers"
)

// TeamSpec says who the team is, and what it can have and use.
type TeamSpec struct {
	// title is the team's name as people say it, such as Growth and Marketing.
	// +kubebuilder:validation:MaxLength=80
	// +optional
	Title string `json:"title,omitempty"`
	// contact is where the team is reached: an e-mail address, a channel or a URL.
	// +kubebuilder:validation:MaxLength=200
	// +optional
	Contact string `json:"contact,omitempty"`
	// namespaces of the team; if left out, it is one with the team's name. Portico creates those that do not exist. One
	// that exists is taken only if it carries the label portico.dev/team=<team>. One that you remove from the list
	// stays, with everything in it, and loses what the team gave it: members, quotas, hostnames and AWS accounts.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=20
	// +listType=map
	// +listMapKey=name
	// +optional
	Namespaces []TeamNamespace `json:"namespaces,omitempty"`
	// members are the groups and users that belong to the team.
	// +kubebuilder:validation:MaxItems=200
	// +listType=atomic
	// +optional
	Members []TeamMember `json:"members,omitempty"`
	// suspended lets all members only look. Everything keeps running.
	// +optional
	Suspended bool `json:"suspended,omitempty"`
	// providers are the AWS accounts that the team can use; if left out, it has none. The AWSProvider decides too: its
	// allowedNamespaces must select the team's namespaces, which have the labels portico.dev/team=<team> and
	// portico.dev/aws=allowed.
	// +kubebuilder:validation:MaxItems=50
	// +listType=map
	// +listMapKey=name
	// +optional
	Providers []TeamProvider `json:"providers,omitempty"`
	// quotas limit what each namespace of the team can hold; what is left out is not limited.
	// +optional
	Quotas *TeamQuotas `json:"quotas,omitempty"`
	// hostnames that the team can request; if left out, it has none. Each namespace gets them as its HostnameGrant.
	// +optional
	Hostnames *HostnameGrantSpec `json:"hostnames,omitempty"`
	// defaults are what a new resource of the team gets where its request says nothing.
	// +optional
	Defaults *TeamDefaults `json:"defaults,omitempty"`
	// guardrails limit what the team can request; those of the AWSProvider hold too.
	// +optional
	Guardrails *TeamGuardrails `json:"guardrails,omitempty"`
	// secrets say who in the team sets values of Secrets, and who signs in to databases.
	// +kubebuilder:default={}
	// +optional
	Secrets TeamSecrets `json:"secrets,omitempty"`
	// isolation keeps the team's Pods apart from those of others.
	// +kubebuilder:default={}
	// +optional
	Isolation TeamIsolation `json:"isolation,omitempty"`
	// deployers are pipelines that deploy for the team. Owners keep them, within what the DeployPolicy allows.
	// +kubebuilder:validation:MaxItems=50
	// +listType=map
	// +listMapKey=name
	// +optional
	Deployers []TeamDeployer `json:"deployers,omitempty"`
}

// TeamNamespace is one namespace of a team.
type TeamNamespace struct {
	// name of the namespace.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +kubebuilder:validation:XValidation:rule="!self.startsWith('kube-') && !self.startsWith('portico-') && self != 'default'",message="default, kube-… and portico-… are namespaces of the system; choose another name"
	// +required
	Name string `json:"name"`
	// environment of the namespace.
	// +optional
	Environment Environment `json:"environment,omitempty"`
	// confirmDeletion asks people who delete a resource of the namespace to confirm it by the name of the resource.
	// +optional
	ConfirmDeletion bool `json:"confirmDeletion,omitempty"`
}

// TeamMember is a group or a user, and a role.
// +kubebuilder:validation:XValidation:rule="has(self.group) != has(self.user)",message="a member is a group or a user: set one of the two"
type TeamMember struct {
	// group as Kubernetes knows it: the identity provider's name of it behind the prefix of the portal, such as
	// oidc:growth.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="!self.startsWith('system:')",message="groups of the system cannot be members; name a group of the identity provider, such as oidc:growth"
	// +optional
	Group string `json:"group,omitempty"`
	// user as Kubernetes knows them: the identity provider's name of them behind the prefix of the portal.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="!self.startsWith('system:')",message="users of the system cannot be members; name a user of the identity provider, such as oidc:jo@example.com"
	// +optional
	User string `json:"user,omitempty"`
	// role of the member: Viewer, Developer or Owner. Owners are developers who also decide who the members are.
	// +required
	Role TeamRole `json:"role"`
}

// TeamProvider is an AWS account that the team can use.
type TeamProvider struct {
	// name of the AWSProvider.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	// +required
	Name string `json:"name"`
	// regions that the team can use; if left out, all that the AWSProvider allows.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=50
	// +kubebuilder:validation:items:MaxLength=32
	// +listType=set
	// +optional
	Regions []string `json:"regions,omitempty"`
}

// TeamDefaults are what a new resource gets where its request says nothing.
type TeamDefaults struct {
	// provider is the AWSProvider of resources that name none; it must be one of providers.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Provider string `json:"provider,omitempty"`
	// deletionPolicy that the forms of the portal and the command line begin with. A manifest that leaves it out gets
	// the default of its kind.
	// +kubebuilder:validation:Enum=Delete;Retain
	// +optional
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`
	// tags go on every AWS resource of the team; they win over defaultTags of the AWSProvider, a resource's own tags
	// win over them.
	// +kubebuilder:validation:MaxProperties=10
	// +kubebuilder:validation:XValidation:optionalOldSelf=true,rule="self.all(k, (oldSelf.hasValue() && k in oldSelf.value() && self[k] == oldSelf.value()[k]) || (k.matches(r'^[\\p{L}\\p{Z}\\p{N}_.:/=+@-]*$') && self[k].matches(r'^[\\p{L}\\p{Z}\\p{N}_.:/=+@-]*$')))",message="AWS takes letters, digits, spaces and _ . : / = + - @ in the keys and values of tags; take the others out"
	// +optional
	Tags Tags `json:"tags,omitempty"`
}

// TeamNamespaceStatus is what one namespace has.
type TeamNamespaceStatus struct {
	// name of the namespace.
	Name string `json:"name"`
	// resources that are requested in it.
	Resources int32 `json:"resources"`
}

// TeamStatus is what the team has.
type TeamStatus struct {
	CommonStatus `json:",inline"`
	// namespaces that the team has now.
	// +listType=map
	// +listMapKey=name
	// +optional
	Namespaces []TeamNamespaceStatus `json:"namespaces,omitempty"`
	// resources that are requested in all of them.
	// +optional
	Resources int32 `json:"resources"`
	// members is how many groups and users the team has.
	// +optional
	Members int32 `json:"members"`
	// deployers are the team's pipelines, and when each was used.
	// +kubebuilder:validation:MaxItems=50
	// +listType=map
	// +listMapKey=name
	// +optional
	Deployers []TeamDeployerStatus `json:"deployers,omitempty"`
}

// Team is a group of people with namespaces of their own, and what they can have in them. Platform admins keep it; its
// owners decide who the members are.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=tm,categories=portico-admin
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 50 && !self.metadata.name.contains('.')",message="the name of a team has at most 50 characters, and no dots: it becomes a label and part of other names"
// +kubebuilder:validation:XValidation:rule="has(self.spec.namespaces) || !self.metadata.name.startsWith('kube-') && !self.metadata.name.startsWith('portico-') && self.metadata.name != 'default'",message="a team without namespaces gets one of its own name, and this is a name of the system; list namespaces, or choose another name"
// +kubebuilder:printcolumn:name="Title",type=string,JSONPath=`.spec.title`
// +kubebuilder:printcolumn:name="Members",type=integer,JSONPath=`.status.members`
// +kubebuilder:printcolumn:name="Resources",type=integer,JSONPath=`.status.resources`
// +kubebuilder:printcolumn:name="Suspended",type=boolean,JSONPath=`.spec.suspended`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Namespaces",type=string,JSONPath=`.status.namespaces[*].name`,priority=1
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,priority=1
type Team struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is who the team is, and what it can have and use.
	// +required
	Spec TeamSpec `json:"spec"`
	// status is what the team has.
	// +kubebuilder:default={"observedGeneration":-1,"resources":0,"members":0}
	// +optional
	Status TeamStatus `json:"status,omitempty"`
}

// NamespaceNames returns the names of the namespaces that the team asks for.
func (t *Team) NamespaceNames() []string {
	if len(t.Spec.Namespaces) == 0 {
		return []string{t.Name}
	}
	names := make([]string, 0, len(t.Spec.Namespaces))
	for _, ns := range t.Spec.Namespaces {
		names = append(names, ns.Name)
	}
	return names
}
