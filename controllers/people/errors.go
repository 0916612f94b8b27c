// Package people works with Secrets on behalf of people, authorised by their own tokens and their own rights in
// Kubernetes: it sets values, which it never shows, and shows the password of a binding once. The portal has no right
// to Secrets and only forwards requests.
package people

import (
	"fmt"
	"net/http"

	"github.com/portico-platform/portico/api/operatorapi"
)

// Error is an error shown to a person. Its text never contains a value.
type Error struct {
	Status int
	Detail string
	// Denied is true if the person lacks a right.
	Denied bool
	// Cause is logged; it may be nil. It must not contain a value either.
	Cause error
}

func (e *Error) Error() string { return e.Detail }

func (e *Error) Unwrap() error { return e.Cause }

func problem(status int, format string, args ...any) *Error {
	return &Error{Status: status, Detail: fmt.Sprintf(format, args...)}
}

func forbidden(to right) *Error {
	detail := fmt.Sprintf("you are not allowed to %s %s in namespace %s", to.verb, to.resource, to.namespace)
	switch to.resource {
	case operatorapi.DatabaseResource:
		detail = fmt.Sprintf("you are not allowed to %s in namespace %s: %s", operatorapi.DatabaseWords[to.verb],
			to.namespace, whoSignsIn)
	case operatorapi.ValuesResource:
		detail += ": developers and owners of a team have this right unless the Team says otherwise; ask an owner, " +
			"or a platform admin for the ClusterRole portico-secret-writer there"
	}
	return &Error{Status: http.StatusForbidden, Denied: true, Detail: detail}
}

const whoSignsIn = "developers read and owners write, unless the Team says otherwise (spec.secrets.signInBy), and " +
	"the master password is for owners"

func unavailable(cause error) *Error {
	return &Error{
		Status: http.StatusServiceUnavailable, Detail: "Kubernetes does not answer at the moment; try again",
		Cause: cause,
	}
}
