package engine

import (
	"errors"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/portico-platform/portico/api/v1alpha1"
)

func recorded() *v1alpha1.S3Bucket {
	return &v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "b", UID: "1", Generation: 1}}
}

func TestAPassIsRoutineOnlyIfNothingButTimeCallsForIt(t *testing.T) {
	for name, row := range map[string]struct {
		last   passResult
		change func(*v1alpha1.S3Bucket)
		at     time.Time
		want   bool
	}{
		"its time has come":   {want: true},
		"before its time":     {at: noon.Add(time.Minute)},
		"the last one waited": {last: passResult{at: noon, reason: "Creating", next: time.Hour}},
		"the last one failed": {last: passResult{at: noon, reason: v1alpha1.ReasonFailed, failed: true}},
		"the spec was edited": {change: func(b *v1alpha1.S3Bucket) { b.Generation = 2 }},
		"somebody asked": {change: func(b *v1alpha1.S3Bucket) {
			b.Annotations = map[string]string{v1alpha1.AnnotationReconcileRequestedAt: "x"}
		}},
		"another object of the name": {change: func(b *v1alpha1.S3Bucket) { b.UID = "2" }},
	} {
		r, obj := &Records{}, recorded()
		if row.last.reason == "" {
			row.last = passResult{at: noon, reason: v1alpha1.ReasonInSync, next: time.Hour}
		}
		if row.at.IsZero() {
			row.at = noon.Add(time.Hour)
		}
		r.add("S3Bucket", obj, row.last)
		if row.change != nil {
			row.change(obj)
		}
		if got := r.routine("S3Bucket", obj, row.at); got != row.want {
			t.Errorf("%s: routine is %v", name, got)
		}
	}
	if (&Records{}).routine("S3Bucket", recorded(), noon) || (*Records)(nil).routine("S3Bucket", recorded(), noon) {
		t.Error("a first pass is routine")
	}
}

func TestAuditsAreMadeInTimeAndOnRequest(t *testing.T) {
	ok := passResult{reason: v1alpha1.ReasonInSync, next: time.Hour}
	audited, amiss := ok, passResult{reason: "AccessDenied", audit: true, next: time.Minute}
	audited.audit = true
	after := func(minutes int, pass passResult) passResult {
		pass.at = noon.Add(time.Duration(minutes) * time.Minute)
		return pass
	}
	for name, row := range map[string]struct {
		passes []passResult
		change func(*v1alpha1.S3Bucket)
		at     int // minutes after noon
		want   bool
	}{
		"its time has come": {passes: []passResult{after(0, ok)}, at: 60, want: true},
		"before its time":   {passes: []passResult{after(0, ok)}, at: 59},
		"somebody asked": {passes: []passResult{after(0, ok)}, at: 1, want: true, change: func(b *v1alpha1.S3Bucket) {
			b.Annotations = map[string]string{v1alpha1.AnnotationReconcileRequestedAt: "x"}
		}},
		"an edit":                                     {passes: []passResult{after(0, ok)}, at: 1, change: func(b *v1alpha1.S3Bucket) { b.Generation = 2 }},
		"edits all the time":                          {passes: []passResult{after(0, ok), after(30, ok), after(55, ok)}, at: 61, want: true},
		"edits all the time since an audit":           {passes: []passResult{after(0, ok), after(30, audited), after(55, ok)}, at: 61},
		"the last one found something amiss":          {passes: []passResult{after(0, ok), after(30, amiss)}, at: 31, want: true},
		"it is right again":                           {passes: []passResult{after(0, ok), after(30, amiss), after(31, audited)}, at: 32},
		"the first one after a start found something": {passes: []passResult{after(0, amiss)}, at: 1, want: true},
	} {
		r, obj := &Records{}, recorded()
		for _, pass := range row.passes {
			r.add("S3Bucket", obj, pass)
		}
		if row.change != nil {
			row.change(obj)
		}
		if got := r.audit("S3Bucket", obj, noon.Add(time.Duration(row.at)*time.Minute), time.Hour); got != row.want {
			t.Errorf("%s: an audit is %v", name, got)
		}
	}
}

// After a restart an object in sync waits for its audit; one that was Ready and is not is audited at once.
func TestTheFirstPassAuditsOnlyWhatIsAmiss(t *testing.T) {
	for name, row := range map[string]struct {
		wasReady, ready, want bool
	}{
		"new":             {false, false, false},
		"in sync":         {true, true, false},
		"not any more so": {true, false, true},
	} {
		obj := recorded()
		obj.Status.Ready = row.ready
		if row.wasReady {
			obj.Status.FirstReadyTime = &metav1.Time{Time: noon}
		}
		if got := (&Reconciler[*v1alpha1.S3Bucket]{Kind: "S3Bucket", Records: &Records{}}).isAudit(
			obj); got != row.want {
			t.Errorf("%s: an audit is %v", name, got)
		}
	}
}

func TestRecordsTellOfPlansAndFailures(t *testing.T) {
	r, obj := &Records{}, recorded()
	key := client.ObjectKeyFromObject(obj)
	r.add("S3Bucket", obj, passResult{at: noon, reason: v1alpha1.ReasonFailed, failed: true, plan: []PlannedAction{
		{Name: "CreateBucket (bucket b)"},
	}})
	r.add("S3Bucket", obj, passResult{at: noon.Add(time.Minute), reason: v1alpha1.ReasonFailed, failed: true})
	one, _ := r.Get("S3Bucket", key)
	if one.Passes != 2 || one.Failures != 2 || one.NextCheck != nil {
		t.Errorf("after two failures: Passes = %d, Failures = %d, NextCheck = %v, want 2, 2, none",
			one.Passes, one.Failures, one.NextCheck)
	}
	if one.LastPlan == nil || one.LastPlan.At != noon {
		t.Errorf("after two failures: LastPlan = %+v, want that of %s", one.LastPlan, noon)
	}
	r.add("S3Bucket", obj, passResult{at: noon.Add(2 * time.Minute), reason: v1alpha1.ReasonInSync, next: time.Hour})
	if one, _ = r.Get("S3Bucket", key); one.Failures != 0 || !one.NextCheck.Equal(noon.Add(62*time.Minute)) ||
		one.LastPlan == nil {
		t.Errorf("after success: %+v", one)
	}
	other := recorded()
	other.Name = "a"
	r.add("S3Bucket", other, passResult{at: noon, reason: v1alpha1.ReasonInSync})
	if all := r.All(nil); len(all) != 2 || all[0].Name != "a" {
		t.Errorf("all: %+v", all)
	}
	if some := r.All(func(x Record) bool { return x.Name == "b" }); len(some) != 1 {
		t.Errorf("some: %+v", some)
	}
	for _, p := range ownPredicates(r, "S3Bucket") { // as controller-runtime calls them
		if !p.Delete(event.DeleteEvent{Object: obj}) {
			break
		}
	}
	if _, ok := r.Get("S3Bucket", key); ok {
		t.Error("what is gone is still on record")
	}
}

func TestTheEngineMarksRoutinePasses(t *testing.T) {
	b := newBench(t, nil)
	b.loop.Records = &Records{}
	now := noon
	b.loop.Schedule.Now = func() time.Time { return now }
	b.pass(nil)
	if b.work.routine {
		t.Error("the first pass is routine")
	}
	now = now.Add(2 * time.Hour)
	b.pass(nil)
	if !b.work.routine {
		t.Error("a pass whose time has come is not routine")
	}
	b.pass(errors.New("x"))
	if one, ok := b.loop.Records.Get("S3Bucket", b.key); !ok || one.Failures != 1 ||
		one.Reason != v1alpha1.ReasonFailed {
		t.Errorf("record %+v", one)
	}
}

func TestALookThatIsNotRoutineIsRemembered(t *testing.T) {
	b := newBench(t, nil)
	b.loop.Records = &Records{}
	now := noon
	b.loop.Schedule.Now = func() time.Time { return now }
	b.pass(nil)
	now = now.Add(2 * time.Hour)
	b.pass(nil) // routine
	if !b.work.routine || !b.work.lastLook.Equal(noon) {
		t.Errorf("routine %v, last look %s, want that of the pass before", b.work.routine, b.work.lastLook)
	}
}

func TestTheAuditIntervalIsTheObjectsToChoose(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"": time.Hour, "10m": 10 * time.Minute, "1s": time.Hour,
		"soon": time.Hour,
	} {
		r, b := &Reconciler[*v1alpha1.S3Bucket]{Schedule: Schedule{Resync: time.Hour}}, recorded()
		b.Annotations = map[string]string{v1alpha1.AnnotationAuditInterval: text}
		notes := &Events{}
		if got := r.scheduleFor(b, notes).Resync; got != want {
			t.Errorf("%q gives %s, want %s", text, got, want)
		}
		wrong := text == "1s" || text == "soon"
		if told := strings.Contains(strings.Join(notes.Strings(), ""), "InvalidAnnotation"); told != wrong {
			t.Errorf("%q: told %v", text, notes.Strings())
		}
	}
}
