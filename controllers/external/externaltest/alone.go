package externaltest

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
)

// refusing is an adapter for which AWS refuses every call that writes one path. It implements none of the optional
// interfaces.
type refusing[T external.Object, S any] struct {
	external.Adapter[T, S]
	path string // empty: nothing is refused
}

// Plan implements external.Adapter.
func (r *refusing[T, S]) Plan(obj T, seen *S) ([]external.Action, error) {
	actions, rest := r.Adapter.Plan(obj, seen)
	return r.refuse(actions), rest
}

func (r *refusing[T, S]) refuse(actions []external.Action) []external.Action {
	actions = slices.Clone(actions)
	for n, a := range actions {
		if a.Parts != nil {
			actions[n].Parts = func() []external.Action { return r.refuse(a.Parts()) }
		}
		if slices.Contains(pathsOf(a), r.path) {
			actions[n].Do = func(context.Context) error {
				return engine.Blocked(v1alpha1.ReasonInvalidSpec, "AWS does not take it")
			}
		}
	}
	return actions
}

func pathsOf(actions ...external.Action) []string {
	var paths []string
	for _, a := range actions {
		for _, c := range a.Changes {
			paths = append(paths, c.Path)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// settingsStandAlone makes two foreign changes at a time, for every pair, and lets AWS refuse the repair of one: the
// other is repaired all the same, and the refusal names its path. Once AWS accepts it, everything is in sync.
func (l laws[T, S]) settingsStandAlone(t *testing.T) {
	t.Helper()
	about := map[string][]string{} // the paths that each drift changes
	for name, drift := range l.Drift {
		drift()
		about[name] = pathsOf(l.plan(t, l.observe(t))...)
		l.converges(t, name)
	}
	names := slices.Sorted(maps.Keys(about))
	for _, refused := range names {
		for _, spoiled := range names {
			if len(about[refused]) > 0 && !l.together(about[refused], about[spoiled]) {
				l.refusesOne(t, refused, spoiled, about)
			}
		}
	}
}

// together reports whether a path is in both lists, or AWS validates a path of one with a path of the other.
func (l laws[T, S]) together(a, b []string) bool {
	for _, x := range a {
		for _, y := range b {
			if x == y || slices.ContainsFunc(l.Together, func(paths []string) bool {
				return slices.Contains(paths, x) && slices.Contains(paths, y)
			}) {
				return true
			}
		}
	}
	return false
}

func (l laws[T, S]) refusesOne(t *testing.T, refused, spoiled string, about map[string][]string) {
	t.Helper()
	path := about[refused][0]
	l.Drift[refused]()
	l.Drift[spoiled]()
	adapter := &refusing[T, S]{l.Adapter, path}
	notes, err := l.reconcile(t, adapter)
	if wait, ok := engine.AsWait(err); !ok || !wait.Stalled || !strings.Contains(wait.Error(), path) {
		t.Errorf("%s is refused, and %s spoiled: the outcome is %v", path, spoiled, err)
	}
	for _, left := range pathsOf(l.plan(t, l.observe(t))...) {
		if slices.Contains(about[spoiled], left) {
			t.Errorf("%s is refused, and %s is not put right for it", path, left)
		}
	}
	if len(about[spoiled]) > 0 && !slices.ContainsFunc(notes, func(note string) bool {
		return strings.HasPrefix(note, v1alpha1.ReasonRepaired)
	}) {
		t.Errorf("%s is refused, and %s was repaired: the events are %q", path, spoiled, notes)
	}
	_, status := l.Object.AWS()
	if !slices.Contains(status.UnappliedFields, path) {
		t.Errorf("%s is refused, and the status names %v", path, status.UnappliedFields)
	}
	adapter.path = ""
	if _, err := l.reconcile(t, adapter); err != nil || len(status.UnappliedFields) > 0 {
		t.Fatalf("AWS takes %s again: %v, not applied %v", path, err, status.UnappliedFields)
	}
}

// reconcile runs passes until nothing is waited for, and returns their events and the last outcome.
func (l laws[T, S]) reconcile(t *testing.T, adapter external.Adapter[T, S]) (notes []string, err error) {
	t.Helper()
	now := time.Now() //nolint:forbidigo // the laws begin at any time
	work := external.Reconciler[T, S]{
		Kind: "Kind", Now: func() time.Time { return now }, Stateful: true,
		Connect: func(context.Context, T) (external.Connection[T, S], error) {
			return external.Connection[T, S]{Adapter: adapter}, nil
		},
	}
	common := l.Object.Common()
	common.Ready, common.ObservedGeneration = true, l.Object.GetGeneration()
	for range 4 {
		now = now.Add(time.Hour)
		pass := engine.NewPass(nil)
		err = work.Reconcile(t.Context(), l.Object, pass)
		notes = append(notes, pass.Strings()...)
		if wait, ok := engine.AsWait(err); !ok || wait.Stalled {
			return notes, err
		}
	}
	return notes, err
}
