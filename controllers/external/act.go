package external

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/portico-platform/portico/controllers/engine"
)

// prepare saves what a crash must not lose, and proves that obj is not an old picture, before the first act that calls
// for it: a creation, taking over what does not carry our marks yet, writing a path for the first time. The proof of the
// marks comes after the reservation: see Connection.Prove. For a creation that is not admitted nothing is reserved.
func (p *pass[T, S]) prepare(ctx context.Context, seen *S, steps []Step) error {
	if seen == nil {
		if err := p.admitted(ctx, steps[0]); err != nil {
			p.failed(true, steps[0], NotCreated(err))
			return err
		}
	}
	marking := !p.proven && (seen == nil || p.Adapter.Owner(p.obj, seen) != Ours)
	if news := p.intend(seen == nil, steps); !news && !marking {
		return nil
	}
	_, status := p.obj.AWS()
	reserved := status.AccountID != ""
	p.Adapter.Reserve(p.obj)
	if seen == nil {
		stamp(status, p.Now())
	}
	p.proven = true
	if err := p.run.Save(ctx); err != nil || !marking || p.Prove == nil {
		return err
	}
	err := p.Prove(ctx)
	if err == nil {
		return nil
	}
	status.LastSyncTime = p.before // nothing was made
	if !reserved {
		status.AccountID = ""
	}
	return err
}

// act takes the steps, up to the first that fails. One that is not admitted does not hold up the others.
func (p *pass[T, S]) act(ctx context.Context, create bool, steps []Step) error {
	p.run.Planned(texts(steps))
	acted, waiting := false, ""
	var refused error
	var kept []Change
	for _, s := range steps {
		what := s.Name + " (" + s.Why + ")"
		if slices.Contains(p.done, what) {
			return p.unkept(what)
		}
		if !create && p.young(what) {
			waiting = what
			continue
		}
		if !create {
			if err := p.admitted(ctx, s); err != nil {
				refused, kept = err, append(kept, s.Sets...)
				continue
			}
		}
		if err := s.Do(ctx); err != nil {
			p.failed(create, s, err)
			return err
		}
		p.did(create, s, what)
		acted = true
	}
	if refused != nil {
		p.failed(false, Step{Sets: kept}, NotCreated(refused))
		return refused
	}
	if !acted {
		return p.judge(waiting, p.run.Tried(waiting))
	}
	return nil
}

// young tells whether the step was taken by an earlier pass, so short a time ago that AWS may not show it yet: it is not
// taken again before it should show.
func (p *pass[T, S]) young(what string) bool {
	_, status := p.obj.AWS()
	return p.run.Tried(what) > 0 && status.LastSyncTime != nil && p.Now().Sub(status.LastSyncTime.Time) < min(p.Settling, values)
}

// values show within this time, whatever takes longer for a resource that was made: SQS says a minute.
const values = time.Minute

// admitted tells whether what the step refers to may be used.
func (p *pass[T, S]) admitted(ctx context.Context, s Step) error {
	if len(s.References) == 0 || p.Admit == nil {
		return nil
	}
	return p.Admit(ctx, p.obj, s.References)
}

func (p *pass[T, S]) did(create bool, s Step, what string) {
	_, status := p.obj.AWS()
	p.done, p.last = append(p.done, what), what
	p.wrote(s.Sets)
	stamp(status, p.Now())
	if p.run.Tried(what) == 0 {
		p.tell(create, s)
	}
}

// failed notes a step that did not answer well: refused, nothing has changed in AWS; otherwise it may have.
func (p *pass[T, S]) failed(create bool, s Step, err error) {
	_, status := p.obj.AWS()
	pause, paused := engine.AsPause(err)
	_, notMade := errors.AsType[*notCreatedError](err)
	refused := notMade || (paused && pause.Stalled)
	p.unwritten(s.Sets, refused)
	switch {
	case !create:
		return
	case !refused:
		stamp(status, p.Now())
		return
	}
	status.LastSyncTime = p.before
	if r, ok := p.Adapter.(Retrier[T]); ok && !p.fresh(status) {
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
	expected := !common.Ready || common.ObservedGeneration != p.obj.GetGeneration() || status.ProviderGeneration != p.Version
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
