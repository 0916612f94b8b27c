// Package albconfig holds the one kind of the AWS Load Balancer Controller that Portico writes, LoadBalancerConfiguration
// of gateway.k8s.aws/v1, with the fields that Portico reads or writes and no others. Those of others on the same object
// stay, because Portico applies its own on the server's side.
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

// ControllerName is what a GatewayClass names to have Application Load Balancers.
const ControllerName = "gateway.k8s.aws/alb"

// AddToScheme makes the kind known to s.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &LoadBalancerConfiguration{}, &LoadBalancerConfigurationList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}

// MergingMode says whose settings win where a GatewayClass and a Gateway both name a configuration.
// +kubebuilder:validation:Enum=prefer-gateway;prefer-gateway-class
type MergingMode string

// PreferGatewayClass lets the class win; it is the default.
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
	// +kubebuilder:validation:MaxItems=64
	// +listType=map
	// +listMapKey=protocolPort
	// +optional
	ListenerConfigurations []ListenerConfiguration `json:"listenerConfigurations,omitempty"`
}

// ListenerConfiguration are settings of one listener.
type ListenerConfiguration struct {
	// protocolPort such as HTTPS:443.
	// +kubebuilder:validation:Pattern=`^(HTTP|HTTPS|TLS|TCP|UDP)?:(6553[0-5]|655[0-2]\d|65[0-4]\d{2}|6[0-4]\d{3}|[1-5]\d{4}|[1-9]\d{0,3})?$`
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
