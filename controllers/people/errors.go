// Package people does for people what they may do with Secrets, by their own tokens and their own rights in Kubernetes:
// it sets values, which it never shows, and shows the password of a binding once. The portal has no right to Secrets
// and carries requests only.
package people

import (
	"fmt"
	"net/http"

	"github.com/portico-platform/portico/api/operatorapi"
)

// Error is what a person is told; its text never has a value.
type Error struct {
	Status int
	Detail string
	// Denied says that a right is missing.
	Denied bool
	// Cause is for the log, may be nil. It must have no value either.
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
		detail = fmt.Sprintf("you are not allowed to %s in namespace %s: %s", operatorapi.DatabaseWords[to.verb], to.namespace, whoSignsIn)
	case operatorapi.ValuesResource:
		detail += ": developers and owners of a team have this right unless the Team says otherwise; ask an owner, " +
			"or a platform admin for the ClusterRole portico-secret-writer there"
	}
	return &Error{Status: http.StatusForbidden, Denied: true, Detail: detail}
}

const whoSignsIn = "developers read and owners write, unless the Team says otherwise (spec.secrets.signInBy), and the master password is for owners"

func unavailable(cause error) *Error {
	return &Error{Status: http.StatusServiceUnavailable, Detail: "Kubernetes does not answer at the moment; try again", Cause: cause}
}
