package engine

import (
	"errors"
	"fmt"
	"time"
)

// What only somebody else can unblock is tried again after as long as it has been blocked, within these bounds. This
// holds for every cause, a denial as well as a missing Secret or a full quota: anyone who fixes it waits for the
// result, and most fixes, a permission above all, raise no event that we see. A cause that stays costs a few calls
// more, once.
const (
	soonRetry = 30 * time.Second
	slowRetry = 5 * time.Minute
)

// WaitError is an error that is not a failure: the work cannot go on yet, or not until somebody acts. Every other error
// is retried with back-off.
type WaitError struct {
	Reason  string        // CamelCase; the reason of the Ready condition and of the event
	After   time.Duration // when to look again
	Stalled bool          // no progress without somebody's action
	Err     error         // what happened, why, and what to do
}

func (e *WaitError) Error() string { return e.Err.Error() }

func (e *WaitError) Unwrap() error { return e.Err }

// Wait says that what was asked is under way; look again after d. Less than a second says that the work goes on at
// once: if the next pass has nothing else to say, it has achieved nothing, and the pauses grow.
func Wait(reason string, d time.Duration, format string, args ...any) error {
	return &WaitError{Reason: reason, After: d, Err: fmt.Errorf(format, args...)}
}

// Blocked says that somebody must act: change the object or one it refers to, grant a permission, raise a quota. Tried
// again on a change of the object, else by itself, ever more slowly: nothing freezes for ever.
func Blocked(reason string, format string, args ...any) error {
	return &WaitError{Reason: reason, After: slowRetry, Stalled: true, Err: fmt.Errorf(format, args...)}
}

// ReasonOf returns the reason of the WaitError in err's chain, empty if there is none.
func ReasonOf(err error) string {
	if wait, ok := AsWait(err); ok {
		return wait.Reason
	}
	return ""
}

// AsWait finds the WaitError in err's chain.
func AsWait(err error) (*WaitError, bool) { return errors.AsType[*WaitError](err) }
