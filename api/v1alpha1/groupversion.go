// Package v1alpha1 holds the kinds of Portico, types only.
//
// +kubebuilder:object:generate=true
// +groupName=portico.dev
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the API group and version of every kind here.
var GroupVersion = schema.GroupVersion{Group: "portico.dev", Version: "v1alpha1"}

// AddToScheme makes the kinds known to s.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, prototypes()...)
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
