package rest

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/phase"
)

// Page asks for a part of a list.
type Page struct {
	Filter
	Sort   string `query:"sort" enum:"name,-name,age,-age,kind,-kind,status,-status" default:"name" doc:"By what to sort: age is the youngest first, status what needs you first; - in front turns it round. Equals are sorted by name, namespace and kind."`
	Limit  int    `query:"limit" minimum:"1" maximum:"500" default:"100" doc:"How many objects at most."`
	Cursor string `query:"cursor" maxLength:"2000" doc:"next of the page before, asked for with the same filters and sort; empty for the first page."`
}

type objectList struct {
	Items []map[string]any `json:"items"`
	Next  string           `json:"next,omitempty" doc:"Cursor of the next page; absent on the last one."`
}

// place is where an object stands in a list; cursors carry it, so that objects that come and go between two pages
// neither repeat nor hide others.
type place struct{ Key, Name, Namespace, Kind string }

// placed is an object at its place.
type placed struct {
	place
	obj *unstructured.Unstructured
}

// order is what a list is sorted by.
type order struct {
	key  string
	desc bool
}

func orderOf(sort string) order {
	key, desc := strings.CutPrefix(cmp.Or(sort, "name"), "-")
	if key == "age" {
		desc = !desc // the youngest was made last
	}
	return order{key: key, desc: desc}
}

func (o order) place(obj *unstructured.Unstructured) place {
	p := place{Name: obj.GetName(), Namespace: obj.GetNamespace(), Kind: obj.GetKind()}
	switch o.key {
	case "name":
		p.Key = p.Name
	case "kind":
		p.Key = p.Kind
	case "age":
		p.Key = obj.GetCreationTimestamp().UTC().Format(time.RFC3339)
	case "status":
		is, _ := phase.Of(obj)
		p.Key = strconv.Itoa(is.Urgency()) // of one digit
	}
	return p
}

func (o order) compare(a, b place) int {
	by := cmp.Compare(a.Key, b.Key)
	if o.desc {
		by = -by
	}
	return cmp.Or(by, cmp.Compare(a.Name, b.Name), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Kind, b.Kind))
}

// sorted are the objects at their places.
func (o order) sorted(items []*unstructured.Unstructured) []placed {
	out := make([]placed, 0, len(items))
	for _, obj := range items {
		out = append(out, placed{o.place(obj), obj})
	}
	slices.SortFunc(out, func(a, b placed) int { return o.compare(a.place, b.place) })
	return out
}

// cursor is what the next page begins after, and of which list.
type cursor struct {
	After place  `json:"a"`
	Of    string `json:"of"`
}

func (c cursor) encode() string {
	b, _ := json.Marshal(c) // strings always can be
	return base64.RawURLEncoding.EncodeToString(b)
}

// list names what is listed: a cursor of another list would begin anywhere.
func (p Page) list(of string) string {
	all := strings.Join([]string{of, p.LabelSelector, p.Status, p.Search, p.Sort}, "\x00")
	sum := sha256.Sum256([]byte(all))
	return base64.RawURLEncoding.EncodeToString(sum[:9])
}

// start reads the cursor of the list; nil is the beginning. The error is a problem.
func (p Page) start(ctx context.Context, of string) (*place, error) {
	if p.Cursor == "" {
		return nil, nil //nolint:nilnil // the beginning is no place
	}
	bad := func(detail string) (*place, error) {
		return nil, problem(ctx, http.StatusUnprocessableEntity, detail,
			&huma.ErrorDetail{Location: "query.cursor", Message: "take next of the page before, and leave the other parameters as they were"})
	}
	raw, err := base64.RawURLEncoding.DecodeString(p.Cursor)
	var c cursor
	if err != nil || json.Unmarshal(raw, &c) != nil || c.Of == "" {
		return bad("the cursor is not one that a page gave")
	}
	if c.Of != p.list(of) {
		return bad("the cursor is of a list with other filters, another sort or another place")
	}
	return &c.After, nil
}

// page cuts one page out of what matched; of names the list.
func page(ctx context.Context, items []*unstructured.Unstructured, p Page, of string) (*objectList, error) {
	after, err := p.start(ctx, of)
	if err != nil {
		return nil, err
	}
	o := orderOf(p.Sort)
	all := o.sorted(items)
	if after != nil {
		start, found := slices.BinarySearchFunc(all, *after, func(at placed, after place) int { return o.compare(at.place, after) })
		if found {
			start++
		}
		all = all[start:]
	}
	out := &objectList{Items: make([]map[string]any, 0, min(len(all), p.Limit))}
	if len(all) > p.Limit {
		all = all[:p.Limit]
		out.Next = cursor{After: all[p.Limit-1].place, Of: p.list(of)}.encode()
	}
	for _, at := range all {
		out.Items = append(out.Items, at.obj.Object)
	}
	return out, nil
}
