// Package catalog reconciles CatalogEntries: it writes those of Portico's own kinds, and says of each whether its kind
// is offered.
package catalog

import (
	"context"
	"fmt"
	"slices"

	apiext "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/portico-platform/portico/api/entry"
	"github.com/portico-platform/portico/api/spoken"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/watch"
)

// mostMissing is how many missing fields a message names; the status has all.
const mostMissing = 5

// Reconciler implements engine.KindReconciler for CatalogEntry.
type Reconciler struct {
	// Definitions reads CRDs from the API server: a cluster can have hundreds, of up to a megabyte, so that the cache
	// has their metadata only.
	Definitions client.Reader
	Cached      client.Reader // of entries
}

// Reconcile implements engine.KindReconciler.
func (r Reconciler) Reconcile(ctx context.Context, e *v1alpha1.CatalogEntry, _ *engine.Pass) error {
	version, err := r.version(ctx, e.Name)
	if err != nil {
		return err
	}
	if judged(e, version) {
		return nil
	}
	e.Status.DefinitionVersion = version
	crd := &apiext.CustomResourceDefinition{}
	switch err := r.Definitions.Get(ctx, client.ObjectKey{Name: e.Name}, crd); {
	case apierrors.IsNotFound(err):
		crd = nil
	case err != nil:
		return fmt.Errorf("read the definition of the kind: %w", err)
	}
	report := entry.Check(&e.Spec, crd)
	e.Status.Kind = ""
	if crd != nil {
		e.Status.Kind = crd.Spec.Names.Kind
	}
	e.Status.Missing, e.Status.Powers, e.Status.Schema = report.Missing, report.Powers, report.Schema
	unknown, err := r.unknown(ctx, e)
	if err != nil {
		return err
	}
	e.Status.Missing = append(e.Status.Missing, unknown...)
	if report.Refused != nil {
		return engine.Blocked(entry.Reason(report.Refused), "the kind is not offered: %w", report.Refused)
	}
	if len(e.Status.Missing) > 0 {
		return engine.Blocked(v1alpha1.ReasonFieldsMissing, "the entry names what does not exist: %s. The kind is "+
			"offered without; take it out of the entry, or name a version of the kind that has it",
			spoken.And(spoken.Some(e.Status.Missing, mostMissing)))
	}
	return nil
}

// version returns the resource version of the definition of that name, from the cache; "" if there is none.
func (r Reconciler) version(ctx context.Context, name string) (string, error) {
	var crd metav1.PartialObjectMetadata
	crd.SetGroupVersionKind(apiext.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	err := r.Cached.Get(ctx, client.ObjectKey{Name: name}, &crd)
	if client.IgnoreNotFound(err) != nil {
		return "", fmt.Errorf("look for the definition of the kind: %w", err)
	}
	return crd.ResourceVersion, nil
}

// judged reports whether an earlier pass has found nothing wrong with the entry as it is, and with the definition of
// this version: a restart of the operator reads no definitions again.
func judged(e *v1alpha1.CatalogEntry, version string) bool {
	ready := meta.FindStatusCondition(e.Status.Conditions, v1alpha1.ConditionReady)
	return version != "" && e.Status.DefinitionVersion == version && e.Status.ObservedGeneration == e.Generation &&
		ready != nil && ready.Status == metav1.ConditionTrue && entry.Own(e.Spec.Definition.Group)
}

// unknown returns the entries that e refers to and that do not exist. Those of Portico's own kinds refer to each other,
// and are written one by one.
func (r Reconciler) unknown(ctx context.Context, e *v1alpha1.CatalogEntry) (all []string, err error) {
	if entry.Own(e.Spec.Definition.Group) {
		return nil, nil
	}
	for _, ref := range e.Spec.References {
		if ref.To == "" || slices.Contains(all, "the entry "+ref.To) {
			continue
		}
		switch err := r.Cached.Get(ctx, client.ObjectKey{Name: ref.To}, &v1alpha1.CatalogEntry{}); {
		case apierrors.IsNotFound(err):
			all = append(all, "the entry "+ref.To)
		case err != nil:
			return nil, fmt.Errorf("read the entry %s: %w", ref.To, err)
		}
	}
	return all, nil
}

// referring returns the entries that refer to the changed one: their status says whether it exists.
func (r Reconciler) referring(ctx context.Context, changed client.Object) (all []reconcile.Request) {
	var entries v1alpha1.CatalogEntryList
	if err := r.Cached.List(ctx, &entries); err != nil {
		return nil // they are checked again anyway
	}
	for i := range entries.Items {
		if slices.ContainsFunc(entries.Items[i].Spec.References, func(ref v1alpha1.CatalogReference) bool {
			return ref.To == changed.GetName()
		}) {
			all = append(all, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&entries.Items[i])})
		}
	}
	return all
}

// Finalize implements engine.KindReconciler; it is not called.
func (r Reconciler) Finalize(context.Context, *v1alpha1.CatalogEntry, *engine.Pass) error { return nil }

// GarbageCollected implements engine.GarbageCollected: nothing is made for a CatalogEntry.
func (r Reconciler) GarbageCollected() {}

// Setup registers the controller, and what writes the entries of Portico's own kinds, with the manager.
func Setup(mgr ctrl.Manager, shipped []v1alpha1.CatalogEntry, o engine.Options) error {
	shipper := &Shipper{Client: mgr.GetClient(), Entries: shipped, Log: mgr.GetLogger().WithName("catalog")}
	if err := mgr.Add(shipper); err != nil {
		return err
	}
	reconciler := Reconciler{Definitions: mgr.GetAPIReader(), Cached: mgr.GetClient()}
	return engine.Setup(mgr, &v1alpha1.CatalogEntry{}, reconciler, o, func(b *builder.Builder) {
		// The name of a definition is that of its entry.
		b.WatchesMetadata(&apiext.CustomResourceDefinition{}, &handler.EnqueueRequestForObject{})
		b.Watches(&v1alpha1.CatalogEntry{}, handler.EnqueueRequestsFromMapFunc(reconciler.referring),
			builder.WithPredicates(watch.CreatedOrDeleted()))
	})
}
