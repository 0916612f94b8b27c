package engine

import (
	"errors"
	"fmt"
	"time"
)

// What only somebody else can unblock is retried after as long as it has been blocked, within these bounds. This
// applies to every cause, such as a denial, a missing Secret or a full quota: anyone who fixes it waits for the result,
// and most fixes, above all permissions, cause no event that we see. A lasting cause costs a few more calls, once.
const (
	soonRetry = 30 * time.Second
	slowRetry = 5 * time.Minute
)

// WatchFallback is how often a watched object is checked anyway, in case the watch fails.
const WatchFallback = time.Minute

// WaitError is an error that is not a failure: the work cannot continue yet, or not until somebody acts. Every other
// error is retried with back-off.
type WaitError struct {
	Reason  string        // CamelCase; the reason of the Ready condition and of the event
	After   time.Duration // when to check again
	Stalled bool          // no progress without somebody's action
	Err     error         // what happened, why, and what to do
}

func (e *WaitError) Error() string { return e.Err.Error() }

func (e *WaitError) Unwrap() error { return e.Err }

// Wait returns a WaitError for work in progress; it is checked again after d. Less than a second means that the work
// continues at once: if the next pass has the same outcome, there was no progress, and the pauses grow.
func Wait(reason string, d time.Duration, format string, args ...any) error {
	return &WaitError{Reason: reason, After: d, Err: fmt.Errorf(format, args...)}
}

// Blocked returns a WaitError that needs an action: change the object or one it refers to, grant a permission, raise a
// quota. It is retried on a change of the object, and otherwise ever more slowly: nothing blocks for ever.
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
