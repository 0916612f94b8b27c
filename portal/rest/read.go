package rest

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster/feed"
	"github.com/portico-platform/portico/portal/cluster/write"
)

type listInput struct {
	Place
	ListQuery
}

// ListQuery selects a page of a list, or all of it and its changes.
type ListQuery struct {
	BatchQuery
	Watch
}

// getInput selects one object, and optionally its changes.
type getInput struct {
	Place
	CacheControl string `header:"Cache-Control" doc:"no-cache: the object as Kubernetes has it now. Without it the answer may be some moments old, even after a write of one's own."`
	Watch
}

// fresh reports whether the caller wants to bypass the cache.
func (o *getInput) fresh() bool {
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

func ref(k catalog.Kind, namespace, name string) catalog.Ref {
	return catalog.Ref{Kind: k, Namespace: namespace, Name: name}
}

func (a *API) list(ctx context.Context, ref catalog.Ref, in *listInput) (*listed, error) {
	if err := possibleNamespace("list", ref.Kind, ref.Namespace); err != nil {
		return nil, a.fail(ctx, err)
	}
	return a.lists(ctx, view{kinds: catalog.Catalog{ref.Kind}, namespace: ref.Namespace}, in.ListQuery)
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

func (a *API) get(ctx context.Context, ref catalog.Ref, in *getInput) (*answered, error) {
	if err := a.possible(ctx, "get", ref); err != nil {
		return nil, a.fail(ctx, err)
	}
	read := a.cluster.Objects.Get
	if in.fresh() {
		read = a.cluster.Objects.Current
	}
	obj, err := read(ctx, caller(ctx), ref)
	if err != nil {
		return nil, a.fail(ctx, err)
	}
	if in.Watch.Watch {
		return &answered{Body: a.watch(view{kinds: catalog.Catalog{ref.Kind}, namespace: ref.Namespace, name: ref.Name})}, nil //nolint:contextcheck // huma brings the context of the request
	}
	return &answered{ETag: write.ETag(obj), Body: asJSON(obj.Object)}, nil
}

func (a *API) events(ctx context.Context, ref catalog.Ref, _ *Place) (*eventsOutput, error) {
	if err := a.possible(ctx, "get", ref); err != nil {
		return nil, a.fail(ctx, err)
	}
	obj, err := a.cluster.Objects.Get(ctx, caller(ctx), ref)
	if err != nil {
		return nil, a.fail(ctx, err)
	}
	list, err := a.cluster.Objects.Events(ctx, caller(ctx), obj)
	if err != nil {
		return nil, a.fail(ctx, err)
	}
	out := &eventsOutput{}
	out.Body.Items = make([]event, 0, len(list))
	for _, e := range list {
		out.Body.Items = append(out.Body.Items, event{
			Type: e.Type, Reason: e.Reason, Message: e.Message,
			Count: feed.EventCount(e), Time: feed.EventTime(e).UTC(),
		})
	}
	return out, nil
}
