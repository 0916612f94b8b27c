// Package offers lists the values that an AWS account has for fields of a request: instance types, versions, subnets.
// Forms suggest them; nothing else depends on them, and a request is validated as if its values had been typed.
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

// ErrUnknown is returned by List for a field without a list.
var ErrUnknown = errors.New("nothing can be listed for this field")

const (
	// lives is how long a list is cached: additions to an account appear after that time at the latest.
	lives = 5 * time.Minute
	// most limits the number of cached lists.
	most = 128
	// Longest limits the items of one list, and those read for it.
	Longest = 3000
)

// Item is one value that an account has.
type Item struct {
	operatorapi.Offer
	// Tags decide which namespaces can use it; nil: unknown.
	Tags map[string]string
}

// List reads the values from the account of a session. q.With has the non-empty fields of Field.By.
type List func(ctx context.Context, s *cloud.Session, q operatorapi.OfferQuery) ([]Item, error)

// Field is a field for which an account has values.
type Field struct {
	List List
	// By are the other fields on which the values depend, in addition to the AWS account and the region.
	By []string
	// Reference is the kind of resource that the field refers to, as package reference calls it: a namespace can use
	// only its own and those open to everybody. Empty: everybody can use all.
	Reference string
	// Many is true if the field holds a list of values.
	Many bool
	// Whole is true if the list is complete: no other value can be used.
	Whole bool
}

// Fields are the fields of one kind, by their names in spec.
type Fields map[string]Field

// Lists returns lists of values according to a table of kinds.
type Lists struct {
	kinds     map[string]Fields
	connector cloud.Connector
	recent    *expiring.Cache[key, []operatorapi.Offer]
}

// New returns Lists for the kinds.
func New(kinds map[string]Fields, c cloud.Connector, now func() time.Time) *Lists {
	return &Lists{kinds: kinds, connector: c, recent: expiring.New[key, []operatorapi.Offer](most, now)}
}

// key identifies a cached list. The namespace's UID distinguishes namespaces of the same name, and the generations
// change with the rules that filter the list.
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
		question: strings.Join(append([]string{q.Kind, q.Namespace, q.Provider, q.Region, q.Field}, with...),
			"\x00"),
		namespaceUID: s.Identity.NamespaceUID, account: s.AccountID, provider: s.ProviderGeneration,
	}
	if s.Team != nil {
		k.team, k.teamUID = s.Team.Generation, s.Team.UID
	}
	return k
}

// List returns the values that the namespace can enter in the field, for a provider and region that it can use. Errors
// are shown to users.
func (l *Lists) List(ctx context.Context, q operatorapi.OfferQuery) ([]operatorapi.Offer, error) {
	field, ok := l.kinds[q.Kind][q.Field]
	if !ok {
		return nil, ErrUnknown
	}
	maps.DeleteFunc(q.With, func(name, value string) bool { return value == "" || !slices.Contains(field.By, name) })
	session, err := l.connector.OpenFor(
		ctx, cloud.ProviderUse{Kind: q.Kind, Namespace: q.Namespace, Provider: q.Provider, Region: q.Region})
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
	l.recent.Put(k, offered, lives)
	return offered, nil
}
