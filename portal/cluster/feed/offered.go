package feed

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	apiext "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextclient "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/typed/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/portico-platform/portico/api/entry"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/catalog"
)

const (
	// together is how long the catalog waits for further changes: an upgrade changes many entries at once.
	together = 100 * time.Millisecond
	// readTimeout bounds the reading of a definition, so that a slow one holds up no other.
	readTimeout = 20 * time.Second
	// rereadAfter is how soon definitions are read again after a failure.
	rereadAfter = 5 * time.Second
	// readAtOnce is how many definitions are read at the same time.
	readAtOnce = 8
)

// offered keeps the catalog like the entries and definitions of the cluster.
type offered struct {
	kinds       *catalog.Live
	definitions apiextclient.CustomResourceDefinitionInterface
	wake        chan struct{}
	unwatched   bool // some kind of the catalog: renew tries again

	mu    sync.Mutex
	known map[string]described // by name of the entry
	begun bool                 // the catalog has been made once
}

// described is a kind as it was last read.
type described struct {
	from string // versions of the entry and of the definition
	kind catalog.Described
	err  error // why the kind is not offered, or could not be read
}

func newOffered(kinds *catalog.Live, definitions apiextclient.CustomResourceDefinitionInterface) *offered {
	return &offered{kinds: kinds, definitions: definitions, wake: make(chan struct{}, 1), known: map[string]described{}}
}

// handler wakes the loop after any change.
func (o *offered) handler() toolscache.ResourceEventHandler {
	signal := func() {
		select {
		case o.wake <- struct{}{}:
		default: // it is awake already
		}
	}
	return toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { signal() },
		DeleteFunc: func(any) { signal() },
		UpdateFunc: func(before, after any) {
			if !SameVersion(before, after) {
				signal()
			}
		},
	}
}

// keepOffered keeps the catalog up to date until ctx ends.
func (f *Feed) keepOffered(ctx context.Context) {
	again := time.NewTimer(0)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-again.C:
		case <-f.offered.wake:
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(together):
		}
		if !f.filled(entries, definitions) {
			again.Reset(together) // soon after the start
			continue
		}
		if err := f.renew(ctx); err != nil {
			f.log.Warn("reading the catalog", "error", err)
			again.Reset(rereadAfter)
		}
	}
}

// renew updates the catalog, and watches the objects of its kinds. The error says what could not be read or watched;
// renew keeps what was known of it.
func (f *Feed) renew(ctx context.Context) error {
	all, err := f.Entries(ctx)
	if err != nil {
		return err
	}
	versions, err := f.definitionVersions(ctx)
	if err != nil {
		return err
	}
	known, changed, failed := f.offered.read(ctx, all, versions)
	if !changed && !f.offered.unwatched {
		return failed
	}
	kinds := f.offered.keep(known)
	f.offered.kinds.Set(kinds) // before the objects come, whose rows depend on their kinds
	watchErr := f.follow(ctx, kinds)
	f.offered.unwatched = watchErr != nil
	f.offered.mu.Lock()
	f.offered.begun = true
	f.offered.mu.Unlock()
	f.Changes.Everything()
	return errors.Join(failed, watchErr)
}

// Entries returns the entries of the cluster.
func (f *Feed) Entries(ctx context.Context) ([]v1alpha1.CatalogEntry, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(v1alpha1.KindCatalogEntry + "List"))
	if err := f.List(ctx, entries, list); err != nil {
		return nil, err
	}
	all := make([]v1alpha1.CatalogEntry, len(list.Items))
	for i := range list.Items {
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(list.Items[i].Object, &all[i]); err != nil {
			return nil, fmt.Errorf("reading the entry %s: %w", list.Items[i].GetName(), err)
		}
	}
	return all, nil
}

// definitionVersions returns the resource version of each definition, by name.
func (f *Feed) definitionVersions(ctx context.Context) (map[string]string, error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(apiext.SchemeGroupVersion.WithKind("CustomResourceDefinitionList"))
	if err := f.List(ctx, definitions, list); err != nil {
		return nil, err
	}
	versions := map[string]string{}
	for i := range list.Items {
		versions[list.Items[i].Name] = list.Items[i].ResourceVersion
	}
	return versions, nil
}

// read returns each entry's kind, and reads the definitions of those that have changed. It reports whether anything is
// different from before; the error says what could not be read.
func (o *offered) read(ctx context.Context, all []v1alpha1.CatalogEntry, versions map[string]string) (
	now map[string]described, changed bool, failed error,
) {
	o.mu.Lock()
	known, begun := maps.Clone(o.known), o.begun
	o.mu.Unlock()
	var group errgroup.Group
	group.SetLimit(readAtOnce)
	found, unread := make([]described, len(all)), make([]error, len(all))
	changed = len(all) != len(known)
	for i := range all {
		e := &all[i]
		from := fmt.Sprint(e.UID, " ", e.Generation, " ", versions[e.Name])
		was, seen := known[e.Name]
		if found[i] = was; seen && was.from == from {
			continue
		}
		changed = true
		group.Go(func() error {
			one, err := o.describe(ctx, e)
			if one.from = from; err != nil { // an error is no absence: what was offered stays, and it is read again
				one, unread[i] = was, err
				one.from = ""
			}
			found[i] = one
			return nil // the others are read all the same
		})
	}
	_ = group.Wait() // errors are in unread
	now = map[string]described{}
	for i := range all {
		now[all[i].Name] = found[i]
	}
	return now, changed || !begun, errors.Join(unread...)
}

// describe reads the definition of an entry.
func (o *offered) describe(ctx context.Context, e *v1alpha1.CatalogEntry) (described, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	crd, err := o.definitions.Get(ctx, e.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		crd = nil
	} else if err != nil {
		return described{}, fmt.Errorf("reading the definition %s: %w", e.Name, err)
	}
	if report := entry.Check(&e.Spec, crd); report.Refused != nil {
		return described{err: report.Refused}, nil
	}
	kind, err := catalog.Describe(stripped(crd), &e.Spec)
	return described{kind: kind, err: err}, nil
}

// stripped returns the definition without what forms do not need.
func stripped(crd *apiext.CustomResourceDefinition) *apiext.CustomResourceDefinition {
	crd.ManagedFields, crd.Annotations = nil, nil
	return crd
}

// keep remembers what was read, and returns the catalog of it.
func (o *offered) keep(known map[string]described) catalog.Catalog {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.known = known
	var all []catalog.Described
	for _, name := range slices.Sorted(maps.Keys(known)) {
		if one := known[name]; one.err == nil && one.kind.Known() {
			all = append(all, one.kind)
		}
	}
	return catalog.Join(all)
}

// ready returns why the catalog does not have Portico's own kinds yet, without which no page works.
func (o *offered) ready() error {
	o.mu.Lock()
	begun := o.begun
	o.mu.Unlock()
	if !begun {
		return errors.New("the catalog is not read yet")
	}
	if _, ok := o.kinds.Now().ByName(v1alpha1.KindCatalogEntry); !ok {
		return errors.New("there are no catalog entries of Portico's own kinds: the operator writes them when it " +
			"starts")
	}
	return nil
}
