package external

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// A routine observation may be outdated: unless it shows "in sync", it is repeated before it counts.
func TestNothingIsDecidedByARoutineLook(t *testing.T) {
	for name, shown := range map[string]*thing{
		"absent": nil, "foreign": {Foreign, "a"}, "another setting": {Ours, "b"},
	} {
		w := &old{world: world{has: &thing{Ours, "a"}, want: "a"}, shown: shown}
		work := drive(&w.world, nil)
		work.Connect = func(context.Context, *v1alpha1.S3Bucket) (Connection[*v1alpha1.S3Bucket, thing], error) {
			return Connection[*v1alpha1.S3Bucket, thing]{Adapter: w}, nil
		}
		b := bucket(made, func(b *v1alpha1.S3Bucket) {
			b.Annotations = map[string]string{v1alpha1.AnnotationAcknowledgeRecreate: "1"}
		})
		if err := work.Reconcile(engine.WithRoutine(t.Context(), true), b, engine.NewPass(nil)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if len(w.writes) != 0 || b.Status.Recreations != 0 || b.Status.ARN == "" {
			t.Errorf("%s: wrote %v, status %+v", name, w.writes, b.Status.AWSStatus)
		}
	}
}

// old answers routine observations with an earlier state.
type old struct {
	world
	shown *thing
}

func (o *old) Observe(ctx context.Context, b *v1alpha1.S3Bucket) (*thing, error) {
	if engine.IsRoutine(ctx) {
		return o.shown, nil
	}
	return o.world.Observe(ctx, b)
}

// refusing is a world in which AWS refuses every creation, or it fails otherwise.
type refusing struct {
	world
	with error
}

func (r *refusing) Plan(*v1alpha1.S3Bucket, *thing) ([]Action, error) {
	return []Action{{Name: "Create", Why: "x", Do: func(context.Context) error { return r.with }}}, nil
}

// Each try of a creation is saved before it is made, and one that AWS refuses leaves no trace of a change.
func TestARefusedCreationChangesNothing(t *testing.T) {
	w := &refusing{with: engine.Blocked("AccessDenied", "denied")}
	work := drive(&w.world, nil)
	work.Connect = func(context.Context, *v1alpha1.S3Bucket) (Connection[*v1alpha1.S3Bucket, thing], error) {
		return Connection[*v1alpha1.S3Bucket, thing]{Adapter: w}, nil
	}
	b := bucket()
	for try := range 3 {
		var during *metav1.Time
		var reserved string
		pass := engine.NewPass(func(context.Context) error {
			during, reserved = b.Status.LastSyncTime, b.Status.AccountID
			return nil
		})
		if err := work.Reconcile(t.Context(), b, pass); reasonOf(err) != "AccessDenied" {
			t.Fatal(err)
		}
		if b.Status.LastSyncTime != nil || b.Status.AccountID != "" { // region and account can be corrected
			t.Errorf("try %d: lastSyncTime %v, account %q though nothing was changed", try, b.Status.LastSyncTime,
				b.Status.AccountID)
		}
		if during == nil || reserved == "" {
			t.Errorf("try %d was not written down before it was made: %v, account %q", try, during, reserved)
		}
		b.Status.ObservedGeneration = b.Generation // as the engine notes the refusal
		meta.SetStatusCondition(&b.Status.Conditions, metav1.Condition{
			Type:   v1alpha1.ConditionStalled,
			Status: metav1.ConditionTrue, Reason: "AccessDenied",
		})
	}
	w.with = errors.New("no answer") // it may have been created: deletion must wait until it is visible
	if err := work.Reconcile(t.Context(), b, engine.NewPass(nil)); err == nil || b.Status.LastSyncTime == nil {
		t.Errorf("after %v lastSyncTime is %v", err, b.Status.LastSyncTime)
	}
}

// retrying is refusing, with a token in each creation.
type retrying struct {
	refusing
	attempts int
}

func (r *retrying) NextAttempt(*v1alpha1.S3Bucket) { r.attempts++ }

// After a refused creation the next one has a new token, unless an earlier one may have succeeded.
func TestANewTokenIsForRefusedCreationsOnly(t *testing.T) {
	denied, lost := engine.Blocked("AccessDenied", "denied"), errors.New("no answer")
	unclear := NotCreated(engine.Wait("Unclear", time.Second, "its token is used up"))
	for name, row := range map[string]struct {
		with     error
		obj      *v1alpha1.S3Bucket
		attempts int
		stamped  bool
	}{
		"refused":                                  {denied, bucket(), 1, false},
		"refused, long after a lost answer":        {denied, bucket(stampedAt(1000 - 91)), 1, false},
		"refused, a moment after a lost answer":    {denied, bucket(young), 0, true},
		"within the time that the note went ahead": {denied, bucket(stampedAt(1000 - 89)), 0, true},
		"no answer":                                {lost, bucket(), 0, true},
		"no answer yet":                            {engine.Wait("Throttled", time.Second, "slow"), bucket(), 0, true},
		"the token is used up":                     {unclear, bucket(stampedAt(1000 - 91)), 1, false},
		"it may be by one that got through":        {unclear, bucket(young), 0, true},
	} {
		w := &retrying{refusing: refusing{with: row.with}}
		work := drive(&w.world, nil)
		work.MaxDuration = 30 * time.Second
		work.Connect = func(context.Context, *v1alpha1.S3Bucket) (Connection[*v1alpha1.S3Bucket, thing], error) {
			return Connection[*v1alpha1.S3Bucket, thing]{Adapter: w}, nil
		}
		before := row.obj.Status.LastSyncTime
		if err := work.Reconcile(t.Context(), row.obj, engine.NewPass(nil)); err == nil || w.attempts != row.attempts {
			t.Errorf("%s: %d new attempts after %v", name, w.attempts, err)
		}
		if after := row.obj.Status.LastSyncTime; (after != nil) != row.stamped {
			t.Errorf("%s: lastSyncTime %v, before it was %v", name, after, before)
		}
	}
}

func stampedAt(seconds int64) func(*v1alpha1.S3Bucket) {
	return func(b *v1alpha1.S3Bucket) { b.Status.LastSyncTime = &metav1.Time{Time: time.Unix(seconds, 0)} }
}

// Recheck is called before anything is created or adopted, and for nothing else.
func TestMarksAreProvenBeforeTheyAreSet(t *testing.T) {
	errOther := errors.New("the namespace is another one")
	for name, row := range map[string]struct {
		has    *thing
		obj    *v1alpha1.S3Bucket
		proven bool
	}{
		"creation":      {nil, bucket(), true},
		"taking back":   {&thing{Earlier, "a"}, bucket(), true},
		"taking over":   {&thing{Offered, "a"}, bucket(adopting), true},
		"changing ours": {&thing{Ours, "b"}, bucket(made), false},
	} {
		w := &world{has: row.has, want: "a"}
		work := drive(w, nil)
		work.Connect = func(context.Context, *v1alpha1.S3Bucket) (Connection[*v1alpha1.S3Bucket, thing], error) {
			return Connection[*v1alpha1.S3Bucket, thing]{Adapter: w, Recheck: func(context.Context) error {
				return errOther
			}}, nil
		}
		err := work.Reconcile(t.Context(), row.obj, engine.NewPass(nil))
		if errors.Is(err, errOther) != row.proven || (len(w.writes) == 0) != row.proven {
			t.Errorf("%s: %v, wrote %v", name, err, w.writes)
		}
	}
}

// A reservation is saved before Recheck is called, because anyone who closes the access to an account looks for
// reservations. It is removed if Recheck fails: an object without a reservation can be deleted without the account.
func TestWhatIsReservedIsProvenAfterwards(t *testing.T) {
	for name, row := range map[string]struct {
		obj     *v1alpha1.S3Bucket
		account string // afterwards
	}{
		"for the first time":                            {bucket(), ""},
		"since an earlier pass, which may have made it": {bucket(func(b *v1alpha1.S3Bucket) { b.Status.AccountID = "1" }), "1"},
	} {
		w, saved := &world{want: "a"}, ""
		work := drive(w, nil)
		work.Connect = func(context.Context, *v1alpha1.S3Bucket) (Connection[*v1alpha1.S3Bucket, thing], error) {
			return Connection[*v1alpha1.S3Bucket, thing]{Adapter: w, Recheck: func(context.Context) error {
				if saved != "1" {
					t.Errorf("%s: proven before it was reserved", name)
				}
				return engine.Blocked("ProviderDeleting", "the provider is going")
			}}, nil
		}
		pass := engine.NewPass(func(context.Context) error { saved = row.obj.Status.AccountID; return nil })
		err := work.Reconcile(t.Context(), row.obj, pass)
		if reasonOf(err) != "ProviderDeleting" || len(w.writes) != 0 || row.obj.Status.AccountID != row.account {
			t.Errorf("%s: %v, wrote %v, account %q", name, err, w.writes, row.obj.Status.AccountID)
		}
	}
}

// waiting is a world whose resource exists and is not ready.
type waiting struct{ world }

func (w *waiting) Plan(*v1alpha1.S3Bucket, *thing) ([]Action, error) {
	return nil, engine.Wait("Creating", time.Second, "AWS is at work")
}

// A resource that is not ready is reported, and not published.
func TestAResourceThatIsNotDoneIsReportedAndNotPublished(t *testing.T) {
	w := &waiting{world{has: &thing{Ours, "a"}}}
	work := drive(&w.world, nil)
	work.Connect = func(context.Context, *v1alpha1.S3Bucket) (Connection[*v1alpha1.S3Bucket, thing], error) {
		return Connection[*v1alpha1.S3Bucket, thing]{Adapter: w}, nil
	}
	work.Publish = func(context.Context, *v1alpha1.S3Bucket, map[string]string) (*v1alpha1.Binding, error) {
		t.Error("published before it was in sync")
		return nil, nil
	}
	b := bucket()
	if err := work.Reconcile(t.Context(), b, engine.NewPass(nil)); reasonOf(err) != "Creating" || b.Status.ARN == "" {
		t.Errorf("%v, status %+v", err, b.Status.AWSStatus)
	}
}

// A name may be blocked for a while after the loss. The later creation is reported as a re-creation.
func TestARecreationThatWasRefusedIsStillOne(t *testing.T) {
	for _, x := range []struct {
		with  error
		notes string
		arn   string // before the second try
	}{
		{NotCreated(engine.Wait("NameBusy", time.Second, "the name is taken")), "Recreated", "arn:thing"},
		{errors.New("no answer"), "Created", ""}, // it may have been created
	} {
		b := bucket(made)
		lost := drive(&world{}, nil)
		lost.Stateful = false
		lost.Connect = func(context.Context, *v1alpha1.S3Bucket) (Connection[*v1alpha1.S3Bucket, thing], error) {
			return Connection[*v1alpha1.S3Bucket, thing]{Adapter: &refusing{with: x.with}}, nil
		}
		if err := lost.Reconcile(t.Context(), b, engine.NewPass(nil)); err == nil || b.Status.ARN != x.arn {
			t.Errorf("%v: status has %q, want %q", err, b.Status.ARN, x.arn)
		}
		again, notes := drive(&world{want: "a"}, nil), engine.NewPass(nil)
		again.Stateful = false
		if err := again.Reconcile(t.Context(), b, notes); err != nil ||
			!strings.Contains(strings.Join(notes.Strings(), "\n"), x.notes) {
			t.Errorf("%v: %v, %q, want %s", x.with, err, notes.Strings(), x.notes)
		}
	}
}
