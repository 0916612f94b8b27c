package v1alpha1

import (
	"cmp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Visibility is from where a hostname can be reached.
// +kubebuilder:validation:Enum=internet-facing;internal
type Visibility string

// The visibilities.
const (
	InternetFacing Visibility = "internet-facing"
	Internal       Visibility = "internal"
)

// Environment is what a hostname is for.
// +kubebuilder:validation:Enum=dev;staging;prod
type Environment string

// The environments.
const (
	EnvironmentDev     Environment = "dev"
	EnvironmentStaging Environment = "staging"
	EnvironmentProd    Environment = "prod"
)

// HostedZoneID names a Route 53 hosted zone.
// +kubebuilder:validation:MaxLength=32
// +kubebuilder:validation:Pattern=`^Z[0-9A-Z]*$`
type HostedZoneID string

// GatewayHostnameRequestSpec is the hostname that the team wants. It does not change: what was made for one name would
// be left behind by another.
//
// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="a hostname cannot be changed; request a new one, and delete this one when nothing needs it any more"
// +kubebuilder:validation:XValidation:rule="!has(self.validationZoneId) || self.validationZoneId != self.zoneId",message="leave validationZoneId out: it is for a private zoneId only, and names the public zone of the same domain"
type GatewayHostnameRequestSpec struct {
	// providerRef names the AWSProvider whose account holds the hosted zone and the load balancers.
	// +required
	ProviderRef LocalRef `json:"providerRef"`
	// hostname at which to reach the web app, such as shop.example.com, or *.shop.example.com for every name directly
	// below shop.example.com. Letters outside of ASCII are converted to their IDNA form.
	// +kubebuilder:validation:MinLength=3
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="!self.contains('://') && !self.contains('/') && !self.contains(':') && !self.contains('@')",message="write the name alone, such as shop.example.com: no scheme, port or path"
	// +kubebuilder:validation:XValidation:rule="!self.contains('*') || (self.startsWith('*.') && self.indexOf('*', 1) < 0)",message="an asterisk stands for the whole first label and for nothing else, such as *.shop.example.com"
	// +kubebuilder:validation:XValidation:rule="!self.matches('[ \\t\\r\\n]') && !self.contains('..') && !self.startsWith('.') && !self.endsWith('.') && self.contains('.')",message="write labels joined by single dots, such as shop.example.com, with no dot in front or at the end and no spaces"
	// +required
	Hostname string `json:"hostname"`
	// zoneId of the Route 53 hosted zone that the hostname lies in, such as Z0123456789ABCDEFGHIJ.
	// +required
	ZoneID HostedZoneID `json:"zoneId"`
	// validationZoneId of the public hosted zone in which the certificate is validated; needed when zoneId is a private
	// zone, because AWS looks for the proof in public DNS only.
	// +optional
	ValidationZoneID HostedZoneID `json:"validationZoneId,omitempty"`
	// environment of the hostname. Your team can be limited to some.
	// +kubebuilder:default=dev
	// +optional
	Environment Environment `json:"environment,omitempty"`
	// visibility: internet-facing is reachable by everybody, internal only from networks that reach the VPC.
	// +kubebuilder:default=internet-facing
	// +optional
	Visibility Visibility `json:"visibility,omitempty"`
	// gatewayClass of the load balancer; if left out, it is the platform's own.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +optional
	GatewayClass string `json:"gatewayClass,omitempty"`
}

// The steps of a GatewayHostnameRequest, in order; each is the type of a condition, and Ready comes after them.
const (
	StepClaimed              = "Claimed"
	StepCertificateRequested = "CertificateRequested"
	StepDNSValidated         = "DnsValidated"
	StepCertificateIssued    = "CertificateIssued"
	StepListenerAttached     = "ListenerAttached"
	StepDNSAliasReady        = "DnsAliasReady"
)

// GatewayHostnameRequestStatus is the progress of the hostname.
type GatewayHostnameRequestStatus struct {
	CommonStatus `json:",inline"`
	// hostname as it is in DNS: lower case, in its IDNA form.
	// +optional
	Hostname string `json:"hostname,omitempty"`
	// url where the hostname answers; a wildcard has none.
	// +optional
	URL string `json:"url,omitempty"`
	// claim is the DomainClaim that keeps the name for this request.
	// +optional
	Claim string `json:"claim,omitempty"`
	// gateway is the PoolGateway on which the hostname has its place.
	// +optional
	Gateway string `json:"gateway,omitempty"`
	// parentRef is what an HTTPRoute of this namespace sets as its parent to answer at the hostname.
	// +optional
	ParentRef *HostnameParentRef `json:"parentRef,omitempty"`
	// accountID of the AWS account that holds the certificate.
	// +optional
	AccountID string `json:"accountID,omitempty"`
	// region of the certificate and the load balancer.
	// +optional
	Region string `json:"region,omitempty"`
	// zone is the domain of the hosted zone.
	// +optional
	Zone string `json:"zone,omitempty"`
	// certificate of the hostname in AWS Certificate Manager.
	// +optional
	Certificate *HostnameCertificate `json:"certificate,omitempty"`
	// loadBalancer is the DNS name that the hostname leads to.
	// +optional
	LoadBalancer string `json:"loadBalancer,omitempty"`
	// dnsChange is the Route 53 change that is on its way to all name servers; empty once it has arrived.
	// +optional
	DNSChange string `json:"dnsChange,omitempty"`
}

// HostnameParentRef names a ListenerSet as the parent of a route.
type HostnameParentRef struct {
	// group of the parent.
	Group string `json:"group"`
	// kind of the parent.
	Kind string `json:"kind"`
	// namespace of the parent.
	Namespace string `json:"namespace"`
	// name of the parent.
	Name string `json:"name"`
	// sectionName is the listener within the parent.
	SectionName string `json:"sectionName"`
}

// HostnameCertificate is the certificate of a hostname.
type HostnameCertificate struct {
	// arn of the certificate; empty until AWS has taken the request.
	// +optional
	ARN string `json:"arn,omitempty"`
	// attempt counts the requests; AWS takes two with the same number for one.
	Attempt int32 `json:"attempt"`
	// requestedAt is when the attempt began.
	RequestedAt metav1.Time `json:"requestedAt"`
	// status that AWS gives, such as PENDING_VALIDATION or ISSUED.
	// +optional
	Status string `json:"status,omitempty"`
	// failedAt is when AWS was first seen to have given up on this attempt.
	// +optional
	FailedAt *metav1.Time `json:"failedAt,omitempty"`
	// recordName of the CNAME that proves the domain to AWS; it stays for renewals.
	// +optional
	RecordName string `json:"recordName,omitempty"`
	// recordValue of that CNAME.
	// +optional
	RecordValue string `json:"recordValue,omitempty"`
	// serve is true while the certificate belongs on the load balancer.
	// +optional
	Serve bool `json:"serve,omitempty"`
	// notBefore is when the certificate's life begins.
	// +optional
	NotBefore *metav1.Time `json:"notBefore,omitempty"`
	// notAfter is when the certificate ends unless AWS renews it.
	// +optional
	NotAfter *metav1.Time `json:"notAfter,omitempty"`
	// renewal status that AWS gives, such as SUCCESS or PENDING_VALIDATION.
	// +optional
	Renewal string `json:"renewal,omitempty"`
	// renewalLate is true while less than an eighth of the certificate's life is left and AWS has not renewed it, and
	// when AWS cannot.
	// +optional
	RenewalLate bool `json:"renewalLate,omitempty"`
}

// GatewayHostnameRequest is a public or internal address with HTTPS for your web app. It has a certificate, and a place
// on a load balancer that many hostnames share.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=ghr,categories=portico
// +kubebuilder:printcolumn:name="Hostname",type=string,JSONPath=`.spec.hostname`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Gateway",type=string,JSONPath=`.status.gateway`
// +kubebuilder:printcolumn:name="URL",type=string,JSONPath=`.status.url`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Environment",type=string,JSONPath=`.spec.environment`,priority=1
// +kubebuilder:printcolumn:name="Visibility",type=string,JSONPath=`.spec.visibility`,priority=1
// +kubebuilder:printcolumn:name="Certificate",type=string,JSONPath=`.status.certificate.status`,priority=1
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,priority=1
type GatewayHostnameRequest struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the hostname that the team wants.
	// +required
	Spec GatewayHostnameRequestSpec `json:"spec"`
	// status is its progress.
	// +kubebuilder:default={"observedGeneration":-1}
	// +optional
	Status GatewayHostnameRequestStatus `json:"status,omitempty"`
}

// HolderUID returns the UID under which the request has its hostname: its own, or the one that it had in a lost
// cluster.
func (r *GatewayHostnameRequest) HolderUID() types.UID {
	return cmp.Or(types.UID(r.Annotations[AnnotationFormerUID]), r.UID)
}

// Restored reports whether the request has its hostname from a lost cluster.
func (r *GatewayHostnameRequest) Restored() bool { return r.HolderUID() != r.UID }
