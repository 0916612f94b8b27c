package rest

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/portico-platform/portico/portal/catalog"
)

type putInput struct {
	Place
	PutMatch
	DryRun
	RawBody []byte `contentType:"application/json"`
}

type patchInput struct {
	Place
	Match
	DryRun
	RawBody []byte `contentType:"application/merge-patch+json"`
}

// mergePatch is the content type of RFC 7396.
const mergePatch = "application/merge-patch+json"

// putWords describe replacing an object in the document.
const putWords = "With If-None-Match: * it creates, and answers 412 if the name is taken. With If-Match it replaces " +
	"labels, annotations and spec, and answers 412 if the spec has changed since; what Portico writes to the " +
	"status in between does not matter. Without either the answer is 428."

// put checks the right first: a caller without it learns nothing else.
func (a *API) put(ctx context.Context, ref catalog.Ref, in *putInput) (*writeOutput, error) {
	verb := "update"
	if in.IfNoneMatch != "" {
		verb = "create"
	}
	if err := a.allowedOne(ctx, verb, ref); err != nil {
		return nil, a.fail(ctx, err)
	}
	creates, err := in.creates(ctx)
	if err != nil {
		return nil, err
	}
	obj, err := a.sentFor(ctx, ref, in.RawBody, creates)
	if err != nil {
		return nil, err
	}
	dry := in.dry()
	if creates {
		return a.putNew(ctx, ref, obj, dry)
	}
	if err := a.possible(ctx, verb, ref); err != nil {
		return nil, a.fail(ctx, err)
	}
	got, err := a.cluster.Write.Update(ctx, caller(ctx), ref.Kind, obj, in.etag(), dry)
	if err != nil {
		return nil, a.fail(ctx, err)
	}
	return a.changed(ctx, got, ref, dry)
}

func (a *API) putNew(ctx context.Context, ref catalog.Ref, obj *unstructured.Unstructured, dry bool) (
	*writeOutput, error,
) {
	if wrong := validation.IsDNS1123Subdomain(ref.Name); len(wrong) > 0 {
		return nil, problem(ctx, http.StatusUnprocessableEntity, "no object can have this name: "+wrong[0],
			&huma.ErrorDetail{Location: "path.name", Message: wrong[0], Value: ref.Name})
	}
	made, err := a.cluster.Write.Create(ctx, caller(ctx), ref.Kind, obj, dry)
	if apierrors.IsAlreadyExists(err) {
		return nil, problem(ctx, http.StatusPreconditionFailed, ref.Kind.Plural+" "+ref.Name+
			" exists already, which If-None-Match: * "+
			"rules out: choose another name, or send the ETag that GET answers as If-Match to replace it")
	}
	if err != nil {
		return nil, a.fail(ctx, err)
	}
	return a.created(ctx, made, ref, dry)
}

// sentFor reads the object in the body, which must be the one in the URL. To replace an object, a client can send the
// body of a GET: of the fields that users do not write, the UID is compared and the rest is ignored.
func (a *API) sentFor(ctx context.Context, ref catalog.Ref, body []byte, creates bool) (
	*unstructured.Unstructured, error,
) {
	obj, err := ref.Kind.ParseJSON(body)
	if err != nil {
		return nil, problem(ctx, http.StatusBadRequest, err.Error()) // ParseJSON's errors are for the caller
	}
	errs := elsewhere(obj, ref.Namespace)
	if name := obj.GetName(); name != "" && name != ref.Name {
		errs = append(errs, catalog.FieldError{Field: "metadata.name", Value: name, Message: "is not the name in " +
			"the URL, " + ref.Name})
	}
	if creates {
		errs = append(errs, catalog.Surplus(obj)...)
	} else {
		errs = append(errs, catalog.Unknown(obj)...)
	}
	if len(errs) > 0 {
		return nil, invalid(ctx, errs)
	}
	obj.SetNamespace(ref.Namespace)
	obj.SetName(ref.Name)
	return obj, nil
}

func (a *API) patch(ctx context.Context, ref catalog.Ref, in *patchInput) (*writeOutput, error) {
	if err := a.possible(ctx, "patch", ref); err != nil {
		return nil, a.fail(ctx, err)
	}
	if err := in.required(ctx); err != nil {
		return nil, err
	}
	with, err := catalog.ParsePatch(in.RawBody)
	if err != nil {
		return nil, problem(ctx, http.StatusBadRequest, err.Error()) // ParsePatch's errors are for the caller
	}
	if errs := catalog.CheckPatch(with); len(errs) > 0 {
		return nil, invalid(ctx, errs)
	}
	got, err := a.cluster.Write.Patch(ctx, caller(ctx), ref, with, in.etag(), in.dry())
	if err != nil {
		return nil, a.fail(ctx, err)
	}
	return a.changed(ctx, got, ref, in.dry())
}
