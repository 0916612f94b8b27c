package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// DeployPolicyName is the name of the one DeployPolicy: admission looks it up by name.
const DeployPolicyName = "portico"

// ReasonIssuerUnavailable is the reason of a DeployPolicy with an issuer whose keys cannot be fetched.
const ReasonIssuerUnavailable = "IssuerUnavailable"

// IssuerType is a CI system whose tokens Portico knows.
// +kubebuilder:validation:Enum=GitHub;GitLab;OIDC
type IssuerType string

// The CI systems.
const (
	IssuerGitHub IssuerType = "GitHub" // GitHub Actions, and those of a GitHub Enterprise Server
	IssuerGitLab IssuerType = "GitLab" // GitLab CI, also self-managed
	IssuerOIDC   IssuerType = "OIDC"   // another issuer, with the claims that the policy names
)

// IssuerURL returns the issuer of the CI system's public service, "" for OIDC, which has none.
func (t IssuerType) IssuerURL() string {
	switch t {
	case IssuerGitHub:
		return "https://token.actions.githubusercontent.com"
	case IssuerGitLab:
		return "https://gitlab.com"
	case IssuerOIDC:
	}
	return ""
}

// DeployPolicySpec says which pipelines teams can name as their deployers.
type DeployPolicySpec struct {
	// issuers are the CI systems whose tokens are exchanged.
	// +kubebuilder:validation:MaxItems=10
	// +kubebuilder:validation:XValidation:rule="self.all(a, self.exists_one(b, (has(a.url) ? a.url : a.type == 'GitHub' ? 'https://token.actions.githubusercontent.com' : 'https://gitlab.com') == (has(b.url) ? b.url : b.type == 'GitHub' ? 'https://token.actions.githubusercontent.com' : 'https://gitlab.com')))",message="two issuers have the same url: a token would belong to both"
	// +listType=map
	// +listMapKey=name
	// +optional
	Issuers []DeployIssuer `json:"issuers,omitempty"`
}

// DeployIssuer is a CI system, and whose repositories count.
// +kubebuilder:validation:XValidation:rule="self.type != 'OIDC' || has(self.url)",message="an issuer of type OIDC needs its url, as its tokens name it in iss"
// +kubebuilder:validation:XValidation:rule="(self.type == 'OIDC') == has(self.claims)",message="claims are for an issuer of type OIDC, which needs them; those of GitHub and GitLab are known"
type DeployIssuer struct {
	// name by which Teams name it, such as github.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +required
	Name string `json:"name"`
	// type of the CI system: GitHub, GitLab, or OIDC for another one, whose claims the policy names.
	// +required
	Type IssuerType `json:"type"`
	// url of the issuer as its tokens name it in iss. The default is that of github.com and gitlab.com. A GitHub
	// Enterprise Server has https://HOST/_services/token, a GitLab of your own https://HOST.
	// +kubebuilder:validation:MinLength=9
	// +kubebuilder:validation:MaxLength=500
	// +kubebuilder:validation:XValidation:rule="isURL(self) && url(self).getScheme() == 'https' && url(self).getHost() != '' && !self.contains('@') && !self.contains('?') && !self.contains('#')",message="must be an https URL without user, query and fragment, such as https://gitlab.example.com"
	// +optional
	URL string `json:"url,omitempty"`
	// caBundle are certificates of the authorities that the issuer's server certificate is from, as PEM, in addition
	// to those that the operator trusts anyway.
	// +kubebuilder:validation:MaxLength=65536
	// +kubebuilder:validation:XValidation:rule="self.contains('-----BEGIN CERTIFICATE-----')",message="must be certificates as PEM, which begin with -----BEGIN CERTIFICATE-----"
	// +optional
	CABundle string `json:"caBundle,omitempty"`
	// claims are the names of the claims in tokens of an issuer of type OIDC.
	// +optional
	Claims *DeployClaims `json:"claims,omitempty"`
	// owners are the organisations, users or groups whose repositories teams can name. Without any, there are none.
	// +kubebuilder:validation:MaxItems=100
	// +listType=map
	// +listMapKey=id
	// +optional
	Owners []DeployOwner `json:"owners,omitempty"`
}

// IssuerURL returns the issuer as its tokens name it.
func (i *DeployIssuer) IssuerURL() string {
	if i.URL != "" {
		return i.URL
	}
	return i.Type.IssuerURL()
}

// DeployOwner is an organisation, user or group that has repositories.
type DeployOwner struct {
	// id of the owner at the CI system, which stays when its name changes and never becomes somebody else's: a number
	// as text.
	// +required
	ID ForgeID `json:"id"`
	// name of the owner, such as acme.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +required
	Name string `json:"name"`
	// teams that can name the owner's repositories; if left out, all can.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=200
	// +kubebuilder:validation:items:MaxLength=63
	// +listType=set
	// +optional
	Teams []string `json:"teams,omitempty"`
}

// ForgeID is the ID of a repository or of its owner at a CI system. It is unique for ever, unlike a name.
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=64
// +kubebuilder:validation:Pattern=`^[0-9A-Za-z][-_0-9A-Za-z]*$`
type ForgeID string

// DeployClaims are names of claims.
type DeployClaims struct {
	// repository is the claim with the full name of the repository.
	// +required
	Repository ClaimName `json:"repository"`
	// repositoryID is the claim with the ID of the repository.
	// +required
	RepositoryID ClaimName `json:"repositoryID"`
	// owner is the claim with the name of the repository's owner.
	// +required
	Owner ClaimName `json:"owner"`
	// ownerID is the claim with the ID of the repository's owner.
	// +required
	OwnerID ClaimName `json:"ownerID"`
	// branch is the claim with the name of the branch; it must be absent or empty in runs for tags and pull requests.
	// +optional
	Branch ClaimName `json:"branch,omitempty"`
	// tag is the claim with the name of the tag; it must be absent or empty in other runs.
	// +optional
	Tag ClaimName `json:"tag,omitempty"`
	// environment is the claim with the name of the environment.
	// +optional
	Environment ClaimName `json:"environment,omitempty"`
	// event is the claim that says what started the run.
	// +required
	Event ClaimName `json:"event"`
	// events are its values for runs that count without being named by a Team: not those of pull requests.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=100
	// +listType=set
	// +required
	Events []string `json:"events"`
	// workflow is the claim that names the pipeline, for the history.
	// +optional
	Workflow ClaimName `json:"workflow,omitempty"`
	// commit is the claim with the commit, for the history.
	// +optional
	Commit ClaimName `json:"commit,omitempty"`
	// run is the claim with the ID of the run, for the history.
	// +optional
	Run ClaimName `json:"run,omitempty"`
}

// ClaimName is the name of a claim, with a dot for one inside another.
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=100
type ClaimName string

// DeployPolicyStatus says whether the issuers answer.
type DeployPolicyStatus struct {
	CommonStatus `json:",inline"`
	// issuers is how many issuers there are.
	// +optional
	Issuers int32 `json:"issuers"`
	// deployers is how many deployers the Teams have.
	// +optional
	Deployers int32 `json:"deployers"`
}

// DeployPolicy says which CI systems and which owners' repositories teams can name as deployers. There is one, named
// portico; without it, no pipeline deploys.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=dp,categories=portico-admin
// +kubebuilder:validation:XValidation:rule="self.metadata.name == 'portico'",message="there is one DeployPolicy, and its name is portico"
// +kubebuilder:printcolumn:name="Issuers",type=integer,JSONPath=`.status.issuers`
// +kubebuilder:printcolumn:name="Deployers",type=integer,JSONPath=`.status.deployers`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type DeployPolicy struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec says which pipelines teams can name.
	// +required
	Spec DeployPolicySpec `json:"spec"`
	// status says whether the issuers answer.
	// +kubebuilder:default={"observedGeneration":-1,"issuers":0,"deployers":0}
	// +optional
	Status DeployPolicyStatus `json:"status,omitempty"`
}
