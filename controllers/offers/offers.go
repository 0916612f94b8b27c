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

	"k8s.io/apimachinery/pkg/types"

	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/controllers/cloud"
)

// ErrUnknown is returned by Open for a field without a list.
var ErrUnknown = errors.New("nothing can be listed for this field")

// Longest limits the items of one list, and those read for it.
const Longest = 3000

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
	Kinds     map[string]Fields
	Connector cloud.Connector
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

// Open opens a session for a provider and region that the namespace can use. It returns the key under which the list of
// values can be cached, and the function that reads the list. Errors of both are shown to users.
func (l *Lists) Open(ctx context.Context, q operatorapi.OfferQuery) (
	key any, list func(context.Context) ([]operatorapi.Offer, error), err error,
) {
	field, ok := l.Kinds[q.Kind][q.Field]
	if !ok {
		return nil, nil, ErrUnknown
	}
	q.With = maps.Clone(q.With)
	maps.DeleteFunc(q.With, func(name, value string) bool { return value == "" || !slices.Contains(field.By, name) })
	session, err := l.Connector.OpenFor(
		ctx, cloud.ProviderUse{Kind: q.Kind, Namespace: q.Namespace, Provider: q.Provider, Region: q.Region})
	if err != nil {
		return nil, nil, err
	}
	return keyOf(q, session), func(ctx context.Context) ([]operatorapi.Offer, error) {
		return read(ctx, session, q, field)
	}, nil
}

// read returns the values that the namespace of the session can enter in the field.
func read(ctx context.Context, s *cloud.Session, q operatorapi.OfferQuery, field Field) ([]operatorapi.Offer, error) {
	items, err := field.List(ctx, s, q)
	if err != nil {
		return nil, fmt.Errorf("list what the AWS account has for %s: %w", q.Field, err)
	}
	offered, err := usable(ctx, s, q, field, items)
	if err != nil {
		return nil, err
	}
	return offered[:min(len(offered), Longest)], nil
}
