package people

import (
	"errors"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// errTryAgain means that another client changed the object in between.
var errTryAgain = errors.New("somebody else wrote it meanwhile")

// again repeats do while it returns errTryAgain, at most tries times, and then returns a conflict.
func again(do func() (bool, error)) (bool, error) {
	for range tries {
		if done, err := do(); !errors.Is(err, errTryAgain) {
			return done, err
		}
	}
	return false, problem(http.StatusConflict, "others write this Secret all the time: try again in a moment")
}

// refused turns an error of the API server into an *Error. The server's message is dropped: it could quote what was
// sent.
func refused(err error, name string) error {
	switch {
	case err == nil:
		return nil
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err), apierrors.IsNotFound(err):
		return errTryAgain
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsRequestEntityTooLargeError(err):
		return &Error{Status: http.StatusUnprocessableEntity, Detail: "Kubernetes does not take the Secret " + name +
			" as it would be", Cause: reasonOf(err)}
	case apierrors.IsForbidden(err):
		return &Error{
			Status: http.StatusForbidden, Cause: reasonOf(err),
			Detail: "Kubernetes refuses the Secret " + name + ": a quota of the namespace is used up, it is about to " +
				"be deleted, or the operator has no right there. The operator's log says more",
		}
	}
	return unavailable(reasonOf(err))
}

// reasonOf returns the reason of an API server's error, without its message.
func reasonOf(err error) error {
	if reason := apierrors.ReasonForError(err); reason != metav1.StatusReasonUnknown {
		return errors.New("Kubernetes answers " + string(reason))
	}
	return errors.New("no answer of Kubernetes")
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
