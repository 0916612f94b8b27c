package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// DomainClaimSpec is what is claimed, and by whom. Only the budget changes.
//
// +kubebuilder:validation:XValidation:rule="self.hostname == oldSelf.hostname && self.visibility == oldSelf.visibility && self.gateway == oldSelf.gateway && self.holder == oldSelf.holder",message="of a claim only the budget changes"
type DomainClaimSpec struct {
	// hostname in lower case and in its IDNA form, such as shop.example.com or *.shop.example.com.
	// +kubebuilder:validation:MinLength=3
	// +kubebuilder:validation:MaxLength=253
	// +required
	Hostname string `json:"hostname"`
	// visibility for which it is claimed: the same name may lead elsewhere inside.
	// +required
	Visibility Visibility `json:"visibility"`
	// gateway is the PoolGateway on which a place is kept for it.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	Gateway string `json:"gateway"`
	// holder is the GatewayHostnameRequest that has it.
	// +required
	Holder ClaimHolder `json:"holder"`
	// budget is what is kept for it of the Gateway's load balancer.
	// +optional
	Budget LoadBalancerBudget `json:"budget,omitzero"`
}

// Reserved returns what is kept for the claim; one that was made before there were budgets keeps the default.
func (s DomainClaimSpec) Reserved() LoadBalancerBudget {
	if s.Budget == (LoadBalancerBudget{}) {
		return HostnameGrantSpec{}.Budget()
	}
	return s.Budget
}

// ClaimHolder names one life of a GatewayHostnameRequest.
type ClaimHolder struct {
	// namespace of the request.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +required
	Namespace string `json:"namespace"`
	// name of the request.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	Name string `json:"name"`
	// uid of the request: another one of the same name does not have the claim.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +required
	UID string `json:"uid"`
}

// DomainClaimStatus says whether the holder is still there.
type DomainClaimStatus struct {
	CommonStatus `json:",inline"`
}

// DomainClaim keeps a hostname for the first who asked for it. Portico makes it and deletes it; nobody needs to.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=dc,categories=portico-admin
// +kubebuilder:printcolumn:name="Hostname",type=string,JSONPath=`.spec.hostname`
// +kubebuilder:printcolumn:name="Visibility",type=string,JSONPath=`.spec.visibility`
// +kubebuilder:printcolumn:name="Namespace",type=string,JSONPath=`.spec.holder.namespace`
// +kubebuilder:printcolumn:name="Request",type=string,JSONPath=`.spec.holder.name`
// +kubebuilder:printcolumn:name="Gateway",type=string,JSONPath=`.spec.gateway`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,priority=1
type DomainClaim struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what is claimed, and by whom.
	// +required
	Spec DomainClaimSpec `json:"spec"`
	// status says whether the holder is still there.
	// +kubebuilder:default={"observedGeneration":-1}
	// +optional
	Status DomainClaimStatus `json:"status,omitempty"`
}
