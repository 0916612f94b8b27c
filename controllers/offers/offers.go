// Package offers lists what an AWS account has for the fields of a request: instance types, versions, subnets. A form
// suggests them, and nothing else goes by them: what is requested is checked as if it had been typed.
package offers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/portico-platform/portico/api/expiring"
	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/controllers/cloud"
)

// ErrUnknown is what List returns for a field of which nothing can be listed.
var ErrUnknown = errors.New("nothing can be listed for this field")

const (
	// lives is how long a list is good: what admins add to an account shows after that time.
	lives = 5 * time.Minute
	// most bounds the lists that are kept.
	most = 128
	// Longest bounds the items of one list, and of what is read for it.
	Longest = 3000
)

// Item is one value that an account has.
type Item struct {
	operatorapi.Offer
	// Tags decide which namespaces can use it; nil: the answer came without.
	Tags map[string]string
}

// List reads what the account of a session has. q.With has the fields of Field.By, as far as they are filled in.
type List func(ctx context.Context, s *cloud.Session, q operatorapi.OfferQuery) ([]Item, error)

// Field is a field of a request for which an account has values.
type Field struct {
	List List
	// By are the other fields that decide what there is. The AWS account and the region always do.
	By []string
	// Reference is the kind of resource that the field names, as package reference calls it: namespaces can use only
	// what is theirs or everybody's. Empty: everybody can use all.
	Reference string
	// Many says that the field has a list of values.
	Many bool
	// Whole says that the list has all that there is: what it lacks cannot be used.
	Whole bool
}

// Fields are those of one kind, by their names in spec.
type Fields map[string]Field

// Lists lists by a table of kinds.
type Lists struct {
	kinds     map[string]Fields
	connector cloud.Connector
	recent    *expiring.Cache[key, []operatorapi.Offer]
}

// New returns the Lists of the kinds.
func New(kinds map[string]Fields, c cloud.Connector, now func() time.Time) *Lists {
	return &Lists{kinds: kinds, connector: c, recent: expiring.New[key, []operatorapi.Offer](lives, most, now)}
}

// key is what a list depends on. The namespace's UID tells it from a namesake, and the generations change with the
// rules that decide what is left of it.
type key struct {
	question, namespaceUID string
	account                string
	provider, team         int64
	teamUID                types.UID
}

func keyOf(q operatorapi.OfferQuery, s *cloud.Session) key {
	var with []string
	for _, name := range slices.Sorted(maps.Keys(q.With)) {
		with = append(with, name+"="+q.With[name])
	}
	k := key{
		question:     strings.Join(append([]string{q.Kind, q.Namespace, q.Provider, q.Region, q.Field}, with...), "\x00"),
		namespaceUID: s.Identity.NamespaceUID, account: s.AccountID, provider: s.ProviderGeneration,
	}
	if s.Team != nil {
		k.team, k.teamUID = s.Team.Generation, s.Team.UID
	}
	return k
}

// List returns what the namespace can enter in the field, for a provider and region that it can use. Errors are for
// users.
func (l *Lists) List(ctx context.Context, q operatorapi.OfferQuery) ([]operatorapi.Offer, error) {
	field, ok := l.kinds[q.Kind][q.Field]
	if !ok {
		return nil, ErrUnknown
	}
	maps.DeleteFunc(q.With, func(name, value string) bool { return value == "" || !slices.Contains(field.By, name) })
	session, err := l.connector.OpenFor(ctx, cloud.ProviderUse{Kind: q.Kind, Namespace: q.Namespace, Provider: q.Provider, Region: q.Region})
	if err != nil {
		return nil, err
	}
	k := keyOf(q, session)
	if known, ok := l.recent.Get(k); ok {
		return known, nil
	}
	items, err := field.List(ctx, session, q)
	if err != nil {
		return nil, fmt.Errorf("list what the AWS account has for %s: %w", q.Field, err)
	}
	offered, err := usable(ctx, session, q, field, items)
	if err != nil {
		return nil, err
	}
	offered = offered[:min(len(offered), Longest)]
	l.recent.Put(k, offered)
	return offered, nil
}
