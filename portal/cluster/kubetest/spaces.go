package kubetest

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/catalog/catalogtest"
	"github.com/portico-platform/portico/portal/cluster/feed"
	"github.com/portico-platform/portico/portal/overview"
)

// Spaces is a cache with namespaces, bindings, events and objects of the platform's kinds.
type Spaces struct {
	Names   []string
	Labels  map[string]map[string]string // of namespaces
	Roles   map[string]string            // of the RoleBindings, by namespace
	Bound   map[string]rbacv1.Subject    // by namespace, in a RoleBinding
	Wide    []rbacv1.ClusterRoleBinding
	Failed  error // of reading bindings, quotas, events and Pods
	Broken  error // of reading objects of the platform's kinds
	Objects []*unstructured.Unstructured
	Events  []*corev1.Event
	Pods    []*corev1.Pod
	Quotas  []corev1.ResourceQuota
	// Bindings are further RoleBindings.
	Bindings []rbacv1.RoleBinding

	mu sync.Mutex // of what Change changes
}

// Change calls change while nothing is read.
func (s *Spaces) Change(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// Get finds namespaces and objects.
func (s *Spaces) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	obj, ok := into.(*unstructured.Unstructured)
	if !ok && slices.Contains(s.Names, key.Name) {
		return nil
	}
	if ok && s.Broken != nil {
		return s.Broken
	}
	if ok {
		for _, o := range s.Objects {
			if o.GetKind() == obj.GetKind() && o.GetNamespace() == key.Namespace && o.GetName() == key.Name {
				obj.Object = o.Object
				return nil
			}
		}
	}
	return apierrors.NewNotFound(schema.GroupResource{Resource: into.GetObjectKind().GroupVersionKind().Kind}, key.Name)
}

// List finds what opts select, bindings and events by the indexes of the feed.
func (s *Spaces) List(_ context.Context, into client.ObjectList, opts ...client.ListOption) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var o client.ListOptions
	o.ApplyOptions(opts)
	switch list := into.(type) {
	case *metav1.PartialObjectMetadataList:
		for _, n := range s.Names {
			list.Items = append(list.Items, metav1.PartialObjectMetadata{
				ObjectMeta: metav1.ObjectMeta{Name: n, Labels: s.Labels[n]},
			})
		}
		return nil
	case *unstructured.UnstructuredList:
		list.Items = slices.DeleteFunc(only(values(s.Objects), o), func(obj unstructured.Unstructured) bool {
			return obj.GetKind()+"List" != list.GetKind()
		})
		return s.Broken
	case *rbacv1.RoleBindingList:
		list.Items = only(s.roleBindings(), o)
	case *rbacv1.ClusterRoleBindingList:
		list.Items = only(s.Wide, o)
	case *corev1.ResourceQuotaList:
		list.Items = only(s.Quotas, o)
	case *corev1.EventList:
		list.Items = only(values(s.Events), o)
	case *corev1.PodList:
		list.Items = only(values(s.Pods), o)
	}
	return s.Failed
}

func values[T any](all []*T) (out []T) {
	for _, one := range all {
		out = append(out, *one)
	}
	return out
}

func (s *Spaces) roleBindings() (all []rbacv1.RoleBinding) {
	for n, subject := range s.Bound {
		all = append(all, rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: n}, Subjects: []rbacv1.Subject{subject},
			RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: s.Roles[n]},
		})
	}
	return append(all, s.Bindings...)
}

// only returns the objects that o selects.
func only[T any, P interface {
	*T
	client.Object
}](all []T, o client.ListOptions) (out []T) {
	for i := range all {
		at := P(&all[i]).GetNamespace()
		named := o.LabelSelector == nil || o.LabelSelector.Matches(labels.Set(P(&all[i]).GetLabels()))
		if (o.Namespace == "" || o.Namespace == at) && named && indexed(P(&all[i]), o) {
			out = append(out, all[i])
		}
	}
	return out
}

// indexed reports whether the cache has the object under the field that is wanted, if one is.
func indexed(obj client.Object, o client.ListOptions) bool {
	if o.FieldSelector == nil {
		return true
	}
	wanted := o.FieldSelector.Requirements()[0]
	return slices.ContainsFunc(feed.Indexes(), func(i feed.Index) bool {
		return i.Name == wanted.Field && reflect.TypeOf(i.Of) == reflect.TypeOf(obj) &&
			slices.Contains(i.By(obj), wanted.Value)
	})
}

// NewSpaces returns three namespaces, in which bindings name Dev.
func NewSpaces() *Spaces {
	group := rbacv1.Subject{Kind: "Group", Name: "oidc:a"}
	return &Spaces{Names: []string{"idle", "payments", "search"}, Bound: map[string]rbacv1.Subject{
		"idle": group, "payments": group, "search": {Kind: "User", Name: Dev.Username},
	}}
}

// Crowd returns many namespaces; a binding in one of them names Dev.
func Crowd() *Spaces {
	s := &Spaces{Names: []string{"payments"}, Bound: map[string]rbacv1.Subject{
		"payments": {Kind: "Group", Name: "oidc:a"},
	}}
	for i := range 200 {
		name := fmt.Sprintf("other-%03d", i)
		s.Names, s.Bound[name] = append(s.Names, name), rbacv1.Subject{Kind: "Group", Name: "oidc:" + name}
	}
	return s
}

// Named returns an object x.
func Named(namespace, version string) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{Object: map[string]any{}}
	obj.SetNamespace(namespace)
	obj.SetName("x")
	obj.SetResourceVersion(version)
	return obj
}

// NewFeed returns a feed that reads from s and has some objects.
func NewFeed(tb testing.TB, s *Spaces) *feed.Feed {
	tb.Helper()
	f := &feed.Feed{
		Kinds: catalog.NewLive(catalogtest.Kinds(tb)),
		Cache: s, Overview: overview.NewStore(), Changes: feed.NewChanges(),
	}
	for _, place := range []overview.Place{
		{Kind: "s3buckets", Namespace: "payments"},
		{Kind: "s3buckets", Namespace: "search"},
		{Kind: "sqsqueues", Namespace: "search"},
		{Kind: "awsproviders"},
	} {
		k, ok := f.Kinds.Now().ByPlural(place.Kind)
		if !ok {
			tb.Fatalf("no kind %s", place.Kind)
		}
		f.Handler(k.Plural).OnAdd(Named(place.Namespace, "1"), true)
	}
	return f
}
