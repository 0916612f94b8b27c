package engine

import (
	"time"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// refusal is a refused action: the error, and when.
type refusal struct {
	err         error
	since, last time.Time // the first consecutive try, and the last
}

// due reports whether to retry the action: after as long as it has been refused, within the bounds for blocked objects.
// A pass may come slightly early, and a clock that was set back must not delay it.
func (f refusal) due(now time.Time) bool {
	pause := min(max(f.last.Sub(f.since), soonRetry), slowRetry)
	return now.Before(f.last) || now.Sub(f.last) >= pause*3/4
}

// refusals holds the refused actions. It is kept in memory: a restart costs one try of each.
type refusals map[PlannedAction]refusal

// Refused records that an action was refused at this time.
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

// LastRefusal returns the error of a refusal in an earlier pass, while it is too early to retry; nil otherwise, and
// after an edit of the object or a requested pass.
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

// WasRefused reports whether the action was refused in an earlier pass, and nobody has changed the object or requested
// a pass since.
func (p *Pass) WasRefused(action PlannedAction) bool {
	_, refused := p.refusedBefore[action]
	return refused
}

// after returns the refusals to keep after a pass: those it saw or recalled. A pass without a plan changes nothing.
func (before refusals) after(pass passResult) refusals {
	if pass.reason != v1alpha1.ReasonInSync && len(pass.plan) == 0 {
		return before
	}
	return pass.refused
}
