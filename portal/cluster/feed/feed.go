// Package feed is the portal's one watch of Kubernetes: a cache of objects, the overview of their state, and a feed of
// their changes. It checks no rights.
package feed

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	apiextclient "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/typed/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/overview"
)

// Feed is the cache. It is safe for concurrent use.
type Feed struct {
	Kinds    *catalog.Live
	Cache    client.Reader
	Overview *overview.Store
	Changes  *Changes

	informers cache.Cache // of Cache; nil in tests without a watch
	mapper    *mapper
	offered   *offered
	watches   watches
	log       *slog.Logger
}

// New returns a Feed that watches with the credentials in cfg; Run starts it.
func New(cfg *rest.Config, log *slog.Logger) (*Feed, error) {
	mapper := newMapper()
	objects, err := newCache(cfg, mapper)
	if err != nil {
		return nil, fmt.Errorf("preparing the cache: %w", err)
	}
	definitions, err := apiextclient.NewForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("preparing to read definitions: %w", err)
	}
	kinds := catalog.NewLive(nil)
	return &Feed{
		Kinds: kinds, Cache: objects, Overview: overview.NewStore(), Changes: NewChanges(), informers: objects,
		mapper: mapper, offered: newOffered(kinds, definitions.CustomResourceDefinitions()), log: log,
	}, nil
}

// Run keeps the cache and the catalog up to date until ctx ends, after Watch.
func (f *Feed) Run(ctx context.Context) error {
	var keeping sync.WaitGroup
	ctx, cancel := context.WithCancel(ctx)
	defer keeping.Wait()
	defer cancel()
	keeping.Go(func() { f.keepOffered(ctx) })
	if err := f.informers.Start(ctx); err != nil {
		return fmt.Errorf("running the cache: %w", err)
	}
	return nil
}

// List reads from the cache; what names the objects in the error. They are shared: never change one.
func (f *Feed) List(ctx context.Context, what string, into client.ObjectList, opts ...client.ListOption) error {
	if err := f.Cache.List(ctx, into, opts...); err != nil {
		return &failure.UnavailableError{Doing: "reading the cache of " + what, Cause: err}
	}
	return nil
}

// Objects returns the objects of the kind in the namespace, "" for every namespace. They are shared: never change one.
func (f *Feed) Objects(ctx context.Context, k catalog.Kind, namespace string) ([]*unstructured.Unstructured, error) {
	if f.Reading(k) {
		return nil, &failure.UnavailableError{Doing: "reading the cache of " + k.Plural, Cause: errReading}
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(k.GVK().GroupVersion().WithKind(k.Name + "List"))
	if err := f.List(ctx, k.Plural, list, client.InNamespace(namespace)); err != nil {
		return nil, err
	}
	items := make([]*unstructured.Unstructured, len(list.Items))
	for i := range list.Items {
		items[i] = &list.Items[i]
	}
	return items, nil
}

var errReading = errors.New("its objects are being read for the first time")

// Namespaces returns the metadata of all namespaces.
func (f *Feed) Namespaces(ctx context.Context) ([]metav1.PartialObjectMetadata, error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(namespaceMeta().GroupVersionKind().GroupVersion().WithKind("NamespaceList"))
	if err := f.List(ctx, "namespaces", list); err != nil {
		return nil, err
	}
	return list.Items, nil
}

// NamespaceExists reports whether the namespace is in the cache.
func (f *Feed) NamespaceExists(ctx context.Context, name string) (bool, error) {
	err := f.Cache.Get(ctx, client.ObjectKey{Name: name}, namespaceMeta())
	switch {
	case apierrors.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, &failure.UnavailableError{Doing: "reading the cache of namespaces", Cause: err}
	}
	return true, nil
}
