// Package deleted lists what AWS still has of objects that were deleted: resources that were kept, and snapshots of
// data. It goes by the ownership tags, and by what is in the namespace now.
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
	// atOnce bounds the regions that are read at the same time.
	atOnce = 4
	// longest bounds a list.
	longest = 1000
)

// Kind is one kind of objects.
type Kind struct {
	// Types are what the tagging API calls its resources, such as "rds:db".
	Types []string
	// Describe says what is there of these, which may be gone: AWS shows tags for a while after. Requests get what is
	// needed to have it back.
	Describe func(ctx context.Context, s *cloud.Session, found []Found) ([]operatorapi.Deleted, error)
}

// Lists lists by a table of kinds.
type Lists struct {
	Kinds map[string]Kind
	// Objects calls each for every object of a kind in a namespace, from the cache.
	Objects   func(ctx context.Context, kind, namespace string, each func(external.Object)) error
	Reader    client.Reader // cached
	Connector cloud.Connector
}

// place is where one listing looks.
type place struct{ provider, region string }

// List returns what AWS has of objects that are no longer in the namespace, of all AWS accounts and regions that it can
// use. Where AWS did not answer, there is a problem beside what others have.
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
				out.Problems = append(out.Problems, fmt.Sprintf("AWS account %s, region %s: %v", p.provider, p.region, err))
			}
			return nil
		})
	}
	_ = work.Wait() // each says for itself what is wrong
	out.Items, err = l.withoutLiving(ctx, namespace, sorted(out.Items))
	if err != nil {
		return operatorapi.DeletedList{}, err
	}
	slices.Sort(out.Problems)
	return out, nil
}

// places returns every region of every provider; those that the namespace cannot use are found out when they are
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

// in returns what one region has.
func (l *Lists) in(ctx context.Context, namespace string, p place) ([]operatorapi.Deleted, error) {
	session, err := l.Connector.OpenFor(ctx, cloud.ProviderUse{Namespace: namespace, Provider: p.provider, Region: p.region})
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

// isClosed reports whether the namespace cannot use a provider, or a region of it.
func isClosed(err error) bool {
	w, waits := engine.AsWait(err)
	return waits && (w.Reason == v1alpha1.ReasonProviderNotFound || w.Reason == v1alpha1.ReasonRegionNotAllowed)
}

// sorted returns the items by kind and name, the newest snapshot first, each once: two providers may lead to one
// account.
func sorted(all []operatorapi.Deleted) []operatorapi.Deleted {
	slices.SortFunc(all, func(a, b operatorapi.Deleted) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name), newerFirst(a, b), cmp.Compare(a.ARN, b.ARN), cmp.Compare(a.Provider, b.Provider))
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

// withoutLiving leaves out what belongs to an object of the namespace. It is read after AWS was, so that nothing that
// was made meanwhile seems left.
func (l *Lists) withoutLiving(ctx context.Context, namespace string, all []operatorapi.Deleted) ([]operatorapi.Deleted, error) {
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

// Found is one resource in AWS that carries ownership tags of the namespace.
type Found struct {
	ARN                        string
	Kind, Namespace, Name, UID string // of the object that had it
}

// Item returns what is said of it, which AWS calls id.
func (f Found) Item(id string) operatorapi.Deleted {
	return operatorapi.Deleted{Kind: f.Kind, Name: f.Name, UID: f.UID, ID: id, ARN: f.ARN, Fields: map[string]string{}}
}

// LastPart returns what follows the last of a separator in the ARN.
func (f Found) LastPart(separator string) string {
	return f.ARN[strings.LastIndex(f.ARN, separator)+1:]
}

// There returns those that a listing of the kind's resources shows: of others AWS shows only tags any more.
func There(found []Found, listed []string) []Found {
	there := sets.New(listed...)
	return slices.DeleteFunc(slices.Clone(found), func(f Found) bool { return !there.Has(f.ARN) })
}
