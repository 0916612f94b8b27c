package external

import "errors"

// Postponed marks err, a WaitError, as about a change that AWS does not accept yet of a resource that works as it is.
// It blocks nothing: other actions are executed, and the connection details are published. An action that returns it
// has changed nothing, and is not repeated in the same pass.
func Postponed(err error) error { return &postponedError{err} }

type postponedError struct{ error }

func (p *postponedError) Unwrap() error { return p.error }

func isPostponed(err error) bool {
	_, ok := errors.AsType[*postponedError](err)
	return ok
}
