package cluster

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/operatorapi"
)

// ForbiddenError says that the caller lacks the right, whether or not the object exists. Its text is for the caller.
type ForbiddenError struct {
	Verb, Resource, Namespace string
	// Name is that of the object, for the log; "" for none, or where it is not known.
	Name string
	// AuditID is by what the API server's audit log has the access review that refused it; "" if none was needed.
	AuditID string
}

// IsForbidden reports whether err says that the caller lacks a right.
func IsForbidden(err error) bool {
	_, ok := errors.AsType[*ForbiddenError](err)
	return ok
}

// about returns err as one about the object of the name, if it is a *ForbiddenError.
func about(name string, err error) error {
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

// ToolError says that nobody let the ServiceAccounts of the caller's namespace act through the portal. Its text is for
// the caller.
type ToolError struct{ Namespace string }

func (e *ToolError) Error() string {
	return "ServiceAccounts of namespace " + e.Namespace + " may neither change anything through Portico nor read logs: ask a platform admin " +
		"to bind the ClusterRole portico-tools there, as the admin guide says under \"Let tools in\""
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
