package rest

import (
	"cmp"
	"context"
	"encoding/base64"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster"
)

type listInput struct {
	Namespace string `path:"namespace" doc:"Namespace, that is team."`
	Page
}

// Page asks for a part of a list.
type Page struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"500" default:"100" doc:"How many objects at most."`
	Cursor string `query:"cursor" doc:"next of the page before; empty for the first page."`
}

// ObjectPath names one object of a namespaced kind.
type ObjectPath struct {
	Namespace string `path:"namespace" doc:"Namespace, that is team."`
	ObjectName
}

// ObjectName names one object of a kind that belongs to no namespace.
type ObjectName struct {
	Name string `path:"name" doc:"Name of the object."`
}

type listOutput struct {
	Body objectList
}

type objectList struct {
	Items []map[string]any `json:"items"`
	Next  string           `json:"next,omitempty" doc:"Cursor of the next page; absent on the last one."`
}

type objectOutput struct {
	ETag string `header:"ETag" doc:"Version of the spec: changes of the status do not change it."`
	Body map[string]any
}

type eventsOutput struct {
	Body struct {
		Items []event `json:"items"`
	}
}

type event struct {
	Type    string    `json:"type" doc:"Normal or Warning."`
	Reason  string    `json:"reason"`
	Message string    `json:"message"`
	Count   int32     `json:"count" doc:"How often it happened."`
	Time    time.Time `json:"time" doc:"When it happened last."`
}

// basePath is where the objects of a kind are.
func basePath(k catalog.Kind) string {
	if !k.Namespaced {
		return "/" + k.Plural
	}
	return "/namespaces/{namespace}/" + k.Plural
}

func (a *API) registerReads(api huma.API, k catalog.Kind) {
	base := basePath(k)
	list := huma.Operation{
		OperationID: "list" + k.Name + "s", Method: http.MethodGet, Path: base, Tags: []string{k.Name},
		Summary: "List objects of kind " + k.Name, Responses: listResponse(k), Errors: readErrors,
	}
	get := huma.Operation{
		OperationID: "get" + k.Name, Method: http.MethodGet, Path: base + "/{name}", Tags: []string{k.Name},
		Summary: "Get one " + k.Name, Responses: objectResponse(k, http.StatusOK, "The object"), Errors: readErrors,
	}
	events := huma.Operation{
		OperationID: "events" + k.Name, Method: http.MethodGet, Path: base + "/{name}/events", Tags: []string{k.Name},
		Summary: "List the events about one " + k.Name + ", newest first", Errors: readErrors,
	}
	if !k.Namespaced {
		huma.Register(api, list, func(ctx context.Context, in *Page) (*listOutput, error) { return a.list(ctx, k, "", *in) })
		huma.Register(api, get, func(ctx context.Context, in *ObjectName) (*objectOutput, error) {
			return a.get(ctx, ref(k, "", in.Name))
		})
		huma.Register(api, events, func(ctx context.Context, in *ObjectName) (*eventsOutput, error) {
			return a.events(ctx, ref(k, "", in.Name))
		})
		return
	}
	huma.Register(api, list, func(ctx context.Context, in *listInput) (*listOutput, error) {
		return a.list(ctx, k, in.Namespace, in.Page)
	})
	huma.Register(api, get, func(ctx context.Context, in *ObjectPath) (*objectOutput, error) {
		return a.get(ctx, ref(k, in.Namespace, in.Name))
	})
	huma.Register(api, events, func(ctx context.Context, in *ObjectPath) (*eventsOutput, error) {
		return a.events(ctx, ref(k, in.Namespace, in.Name))
	})
}

func ref(k catalog.Kind, namespace, name string) cluster.Ref {
	return cluster.Ref{Kind: k, Namespace: namespace, Name: name}
}

func (a *API) list(ctx context.Context, k catalog.Kind, namespace string, p Page) (*listOutput, error) {
	if err := possibleNamespace("list", k, namespace); err != nil {
		return nil, a.fail(ctx, err)
	}
	items, err := a.cluster.List(ctx, caller(ctx), k, namespace)
	if err != nil {
		return nil, a.fail(ctx, err)
	}
	return page(ctx, items, p)
}

func (a *API) get(ctx context.Context, ref cluster.Ref) (*objectOutput, error) {
	if err := a.possible(ctx, "get", ref); err != nil {
		return nil, a.fail(ctx, err)
	}
	obj, err := a.cluster.Get(ctx, caller(ctx), ref)
	if err != nil {
		return nil, a.fail(ctx, err)
	}
	return &objectOutput{ETag: cluster.ETag(obj), Body: obj.Object}, nil
}

func (a *API) events(ctx context.Context, ref cluster.Ref) (*eventsOutput, error) {
	if err := a.possible(ctx, "get", ref); err != nil {
		return nil, a.fail(ctx, err)
	}
	obj, err := a.cluster.Get(ctx, caller(ctx), ref)
	if err != nil {
		return nil, a.fail(ctx, err)
	}
	list, err := a.cluster.Events(ctx, caller(ctx), obj)
	if err != nil {
		return nil, a.fail(ctx, err)
	}
	out := &eventsOutput{}
	out.Body.Items = make([]event, 0, len(list))
	for _, e := range list {
		count := e.Count
		if e.Series != nil {
			count = e.Series.Count
		}
		out.Body.Items = append(out.Body.Items, event{
			Type: e.Type, Reason: e.Reason, Message: e.Message,
			Count: max(count, 1), Time: cluster.EventTime(e).UTC(),
		})
	}
	return out, nil
}

// position is where an object stands in a list over all kinds; cursors carry it, so that objects that come and go
// between two pages neither repeat nor hide others.
func position(o *unstructured.Unstructured) string {
	return strings.Join([]string{o.GetKind(), o.GetNamespace(), o.GetName()}, "\x00")
}

// page cuts one page out of items, which it sorts.
func page(ctx context.Context, items []*unstructured.Unstructured, p Page) (*listOutput, error) {
	after, err := base64.RawURLEncoding.DecodeString(p.Cursor)
	if err != nil {
		return nil, problem(ctx, http.StatusUnprocessableEntity, "the cursor is not one that a page gave",
			&huma.ErrorDetail{Location: "query.cursor", Message: "take next of the page before"})
	}
	slices.SortFunc(items, func(a, b *unstructured.Unstructured) int { return cmp.Compare(position(a), position(b)) })
	if p.Cursor != "" {
		start, found := slices.BinarySearchFunc(items, string(after), func(o *unstructured.Unstructured, at string) int {
			return cmp.Compare(position(o), at)
		})
		if found {
			start++
		}
		items = items[start:]
	}
	out := &listOutput{}
	if len(items) > p.Limit {
		items = items[:p.Limit]
		out.Body.Next = base64.RawURLEncoding.EncodeToString([]byte(position(items[p.Limit-1])))
	}
	out.Body.Items = make([]map[string]any, 0, len(items))
	for _, o := range items {
		out.Body.Items = append(out.Body.Items, o.Object)
	}
	return out, nil
}
