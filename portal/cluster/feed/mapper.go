package feed

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiext "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/catalog"
)

// mapper maps the kinds of the catalog and the other kinds that are watched, without discovery, which an impersonated
// identity cannot use. It is safe for concurrent use.
type mapper struct {
	mu  sync.RWMutex
	all *meta.DefaultRESTMapper
}

func newMapper() *mapper {
	m := meta.NewDefaultRESTMapper(nil)
	m.Add(v1alpha1.GroupVersion.WithKind(v1alpha1.KindCatalogEntry), meta.RESTScopeRoot)
	m.Add(apiext.SchemeGroupVersion.WithKind("CustomResourceDefinition"), meta.RESTScopeRoot)
	m.Add(corev1.SchemeGroupVersion.WithKind("Namespace"), meta.RESTScopeRoot)
	m.Add(corev1.SchemeGroupVersion.WithKind("Event"), meta.RESTScopeNamespace)
	m.Add(corev1.SchemeGroupVersion.WithKind("Pod"), meta.RESTScopeNamespace)
	m.Add(corev1.SchemeGroupVersion.WithKind("ResourceQuota"), meta.RESTScopeNamespace)
	m.Add(rbacv1.SchemeGroupVersion.WithKind("RoleBinding"), meta.RESTScopeNamespace)
	m.Add(rbacv1.SchemeGroupVersion.WithKind("ClusterRoleBinding"), meta.RESTScopeRoot)
	return &mapper{all: m}
}

// add adds a kind of the catalog.
func (m *mapper) add(k catalog.Kind) {
	m.mu.Lock()
	defer m.mu.Unlock()
	scope := meta.RESTScope(meta.RESTScopeRoot)
	if k.Namespaced {
		scope = meta.RESTScopeNamespace
	}
	m.all.AddSpecific(k.GVK(), k.Resource, k.Resource, scope)
}

// KindFor implements meta.RESTMapper.
func (m *mapper) KindFor(of schema.GroupVersionResource) (schema.GroupVersionKind, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.all.KindFor(of)
}

// KindsFor implements meta.RESTMapper.
func (m *mapper) KindsFor(of schema.GroupVersionResource) ([]schema.GroupVersionKind, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.all.KindsFor(of)
}

// ResourceFor implements meta.RESTMapper.
func (m *mapper) ResourceFor(of schema.GroupVersionResource) (schema.GroupVersionResource, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.all.ResourceFor(of)
}

// ResourcesFor implements meta.RESTMapper.
func (m *mapper) ResourcesFor(of schema.GroupVersionResource) ([]schema.GroupVersionResource, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.all.ResourcesFor(of)
}

// RESTMapping implements meta.RESTMapper.
func (m *mapper) RESTMapping(of schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.all.RESTMapping(of, versions...)
}

// RESTMappings implements meta.RESTMapper.
func (m *mapper) RESTMappings(of schema.GroupKind, versions ...string) ([]*meta.RESTMapping, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.all.RESTMappings(of, versions...)
}

// ResourceSingularizer implements meta.RESTMapper.
func (m *mapper) ResourceSingularizer(resource string) (string, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.all.ResourceSingularizer(resource)
}
