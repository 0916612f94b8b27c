package engine

import (
	"time"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// refusal is what the outside said of an action that it refused.
type refusal struct {
	err         error
	since, last time.Time // of the first try in a row, and of the last
}

// due reports whether the action is to be tried again: after as long as it has been refused, within the bounds of the
// passes over what is blocked. A pass may come a little earlier than planned, and a clock that was put back must not
// delay it.
func (f refusal) due(now time.Time) bool {
	pause := min(max(f.last.Sub(f.since), soonRetry), slowRetry)
	return now.Before(f.last) || now.Sub(f.last) >= pause*3/4
}

// refusals are the actions that were refused, by action. They live in memory: a restart costs one try of each.
type refusals map[PlannedAction]refusal

// Refused notes that the outside refused an action at this time.
func (p *Pass) Refused(action PlannedAction, err error, now time.Time) {
	if p.refused == nil {
		p.refused = refusals{}
	}
	since := now
	if before, ok := p.refusedBefore[action]; ok {
		since = before.since
	}
	p.refused[action] = refusal{err: err, since: since, last: now}
}

// LastRefusal returns the error with which an earlier pass saw the action refused, while it is too early to try again.
// After an edit of the object, or when somebody asks for a pass, it is never too early.
func (p *Pass) LastRefusal(action PlannedAction, now time.Time) error {
	before, ok := p.refusedBefore[action]
	if !ok || before.due(now) {
		return nil
	}
	if p.refused == nil {
		p.refused = refusals{}
	}
	p.refused[action] = before
	return before.err
}

// WasRefused reports whether an earlier pass saw the action refused, and nobody has changed the object or asked for a
// pass since.
func (p *Pass) WasRefused(action PlannedAction) bool {
	_, refused := p.refusedBefore[action]
	return refused
}

// after returns what is to be remembered after a pass: what it saw refused, or recalled. A pass that made no plan
// changes nothing.
func (before refusals) after(pass passResult) refusals {
	if pass.reason != v1alpha1.ReasonInSync && len(pass.plan) == 0 {
		return before
	}
	return pass.refused
}
