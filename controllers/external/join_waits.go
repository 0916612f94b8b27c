package external

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/portico-platform/portico/controllers/engine"
)

// maxJoined is the maximum number of refusals in one message.
const maxJoined = 5

// joinWaits joins errors into one: each text once, what needs an action first. An error that is not a WaitError wins,
// because it is retried with back-off. nil errors are ignored.
func joinWaits(all ...error) error {
	all = slices.DeleteFunc(all, func(err error) bool { return err == nil })
	// a stable text
	slices.SortFunc(all, func(a, b error) int { return cmp.Or(rank(a)-rank(b), strings.Compare(a.Error(), b.Error())) })
	all = slices.CompactFunc(all, func(a, b error) bool { return a.Error() == b.Error() })
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	}
	joined := &joinedError{all}
	first, ok := engine.AsWait(all[0])
	if !ok {
		return joined
	}
	whole := &engine.WaitError{Reason: first.Reason, After: first.After, Stalled: first.Stalled, Err: joined}
	for _, err := range all[1:] {
		if wait, ok := engine.AsWait(err); ok {
			whole.After = min(whole.After, wait.After)
		}
	}
	if isPostponed(all[0]) {
		return Postponed(whole)
	}
	return whole
}

// rank orders errors by severity.
func rank(err error) int {
	wait, ok := engine.AsWait(err)
	switch {
	case !ok:
		return 0
	case wait.Stalled:
		return 1
	case isPostponed(err):
		return 3
	}
	return 2
}

// joinedError joins the texts of several errors. Its cause is the first.
type joinedError struct{ all []error }

func (j *joinedError) Error() string {
	texts := make([]string, 0, maxJoined+1)
	for _, err := range j.all[:min(len(j.all), maxJoined)] {
		texts = append(texts, err.Error())
	}
	if more := len(j.all) - maxJoined; more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(texts, "; ")
}

func (j *joinedError) Unwrap() error { return j.all[0] }
