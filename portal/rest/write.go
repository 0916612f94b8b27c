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
	"github.com/portico-platform/portico/portal/cluster/write"
)

// DryRun is the query parameter of a dry run.
type DryRun struct {
	DryRun string `query:"dryRun" enum:"All" doc:"All: check, admit and default, but change nothing."`
}

func (d DryRun) dry() bool { return d.DryRun == "All" }

type createInput struct {
	Place
	DryRun
	RawBody []byte `contentType:"application/json"`
}

type writeOutput struct {
	Status   int
	Location string   `header:"Location"`
	ETag     string   `header:"ETag"`
	Warning  []string `header:"Warning"`
	Body     map[string]any
}

type deleteInput struct {
	Place
	Match
	DryRun
	Confirm string `query:"confirm" doc:"The object's name, which confirms the deletion where that is asked for: see the user guide."`
}

type deleteOutput struct {
	Status  int
	Warning []string `header:"Warning"`
	Body    map[string]any
}

// wantType responds 415 to any other content type. A missing one is accepted.
func wantType(wanted string) func(ctx huma.Context, next func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		kind, _, err := mime.ParseMediaType(cmp.Or(ctx.Header("Content-Type"), wanted))
		if err == nil && kind == wanted {
			next(ctx)
			return
		}
		r, w := humachi.Unwrap(ctx)
		if r.Method == http.MethodPatch {
			w.Header().Set("Accept-Patch", wanted) // RFC 5789
		}
		WriteProblem(w, r, http.StatusUnsupportedMediaType, "send the body as "+wanted)
	}
}

func (a *API) create(ctx context.Context, ref catalog.Ref, in *createInput) (*writeOutput, error) {
	id, k, namespace := caller(ctx), ref.Kind, ref.Namespace
	// Checked before the body is read: a caller without the right learns nothing else.
	if err := a.allowed(ctx, "create", ref); err != nil {
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
	made, err := a.cluster.Write.Create(ctx, id, k, obj, in.dry())
	if err != nil {
		return nil, a.fail(ctx, err)
	}
	ref.Name = made.Object.GetName()
	return a.created(ctx, made, ref, in.dry())
}

// created returns the response to a request that created an object.
func (a *API) created(ctx context.Context, made write.Result, ref catalog.Ref, dry bool) (*writeOutput, error) {
	if dry {
		return a.tried(ctx, ref, made)
	}
	out := written(made, http.StatusCreated, dry)
	list := strings.Replace(basePath(ref.Kind), "{namespace}", url.PathEscape(ref.Namespace), 1)
	out.Location = Prefix + list + "/" + url.PathEscape(ref.Name)
	return out, nil
}

// changed returns the response to a request that changed an object.
func (a *API) changed(ctx context.Context, got write.Result, ref catalog.Ref, dry bool) (*writeOutput, error) {
	if dry {
		return a.tried(ctx, ref, got)
	}
	return written(got, http.StatusOK, dry), nil
}

// written returns the response to a write. A dry run gets no ETag, since its result is no stored version.
func written(got write.Result, status int, dry bool) *writeOutput {
	out := &writeOutput{Status: http.StatusOK, Body: got.Object.Object, Warning: warnings(got)}
	if !dry {
		out.Status, out.ETag = status, write.ETag(got.Object)
	}
	return out
}

// warnings returns Kubernetes' warnings as Warning headers (RFC 7234).
func warnings(of write.Result) []string {
	var out []string
	for _, w := range of.Warnings {
		out = append(out, fmt.Sprintf("299 - %q", w))
	}
	return out
}

// elsewhere returns the error for an object whose namespace is not the one in the URL.
func elsewhere(obj *unstructured.Unstructured, namespace string) catalog.FieldErrors {
	ns := obj.GetNamespace()
	switch {
	case ns == "" || ns == namespace:
		return nil
	case namespace == "":
		return catalog.FieldErrors{
			{Field: "metadata.namespace", Value: ns, Message: "must be left out: " + obj.GetKind() +
				" belongs to no namespace"},
		}
	}
	return catalog.FieldErrors{{Field: "metadata.namespace", Value: ns, Message: "is not the namespace of the URL, " +
		namespace}}
}

// delete checks the right to delete first, so that a viewer learns which right is missing.
func (a *API) delete(ctx context.Context, ref catalog.Ref, in *deleteInput) (*deleteOutput, error) {
	id := caller(ctx)
	if err := a.possible(ctx, "delete", ref); err != nil {
		return nil, a.fail(ctx, err)
	}
	live, err := a.cluster.Objects.Get(ctx, id, ref)
	if err != nil {
		return nil, a.fail(ctx, err)
	}
	if in.Confirm != "" && in.Confirm != ref.Name {
		return nil, problem(ctx, http.StatusUnprocessableEntity,
			fmt.Sprintf("confirm is %q, and the object is called %s; nothing was deleted", in.Confirm, ref.Name))
	}
	left, err := a.cluster.Write.Delete(
		ctx, id, ref, write.Seen{UID: live.GetUID(), ETag: in.etag(), Confirmed: in.Confirm}, in.dry())
	if write.AsksToConfirm(err) {
		return nil, problem(ctx, http.StatusForbidden, err.Error()+". Over REST, send the query parameter confirm="+
			ref.Name)
	}
	if err != nil {
		return nil, a.fail(ctx, err)
	}
	out := &deleteOutput{Status: http.StatusOK, Warning: warnings(left), Body: live.Object}
	if left.Object != nil {
		out.Status, out.Body = http.StatusAccepted, left.Object.Object
	}
	return out, nil
}
