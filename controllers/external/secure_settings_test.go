package external

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"testing"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// door is a shelf whose first setting is safe while it is none.
type door struct {
	shelf
	owner Owner
}

func doorSettings() []Setting[*v1alpha1.S3Bucket, map[string]string] {
	all := settings()
	all[0].Safe = true
	return all
}

func (d *door) SafePaths(_ *v1alpha1.S3Bucket, seen *map[string]string) []string {
	return SafePaths(doorSettings(), seen)
}

func (d *door) Owner(*v1alpha1.S3Bucket, *map[string]string) Owner { return d.owner }

func (d *door) Plan(b *v1alpha1.S3Bucket, seen *map[string]string) ([]Action, error) {
	if seen == nil {
		return d.shelf.Plan(b, nil)
	}
	var actions []Action
	if d.owner != Ours {
		actions = append(actions, Action{Name: "Tag", Why: "it is taken", Do: func(context.Context) error {
			d.owner = Ours
			return nil
		}})
	}
	if changes := Changes(doorSettings(), b, seen); len(changes) > 0 {
		actions = append(actions, Action{
			Name: "Put", Why: Describe(changes), Changes: changes,
			Do: func(context.Context) error {
				return d.write(changes[0].Path, func() {
					for _, c := range changes {
						d.has[c.Path] = c.To
					}
				})
			},
		})
	}
	return actions, nil
}

func (d *door) pass(t *testing.T, b *v1alpha1.S3Bucket) error {
	t.Helper()
	work := drive2(&d.shelf)
	work.Connect = func(context.Context, *v1alpha1.S3Bucket) (Connection[*v1alpha1.S3Bucket, map[string]string],
		error,
	) {
		return Connection[*v1alpha1.S3Bucket, map[string]string]{Adapter: d}, nil
	}
	return work.Reconcile(t.Context(), b, engine.NewPass(nil))
}

// declare sets the first setting; "" withdraws it.
func (d *door) declare(t *testing.T, b *v1alpha1.S3Bucket, value string) {
	t.Helper()
	b.Spec.Tags = nil
	if value != "" {
		b.Spec.Tags = v1alpha1.Tags{"first": v1alpha1.TagValue(value)}
	}
	b.Generation++
	if err := d.pass(t, b); err != nil {
		t.Fatal(err)
	}
}

// A setting that Portico keeps safe is restored when somebody opens it; others stay as they are.
func TestWhatIsSafeStaysSo(t *testing.T) {
	for name, row := range map[string]struct {
		has   map[string]string // nil: Portico creates it
		owner Owner             // Ours, if not given
		obj   *v1alpha1.S3Bucket
		until func(*testing.T, *door, *v1alpha1.S3Bucket) // after the first pass
		kept  bool
	}{
		"made by Portico":                       {obj: bucket(), kept: true},
		"made by Portico, and ready to take":    {obj: bucket(adopting), kept: true},
		"there since an earlier version":        {has: theirs("none", "none"), obj: bucket(made), kept: true},
		"that may have been adopted":            {has: theirs("none", "none"), obj: bucket(made, adopting)},
		"open since an earlier version":         {has: theirs("open", "none"), obj: bucket(made)},
		"taken back":                            {has: theirs("none", "none"), owner: Earlier, obj: bucket(), kept: true},
		"taken back open":                       {has: theirs("open", "none"), owner: Earlier, obj: bucket()},
		"adopted":                               {has: theirs("none", "none"), owner: Offered, obj: bucket(adopting)},
		"adopted, though a creation was noted":  {has: theirs("open", "none"), owner: Offered, obj: bucket(adopting, func(b *v1alpha1.S3Bucket) { b.Status.SafeFields = []string{"first"} })},
		"adopted, and declared":                 {has: theirs("open", "none"), owner: Offered, obj: bucket(adopting), until: declared("none"), kept: true},
		"adopted, and declared open for a time": {has: theirs("none", "none"), owner: Offered, obj: bucket(adopting), until: declared("open"), kept: true},
		"made, and declared open for a time":    {obj: bucket(), until: declared("open"), kept: true},
	} {
		t.Run(name, func(t *testing.T) {
			before := row.has["first"]
			d := &door{shelf: shelf{has: row.has}, owner: cmp.Or(row.owner, Ours)}
			if err := d.pass(t, row.obj); err != nil {
				t.Fatal(err)
			}
			if row.has != nil && d.has["first"] != before {
				t.Errorf("the first pass made %s of %s", d.has["first"], before)
			}
			if row.until != nil {
				row.until(t, d, row.obj)
			}
			d.has["first"] = "open"
			if err := d.pass(t, row.obj); err != nil {
				t.Fatal(err)
			}
			if closed := d.has["first"] == "none"; closed != row.kept ||
				slices.Contains(row.obj.Status.SafeFields, "first") != row.kept {
				t.Errorf("closed again: %v; status %+v", closed, row.obj.Status.AWSStatus)
			}
			if got := row.obj.Status.ManagedFields; len(got) != 0 {
				t.Errorf("managed fields %v", got)
			}
		})
	}
}

// declared declares a value and withdraws it.
func declared(value string) func(*testing.T, *door, *v1alpha1.S3Bucket) {
	return func(t *testing.T, d *door, b *v1alpha1.S3Bucket) {
		t.Helper()
		d.declare(t, b, value)
		if d.has["first"] != value {
			t.Fatalf("declared %s, and there is %v", value, d.has)
		}
		d.declare(t, b, "")
		if !maps.Equal(d.has, theirs("none", "none")) {
			t.Fatalf("withdrawn, and there is %v", d.has)
		}
	}
}

// A setting that is opened between a creation and the first observation, with a crash in between, is closed again.
func TestWhatIsMadeIsNotedAsSafeBefore(t *testing.T) {
	d, b := &door{owner: Ours}, bucket()
	var saved *v1alpha1.S3Bucket
	pass := engine.NewPass(func(context.Context) error { saved = b.DeepCopy(); return nil })
	work := drive2(&d.shelf)
	work.Connect = func(context.Context, *v1alpha1.S3Bucket) (Connection[*v1alpha1.S3Bucket, map[string]string],
		error,
	) {
		return Connection[*v1alpha1.S3Bucket, map[string]string]{Adapter: d}, nil
	}
	if err := work.Reconcile(t.Context(), b, pass); err != nil || saved == nil {
		t.Fatalf("%v; saved %v", err, saved)
	}
	d.has["first"] = "open"
	if err := d.pass(t, saved); err != nil || d.has["first"] != "none" {
		t.Errorf("%v; there is %v", err, d.has)
	}
}

// A refused repair is not forgotten: the next observations, which are not audits, must find it too.
func TestARefusedRepairIsReadAgain(t *testing.T) {
	d, b := &door{owner: Ours}, bucket()
	if err := d.pass(t, b); err != nil {
		t.Fatal(err)
	}
	d.has["first"] = "open"
	d.answer = map[string]func() error{"first": func() error { return errRefused }}
	if err := d.pass(t, b); reasonOf(err) != "AccessDenied" || !slices.Equal(ManagedBy(b).Paths(), []string{"first"}) {
		t.Errorf("%v; to be read %v", err, ManagedBy(b).Paths())
	}
	d.answer = nil
	if err := d.pass(t, b); err != nil || d.has["first"] != "none" || len(b.Status.ManagedFields) != 0 {
		t.Errorf("%v; there is %v, managed %v", err, d.has, b.Status.ManagedFields)
	}
}

// Only audits read what costs an extra call, and only where it is kept safe or may be in future.
func TestOnlyAuditsCompareWhatIsSafe(t *testing.T) {
	keeping := bucket(adopting, func(b *v1alpha1.S3Bucket) { b.Status.SafeFields = []string{"first"} })
	for name, row := range map[string]struct {
		obj   *v1alpha1.S3Bucket
		audit bool
		want  bool
	}{
		"an audit":                         {bucket(), true, true},
		"another look":                     {bucket(), false, false},
		"an audit of what was adopted":     {bucket(adopting), true, false},
		"an audit of what is kept":         {keeping, true, true},
		"another look at what is kept":     {keeping, false, false},
		"an audit of what is only watched": {bucket(func(b *v1alpha1.S3Bucket) { b.Spec.ManagementPolicy = v1alpha1.ManagementObserve }), true, false},
	} {
		if got := AuditsSafe(engine.WithAudit(t.Context(), row.audit), row.obj, []string{"first"}); got != row.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
