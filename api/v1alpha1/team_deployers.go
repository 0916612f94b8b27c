package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// TeamDeployer is a pipeline that deploys for the team. It proves who it is by the token that its CI system gives each
// job, and gets a token for Portico in exchange, for 15 minutes: no secret is stored at the CI system.
// +kubebuilder:validation:XValidation:rule="[has(self.branch), has(self.tag), has(self.environment)].filter(x, x).size() == 1",message="a deployer runs for one branch, one tag or one environment: set one of the three"
// +kubebuilder:validation:XValidation:rule="has(self.role) != has(self.kinds)",message="set role or kinds: role Developer is for every kind, kinds are those that the deployer changes"
// +kubebuilder:validation:XValidation:rule="self.repository.startsWith(self.owner + '/') && self.repository.lastIndexOf('/') == self.owner.size()",message="repository is its owner and its name, such as acme/shop; GitLab's owner is the whole path of the groups, such as acme/web for acme/web/shop"
type TeamDeployer struct {
	// name of the deployer, such as release.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +required
	Name string `json:"name"`
	// issuer is the CI system, by its name in the DeployPolicy.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +required
	Issuer string `json:"issuer"`
	// repository is its full name, such as acme/shop. After a renaming, write the new name here.
	// +kubebuilder:validation:MinLength=3
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^[-_.A-Za-z0-9]+(/[-_.A-Za-z0-9]+)+$`
	// +required
	Repository string `json:"repository"`
	// repositoryID is the ID of the repository, a number as text. A name can become another repository's, the ID
	// cannot.
	// +required
	RepositoryID ForgeID `json:"repositoryID"`
	// owner of the repository: the organisation, user or group, such as acme.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^[-_.A-Za-z0-9]+(/[-_.A-Za-z0-9]+)*$`
	// +required
	Owner string `json:"owner"`
	// ownerID is the ID of the owner, a number as text.
	// +required
	OwnerID ForgeID `json:"ownerID"`
	// branch on which the job must run.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^[^*?\s]+$`
	// +optional
	Branch string `json:"branch,omitempty"`
	// tag for which the job must run.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^[^*?\s]+$`
	// +optional
	Tag string `json:"tag,omitempty"`
	// environment of the job at the CI system, whose rules say who can deploy to it.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^[^*?]+$`
	// +optional
	Environment string `json:"environment,omitempty"`
	// events that can start the run, as the CI system names them. If left out, those that need the right to write to
	// the repository: never pull requests.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=10
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=100
	// +kubebuilder:validation:items:Pattern=`^[-_.:A-Za-z0-9]+$`
	// +listType=set
	// +optional
	Events []string `json:"events,omitempty"`
	// namespaces of the team in which it deploys.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:MaxLength=63
	// +listType=set
	// +required
	Namespaces []string `json:"namespaces"`
	// role of the deployer: Developer, which requests, changes and deletes every kind, or Viewer.
	// +optional
	Role DeployerRole `json:"role,omitempty"`
	// kinds that it requests, changes and deletes, instead of a role; the others it sees.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=20
	// +listType=set
	// +optional
	Kinds []RequestableKind `json:"kinds,omitempty"`
}

// DeployerRole is what a deployer can do in its namespaces.
// +kubebuilder:validation:Enum=Viewer;Developer
type DeployerRole string

// The roles of deployers. None sees or sets a secret, or changes the Team.
const (
	DeployerViewer    DeployerRole = "Viewer"
	DeployerDeveloper DeployerRole = "Developer"
)

// TeamDeployerStatus is how a deployer is used.
type TeamDeployerStatus struct {
	// name of the deployer.
	Name string `json:"name"`
	// account is the ServiceAccount as which it acts.
	Account string `json:"account"`
	// since is when it was set up; a change of what its tokens must say begins again.
	Since metav1.Time `json:"since"`
	// lastUsed is when it last exchanged a token, to the minute.
	// +optional
	LastUsed *metav1.Time `json:"lastUsed,omitempty"`
	// lastRun is the run that did.
	// +optional
	LastRun string `json:"lastRun,omitempty"`
	// lastRefused is when a token that nearly fits was last refused, to the minute.
	// +optional
	LastRefused *metav1.Time `json:"lastRefused,omitempty"`
	// lastRefusal is which claim of that token did not fit, with its value.
	// +optional
	LastRefusal string `json:"lastRefusal,omitempty"`
}
