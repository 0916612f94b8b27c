package external

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// shelf is an adapter over a resource with two settings, first and second, each written by its own call; both default
// to none. They are declared as tags of the object.
type shelf struct {
	has    map[string]string // nil: it does not exist
	answer map[string]func() error
	deaf   bool // writes are accepted and have no effect
	writes []string

	settles time.Duration // of every write
}

func settings() []Setting[*v1alpha1.S3Bucket, map[string]string] {
	var all []Setting[*v1alpha1.S3Bucket, map[string]string]
	for _, path := range []string{"first", "second"} {
		all = append(all, Setting[*v1alpha1.S3Bucket, map[string]string]{
			Path: path, Default: "none",
			Want: func(b *v1alpha1.S3Bucket) (string, bool) { v, ok := b.Spec.Tags[path]; return string(v), ok },
			Have: func(seen *map[string]string) string { return (*seen)[path] },
		})
	}
	return all
}

func (s *shelf) Observe(context.Context, *v1alpha1.S3Bucket) (*map[string]string, error) {
	if s.has == nil {
		return nil, nil
	}
	return new(maps.Clone(s.has)), nil
}

func (s *shelf) Owner(*v1alpha1.S3Bucket, *map[string]string) Owner { return Ours }

func (s *shelf) Declared(b *v1alpha1.S3Bucket) []string { return DeclaredPaths(settings(), b) }

func (s *shelf) Reserve(b *v1alpha1.S3Bucket, _ *map[string]string) { b.Status.AccountID = "1" }

func (s *shelf) Plan(b *v1alpha1.S3Bucket, seen *map[string]string) ([]Action, error) {
	if seen == nil {
		return []Action{{Name: "Create", Why: "x", Do: func(context.Context) error {
			return s.write("Create", func() { s.has = theirs("none", "none") })
		}}}, nil
	}
	var actions []Action
	for _, c := range Changes(settings(), b, seen) {
		actions = append(actions, Action{
			Name: "Put", Why: Describe([]Change{c}), Changes: []Change{c},
			Settles: s.settles, Do: func(context.Context) error {
				return s.write(c.Path, func() { s.has[c.Path] = c.To })
			},
		})
	}
	return actions, nil
}

// write applies a write and returns the scene's response.
func (s *shelf) write(path string, do func()) error {
	s.writes = append(s.writes, path)
	answer := s.answer[path]
	if answer == nil {
		if !s.deaf {
			do()
		}
		return nil
	}
	err := answer()
	if errors.Is(err, errCommitted) {
		do()
	}
	return err
}

func (s *shelf) Report(b *v1alpha1.S3Bucket, _ *map[string]string) map[string]string {
	b.Status.ARN = "arn:shelf"
	return map[string]string{"type": "shelf"}
}

func (s *shelf) Delete(context.Context, *v1alpha1.S3Bucket, *map[string]string) (bool, error) {
	return true, nil
}
func (s *shelf) Disown(context.Context, *v1alpha1.S3Bucket, *map[string]string) error { return nil }

func theirs(first, second string) map[string]string {
	return map[string]string{"first": first, "second": second}
}

var (
	errCommitted = errors.New("connection reset after the write")
	errLost      = errors.New("connection reset before the write")
	errRefused   = engine.Blocked("AccessDenied", "denied")
)

// scene is a sequence of events for a shelf and its object.
type scene struct {
	t *testing.T
	s *shelf
	b *v1alpha1.S3Bucket
}

// pass runs one pass whose status is kept.
func (sc scene) pass() {
	sc.t.Helper()
	_ = drive2(sc.s).Reconcile(sc.t.Context(), sc.b, engine.NewPass(nil))
}

// dies runs a pass in which the operator crashes at its first write of path, before or after it is applied: only the
// saved status remains.
func (sc scene) dies(path string, after error) {
	sc.t.Helper()
	saved := sc.b.DeepCopy()
	sc.s.answer = map[string]func() error{path: func() error { return after }}
	pass := engine.NewPass(func(context.Context) error { saved = sc.b.DeepCopy(); return nil })
	_ = drive2(sc.s).Reconcile(sc.t.Context(), sc.b, pass)
	*sc.b, sc.s.answer = *saved, nil
}

// refuse makes every write of the first setting fail as refused.
func (sc scene) refuse() {
	sc.s.answer = map[string]func() error{"first": func() error { return errRefused }}
}

func (sc scene) declare(first, second string) {
	sc.b.Spec.Tags = v1alpha1.Tags{}
	sc.b.Generation++
	for path, value := range map[string]string{"first": first, "second": second} {
		if value != "" {
			sc.b.Spec.Tags[path] = v1alpha1.TagValue(value)
		}
	}
}

func drive2(s *shelf) Reconciler[*v1alpha1.S3Bucket, map[string]string] {
	return Reconciler[*v1alpha1.S3Bucket, map[string]string]{
		Kind: "Shelf", Settling: time.Minute, Now: func() time.Time { return time.Unix(1000, 0) },
		Connect: func(context.Context, *v1alpha1.S3Bucket) (Connection[*v1alpha1.S3Bucket, map[string]string], error) {
			return Connection[*v1alpha1.S3Bucket, map[string]string]{Adapter: s}, nil
		},
	}
}

// When a setting is withdrawn, what Portico wrote is reset to the default, and what it did not write stays, whatever
// happened to its tries.
func TestWhatIsWithdrawnGoesBackOnlyIfItWasOurs(t *testing.T) {
	for name, row := range map[string]struct {
		has   map[string]string
		until func(scene) // before the withdrawal
		want  map[string]string
	}{
		"written":           {theirs("x", "none"), func(sc scene) { sc.declare("a", ""); sc.pass() }, theirs("none", "none")},
		"found as declared": {theirs("a", "none"), func(sc scene) { sc.declare("a", ""); sc.pass() }, theirs("none", "none")},
		"refused":           {theirs("x", "none"), func(sc scene) { sc.declare("a", ""); sc.refuse(); sc.pass(); sc.pass() }, theirs("x", "none")},
		"refused, and changed by its owner since": {theirs("x", "none"), func(sc scene) {
			sc.declare("a", "")
			sc.refuse()
			sc.pass()
			sc.s.has["first"] = "y"
			sc.pass()
		}, theirs("y", "none")},
		"refused after a write that was lost on the way": {theirs("x", "none"), func(sc scene) {
			sc.declare("a", "")
			sc.s.answer = map[string]func() error{"first": func() error { return errLost }}
			sc.pass()
			sc.refuse()
			sc.pass()
			sc.s.has["first"] = "y"
		}, theirs("y", "none")},
		"written, and the answer was lost": {theirs("x", "none"), func(sc scene) {
			sc.declare("a", "")
			sc.s.answer = map[string]func() error{"first": func() error { return errCommitted }}
			sc.pass()
		}, theirs("none", "none")},
		"written after a refusal, and the answer was lost": {theirs("x", "none"), func(sc scene) {
			sc.declare("a", "")
			sc.refuse()
			sc.pass()
			sc.s.answer = map[string]func() error{"first": func() error { return errCommitted }}
			sc.pass()
		}, theirs("none", "none")},
		"not written, and the answer was lost": {theirs("x", "none"), func(sc scene) {
			sc.declare("a", "")
			sc.s.answer = map[string]func() error{"first": func() error { return errLost }}
			sc.pass()
		}, theirs("x", "none")},
		"written, the answer was lost, and another value refused": {theirs("x", "none"), func(sc scene) {
			sc.declare("a", "")
			sc.s.answer = map[string]func() error{"first": func() error { return errCommitted }}
			sc.pass()
			sc.declare("b", "")
			sc.refuse()
			sc.pass()
		}, theirs("none", "none")},
		"the operator died after the write":  {theirs("x", "none"), func(sc scene) { sc.declare("a", ""); sc.dies("first", errCommitted) }, theirs("none", "none")},
		"the operator died before the write": {theirs("x", "none"), func(sc scene) { sc.declare("a", ""); sc.dies("first", errLost) }, theirs("x", "none")},
		"never tried, because AWS did not answer": {theirs("x", "x"), func(sc scene) {
			sc.declare("a", "b")
			sc.s.answer = map[string]func() error{"first": func() error { return errLost }}
			sc.pass()
			sc.s.has["second"] = "y"
		}, theirs("x", "y")},
		"written beside one that was refused": {theirs("x", "x"), func(sc scene) {
			sc.declare("a", "b")
			sc.refuse()
			sc.pass()
			sc.s.has["second"] = "y"
			sc.pass()
		}, theirs("x", "none")},
		"refused on what Portico made, and set by somebody else": {nil, func(sc scene) {
			sc.declare("a", "b")
			sc.refuse()
			sc.pass()
			sc.s.has = theirs("y", "y")
		}, theirs("y", "none")},
		"the operator died after the creation": {nil, func(sc scene) {
			sc.declare("a", "b")
			sc.dies("second", errCommitted)
		}, theirs("none", "none")},
	} {
		t.Run(name, func(t *testing.T) {
			x := scene{t, &shelf{has: row.has}, bucket()}
			row.until(x)
			x.s.answer = nil
			x.declare("", "")
			x.pass()
			if !maps.Equal(x.s.has, row.want) {
				t.Errorf("there is %v, want %v; status %+v", x.s.has, row.want, x.b.Status.AWSStatus)
			}
			x.s.writes = nil
			x.pass()
			if len(x.s.writes) != 0 || len(x.b.Status.ManagedFields) != 0 || len(x.b.Status.PendingFields) != 0 {
				t.Errorf("it does not rest: wrote %v, status %+v", x.s.writes, x.b.Status.AWSStatus)
			}
		})
	}
}

// A refusal is recorded once; later tries do not write the status.
func TestTheTriesOfARefusedSettingWriteNothing(t *testing.T) {
	x := scene{t, &shelf{has: theirs("x", "none")}, bucket(made)}
	x.declare("a", "b")
	x.refuse()
	x.pass()
	for range 3 {
		before := x.b.DeepCopy()
		pass := engine.NewPass(func(context.Context) error {
			t.Error("a try was saved before it was made")
			return nil
		})
		if err := drive2(x.s).Reconcile(t.Context(), x.b, pass); reasonOf(err) != "AccessDenied" {
			t.Fatal(err)
		}
		if !maps.Equal(before.Status.PendingFields, x.b.Status.PendingFields) ||
			!slices.Equal(before.Status.ManagedFields, x.b.Status.ManagedFields) {
			t.Errorf("the status went from %+v to %+v", before.Status.AWSStatus, x.b.Status.AWSStatus)
		}
	}
}
