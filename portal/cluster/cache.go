package cluster

import (
	"context"
	"fmt"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
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

// lastApplied holds a whole earlier manifest. It is removed before caching, because it can hold data that a user has
// since removed.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

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
		&corev1.Event{}:              {UnsafeDisableDeepCopy: &shared, Field: eventsOf(kinds), Transform: trimEvent},
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
		HTTPClient: httpClient, Scheme: scheme, Mapper: newMapper(kinds), DefaultTransform: strip, ByObject: byObject,
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

// strip removes what must not be cached or is not needed.
func strip(in any) (any, error) {
	obj, err := meta.Accessor(in)
	if err != nil {
		return in, nil //nolint:nilerr // tombstones carry no metadata
	}
	obj.SetManagedFields(nil)
	if a := obj.GetAnnotations(); a[lastApplied] != "" {
		delete(a, lastApplied)
		obj.SetAnnotations(a)
	}
	return in, nil
}

// strip removes the same as the function strip, and lets objects of our kinds share strings.
func (t *texts) strip(in any) (any, error) {
	out, err := strip(in)
	if obj, ok := out.(*unstructured.Unstructured); ok && err == nil {
		t.share(obj)
	}
	return out, err
}

// maxEventText bounds each text of a cached Event, in bytes: the limit of a note in events.k8s.io. Users with a role
// that is not Portico's can create Events with longer texts.
const maxEventText = 1 << 10

// trimEvent keeps of an Event only what is shown, and bounds its texts.
func trimEvent(in any) (any, error) {
	e, ok := in.(*corev1.Event)
	if !ok {
		return in, nil // a tombstone
	}
	e.Related = nil
	of := &e.InvolvedObject
	for _, text := range []*string{
		&e.Message, &e.Reason, &e.Action, &e.Type, &e.ReportingController, &e.ReportingInstance, &e.Source.Component,
		&e.Source.Host,
		&of.Kind, &of.Name, &of.APIVersion, &of.ResourceVersion, &of.FieldPath, (*string)(&of.UID),
	} {
		*text = strings.Clone(strings.ToValidUTF8((*text)[:min(len(*text), maxEventText)], ""))
	}
	maps.DeleteFunc(e.Annotations, func(key, value string) bool {
		return len(value) > maxEventText || !strings.HasPrefix(key, "portico.dev/")
	})
	return strip(in)
}

func namespaceMeta() *metav1.PartialObjectMetadata {
	n := &metav1.PartialObjectMetadata{}
	n.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	return n
}

func (c *Cluster) namespaceMetas(ctx context.Context) ([]metav1.PartialObjectMetadata, error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(namespaceMeta().GroupVersionKind().GroupVersion().WithKind("NamespaceList"))
	if err := c.cache.List(ctx, list); err != nil {
		return nil, &UnavailableError{Doing: "reading the cache of namespaces", Cause: err}
	}
	return list.Items, nil
}

// namespaceExists reports whether the namespace is in the cache.
func (c *Cluster) namespaceExists(ctx context.Context, name string) (bool, error) {
	err := c.cache.Get(ctx, client.ObjectKey{Name: name}, namespaceMeta())
	switch {
	case apierrors.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, &UnavailableError{Doing: "reading the cache of namespaces", Cause: err}
	}
	return true, nil
}
