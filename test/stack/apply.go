package stack

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"github.com/portico-platform/portico/config/manifests"
)

const fieldManager = "portico-stack"

// establishTimeout limits the wait for a CRD to be served: it takes a second.
const establishTimeout = 30 * time.Second

// Apply applies the YAML files at the paths of fsys, files or folders (not their subfolders), by server-side apply.
// It applies CRDs first and waits for them, then Namespaces, then the rest in the order given. A folder that does not
// exist is an error.
func Apply(ctx context.Context, cfg *rest.Config, fsys fs.FS, paths ...string) error {
	objects, err := ReadObjects(fsys, paths...)
	if err != nil {
		return err
	}
	return ApplyObjects(ctx, cfg, objects...)
}

// ApplyObjects applies objects as Apply does for those in files.
func ApplyObjects(ctx context.Context, cfg *rest.Config, objects ...*unstructured.Unstructured) error {
	a, err := newApplier(cfg)
	if err != nil {
		return err
	}
	var crds []string
	for _, o := range inOrder(objects) {
		if rank(o) == 0 {
			crds = append(crds, o.GetName())
		} else if err := a.established(ctx, crds); err != nil {
			return err
		} else {
			crds = nil
		}
		if err := a.apply(ctx, o); err != nil {
			return err
		}
	}
	return a.established(ctx, crds)
}

func inOrder(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	sorted := slices.Clone(objects)
	slices.SortStableFunc(sorted, func(a, b *unstructured.Unstructured) int { return rank(a) - rank(b) })
	return sorted
}

func rank(o *unstructured.Unstructured) int {
	switch o.GetKind() {
	case "CustomResourceDefinition":
		return 0
	case "Namespace":
		return 1
	default:
		return 2
	}
}

// ReadObjects reads the objects of YAML files and of the files in folders.
func ReadObjects(fsys fs.FS, paths ...string) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	for _, p := range paths {
		files := []string{p}
		if info, err := fs.Stat(fsys, p); err != nil {
			return nil, err
		} else if info.IsDir() {
			if files, err = fs.Glob(fsys, path.Join(p, "*.yaml")); err != nil {
				return nil, err
			}
		}
		for _, file := range files {
			more, err := manifests.ReadFile(fsys, file)
			if err != nil {
				return nil, err
			}
			objects = append(objects, more...)
		}
	}
	return objects, nil
}

type applier struct {
	objects dynamic.Interface
	mapper  *restmapper.DeferredDiscoveryRESTMapper
}

// notSynced is in Kubernetes' refusal while a policy has not read its parameters.
const notSynced = "not yet synced"

func newApplier(cfg *rest.Config) (*applier, error) {
	objects, err := dynamic.NewForConfig(cfg)
	if err != nil {
		return nil, err
	}
	clients, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return nil, err
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(clients.Discovery()))
	return &applier{objects: objects, mapper: mapper}, nil
}

func (a *applier) apply(ctx context.Context, o *unstructured.Unstructured) error {
	mapping, err := a.mapping(ctx, o.GroupVersionKind())
	if err != nil {
		return fmt.Errorf("apply %s %s: %w", o.GetKind(), o.GetName(), err)
	}
	var client dynamic.ResourceInterface = a.objects.Resource(mapping.Resource)
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		namespace := o.GetNamespace()
		if namespace == "" {
			namespace = metav1.NamespaceDefault
		}
		client = a.objects.Resource(mapping.Resource).Namespace(namespace)
	}
	options := metav1.ApplyOptions{FieldManager: fieldManager, Force: true}
	// A policy that patches a kind answers 503 until it knows the kind's schema, and one with parameters refuses
	// everything until it has read them.
	err = wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, establishTimeout, true,
		func(ctx context.Context) (bool, error) {
			_, err := client.Apply(ctx, o.GetName(), o, options)
			if apierrors.IsServiceUnavailable(err) ||
				apierrors.IsForbidden(err) && strings.Contains(err.Error(), notSynced) {
				return false, nil
			}
			return err == nil, err
		})
	if err != nil {
		return fmt.Errorf("apply %s %s: %w", o.GetKind(), o.GetName(), err)
	}
	return nil
}

// mapping retries for a short time for kinds that are not served yet: discovery shows a kind shortly after its CRD's
// condition.
func (a *applier) mapping(ctx context.Context, kind schema.GroupVersionKind) (m *meta.RESTMapping, err error) {
	poll := func(context.Context) (bool, error) {
		if m, err = a.mapper.RESTMapping(kind.GroupKind(), kind.Version); meta.IsNoMatchError(err) {
			a.mapper.Reset()
			return false, nil
		}
		return err == nil, err
	}
	if wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, establishTimeout, true, poll) != nil {
		return nil, err
	}
	return m, nil
}

// established waits until the CRDs are served and discovery shows them, so that a client that starts now finds every
// kind.
func (a *applier) established(ctx context.Context, names []string) error {
	for _, name := range names {
		kind, err := a.waitEstablished(ctx, name)
		if err != nil {
			return fmt.Errorf("wait for CRD %s: %w", name, err)
		}
		a.mapper.Reset()
		if _, err := a.mapping(ctx, kind); err != nil {
			return fmt.Errorf("wait until discovery shows %s: %w", kind.Kind, err)
		}
	}
	return nil
}

func (a *applier) waitEstablished(ctx context.Context, name string) (kind schema.GroupVersionKind, err error) {
	crds := a.objects.Resource(apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions"))
	err = wait.PollUntilContextTimeout(ctx, 25*time.Millisecond, establishTimeout, true,
		func(ctx context.Context) (bool, error) {
			o, err := crds.Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return false, err
			}
			var crd apiextensionsv1.CustomResourceDefinition
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &crd); err != nil {
				return false, err
			}
			kind = schema.GroupVersionKind{
				Group: crd.Spec.Group, Version: crd.Spec.Versions[0].Name,
				Kind: crd.Spec.Names.Kind,
			}
			return isEstablished(&crd), nil
		})
	return kind, err
}

func isEstablished(crd *apiextensionsv1.CustomResourceDefinition) bool {
	return slices.ContainsFunc(crd.Status.Conditions, func(c apiextensionsv1.CustomResourceDefinitionCondition) bool {
		return c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue
	})
}
