// Package failure has the errors with which the portal answers a caller who cannot have what was asked for, and their
// record in the audit log.
package failure

import (
	"errors"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/portal/auth"
)

// ForbiddenError reports that the caller lacks the right, whether or not the object exists. Its text is for the caller.
type ForbiddenError struct {
	Verb, Resource, Namespace string
	// Name is the object's name, for the log; "" if there is none or it is not known.
	Name string
	// AuditID is the ID in the API server's audit log of the access review that denied it; "" if none was needed.
	AuditID string
}

// IsForbidden reports whether err says that the caller lacks a right.
func IsForbidden(err error) bool {
	_, ok := errors.AsType[*ForbiddenError](err)
	return ok
}

// About returns err with the object's name set, if it is a *ForbiddenError.
func About(name string, err error) error {
	if forbidden, ok := errors.AsType[*ForbiddenError](err); ok {
		forbidden.Name = name
	}
	return err
}

func (e *ForbiddenError) Error() string {
	what := e.Verb + " " + e.Resource
	if e.Resource == operatorapi.DatabaseResource {
		what = operatorapi.DatabaseWords[e.Verb]
	}
	if e.Namespace == "" {
		return "you are not allowed to " + what
	}
	return fmt.Sprintf("you are not allowed to %s in namespace %s", what, e.Namespace)
}

// ToolError reports that the ServiceAccounts of the caller's namespace are not allowed to act through the portal. Its
// text is for the caller.
type ToolError struct{ Namespace string }

func (e *ToolError) Error() string {
	return "ServiceAccounts of namespace " + e.Namespace + " may neither change anything through Portico nor read " +
		"logs: ask a platform admin to bind the ClusterRole portico-tools there, as the admin guide says under \"Let " +
		"tools in\""
}

// ChangedError reports that the object is no longer the version that the caller wanted to change. Now is the current
// object, for callers who read it to change it.
type ChangedError struct {
	Resource, Name string
	Now            *unstructured.Unstructured
}

func (e *ChangedError) Error() string {
	return fmt.Sprintf("%s %s was changed by somebody else in the meantime", e.Resource, e.Name)
}

// UnavailableError reports that Kubernetes could not be reached; it says nothing about the caller or the object. It
// does not unwrap: the cause concerns the portal's own request and must not be taken for the answer to the caller's.
type UnavailableError struct {
	Doing string
	Cause error
}

func (e *UnavailableError) Error() string { return e.Doing + ": " + e.Cause.Error() }

// PersonError is the operator's error for a user's request. Its text is for the user.
type PersonError struct {
	Status int
	Detail string
	// Verb, Resource, Namespace and Name are the request.
	Verb, Resource, Namespace, Name string
}

func (e *PersonError) Error() string { return e.Detail }

// outcome returns the request's outcome for the audit event.
func (e *PersonError) outcome() auth.Outcome {
	switch {
	case e.Status == http.StatusForbidden, e.Status == http.StatusUnauthorized:
		return auth.Forbidden
	case e.Status == http.StatusConflict:
		return auth.Conflict
	case e.Status >= http.StatusInternalServerError:
		return auth.Failed
	}
	return auth.Refused
}

// NoLogError reports why a container has no log. Its text is for the user.
type NoLogError struct {
	Why string
	// Never means that it will have none: its Pod has ended.
	Never bool
}

func (e *NoLogError) Error() string { return e.Why }

// OutcomeOf returns the outcome, for the audit event, of a write that ended with err.
func OutcomeOf(err error) auth.Outcome {
	var forbidden *ForbiddenError
	var tool *ToolError
	var changed *ChangedError
	var noUser *auth.NoUserError
	var noLog *NoLogError
	var person *PersonError
	var status apierrors.APIStatus
	switch {
	case err == nil:
		return auth.Done
	case errors.As(err, &person):
		return person.outcome()
	case errors.As(err, &forbidden), errors.As(err, &tool):
		return auth.Forbidden
	case errors.As(err, &changed), apierrors.IsConflict(err):
		return auth.Conflict
	case errors.As(err, &status), errors.As(err, &noUser), errors.As(err, &noLog):
		return auth.Refused
	}
	return auth.Failed
}
