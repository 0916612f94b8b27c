package upgrade

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// passing are kinds whose objects are created, deleted and changed all the time, or come with the operator.
var passing = []string{"CatalogEntry", "Endpoints", "EndpointSlice", "Event", "Lease", "PodMetrics"}

// snapshot is the users' objects in Kubernetes, by kind, namespace and name: everything in the namespaces of teams and
// of the shared Gateways, and Portico's own kinds in all namespaces.
type snapshot map[string]*unstructured.Unstructured

// watched are the namespaces in which an upgrade must not change anything.
var watched = []string{team, "search", "portico-gateways"}

// look takes a snapshot.
func (c *installation) look(ctx context.Context) (snapshot, error) {
	resources, err := listed(c.Clients.Discovery())
	if err != nil {
		return nil, err
	}
	all := snapshot{}
	for _, gvr := range resources {
		list, err := c.objects.Resource(gvr).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", gvr.Resource, err)
		}
		for i := range list.Items {
			o := &list.Items[i]
			if gvr.Group == v1alpha1.GroupVersion.Group || slices.Contains(watched, o.GetNamespace()) {
				all[strings.TrimSpace(o.GetKind()+" "+o.GetNamespace()+"/"+o.GetName())] = o
			}
		}
	}
	return all, nil
}

// listed returns all namespaced resources, and Portico's cluster-scoped ones.
func listed(d discovery.DiscoveryInterface) ([]schema.GroupVersionResource, error) {
	groups, err := d.ServerPreferredResources()
	if err != nil {
		return nil, fmt.Errorf("ask the API server for its kinds: %w", err)
	}
	var all []schema.GroupVersionResource
	for _, group := range groups {
		gv, err := schema.ParseGroupVersion(group.GroupVersion)
		if err != nil {
			return nil, err
		}
		for _, r := range group.APIResources {
			ours := r.Namespaced || gv.Group == v1alpha1.GroupVersion.Group
			if ours && slices.Contains(r.Verbs, "list") && !slices.Contains(passing, r.Kind) {
				all = append(all, gv.WithResource(r.Name))
			}
		}
	}
	return all, nil
}

// changed lists the objects that were created, deleted, replaced or changed, ignoring their status. It lists the paths
// of changes but no values, because some are secret.
func (before snapshot) changed(now snapshot) []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(before)) {
		was, is := before[name], now[name]
		switch {
		case is == nil:
			all = append(all, name+" was deleted")
		case is.GetUID() != was.GetUID():
			all = append(all, name+" was replaced")
		default:
			if paths := differing("", lasting(was), lasting(is)); len(paths) > 0 {
				all = append(all, name+" changed in "+strings.Join(paths, ", "))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if before[name] == nil {
			all = append(all, name+" was created")
		}
	}
	return all
}

// lasting returns a copy of an object without its status, its managed fields and the annotations of this program.
func lasting(o *unstructured.Unstructured) object {
	o = o.DeepCopy()
	delete(o.Object, "status")
	unstructured.RemoveNestedField(o.Object, "metadata", "managedFields")
	unstructured.RemoveNestedField(o.Object, "metadata", "resourceVersion")
	if notes := o.GetAnnotations(); notes[v1alpha1.AnnotationReconcileRequestedAt] != "" {
		delete(notes, v1alpha1.AnnotationReconcileRequestedAt)
		o.SetAnnotations(notes)
	}
	return o.Object
}

// differing returns the paths below at whose values differ.
func differing(at string, was, is any) []string {
	if reflect.DeepEqual(was, is) {
		return nil
	}
	a, ok := was.(object)
	b, both := is.(object)
	if !ok || !both {
		return []string{at}
	}
	keys := map[string]bool{}
	for _, m := range []object{a, b} {
		for key := range m {
			keys[key] = true
		}
	}
	var all []string
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		all = append(all, differing(at+"."+key, a[key], b[key])...)
	}
	return all
}

// countsOf counts the objects of each kind. A kind without objects is an error.
func countsOf(all []unstructured.Unstructured, kinds map[string]string) (map[string]int, error) {
	counts := map[string]int{}
	for i := range all {
		counts[all[i].GetKind()]++
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		if counts[kind] == 0 {
			return nil, fmt.Errorf("there is no object of %s: the campaign is to have one of every kind", kind)
		}
	}
	return counts, nil
}

// ours returns all objects of Portico's kinds.
func (c *installation) ours(ctx context.Context) ([]unstructured.Unstructured, error) {
	var all []unstructured.Unstructured
	for _, kind := range slices.Sorted(maps.Keys(c.kinds)) {
		list, err := c.of(kind).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", kind, err)
		}
		all = append(all, list.Items...)
	}
	return all, nil
}

func (c *installation) of(kind string) dynamic.NamespaceableResourceInterface {
	return c.objects.Resource(v1alpha1.GroupVersion.WithResource(c.kinds[kind]))
}
