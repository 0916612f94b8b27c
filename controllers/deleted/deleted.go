// Package deleted lists what AWS still has of deleted objects: resources that were kept, and snapshots of data. It
// finds them by ownership tags, and leaves out those of objects that exist.
package deleted

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
)

const (
	// atOnce limits how many regions are read concurrently.
	atOnce = 4
	// longest limits the items of a list.
	longest = 1000
)

// Kind describes the resources of one kind.
type Kind struct {
	// Types are the resource types in the tagging API, such as "rds:db".
	Types []string
	// Describe returns those of the found resources that still exist: AWS shows tags for a while after a deletion. The
	// items have what a request needs to restore them.
	Describe func(ctx context.Context, s *cloud.Session, found []Found) ([]operatorapi.Deleted, error)
}

// Lists lists deleted objects according to a table of kinds.
type Lists struct {
	Kinds map[string]Kind
	// Objects calls each for every object of a kind in a namespace, from the cache.
	Objects   func(ctx context.Context, kind, namespace string, each func(external.Object)) error
	Reader    client.Reader // cached
	Connector cloud.Connector
}

// place is what one list call covers.
type place struct{ provider, region string }

// List returns what AWS has of objects that no longer exist in the namespace, from all AWS accounts and regions that it
// can use. If a call fails, the list has a problem for it, and the items of the others.
func (l *Lists) List(ctx context.Context, namespace string) (operatorapi.DeletedList, error) {
	places, err := l.places(ctx)
	if err != nil {
		return operatorapi.DeletedList{}, err
	}
	var (
		mu   sync.Mutex
		out  operatorapi.DeletedList
		work errgroup.Group
	)
	work.SetLimit(atOnce)
	for _, p := range places {
		work.Go(func() error {
			items, err := l.in(ctx, namespace, p)
			mu.Lock()
			defer mu.Unlock()
			out.Items = append(out.Items, items...)
			if err != nil {
				out.Problems = append(out.Problems,
					fmt.Sprintf("AWS account %s, region %s: %v", p.provider, p.region, err))
			}
			return nil
		})
	}
	_ = work.Wait() // problems are in out
	out.Items, err = l.withoutLiving(ctx, namespace, sorted(out.Items))
	if err != nil {
		return operatorapi.DeletedList{}, err
	}
	slices.Sort(out.Problems)
	return out, nil
}

// places returns every region of every provider. Those that the namespace cannot use are skipped later, when they are
// opened.
func (l *Lists) places(ctx context.Context) (all []place, err error) {
	var providers v1alpha1.AWSProviderList
	if err := l.Reader.List(ctx, &providers); err != nil {
		return nil, fmt.Errorf("list the AWS accounts: %w", err)
	}
	for i := range providers.Items {
		p := &providers.Items[i]
		regions := append([]string{p.Spec.Region}, p.Spec.AllowedRegions...)
		slices.Sort(regions)
		for _, region := range slices.Compact(regions) {
			all = append(all, place{p.Name, region})
		}
	}
	return all, nil
}

// in returns the items of one region.
func (l *Lists) in(ctx context.Context, namespace string, p place) ([]operatorapi.Deleted, error) {
	session, err := l.Connector.OpenFor(
		ctx, cloud.ProviderUse{Namespace: namespace, Provider: p.provider, Region: p.region})
	if isClosed(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	found, err := l.read(ctx, session, namespace)
	if err != nil {
		return nil, err
	}
	var all []operatorapi.Deleted
	var failed []error
	for name, k := range l.Kinds {
		of := found[name]
		if len(of) == 0 {
			continue
		}
		items, err := k.Describe(ctx, session, of)
		if err != nil {
			failed = append(failed, err)
		}
		for i := range items {
			items[i].Provider, items[i].Region, items[i].Account = p.provider, p.region, session.AccountID
		}
		all = append(all, items...)
	}
	return all, errors.Join(failed...)
}

// isClosed reports whether the error means that the namespace cannot use the provider or region.
func isClosed(err error) bool {
	w, waits := engine.AsWait(err)
	return waits && (w.Reason == v1alpha1.ReasonProviderNotFound || w.Reason == v1alpha1.ReasonRegionNotAllowed)
}

// sorted returns the items sorted by kind and name, the newest snapshot first, without duplicates: two providers may
// use the same account.
func sorted(all []operatorapi.Deleted) []operatorapi.Deleted {
	slices.SortFunc(all, func(a, b operatorapi.Deleted) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name), newerFirst(a, b),
			cmp.Compare(a.ARN, b.ARN), cmp.Compare(a.Provider, b.Provider))
	})
	return slices.CompactFunc(all, func(a, b operatorapi.Deleted) bool { return a.ARN == b.ARN })
}

func newerFirst(a, b operatorapi.Deleted) int {
	switch {
	case a.Taken == nil || b.Taken == nil:
		return 0
	default:
		return b.Taken.Compare(*a.Taken)
	}
}

// withoutLiving removes items that belong to an existing object of the namespace. It reads the objects after AWS was
// read, so that an object created in between does not seem deleted.
func (l *Lists) withoutLiving(ctx context.Context, namespace string, all []operatorapi.Deleted) (
	[]operatorapi.Deleted, error,
) {
	known, taken := sets.Set[string]{}, sets.Set[string]{}
	for kind := range l.Kinds {
		err := l.Objects(ctx, kind, namespace, func(o external.Object) {
			_, status := o.AWS()
			known.Insert(string(o.GetUID()), status.ARN)
			taken.Insert(kind + "/" + o.GetName())
		})
		if err != nil {
			return nil, err
		}
	}
	out := []operatorapi.Deleted{}
	for _, d := range all {
		if known.Has(d.UID) || known.Has(d.ARN) || len(out) == longest {
			continue
		}
		d.NameInUse = taken.Has(d.Kind + "/" + d.Name)
		out = append(out, d)
	}
	return out, nil
}

// Found is one AWS resource with ownership tags of the namespace.
type Found struct {
	ARN                        string
	Kind, Namespace, Name, UID string // of the object that had it
}

// Item returns the list item for it; id is its identifier in AWS.
func (f Found) Item(id string) operatorapi.Deleted {
	return operatorapi.Deleted{Kind: f.Kind, Name: f.Name, UID: f.UID, ID: id, ARN: f.ARN, Fields: map[string]string{}}
}

// LastPart returns the part of the ARN after the last separator.
func (f Found) LastPart(separator string) string {
	return f.ARN[strings.LastIndex(f.ARN, separator)+1:]
}

// There returns the resources that are in a list of the kind's resources; of the others AWS has only outdated tags.
func There(found []Found, listed []string) []Found {
	there := sets.New(listed...)
	return slices.DeleteFunc(slices.Clone(found), func(f Found) bool { return !there.Has(f.ARN) })
}
