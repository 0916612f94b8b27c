package rest

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster"
)

type putInput struct {
	ObjectPath
	PutOptions
}

type putNamedInput struct {
	ObjectName
	PutOptions
}

// PutOptions are the input of creating or replacing an object under its name.
type PutOptions struct {
	PutMatch
	DryRun
	RawBody []byte `contentType:"application/json"`
}

type patchInput struct {
	ObjectPath
	PatchOptions
}

type patchNamedInput struct {
	ObjectName
	PatchOptions
}

// PatchOptions are the input of changing parts of an object.
type PatchOptions struct {
	Match
	DryRun
	RawBody []byte `contentType:"application/merge-patch+json"`
}

// mergePatch is the content type of RFC 7396.
const mergePatch = "application/merge-patch+json"

func (a *API) registerEdits(api huma.API, k catalog.Kind) {
	path := basePath(k) + "/{name}"
	put, patch := putOperation(k), patchOperation(k)
	if k.Namespaced {
		huma.Register(api, put, func(ctx context.Context, in *putInput) (*writeOutput, error) {
			return a.put(ctx, ref(k, in.Namespace, in.Name), in.PutOptions)
		})
		huma.Register(api, patch, func(ctx context.Context, in *patchInput) (*writeOutput, error) {
			return a.patch(ctx, ref(k, in.Namespace, in.Name), in.PatchOptions)
		})
	} else {
		huma.Register(api, put, func(ctx context.Context, in *putNamedInput) (*writeOutput, error) {
			return a.put(ctx, ref(k, "", in.Name), in.PutOptions)
		})
		huma.Register(api, patch, func(ctx context.Context, in *patchNamedInput) (*writeOutput, error) {
			return a.patch(ctx, ref(k, "", in.Name), in.PatchOptions)
		})
	}
	api.OpenAPI().Paths[path].Put.RequestBody = putBody(k)
	api.OpenAPI().Paths[path].Patch.RequestBody = patchBody()
}

func putOperation(k catalog.Kind) huma.Operation {
	responses := objectResponse(k, http.StatusOK, "Replaced; with dryRun the object as it would be, defaults filled in")
	responses["201"] = objectResponse(k, http.StatusCreated, "Created, which If-None-Match: * asked for")["201"]
	return huma.Operation{
		OperationID: "put" + k.Name, Method: http.MethodPut, Path: basePath(k) + "/{name}", Tags: []string{k.Name},
		Metadata: changes(k),
		Summary:  "Create or replace one " + k.Name, MaxBodyBytes: maxBody, SkipValidateBody: true,
		Middlewares: huma.Middlewares{wantType("application/json")}, Responses: responses, Errors: editErrors,
		Description: "With If-None-Match: * it creates, and answers 412 if the name is taken. With If-Match it " +
			"replaces labels, annotations and spec, and answers 412 if the spec has changed since; what Portico " +
			"writes to the status in " +
			"between does not matter. Without either the answer is 428.",
	}
}

func patchOperation(k catalog.Kind) huma.Operation {
	return huma.Operation{
		OperationID: "patch" + k.Name, Method: http.MethodPatch, Path: basePath(k) + "/{name}", Tags: []string{k.Name},
		Metadata: changes(k),
		Summary:  "Change parts of one " + k.Name, MaxBodyBytes: maxBody, SkipValidateBody: true,
		Middlewares: huma.Middlewares{wantType(mergePatch)}, Errors: editErrors,
		Responses: objectResponse(k, http.StatusOK, "Changed; with dryRun the object as it would be, defaults "+
			"filled in"),
		Description: "A JSON merge patch (RFC 7396) of metadata.labels, metadata.annotations and spec: null removes, " +
			"lists are replaced as a whole. It needs If-Match; without it the answer is 428.",
	}
}

// put checks the right first: a caller without it learns nothing else.
func (a *API) put(ctx context.Context, ref cluster.Ref, in PutOptions) (*writeOutput, error) {
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
	got, err := a.cluster.Update(ctx, caller(ctx), ref.Kind, obj, in.etag(), dry)
	if err != nil {
		return nil, a.fail(ctx, err)
	}
	return a.changed(ctx, got, ref, dry)
}

func (a *API) putNew(ctx context.Context, ref cluster.Ref, obj *unstructured.Unstructured, dry bool) (
	*writeOutput, error,
) {
	if wrong := validation.IsDNS1123Subdomain(ref.Name); len(wrong) > 0 {
		return nil, problem(ctx, http.StatusUnprocessableEntity, "no object can have this name: "+wrong[0],
			&huma.ErrorDetail{Location: "path.name", Message: wrong[0], Value: ref.Name})
	}
	made, err := a.cluster.Create(ctx, caller(ctx), ref.Kind, obj, dry)
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
func (a *API) sentFor(ctx context.Context, ref cluster.Ref, body []byte, creates bool) (
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

func (a *API) patch(ctx context.Context, ref cluster.Ref, in PatchOptions) (*writeOutput, error) {
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
	got, err := a.cluster.Patch(ctx, caller(ctx), ref, with, in.etag(), in.dry())
	if err != nil {
		return nil, a.fail(ctx, err)
	}
	return a.changed(ctx, got, ref, in.dry())
}
