package rest

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/portico-platform/portico/api/phase"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/listing"
	"github.com/portico-platform/portico/portal/overview"
)

// BatchQuery selects a page of a list: at most limit objects, after the end of the previous page.
type BatchQuery struct {
	Filter
	Sort   string `query:"sort" enum:"name,-name,age,-age,kind,-kind,status,-status" default:"name" doc:"By what to sort: age is the youngest first, status what needs you first; - in front turns it round. Equals are sorted by name, namespace and kind."`
	Limit  int    `query:"limit" minimum:"1" maximum:"500" default:"100" doc:"How many objects at most."`
	Cursor string `query:"cursor" maxLength:"2000" doc:"next of the page before, asked for with the same filters and sort; empty for the first page."`
}

type objectList struct {
	Items     []map[string]any `json:"items"`
	Next      string           `json:"next,omitempty" doc:"Cursor of the next page; absent on the last one."`
	Forbidden []string         `json:"forbidden,omitempty" doc:"Kinds, by their plural names, that are left out because the caller cannot list them in the namespace; absent if there are none, and in lists across namespaces."`
}

// plurals returns the plurals of kinds, or nil if there are none.
func plurals(kinds catalog.Catalog) []string {
	var out []string
	for _, k := range kinds {
		out = append(out, k.Plural)
	}
	return out
}

// place is an object's position in a list. Cursors contain it, so that objects created or deleted between two pages
// neither repeat nor hide others.
type place struct{ Key, Name, Namespace, Kind, Plural string }

// sorting is a sort key: its value in a cursor, and how that is read back into a row.
type sorting struct {
	by   listing.Compare
	key  func(listing.Item) string
	read func(key string, into *overview.Row) error
}

func nothing(string, *overview.Row) error { return nil }

var sortings = map[string]sorting{
	"name": {listing.ByName, func(l listing.Item) string { return l.Name }, nothing},
	"kind": {listing.ByKind, func(l listing.Item) string { return l.Kind.Name }, nothing},
	"age": {
		listing.ByAge, func(l listing.Item) string { return l.Created.UTC().Format(time.RFC3339) },
		func(key string, into *overview.Row) (err error) {
			into.Created, err = time.Parse(time.RFC3339, key)
			return err
		},
	},
	"status": {
		listing.ByStatus, func(l listing.Item) string { return strconv.Itoa(l.Phase.Urgency()) },
		func(key string, into *overview.Row) error {
			i := slices.IndexFunc(phase.All(), func(p phase.Phase) bool { return strconv.Itoa(p.Urgency()) == key })
			if i < 0 {
				return fmt.Errorf("%q is of no status", key)
			}
			into.Phase = phase.All()[i]
			return nil
		},
	},
}

// order returns the sort order of the list.
func (b BatchQuery) order() (sorting, listing.Compare) {
	key, desc := strings.CutPrefix(cmp.Or(b.Sort, "name"), "-")
	s := sortings[key] // huma has validated the key
	return s, s.by.Then(desc)
}

func (s sorting) place(l listing.Item) place {
	return place{Key: s.key(l), Name: l.Name, Namespace: l.Namespace, Kind: l.Kind.Name, Plural: l.Kind.Plural}
}

// item returns an item that sorts at the place.
func (s sorting) item(at place) (listing.Item, error) {
	row := &overview.Row{Name: at.Name, Namespace: at.Namespace}
	return listing.Item{Row: row, Kind: &catalog.Kind{Name: at.Kind, Plural: at.Plural}}, s.read(at.Key, row)
}

// cursor is the position after which the next page begins, and the list that it belongs to.
type cursor struct {
	After place  `json:"a"`
	Of    string `json:"of"`
}

func (c cursor) encode() string {
	b, _ := json.Marshal(c) // strings never fail
	return base64.RawURLEncoding.EncodeToString(b)
}

// list identifies the list, because a cursor of another list would be meaningless.
func (b BatchQuery) list(of string) string {
	all := strings.Join([]string{of, b.LabelSelector, b.Status, b.Search, b.Sort}, "\x00")
	sum := sha256.Sum256([]byte(all))
	return base64.RawURLEncoding.EncodeToString(sum[:9])
}

// start returns the position in the cursor; nil is the beginning. The error is a problem document.
func (b BatchQuery) start(ctx context.Context, of string) (*listing.Item, error) {
	if b.Cursor == "" {
		return nil, nil //nolint:nilnil // the beginning is no place
	}
	bad := func(detail string) (*listing.Item, error) {
		return nil, problem(ctx, http.StatusUnprocessableEntity, detail,
			&huma.ErrorDetail{Location: "query.cursor", Message: "take next of the page before, and leave the other " +
				"parameters as they were"})
	}
	raw, err := base64.RawURLEncoding.DecodeString(b.Cursor)
	var c cursor
	if err != nil || json.Unmarshal(raw, &c) != nil || c.Of == "" {
		return bad("the cursor is not one that a page gave")
	}
	if c.Of != b.list(of) {
		return bad("the cursor is of a list with other filters, another sort or another place")
	}
	s, _ := b.order()
	after, err := s.item(c.After)
	if err != nil {
		return bad("the cursor is not one that a page gave")
	}
	return &after, nil
}

// batch returns one page of all, which it reorders; of identifies the list.
func batch(ctx context.Context, all []listing.Item, b BatchQuery, of string) (*objectList, error) {
	after, err := b.start(ctx, of)
	if err != nil {
		return nil, err
	}
	s, order := b.order()
	if after != nil {
		all = slices.DeleteFunc(all, func(l listing.Item) bool { return order(l, *after) <= 0 })
	}
	shown := listing.First(all, b.Limit+1, order)
	out := &objectList{Items: make([]map[string]any, 0, min(len(shown), b.Limit))}
	if len(shown) > b.Limit {
		shown = shown[:b.Limit]
		out.Next = cursor{After: s.place(shown[b.Limit-1]), Of: b.list(of)}.encode()
	}
	for _, l := range shown {
		out.Items = append(out.Items, l.Object.Object)
	}
	return out, nil
}
