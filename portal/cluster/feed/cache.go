package feed

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiext "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// LastApplied holds a whole earlier manifest. It is removed before caching, because it can hold data that a user has
// since removed.
const LastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// newCache returns a cache of the catalog's kinds as unstructured objects, of namespaces and definitions as metadata,
// and of entries, the events about our kinds, the Pods of WebApps, ResourceQuotas, RoleBindings and
// ClusterRoleBindings.
func newCache(cfg *rest.Config, kinds *mapper) (cache.Cache, error) {
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	if err := rbacv1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	shared, all := true, &texts{}
	byObject := map[client.Object]cache.ByObject{
		&corev1.Event{}:  {Field: ourEvents(), Transform: TrimEvent},
		&corev1.Pod{}:    {Label: webAppPods(), Transform: trimPod},
		definitionMeta(): {Transform: trimDefinition},
	}
	httpClient, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return nil, fmt.Errorf("making the HTTP client: %w", err)
	}
	return cache.New(cfg, cache.Options{
		HTTPClient: httpClient, Scheme: scheme, Mapper: kinds, DefaultTransform: all.strip,
		DefaultUnsafeDisableDeepCopy: &shared, ByObject: byObject,
		ReaderFailOnMissingInformer: true,
	})
}

// ourEvents selects the events about our kinds: other events never reach the portal.
func ourEvents() fields.Selector {
	return fields.OneTermEqualSelector("involvedObject.apiVersion", v1alpha1.GroupVersion.String())
}

// trimDefinition keeps of a definition only which version of it this is: its annotations can have a megabyte.
func trimDefinition(in any) (any, error) {
	obj, err := meta.Accessor(in)
	if err != nil {
		return in, nil //nolint:nilerr // tombstones carry no metadata
	}
	obj.SetManagedFields(nil)
	obj.SetAnnotations(nil)
	obj.SetLabels(nil)
	return in, nil
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

// entryObject returns an empty CatalogEntry.
func entryObject() *unstructured.Unstructured {
	obj := &unstructured.Unstructured{}
	obj.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(v1alpha1.KindCatalogEntry))
	return obj
}

// definitionMeta returns the empty metadata of a definition.
func definitionMeta() *metav1.PartialObjectMetadata {
	d := &metav1.PartialObjectMetadata{}
	d.SetGroupVersionKind(apiext.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	return d
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
