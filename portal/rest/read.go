package rest

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster"
)

type listInput struct {
	Namespace string `path:"namespace" doc:"Namespace of the team."`
	ListQuery
}

// ListQuery selects a page of a list, or all of it and its changes.
type ListQuery struct {
	BatchQuery
	Watch
}

// ObjectPath identifies an object of a namespaced kind.
type ObjectPath struct {
	Namespace string `path:"namespace" doc:"Namespace of the team."`
	ObjectName
}

// ObjectName identifies an object of a cluster-scoped kind.
type ObjectName struct {
	Name string `path:"name" doc:"Name of the object."`
}

type objectInput struct {
	ObjectPath
	GetOptions
}

type namedInput struct {
	ObjectName
	GetOptions
}

// GetOptions select one object, and optionally its changes.
type GetOptions struct {
	CacheControl string `header:"Cache-Control" doc:"no-cache: the object as Kubernetes has it now. Without it the answer may be some moments old, even after a write of one's own."`
	Watch
}

// fresh reports whether the caller wants to bypass the cache.
func (o GetOptions) fresh() bool {
	return slices.ContainsFunc(strings.Split(o.CacheControl, ","), func(directive string) bool {
		return strings.EqualFold(strings.TrimSpace(directive), "no-cache")
	})
}

// answered is JSON, or a stream.
type answered struct {
	ETag string `header:"ETag"`
	Body func(huma.Context)
}

type listed struct {
	Body func(huma.Context)
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

// basePath returns the path of the collection of a kind.
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
		Summary: "List objects of kind " + k.Name, Responses: listResponse(schemaOf(k)), Errors: always,
		Description: watchWords,
	}
	get := huma.Operation{
		OperationID: "get" + k.Name, Method: http.MethodGet, Path: base + "/{name}", Tags: []string{k.Name},
		Summary: "Get one " + k.Name, Responses: withWatch(objectResponse(k, http.StatusOK, "The object")),
		Errors:      readErrors,
		Description: watchWords,
	}
	events := huma.Operation{
		OperationID: "events" + k.Name, Method: http.MethodGet, Path: base + "/{name}/events", Tags: []string{k.Name},
		Summary: "List the events about one " + k.Name + ", newest first", Errors: readErrors,
	}
	if !k.Namespaced {
		huma.Register(api, list, func(ctx context.Context, in *ListQuery) (*listed, error) {
			return a.list(ctx, k, "", *in)
		})
		huma.Register(api, get, func(ctx context.Context, in *namedInput) (*answered, error) {
			return a.get(ctx, ref(k, "", in.Name), in.GetOptions)
		})
		huma.Register(api, events, func(ctx context.Context, in *ObjectName) (*eventsOutput, error) {
			return a.events(ctx, ref(k, "", in.Name))
		})
		return
	}
	huma.Register(api, list, func(ctx context.Context, in *listInput) (*listed, error) {
		return a.list(ctx, k, in.Namespace, in.ListQuery)
	})
	huma.Register(api, get, func(ctx context.Context, in *objectInput) (*answered, error) {
		return a.get(ctx, ref(k, in.Namespace, in.Name), in.GetOptions)
	})
	huma.Register(api, events, func(ctx context.Context, in *ObjectPath) (*eventsOutput, error) {
		return a.events(ctx, ref(k, in.Namespace, in.Name))
	})
}

func ref(k catalog.Kind, namespace, name string) cluster.Ref {
	return cluster.Ref{Kind: k, Namespace: namespace, Name: name}
}

func (a *API) list(ctx context.Context, k catalog.Kind, namespace string, in ListQuery) (*listed, error) {
	if err := possibleNamespace("list", k, namespace); err != nil {
		return nil, a.fail(ctx, err)
	}
	return a.lists(ctx, view{kinds: catalog.Catalog{k}, namespace: namespace}, in)
}

// lists responds with the matching objects of a view, once or as a stream.
func (a *API) lists(ctx context.Context, v view, in ListQuery) (*listed, error) {
	var err error
	if v.filter, err = in.read(ctx, v); err != nil {
		return nil, err
	}
	if in.Watch.Watch {
		if err := in.wholly(ctx); err != nil {
			return nil, err
		}
		_, v.order = in.order()
		return &listed{Body: a.watch(v)}, nil //nolint:contextcheck // huma brings the context of the request
	}
	found, err := a.in(ctx, v, v.kinds, v.namespace)
	if err != nil {
		return nil, a.fail(ctx, err)
	}
	out, err := batch(ctx, v.filter.Of(found.Items), in.BatchQuery, v.String())
	if err != nil {
		return nil, err
	}
	out.Forbidden = plurals(found.Forbidden)
	return &listed{Body: asJSON(out)}, nil
}

func (a *API) get(ctx context.Context, ref cluster.Ref, in GetOptions) (*answered, error) {
	if err := a.possible(ctx, "get", ref); err != nil {
		return nil, a.fail(ctx, err)
	}
	read := a.cluster.Get
	if in.fresh() {
		read = a.cluster.Current
	}
	obj, err := read(ctx, caller(ctx), ref)
	if err != nil {
		return nil, a.fail(ctx, err)
	}
	if in.Watch.Watch {
		return &answered{Body: a.watch(view{kinds: catalog.Catalog{ref.Kind}, namespace: ref.Namespace, name: ref.Name})}, nil //nolint:contextcheck // huma brings the context of the request
	}
	return &answered{ETag: cluster.ETag(obj), Body: asJSON(obj.Object)}, nil
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
		out.Body.Items = append(out.Body.Items, event{
			Type: e.Type, Reason: e.Reason, Message: e.Message,
			Count: cluster.EventCount(e), Time: cluster.EventTime(e).UTC(),
		})
	}
	return out, nil
}
