package feed

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/portal/catalog"
)

// LastApplied holds a whole earlier manifest. It is removed before caching, because it can hold data that a user has
// since removed.
const LastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// newCache returns a cache of the platform's kinds as unstructured objects, of namespaces as metadata, and of the
// events about our kinds, the Pods of WebApps, ResourceQuotas, RoleBindings and ClusterRoleBindings.
func newCache(cfg *rest.Config, kinds catalog.Catalog) (cache.Cache, error) {
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	if err := rbacv1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	shared := true
	byObject := map[client.Object]cache.ByObject{
		&corev1.Event{}:              {UnsafeDisableDeepCopy: &shared, Field: eventsOf(kinds), Transform: TrimEvent},
		namespaceMeta():              {UnsafeDisableDeepCopy: &shared},
		&corev1.Pod{}:                {UnsafeDisableDeepCopy: &shared, Label: webAppPods(), Transform: trimPod},
		&rbacv1.ClusterRoleBinding{}: {UnsafeDisableDeepCopy: &shared},
	}
	for _, obj := range teamObjects() {
		byObject[obj] = cache.ByObject{UnsafeDisableDeepCopy: &shared}
	}
	all := &texts{}
	for _, k := range kinds {
		obj := &unstructured.Unstructured{}
		obj.SetGroupVersionKind(k.GVK())
		byObject[obj] = cache.ByObject{UnsafeDisableDeepCopy: &shared, Transform: all.strip}
	}
	httpClient, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return nil, fmt.Errorf("making the HTTP client: %w", err)
	}
	return cache.New(cfg, cache.Options{
		HTTPClient: httpClient, Scheme: scheme, Mapper: newMapper(kinds), DefaultTransform: Strip, ByObject: byObject,
		ReaderFailOnMissingInformer: true,
	})
}

// eventsOf selects the events about our kinds: other events never reach the portal.
func eventsOf(kinds catalog.Catalog) fields.Selector {
	if len(kinds) == 0 {
		return fields.Nothing()
	}
	return fields.OneTermEqualSelector("involvedObject.apiVersion", kinds[0].Resource.GroupVersion().String())
}

// newMapper maps our kinds without discovery, which an impersonated identity cannot use.
func newMapper(kinds catalog.Catalog) meta.RESTMapper {
	m := meta.NewDefaultRESTMapper(nil)
	for _, k := range kinds {
		scope := meta.RESTScope(meta.RESTScopeRoot)
		if k.Namespaced {
			scope = meta.RESTScopeNamespace
		}
		gv := k.Resource.GroupVersion()
		m.AddSpecific(k.GVK(), k.Resource, gv.WithResource(k.Plural), scope)
	}
	m.Add(corev1.SchemeGroupVersion.WithKind("Namespace"), meta.RESTScopeRoot)
	m.Add(corev1.SchemeGroupVersion.WithKind("Event"), meta.RESTScopeNamespace)
	m.Add(corev1.SchemeGroupVersion.WithKind("Pod"), meta.RESTScopeNamespace)
	m.Add(corev1.SchemeGroupVersion.WithKind("ResourceQuota"), meta.RESTScopeNamespace)
	m.Add(rbacv1.SchemeGroupVersion.WithKind("RoleBinding"), meta.RESTScopeNamespace)
	m.Add(rbacv1.SchemeGroupVersion.WithKind("ClusterRoleBinding"), meta.RESTScopeRoot)
	return m
}

// Strip removes what must not be cached or is not needed.
func Strip(in any) (any, error) {
	obj, err := meta.Accessor(in)
	if err != nil {
		return in, nil //nolint:nilerr // tombstones carry no metadata
	}
	obj.SetManagedFields(nil)
	if a := obj.GetAnnotations(); a[LastApplied] != "" {
		delete(a, LastApplied)
		obj.SetAnnotations(a)
	}
	return in, nil
}

// strip removes the same as the function strip, and lets objects of our kinds share strings.
func (t *texts) strip(in any) (any, error) {
	out, err := Strip(in)
	if obj, ok := out.(*unstructured.Unstructured); ok && err == nil {
		t.share(obj)
	}
	return out, err
}

func namespaceMeta() *metav1.PartialObjectMetadata {
	n := &metav1.PartialObjectMetadata{}
	n.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	return n
}

// Resources of a team other than our kinds. The plural names are also those in Change.Kind.
const (
	Quotas       = "resourcequotas"
	RoleBindings = "rolebindings"
)

// teamObjects returns the types that are cached for Quotas and Members, by plural name.
func teamObjects() map[string]client.Object {
	return map[string]client.Object{Quotas: &corev1.ResourceQuota{}, RoleBindings: &rbacv1.RoleBinding{}}
}
