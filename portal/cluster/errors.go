package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/auth"
)

// ForbiddenError says that the caller lacks the right, whether or not the object exists. Its text is for the caller.
type ForbiddenError struct{ Verb, Resource, Namespace string }

func (e *ForbiddenError) Error() string {
	if e.Namespace == "" {
		return fmt.Sprintf("you may not %s %s", e.Verb, e.Resource)
	}
	return fmt.Sprintf("you may not %s %s in namespace %s", e.Verb, e.Resource, e.Namespace)
}

// ChangedError says that the object is no longer the version that the caller meant to change. Now is how it stands, for
// those who read it to change it.
type ChangedError struct {
	Resource, Name string
	Now            *unstructured.Unstructured
}

func (e *ChangedError) Error() string {
	return fmt.Sprintf("%s %s was changed by somebody else in the meantime", e.Resource, e.Name)
}

// UnavailableError says that Kubernetes could not be asked; it tells nothing about the caller or the object. It does
// not unwrap: the cause concerns the portal's own request and must not be taken for the answer to the caller's.
type UnavailableError struct {
	Doing string
	Cause error
}

func (e *UnavailableError) Error() string { return e.Doing + ": " + e.Cause.Error() }

// explain turns the API server's refusal of a write into what it means for the caller. A refusal for want of rights
// becomes a *ForbiddenError, one by admission (a quota, a policy) stays as it is, and one of the impersonation itself
// is our own fault.
func (c *Cluster) explain(ctx context.Context, id auth.Identity, act Right, err error) error {
	var status apierrors.APIStatus
	var changed *ChangedError
	switch {
	case errors.As(err, &changed):
	case !errors.As(err, &status):
		return &UnavailableError{Doing: "sending " + act.verb + " " + act.name(), Cause: err}
	case apierrors.IsUnauthorized(err) || c.writer.blames(status.Status().Message):
		return &UnavailableError{Doing: "impersonating " + id.Username, Cause: err}
	case apierrors.IsForbidden(err):
		c.access.forget(id, act)
		if denied := c.access.require(ctx, id, act); denied != nil {
			return denied
		}
	}
	return err
}

// blames reports whether a refusal is about the impersonating identity and not about the caller.
func (w *writer) blames(message string) bool {
	return strings.Contains(message, `"`+w.impersonator+`" cannot`)
}

// outcomeOf is what the record of a request says of a write that ended with err.
func outcomeOf(err error) auth.Outcome {
	var forbidden *ForbiddenError
	var changed *ChangedError
	var status apierrors.APIStatus
	switch {
	case err == nil:
		return auth.Done
	case errors.As(err, &forbidden):
		return auth.Forbidden
	case errors.As(err, &changed), apierrors.IsConflict(err):
		return auth.Conflict
	case errors.As(err, &status):
		return auth.Refused
	}
	return auth.Failed
}
