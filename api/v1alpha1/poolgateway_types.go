package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// PoolGatewaySpec is what all hostnames on the Gateway have in common. It does not change.
//
// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="a PoolGateway does not change"
type PoolGatewaySpec struct {
	// visibility of the load balancer.
	// +required
	Visibility Visibility `json:"visibility"`
	// gatewayClass of the Gateway.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	GatewayClass string `json:"gatewayClass"`
	// providerRef names the AWSProvider by which the load balancer is looked at.
	// +required
	ProviderRef LocalRef `json:"providerRef"`
	// accountID of the load balancer and of all certificates on it.
	// +kubebuilder:validation:MaxLength=12
	// +kubebuilder:validation:Pattern=`^[0-9]{12}$`
	// +required
	AccountID string `json:"accountID"`
	// region of the load balancer and of all certificates on it.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +required
	Region string `json:"region"`
}

// What one load balancer is given of the 25 certificates, 100 rules and 100 target groups that AWS allows it. The rest
// is room to work.
const (
	PoolHostnames    = 20
	PoolRules        = 75
	PoolTargetGroups = 80
)

// Steps of a PoolGateway, in order; each is the type of a condition.
const (
	StepClass        = "ClassAccepted"
	StepHostnames    = "HostnamesServed"
	StepProgrammed   = "Programmed"
	StepLoadBalancer = "LoadBalancerSeen"
)

// PoolOwnRules are the rules of Portico itself on each load balancer: the redirect to HTTPS, and the keeper.
const PoolOwnRules = 2

// PoolGatewayStatus is how full the Gateway is, and what AWS has of it.
type PoolGatewayStatus struct {
	CommonStatus `json:",inline"`
	// hostnames is how many have a place, kept or taken; there are 20.
	// +optional
	Hostnames int32 `json:"hostnames"`
	// certificates on the load balancer; AWS allows 25, and Portico puts 20 there.
	// +optional
	Certificates int32 `json:"certificates"`
	// rules of the load balancer; AWS allows 100, and from 75 on the Gateway takes no more hostnames.
	// +optional
	Rules int32 `json:"rules"`
	// targetGroups of the load balancer; AWS allows 100, and from 80 on the Gateway takes no more hostnames.
	// +optional
	TargetGroups int32 `json:"targetGroups"`
	// loadBalancer that the Gateway has.
	// +optional
	LoadBalancer *PoolLoadBalancer `json:"loadBalancer,omitempty"`
	// publicPort is the port in the URLs of the hostnames: the GatewayClass's annotation portico.dev/public-port, for
	// load balancers that clients reach through something with another port. Absent, it is 443.
	// +optional
	PublicPort int32 `json:"publicPort,omitempty"`
	// attached are the ARNs of the certificates that were last seen on the load balancer, sorted.
	// +optional
	// +listType=atomic
	Attached []string `json:"attached,omitempty"`
	// closed are the hostnames whose routes would stop the load balancer: no route is attached to them until the routes
	// change, so that all others are served on.
	// +optional
	// +listType=map
	// +listMapKey=claim
	Closed []ClosedHostname `json:"closed,omitempty"`
	// following is how the load balancer keeps up with the routes.
	// +optional
	Following *PoolFollowing `json:"following,omitempty"`
}

// ClosedHostname is a hostname whose routes would stop the load balancer.
type ClosedHostname struct {
	// claim is the DomainClaim of the hostname.
	Claim string `json:"claim"`
	// hostname that is closed.
	Hostname string `json:"hostname"`
	// namespace of the routes.
	Namespace string `json:"namespace"`
	// reason is OverBudget, RouteUnsupported or RouteSuspected. Empty stands for OverBudget.
	// +optional
	Reason string `json:"reason,omitempty"`
	// message names the route and what is wrong with it.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	Message string `json:"message,omitempty"`
	// needs is what the routes need.
	Needs LoadBalancerBudget `json:"needs"`
	// budget is what is kept for them.
	Budget LoadBalancerBudget `json:"budget"`
}

// PoolFollowing is whether the load balancer does what the routes ask for, and what is tried while it does not. No list
// is longer than there are hostnames, but for namespaces, which has 40 entries at most.
type PoolFollowing struct {
	// lostSince is when it was first seen to have stopped; unset while it follows.
	// +optional
	LostSince *metav1.Time `json:"lostSince,omitempty"`
	// lookedAt is when it was last seen to stand still.
	// +optional
	LookedAt *metav1.Time `json:"lookedAt,omitempty"`
	// waitedSeconds is for how long it was seen to stand still since a hostname was last closed or opened.
	// +optional
	WaitedSeconds int64 `json:"waitedSeconds,omitempty"`
	// seen has the routes of each hostname as they are, those that changed last at the end.
	// +optional
	// +listType=atomic
	Seen []HostnameRoutes `json:"seen,omitempty"`
	// followed has the routes of each hostname as they were when it last followed.
	// +optional
	// +listType=map
	// +listMapKey=claim
	Followed []HostnameRoutes `json:"followed,omitempty"`
	// suspect is what an earlier version closed to see whether the load balancer goes on.
	// +optional
	Suspect *SuspectHostname `json:"suspect,omitempty"`
	// suspects are closed to see whether the load balancer goes on, the last at the end. If it does, they are opened
	// again one at a time, to see with which of them it stops.
	// +optional
	// +listType=atomic
	Suspects []HostnameRoutes `json:"suspects,omitempty"`
	// found is whether one of those that were closed together is known to be to blame.
	// +optional
	Found bool `json:"found,omitempty"`
	// probe is open to see whether the load balancer follows with it.
	// +optional
	Probe *HostnameRoutes `json:"probe,omitempty"`
	// cleared were closed since lostSince and opened again, because it did not help.
	// +optional
	// +listType=map
	// +listMapKey=claim
	Cleared []HostnameRoutes `json:"cleared,omitempty"`
	// searches is how often all suspects were closed since lostSince, and it did not help.
	// +optional
	Searches int64 `json:"searches,omitempty"`
	// blamed stay closed for a time: the load balancer went on when they were closed.
	// +optional
	// +listType=map
	// +listMapKey=claim
	Blamed []HostnameRoutes `json:"blamed,omitempty"`
	// namespaces of those that were blamed in the last 24 hours.
	// +optional
	// +listType=map
	// +listMapKey=namespace
	// +kubebuilder:validation:MaxItems=40
	Namespaces []BlamedNamespace `json:"namespaces,omitempty"`
}

// BlamedNamespace is a namespace whose routes stopped the load balancer: the more often, the longer its hostnames stay
// closed.
type BlamedNamespace struct {
	// namespace of the routes.
	Namespace string `json:"namespace"`
	// times is how often it was blamed.
	Times int64 `json:"times"`
	// last is when it was blamed last.
	Last metav1.Time `json:"last"`
	// guilty is whether it was to blame for sure the last time: the load balancer stopped again when it was opened, or
	// its routes have changed since.
	// +optional
	Guilty bool `json:"guilty,omitempty"`
}

// HostnameRoutes are the routes of a hostname at one time.
type HostnameRoutes struct {
	// claim is the DomainClaim of the hostname.
	Claim string `json:"claim"`
	// digest of the routes.
	Digest string `json:"digest"`
}

// SuspectHostname is a hostname that an earlier version closed for a trial.
type SuspectHostname struct {
	HostnameRoutes `json:",inline"`
	// since is when it was closed.
	Since metav1.Time `json:"since"`
}

// PoolLoadBalancer is a load balancer in AWS.
type PoolLoadBalancer struct {
	// arn of the load balancer.
	ARN string `json:"arn"`
	// dnsName of the load balancer.
	DNSName string `json:"dnsName"`
	// zoneId is the hosted zone of dnsName, for alias records.
	ZoneID string `json:"zoneId"`
}

// PoolGateway is one shared load balancer of the pool. Portico makes it when hostnames need one, and keeps the Gateway,
// its configuration and a ListenerSet for each hostname.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=pgw,categories=portico-admin
// +kubebuilder:printcolumn:name="Class",type=string,JSONPath=`.spec.gatewayClass`
// +kubebuilder:printcolumn:name="Visibility",type=string,JSONPath=`.spec.visibility`
// +kubebuilder:printcolumn:name="Hostnames",type=integer,JSONPath=`.status.hostnames`
// +kubebuilder:printcolumn:name="Certificates",type=integer,JSONPath=`.status.certificates`
// +kubebuilder:printcolumn:name="Rules",type=integer,JSONPath=`.status.rules`
// +kubebuilder:printcolumn:name="Target groups",type=integer,JSONPath=`.status.targetGroups`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Address",type=string,JSONPath=`.status.loadBalancer.dnsName`,priority=1
// +kubebuilder:printcolumn:name="Account",type=string,JSONPath=`.spec.accountID`,priority=1
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,priority=1
type PoolGateway struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what all hostnames on the Gateway have in common.
	// +required
	Spec PoolGatewaySpec `json:"spec"`
	// status is how full it is.
	// +kubebuilder:default={"observedGeneration":-1,"hostnames":0,"certificates":0,"rules":0,"targetGroups":0}
	// +optional
	Status PoolGatewayStatus `json:"status,omitempty"`
}

// Reasons of PoolGateways.
const (
	ReasonCertificatesPending  = "CertificatesPending"
	ReasonChangesWait          = "ChangesWait"
	ReasonClassNotFound        = "ClassNotFound"
	ReasonClassOfAnother       = "ClassOfAnother"
	ReasonClassOverrides       = "ClassOverrides"
	ReasonIdle                 = "Idle"
	ReasonLoadBalancerNotFound = "LoadBalancerNotFound"
	ReasonOverBudget           = "OverBudget"
	ReasonRouteSuspected       = "RouteSuspected"   // the shared load balancer stopped after the routes of the hostname changed, and the hostname is closed
	ReasonRouteUnsupported     = "RouteUnsupported" // a route has what the shared load balancer does not take, and its hostname is closed
)
