// Package albconfig declares LoadBalancerConfiguration of gateway.k8s.aws/v1, the only kind of the AWS Load Balancer
// Controller that Portico writes. It has the fields that Portico reads or writes, and the other fields of a listener,
// which Portico only preserves: the listeners are an atomic list, so a writer of one field writes them all. Other
// fields of the object stay, because Portico uses server-side apply.
//
// +kubebuilder:object:generate=true
// +groupName=gateway.k8s.aws
// +versionName=v1
package albconfig

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion of the AWS Load Balancer Controller's kinds.
var GroupVersion = schema.GroupVersion{Group: "gateway.k8s.aws", Version: "v1"}

// ControllerName is the controllerName of GatewayClasses for Application Load Balancers.
const ControllerName = "gateway.k8s.aws/alb"

// AddToScheme registers the kind with s.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &LoadBalancerConfiguration{}, &LoadBalancerConfigurationList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}

// MergingMode says whose settings win if both a GatewayClass and a Gateway reference a configuration.
// +kubebuilder:validation:Enum=prefer-gateway;prefer-gateway-class
type MergingMode string

// PreferGatewayClass gives precedence to the class; it is the default.
const (
	PreferGateway      MergingMode = "prefer-gateway"
	PreferGatewayClass MergingMode = "prefer-gateway-class"
)

// LoadBalancerConfigurationSpec are settings of a load balancer.
type LoadBalancerConfigurationSpec struct {
	// mergingMode counts on the configuration of a GatewayClass.
	// +optional
	MergingMode MergingMode `json:"mergingMode,omitempty"`
	// scheme of the load balancer.
	// +kubebuilder:validation:Enum=internal;internet-facing
	// +optional
	Scheme string `json:"scheme,omitempty"`
	// listenerConfigurations, one for each protocol and port.
	// +listType=atomic
	// +optional
	ListenerConfigurations []ListenerConfiguration `json:"listenerConfigurations,omitempty"`
}

// ListenerConfiguration configures one listener.
type ListenerConfiguration struct {
	// protocolPort such as HTTPS:443.
	// +kubebuilder:validation:Pattern=`^(HTTP|HTTPS|TLS|TCP|UDP|TCP_UDP)?:(6553[0-5]|655[0-2]\d|65[0-4]\d{2}|6[0-4]\d{3}|[1-5]\d{4}|[1-9]\d{0,3})?$`
	// +required
	ProtocolPort string `json:"protocolPort"`
	// defaultCertificate is the ARN of the certificate for clients that name no known host.
	// +optional
	DefaultCertificate string `json:"defaultCertificate,omitempty"`
	// certificates are the ARNs of the others.
	// +listType=atomic
	// +optional
	Certificates []string `json:"certificates,omitempty"`
	// sslPolicy of the listener.
	// +optional
	SSLPolicy string `json:"sslPolicy,omitempty"`
	// alpnPolicy is kept as it is.
	// +kubebuilder:default=None
	// +kubebuilder:validation:Enum=HTTP1Only;HTTP2Only;HTTP2Optional;HTTP2Preferred;None
	// +optional
	ALPNPolicy string `json:"alpnPolicy,omitempty"`
	// listenerAttributes are kept as they are.
	// +listType=atomic
	// +optional
	ListenerAttributes []ListenerAttribute `json:"listenerAttributes,omitempty"`

	// Others are the fields that this type does not declare; they are preserved.
	Others Fields `json:"-"`
}

// Fields maps field names to their JSON.
type Fields map[string]string

// ListenerAttribute is a setting of a listener by its name in AWS.
type ListenerAttribute struct {
	// key is the name.
	Key string `json:"key"`
	// value that it has.
	Value string `json:"value"`
}

// LoadBalancerConfiguration configures the load balancer of a Gateway or GatewayClass.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
type LoadBalancerConfiguration struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec are the settings.
	Spec LoadBalancerConfigurationSpec `json:"spec,omitempty"`
}

// LoadBalancerConfigurationList is a list of LoadBalancerConfigurations.
// +kubebuilder:object:root=true
type LoadBalancerConfigurationList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []LoadBalancerConfiguration `json:"items"`
}
