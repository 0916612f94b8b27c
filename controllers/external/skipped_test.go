package external

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// row is a world of settings, some of which AWS answers with an error. One call writes all differences, and can be
// divided.
type row struct {
	world
	differ  []string         // paths, in the order of the plan
	answers map[string]error // by path
	calls   []string         // the paths of each
	deaf    bool             // writes that are not refused are accepted and have no effect
}

func (r *row) Plan(_ *v1alpha1.S3Bucket, _ *thing) ([]Action, error) {
	var changes []Change
	for _, path := range r.differ {
		c := Change{Path: path, From: "a", To: "b", Guards: strings.HasPrefix(path, "guard")}
		if path == "x" || path == "y" {
			c.Together = "x and y"
		}
		changes = append(changes, c)
	}
	return PlanCall(changes, r.call), nil
}

func (r *row) call(changes []Change) Action {
	return Action{
		Name: "Put", Why: Describe(changes), Changes: changes, Marks: changes[0].Path == "mark",
		Details: changes[0].Path == "secret", Do: func(context.Context) error {
			var paths []string
			for _, c := range changes {
				paths = append(paths, c.Path)
			}
			r.calls = append(r.calls, strings.Join(paths, "+"))
			for _, path := range paths {
				if err := r.answers[path]; err != nil {
					return err
				}
			}
			if r.deaf {
				return nil
			}
			r.differ = slices.DeleteFunc(r.differ, func(path string) bool { return slices.Contains(paths, path) })
			if changes[0].Path == "mark" {
				r.has.owner = Ours
			}
			return nil
		},
	}
}

func (r *row) drive(now *time.Time) Reconciler[*v1alpha1.S3Bucket, thing] {
	work := drive(&r.world, nil)
	work.Now = func() time.Time { return *now }
	work.Connect = func(context.Context, *v1alpha1.S3Bucket) (Connection[*v1alpha1.S3Bucket, thing], error) {
		return Connection[*v1alpha1.S3Bucket, thing]{Adapter: r}, nil
	}
	work.Publish = func(context.Context, *v1alpha1.S3Bucket, map[string]string) (*v1alpha1.Binding, error) {
		return &v1alpha1.Binding{Name: "details"}, nil
	}
	return work
}

// answered is an AWS error that Portico does not know.
type answered struct{ error }

func (answered) Answered() bool { return true }

func TestEachPartFailsAlone(t *testing.T) {
	refused := engine.Blocked("InvalidSpec", "no")
	for name, c := range map[string]struct {
		owner   Owner
		differ  []string
		answers map[string]error
		left    []string
		calls   []string
		said    string
	}{
		"one of three":                    {Ours, []string{"a", "b", "c"}, map[string]error{"b": refused}, []string{"b"}, []string{"a+b+c", "a", "b+c", "b", "c"}, "b: no"},
		"two, each told":                  {Ours, []string{"a", "b", "c"}, map[string]error{"a": refused, "b": refused}, []string{"a", "b"}, []string{"a+b+c", "a", "b+c", "b", "c"}, "a: no; b: no"},
		"what belongs together":           {Ours, []string{"x", "a", "y"}, map[string]error{"y": refused}, []string{"x", "y"}, []string{"x+y+a", "x+y", "a"}, "x, y: no"},
		"what guards comes first":         {Ours, []string{"a", "guard"}, map[string]error{"a": refused}, []string{"a"}, []string{"guard+a", "guard", "a"}, "a: no"},
		"an error that nobody knows":      {Ours, []string{"a"}, map[string]error{"a": answered{errors.New("odd")}}, []string{"a"}, []string{"a"}, "odd"},
		"no answer":                       {Ours, []string{"a"}, map[string]error{"a": errors.New("reset")}, []string{"a"}, []string{"a"}, "reset"},
		"marks come first":                {Offered, []string{"mark", "a"}, nil, nil, []string{"mark+a"}, ""},
		"nothing is changed without them": {Offered, []string{"mark", "a"}, map[string]error{"mark": refused}, []string{"mark", "a"}, []string{"mark+a", "mark"}, "mark: no"},
		"marked, the rest may be refused": {Offered, []string{"mark", "a"}, map[string]error{"a": refused}, []string{"a"}, []string{"mark+a", "mark", "a"}, "a: no"},
	} {
		t.Run(name, func(t *testing.T) {
			r := &row{
				world:  world{has: &thing{owner: c.owner}, declared: []string{"a", "b", "c", "x", "y", "guard"}},
				differ: c.differ, answers: c.answers,
			}
			now := time.Unix(1000, 0)
			b := bucket(made, func(b *v1alpha1.S3Bucket) { b.Spec.AdoptionPolicy = v1alpha1.AdoptionAdopt })
			err := r.drive(&now).Reconcile(t.Context(), b, engine.NewPass(nil))
			if said := errorText(err); said != c.said || !slices.Equal(r.differ, c.left) ||
				!slices.Equal(r.calls, c.calls) {
				t.Errorf("said %q, left %v, calls %v", said, r.differ, r.calls)
			}
		})
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// A refused change is not sent again too early, is named in the status, and does not block the connection details;
// foreign changes meanwhile are repaired, and reported as repairs.
func TestARefusalIsTriedMoreAndMoreSeldom(t *testing.T) {
	r := &row{
		world: world{has: &thing{owner: Ours}, declared: []string{"a", "b"}}, differ: []string{"b"},
		answers: map[string]error{"b": engine.Blocked("InvalidSpec", "no")},
	}
	now := time.Unix(1000, 0)
	b, work, pass := bucket(made), r.drive(&now), engine.NewPass(nil)
	run := func(after time.Duration) error {
		now = now.Add(after)
		pass = engine.NextPass(pass)
		err := work.Reconcile(t.Context(), b, pass)
		b.Status.Ready = err == nil
		return err
	}
	if err := run(0); reasonOf(err) != "InvalidSpec" || b.Status.Binding == nil ||
		!slices.Equal(b.Status.UnappliedFields, []string{"b"}) {
		t.Fatalf("%v, status %+v", err, b.Status.AWSStatus)
	}
	r.differ = []string{"a", "b"}
	if err := run(5 * time.Second); errorText(err) != "b: no" || !slices.Equal(r.calls, []string{"b", "a"}) {
		t.Errorf("%v, calls %v", err, r.calls)
	}
	if notes := pass.Strings(); len(notes) != 1 || !strings.HasPrefix(notes[0], v1alpha1.ReasonRepaired) {
		t.Errorf("the events are %q", notes)
	}
	if err := run(5 * time.Second); errorText(err) != "b: no" || len(r.calls) != 2 {
		t.Errorf("%v, calls %v", err, r.calls)
	}
	if err := run(30 * time.Second); errorText(err) != "b: no" || len(r.calls) != 3 {
		t.Errorf("%v, calls %v", err, r.calls)
	}
	delete(r.answers, "b")
	if err := run(time.Minute); err != nil || len(b.Status.UnappliedFields) > 0 || b.Status.SyncedGeneration != 1 {
		t.Errorf("%v, status %+v", err, b.Status.AWSStatus)
	}
	if notes := pass.Strings(); len(notes) != 1 || !strings.HasPrefix(notes[0], v1alpha1.ReasonUpdated) {
		t.Errorf("what AWS takes at last is told as %q", notes)
	}
}

// Refused tags block every other change, in every pass.
func TestNothingIsChangedWithoutMarksInLaterPassesEither(t *testing.T) {
	r := &row{
		world: world{has: &thing{owner: Offered}, declared: []string{"a"}}, differ: []string{"mark", "a"},
		answers: map[string]error{"mark": engine.Blocked("AccessDenied", "no")},
	}
	now := time.Unix(1000, 0)
	b := bucket(made, func(b *v1alpha1.S3Bucket) { b.Spec.AdoptionPolicy = v1alpha1.AdoptionAdopt })
	work, pass := r.drive(&now), engine.NewPass(nil)
	for range 4 {
		now = now.Add(5 * time.Second)
		if pass = engine.NextPass(pass); reasonOf(work.Reconcile(t.Context(), b, pass)) != "AccessDenied" ||
			!slices.Equal(r.differ, []string{"mark", "a"}) {
			t.Fatalf("left %v, calls %v", r.differ, r.calls)
		}
	}
}

// Connection details that depend on a refused action are not published, and existing ones are kept.
func TestDetailsThatAreRefusedAreNotPublished(t *testing.T) {
	r := &row{
		world:  world{has: &thing{owner: Ours}, declared: []string{"a", "secret"}},
		differ: []string{"a", "secret"}, answers: map[string]error{"secret": engine.Blocked("AccessDenied", "no")},
	}
	now, b := time.Unix(1000, 0), bucket(made)
	if err := r.drive(&now).Reconcile(t.Context(), b, engine.NewPass(nil)); reasonOf(err) != "AccessDenied" ||
		b.Status.Binding != nil || b.Status.SyncedGeneration != 0 {
		t.Errorf("%v, status %+v", err, b.Status.AWSStatus)
	}
}

// The text of several refusals is the same in every pass, whatever was tried.
func TestTheTextOfSeveralRefusalsStands(t *testing.T) {
	r := &row{world: world{has: &thing{owner: Ours}, declared: []string{"a", "guard"}}, differ: []string{"a", "guard"}}
	r.answers = map[string]error{"a": engine.Blocked("InvalidSpec", "no"), "guard": engine.Blocked("InvalidSpec", "no")}
	now := time.Unix(1000, 0)
	b, work, pass := bucket(made), r.drive(&now), engine.NewPass(nil)
	for n := range 6 {
		now = now.Add(20 * time.Second)
		if pass = engine.NextPass(pass); errorText(work.Reconcile(t.Context(), b, pass)) != "a: no; guard: no" {
			t.Errorf("pass %d says something else", n)
		}
	}
}

// An ignored part is reported in the end, even though another one is refused.
func TestAPartThatIsNotKeptIsTold(t *testing.T) {
	r := &row{
		world: world{has: &thing{owner: Ours}, declared: []string{"a", "b"}}, differ: []string{"a", "b"},
		answers: map[string]error{"b": engine.Blocked("InvalidSpec", "no")}, deaf: true,
	}
	now := time.Unix(1000, 0)
	b, work, pass, notes, said := bucket(made), r.drive(&now), engine.NewPass(nil), 0, ""
	for range 16 {
		now = now.Add(3 * time.Minute)
		pass = engine.NextPass(pass)
		said = errorText(work.Reconcile(t.Context(), b, pass))
		notes += len(pass.Strings())
	}
	if !strings.Contains(said, "does not show") || notes > 1 {
		t.Errorf("said %q, %d events", said, notes)
	}
}

// Rejected credentials end the pass: no other call would succeed.
func TestWhatHoldsForTheAccountEndsThePass(t *testing.T) {
	r := &row{
		world: world{has: &thing{owner: Ours}, declared: []string{"a", "b"}}, differ: []string{"a", "b"},
		answers: map[string]error{"a": engine.Blocked(v1alpha1.ReasonCredentialsRejected, "renew them")},
	}
	now := time.Unix(1000, 0)
	if err := r.drive(&now).Reconcile(t.Context(), bucket(made), engine.NewPass(nil)); errorText(err) != "renew them" ||
		len(r.calls) != 1 {
		t.Errorf("%v, calls %v", err, r.calls)
	}
}
