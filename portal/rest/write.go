package rest

import (
	"cmp"
	"context"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster"
)

// DryRun asks what would happen.
type DryRun struct {
	DryRun string `query:"dryRun" enum:"All" doc:"All: check, admit and default, but change nothing."`
}

type createInput struct {
	Namespace string `path:"namespace" doc:"Namespace, that is team."`
	CreateOptions
}

// CreateOptions are what is sent to make an object.
type CreateOptions struct {
	DryRun
	RawBody []byte `contentType:"application/json"`
}

type createOutput struct {
	Status   int
	Location string   `header:"Location" doc:"Where the object is; absent after a dry run."`
	ETag     string   `header:"ETag"`
	Warning  []string `header:"Warning" doc:"What Kubernetes warns of, as 299 - \"text\"."`
	Body     map[string]any
}

type deleteInput struct {
	ObjectPath
	DeleteOptions
}

type deleteNamedInput struct {
	ObjectName
	DeleteOptions
}

// DeleteOptions are what is sent to delete an object.
type DeleteOptions struct {
	DryRun
	IfMatch string `header:"If-Match" doc:"Delete only this version (an ETag)."`
}

type deleteOutput struct {
	Status int
	Body   map[string]any
}

func (a *API) registerWrites(api huma.API, k catalog.Kind) {
	base := basePath(k)
	created := objectResponse(k, http.StatusCreated, "Created; with dryRun the answer is 200 and nothing is kept")
	created["200"] = objectResponse(k, http.StatusOK, "With dryRun: the object as it would be, defaults filled in")["200"]
	create := huma.Operation{
		OperationID: "create" + k.Name, Method: http.MethodPost, Path: base, Tags: []string{k.Name},
		Summary: "Request a new " + k.Name, DefaultStatus: http.StatusCreated, MaxBodyBytes: maxBody,
		SkipValidateBody: true, // the API server validates, and says more
		Middlewares:      huma.Middlewares{wantJSON}, Responses: created, Errors: writeErrors,
	}
	gone := objectResponse(k, http.StatusAccepted, "Deletion has begun; the object as it is until its finalizers are done")
	gone["200"] = objectResponse(k, http.StatusOK, "Gone at once, or with dryRun could be; the object as it was")["200"]
	remove := huma.Operation{
		OperationID: "delete" + k.Name, Method: http.MethodDelete, Path: base + "/{name}", Tags: []string{k.Name},
		Summary: "Delete one " + k.Name, DefaultStatus: http.StatusAccepted, Responses: gone, Errors: writeErrors,
		Description: "Deletes the object that stands there now, by its UID: a namesake made in the meantime stays (409).",
	}
	if k.Namespaced {
		huma.Register(api, create, func(ctx context.Context, in *createInput) (*createOutput, error) {
			return a.create(ctx, k, in.Namespace, in.CreateOptions)
		})
		huma.Register(api, remove, func(ctx context.Context, in *deleteInput) (*deleteOutput, error) {
			return a.delete(ctx, ref(k, in.Namespace, in.Name), in.DeleteOptions)
		})
	} else {
		huma.Register(api, create, func(ctx context.Context, in *CreateOptions) (*createOutput, error) { return a.create(ctx, k, "", *in) })
		huma.Register(api, remove, func(ctx context.Context, in *deleteNamedInput) (*deleteOutput, error) {
			return a.delete(ctx, ref(k, "", in.Name), in.DeleteOptions)
		})
	}
	api.OpenAPI().Paths[base].Post.RequestBody = requestBody(k) // huma describes a raw body as a string
}

// wantJSON answers 415 to any other content type. None at all passes for JSON.
func wantJSON(ctx huma.Context, next func(huma.Context)) {
	kind, _, err := mime.ParseMediaType(cmp.Or(ctx.Header("Content-Type"), "application/json"))
	if err != nil || kind != "application/json" {
		r, w := humachi.Unwrap(ctx)
		WriteProblem(w, r, http.StatusUnsupportedMediaType, "send the object as application/json")
		return
	}
	next(ctx)
}

func (a *API) create(ctx context.Context, k catalog.Kind, namespace string, in CreateOptions) (*createOutput, error) {
	id := caller(ctx)
	// Before the body is looked at: without the right, nobody learns more than that.
	if err := a.allowed(ctx, "create", k, namespace); err != nil {
		return nil, a.fail(ctx, err)
	}
	obj, err := k.ParseJSON(in.RawBody)
	if err != nil {
		return nil, problem(ctx, http.StatusBadRequest, err.Error()) // ParseJSON's errors are for the caller
	}
	if errs := append(elsewhere(obj, namespace), catalog.Surplus(obj)...); len(errs) > 0 {
		return nil, invalid(ctx, errs)
	}
	obj.SetNamespace(namespace)
	dry := in.DryRun.DryRun == "All"
	made, err := a.cluster.Create(ctx, id, k, obj, dry)
	if err != nil {
		return nil, a.fail(ctx, err)
	}
	out := &createOutput{Status: http.StatusOK, Body: made.Object.Object}
	for _, w := range made.Warnings {
		out.Warning = append(out.Warning, fmt.Sprintf("299 - %q", w))
	}
	if !dry {
		out.Status, out.ETag = http.StatusCreated, cluster.ETag(made.Object)
		list := strings.Replace(basePath(k), "{namespace}", url.PathEscape(namespace), 1)
		out.Location = Prefix + list + "/" + url.PathEscape(made.Object.GetName())
	}
	return out, nil
}

// elsewhere is the complaint about an object that names another namespace than the URL.
func elsewhere(obj *unstructured.Unstructured, namespace string) catalog.FieldErrors {
	ns := obj.GetNamespace()
	switch {
	case ns == "" || ns == namespace:
		return nil
	case namespace == "":
		return catalog.FieldErrors{{Field: "metadata.namespace", Value: ns, Message: "must be left out: " + obj.GetKind() + " belongs to no namespace"}}
	}
	return catalog.FieldErrors{{Field: "metadata.namespace", Value: ns, Message: "is not the namespace of the URL, " + namespace}}
}

// delete looks for the right to delete first, so that a viewer hears what is missing.
func (a *API) delete(ctx context.Context, ref cluster.Ref, in DeleteOptions) (*deleteOutput, error) {
	id := caller(ctx)
	if err := a.possible(ctx, "delete", ref); err != nil {
		return nil, a.fail(ctx, err)
	}
	live, err := a.cluster.Get(ctx, id, ref)
	if err != nil {
		return nil, a.fail(ctx, err)
	}
	seen := cluster.Seen{UID: live.GetUID(), ETag: in.IfMatch}
	if in.IfMatch == "*" { // any version that is there
		seen.ETag = ""
	}
	left, err := a.cluster.Delete(ctx, id, ref, seen, in.DryRun.DryRun == "All")
	if err != nil {
		return nil, a.fail(ctx, err)
	}
	if left.Object == nil {
		return &deleteOutput{Status: http.StatusOK, Body: live.Object}, nil
	}
	return &deleteOutput{Status: http.StatusAccepted, Body: left.Object.Object}, nil
}
