package rest

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/podlogs"
)

// problem returns a problem document; its instance is the request's ID, as in the log.
func problem(ctx context.Context, status int, detail string, errs ...*huma.ErrorDetail) *huma.ErrorModel {
	return &huma.ErrorModel{
		Status: status, Title: http.StatusText(status), Detail: detail, Errors: errs,
		Instance: instance(ctx),
	}
}

// huma has one process-wide function for the problem documents that it writes itself.
func init() { huma.NewErrorWithContext = refusal }

// unreadable is huma's message for a truncated body or malformed chunks.
const unreadable = "cannot read request body"

// refusal completes the problem documents that huma writes itself. An unreadable body is the client's mistake, for
// which huma responds 500.
func refusal(ctx huma.Context, status int, message string, errs ...error) huma.StatusError {
	if message == unreadable {
		status, message = http.StatusBadRequest, "the body cannot be read to its end: "+errors.Join(errs...).Error()+
			"; send it again, whole"
		errs = nil
	}
	err := huma.NewError(status, message, errs...)
	if p, ok := errors.AsType[*huma.ErrorModel](err); ok {
		p.Instance = instance(ctx.Context())
	}
	return err
}

// instance returns the URN of the request, or "" outside one.
func instance(ctx context.Context) string {
	if id := auth.RequestID(ctx); id != "" {
		return "urn:portico:request:" + id
	}
	return ""
}

// WriteProblem writes a problem document as the response; detail is for the caller.
func WriteProblem(w http.ResponseWriter, r *http.Request, status int, detail string) {
	writeProblem(w, r, status, detail)
}

func writeProblem(w http.ResponseWriter, r *http.Request, status int, detail string, errs ...*huma.ErrorDetail) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(problem(r.Context(), status, detail, errs...)) // the client has gone
}

// asProblem returns the problem document in an error of fail.
func asProblem(ctx context.Context, err error) *huma.ErrorModel {
	p := problem(ctx, http.StatusInternalServerError, "something went wrong; the error has been logged")
	errors.As(err, &p)
	return p
}

// answer writes the problem document of err, for handlers that write their own responses.
func (a *API) answer(w http.ResponseWriter, r *http.Request, err error) {
	err = a.fail(r.Context(), err)
	if headers, ok := errors.AsType[huma.HeadersError](err); ok {
		maps.Copy(w.Header(), headers.GetHeaders())
	}
	p := asProblem(r.Context(), err)
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p) // the client has gone
}

// asJSON returns a function that writes v as JSON.
func asJSON(v any) func(huma.Context) {
	return func(ctx huma.Context) {
		ctx.SetHeader("Content-Type", "application/json")
		ctx.SetStatus(http.StatusOK)
		_ = huma.DefaultJSONFormat.Marshal(ctx.BodyWriter(), v) // the client has gone
	}
}

// retryAfter is the number of seconds in Retry-After if Kubernetes sends none.
const retryAfter = 2

// fail translates an error into a problem document that contains only what the caller can know. Unknown errors are
// logged and become an opaque 500.
func (a *API) fail(ctx context.Context, err error) error {
	failure.NoteDenied(ctx, err)
	var forbidden *failure.ForbiddenError
	var tool *failure.ToolError
	var changed *failure.ChangedError
	var unavailable *failure.UnavailableError
	var broken *podlogs.BrokenError
	var reads *podlogs.TooManyReadsError
	var person *failure.PersonError
	var noLog *failure.NoLogError
	var status apierrors.APIStatus
	var made *huma.ErrorModel
	switch {
	case errors.As(err, &made):
		return err
	case errors.As(err, &forbidden):
		return problem(ctx, http.StatusForbidden, forbidden.Error())
	case errors.As(err, &person):
		return fromOperator(ctx, person)
	case errors.As(err, &tool):
		return problem(ctx, http.StatusForbidden, tool.Error())
	case errors.As(err, &reads):
		return later(problem(ctx, http.StatusTooManyRequests, reads.Error()+"; wait until one of them is done"),
			retryAfter)
	case errors.As(err, &changed):
		return problem(ctx, http.StatusPreconditionFailed,
			changed.Error()+"; get it again, and send the change with the ETag that it has by then")
	case errors.As(err, &unavailable), errors.As(err, &broken), errors.Is(err, context.DeadlineExceeded):
		return a.unavailable(ctx, err, 0)
	case errors.As(err, &noLog):
		return problem(ctx, http.StatusBadRequest, noLog.Error())
	case errors.As(err, &status):
		return a.fromStatus(ctx, err, status.Status())
	}
	a.log.ErrorContext(ctx, "request failed", "error", err, "requestID", auth.RequestID(ctx))
	return problem(ctx, http.StatusInternalServerError, "something went wrong; the error has been logged")
}

// fromOperator returns the operator's error for the caller.
func fromOperator(ctx context.Context, e *failure.PersonError) error {
	p := problem(ctx, e.Status, e.Detail)
	switch e.Status {
	case http.StatusUnauthorized:
		return huma.ErrorWithHeaders(
			p, http.Header{"WWW-Authenticate": {`Bearer realm="portico", error="invalid_token"`}})
	case http.StatusServiceUnavailable:
		return later(p, retryAfter)
	case http.StatusTooManyRequests:
		return later(p, 1) // its rate limits are per second
	}
	return p
}

// later adds Retry-After to the problem document: every 429 and 503 has it.
func later(p huma.StatusError, seconds int) error {
	return huma.ErrorWithHeaders(p, http.Header{"Retry-After": {strconv.Itoa(seconds)}})
}

// unavailable returns a 503 with the API server's Retry-After, or the default.
func (a *API) unavailable(ctx context.Context, err error, seconds int) error {
	a.log.ErrorContext(ctx, "Kubernetes does not answer", "error", err, "requestID", auth.RequestID(ctx))
	return later(problem(ctx, http.StatusServiceUnavailable, "Kubernetes does not answer at the moment; try again"),
		max(seconds, retryAfter))
}

// fromStatus returns the API server's error for the caller's own request: its message is about the caller's object.
func (a *API) fromStatus(ctx context.Context, err error, s metav1.Status) error {
	var details metav1.StatusDetails
	if s.Details != nil {
		details = *s.Details
	}
	kind, _ := a.cluster.Kinds.Now().ByGroupKind(schema.GroupKind{Group: details.Group, Kind: details.Kind})
	if fields := catalog.FromStatus(kind, err); len(fields) > 0 {
		return invalid(ctx, fields)
	}
	seconds := int(details.RetryAfterSeconds)
	switch {
	case apierrors.IsTooManyRequests(err):
		return later(problem(ctx, http.StatusTooManyRequests, "Kubernetes is busy; try again later"), max(seconds, 1))
	case apierrors.IsTimeout(err), apierrors.IsServerTimeout(err), apierrors.IsServiceUnavailable(err):
		return a.unavailable(ctx, err, seconds)
	case apierrors.IsRequestEntityTooLargeError(err):
		return problem(ctx, http.StatusRequestEntityTooLarge, "the object is too large")
	case apierrors.IsAlreadyExists(err):
		return problem(ctx, http.StatusConflict, s.Message+"; choose another name, or change the one that is there "+
			"with PUT or PATCH")
	case apierrors.IsBadRequest(err), apierrors.IsForbidden(err), apierrors.IsNotFound(err), apierrors.IsConflict(err),
		apierrors.IsInvalid(err):
		return problem(ctx, int(s.Code), catalog.QuotaWords(s.Message))
	}
	a.log.ErrorContext(ctx, "unexpected answer of Kubernetes", "error", err, "requestID", auth.RequestID(ctx))
	return problem(ctx, http.StatusInternalServerError, "something went wrong; the error has been logged")
}

// invalid returns a 422 problem document with the location of each error.
func invalid(ctx context.Context, fields catalog.FieldErrors) error {
	details := make([]*huma.ErrorDetail, 0, len(fields))
	for _, f := range fields {
		d := &huma.ErrorDetail{Location: "body", Message: f.Message}
		if f.Field != "" {
			d.Location += "." + f.Field
		}
		if f.Value != "" {
			d.Value = f.Value
		}
		details = append(details, d)
	}
	return problem(ctx, http.StatusUnprocessableEntity, "the request is not valid: "+summary(fields), details...)
}

// summary returns the first error, so that the detail alone is useful.
func summary(fields catalog.FieldErrors) string {
	if fields[0].Field == "" {
		return fields[0].Message
	}
	return fields[0].Field + ": " + fields[0].Message
}
