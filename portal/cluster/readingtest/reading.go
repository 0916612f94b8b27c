// Package readingtest has the parts of a Cluster that decide and read, for tests of the pages and the REST API.
package readingtest

import (
	"context"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/catalog/catalogtest"
	"github.com/portico-platform/portico/portal/cluster/feed"
	"github.com/portico-platform/portico/portal/cluster/kubetest"
	"github.com/portico-platform/portico/portal/cluster/objects"
	"github.com/portico-platform/portico/portal/cluster/rights"
	"github.com/portico-platform/portico/portal/overview"
)

// Reading are the parts of a Cluster that decide what callers can do and read objects, over Kubernetes in memory. The
// Judge decides about every right, whatever bindings there are.
type Reading struct {
	Kinds   catalog.Catalog
	Judge   *kubetest.Judge
	Spaces  *kubetest.Spaces
	Behind  int64 // number of generations by which the cache lags behind the API server
	Feed    *feed.Feed
	Rights  *rights.Rights
	Objects *objects.Objects
}

// New returns the parts over s.
func New(tb testing.TB, s *kubetest.Spaces) *Reading {
	tb.Helper()
	kinds := catalogtest.Kinds(tb)
	r := &Reading{
		Kinds: kinds, Spaces: s, Judge: kubetest.NewJudge(),
		Feed: &feed.Feed{
			Kinds: catalog.NewLive(kinds), Cache: s, Overview: overview.NewStore(), Changes: feed.NewChanges(),
		},
	}
	r.Rights = rights.New(rights.Options{
		Reviews: r.Judge.Reviews(), Feed: r.Feed, AskEverywhere: true, Clock: r.Judge.Clock,
	})
	live := fake.NewSimpleDynamicClient(runtime.NewScheme())
	live.PrependReactor("get", "*", r.get)
	r.Objects = objects.New(r.Rights, r.Feed, live)
	return r
}

// get reacts as an API server that has the objects of the cache.
func (r *Reading) get(a clienttesting.Action) (bool, runtime.Object, error) {
	k, _ := r.Kinds.ByPlural(a.GetResource().Resource)
	obj := &unstructured.Unstructured{}
	obj.SetGroupVersionKind(k.GVK())
	key := client.ObjectKey{Namespace: a.GetNamespace(), Name: a.(clienttesting.GetAction).GetName()}
	if err := r.Spaces.Get(context.Background(), key, obj); err != nil {
		return true, nil, err
	}
	obj = obj.DeepCopy()
	obj.SetGeneration(obj.GetGeneration() + r.Behind)
	return true, obj, nil
}

// Show replaces the objects, and lets the decisions about rights expire.
func (r *Reading) Show(all []*unstructured.Unstructured) {
	r.Judge.Clock.SetTime(r.Judge.Clock.Now().Add(time.Hour))
	r.Spaces.Change(func() {
		for _, was := range r.Spaces.Objects {
			if k, ok := r.Kinds.ByName(was.GetKind()); ok {
				r.Feed.Overview.Remove(k.Plural, was.GetNamespace(), was.GetName())
			}
		}
		for _, is := range all {
			if k, ok := r.Kinds.ByName(is.GetKind()); ok {
				r.Feed.Overview.Put(k, is)
			}
		}
		r.Spaces.Objects = slices.Clone(all)
	})
}
