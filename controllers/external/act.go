package external

import (
	"context"
	"errors"
	"slices"

	"github.com/portico-platform/portico/controllers/engine"
)

// prepare saves what a crash must not lose, and proves that obj is not an old picture, before the first act that calls
// for it: a creation, taking over what does not carry our marks yet, managing a path for the first time. The proof of the
// marks comes after the reservation: see Connection.Prove.
func (p *pass[T, S]) prepare(ctx context.Context, seen *S) error {
	_, status := p.obj.AWS()
	all := union(status.ManagedFields, p.adapter.Declared(p.obj))
	if p.proven || (seen != nil && p.adapter.Owner(p.obj, seen) == Ours && len(all) == len(status.ManagedFields)) {
		return nil
	}
	status.ManagedFields = all
	reserved := status.AccountID != ""
	p.adapter.Reserve(p.obj)
	if seen == nil {
		stamp(status, p.Now())
	}
	p.proven = true
	if err := p.run.Save(ctx); err != nil {
		return err
	}
	if p.prove == nil || (seen != nil && p.adapter.Owner(p.obj, seen) == Ours) {
		return nil
	}
	err := p.prove(ctx)
	if err != nil && !reserved {
		status.AccountID, status.LastSyncTime = "", p.before // nothing was made
	}
	return err
}

func (p *pass[T, S]) act(ctx context.Context, create bool, steps []Step) error {
	_, status := p.obj.AWS()
	p.run.Planned(texts(steps))
	for _, s := range steps {
		what := s.Name + " (" + s.Why + ")"
		if slices.Contains(p.done, what) {
			return p.unsettled(what)
		}
		if err := s.Do(ctx); err != nil {
			if create {
				p.failed(err)
			}
			return err
		}
		p.done, p.last = append(p.done, what), what
		stamp(status, p.Now())
		p.tell(create, s)
	}
	return nil
}

// failed notes a creation that did not answer well: refused, nothing has changed in AWS; otherwise it may have.
func (p *pass[T, S]) failed(err error) {
	_, status := p.obj.AWS()
	pause, ok := engine.AsPause(err)
	_, notMade := errors.AsType[*notCreatedError](err)
	if !notMade && (!ok || !pause.Stalled) {
		stamp(status, p.Now())
		return
	}
	status.LastSyncTime = p.before
	if r, ok := p.adapter.(Retrier[T]); ok && !p.fresh(status) {
		r.NextAttempt(p.obj)
	}
}

// NotCreated marks err as the answer to a creation that made nothing, though what it says is no refusal.
func NotCreated(err error) error { return &notCreatedError{err} }

type notCreatedError struct{ error }

func (n *notCreatedError) Unwrap() error { return n.error }

func texts(steps []Step) []string {
	all := make([]string, 0, len(steps))
	for _, s := range steps {
		all = append(all, s.Name+" ("+s.Why+")")
	}
	return all
}

// tell notes a step as what it is for the owner: creation, the owner's or the platform's edit, or the repair of a
// foreign one.
func (p *pass[T, S]) tell(create bool, s Step) {
	common := p.obj.Common()
	_, status := p.obj.AWS()
	expected := !common.Ready || common.ObservedGeneration != p.obj.GetGeneration() || status.ProviderGeneration != p.version
	switch {
	case s.Note != nil:
		s.Note(&p.run.Notes)
	case create && p.lost:
		p.run.Repaired("Recreated", s.Name, "%s; it was deleted outside Portico", s.Why)
	case create:
		p.run.Normal("Created", s.Name, "%s", s.Why)
	case expected:
		p.run.Normal("Updated", s.Name, "%s", s.Why)
	default:
		p.run.Repaired("Repaired", s.Name, "%s; it was changed outside Portico", s.Why)
	}
}

func union(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}
