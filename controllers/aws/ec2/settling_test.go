package ec2

import (
	"context"
	"testing"
	"time"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
)

// life runs whole passes on one object, with its own clock.
type life struct {
	f   *fakeEC2
	obj *v1alpha1.EC2Instance
	now time.Time
}

func lifeOf(f *fakeEC2, obj *v1alpha1.EC2Instance) *life {
	return &life{f: f, obj: obj, now: time.Unix(1_700_000_000, 0)}
}

func (l *life) work() external.Reconciler[*v1alpha1.EC2Instance, instanceState] {
	return external.Reconciler[*v1alpha1.EC2Instance, instanceState]{
		Kind: "EC2Instance", Stateful: true, Settling: Settling, MaxDuration: time.Minute, Now: func() time.Time {
			return l.now
		},
		Connect: func(context.Context, *v1alpha1.EC2Instance) (
			external.Connection[*v1alpha1.EC2Instance, instanceState], error,
		) {
			return external.Connection[*v1alpha1.EC2Instance, instanceState]{Adapter: adapterOf(l.f)}, nil
		},
	}
}

func (l *life) sync(t *testing.T) error {
	t.Helper()
	return l.work().Reconcile(t.Context(), l.obj, engine.NewPass(nil))
}

func (l *life) release(t *testing.T) error {
	t.Helper()
	l.obj.DeletionTimestamp = &metav1.Time{Time: l.now}
	return l.work().Finalize(t.Context(), l.obj, engine.NewPass(nil))
}

func (l *life) passes(d time.Duration) { l.now = l.now.Add(d) }

// A machine that runs and is billed must not be left behind because EC2 does not show it yet.
func TestAYoungMachineNeverStaysBehind(t *testing.T) {
	for _, policy := range []v1alpha1.DeletionPolicy{v1alpha1.DeletionDelete, v1alpha1.DeletionStop} {
		for name, seen := range map[string]bool{"never seen": false, "seen once": true} {
			f := &fakeEC2{young: !seen}
			l := lifeOf(f, objectOf(func(s *v1alpha1.EC2InstanceSpec) { s.DeletionPolicy = policy }))
			if err := l.sync(t); (err == nil) != seen {
				t.Fatalf("%s: %v", name, err)
			}
			f.young = true
			l.passes(4*time.Minute + 59*time.Second)
			wantPause(t, l.release(t), "Settling", "waits until it surely would")
			f.young = false
			if err := l.release(t); policy == v1alpha1.DeletionDelete && err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if now := f.last().vm.State.Name; now != ec2types.InstanceStateNameTerminated &&
				now != ec2types.InstanceStateNameStopped {
				t.Errorf("%s, %s: the machine is %s", policy, name, now)
			}
		}
	}
}

// The response to the termination comes from a part of EC2 that does not know the machine yet.
func TestATerminationThatIsDeniedIsNoEnd(t *testing.T) {
	f := &fakeEC2{}
	l := lifeOf(f, objectOf())
	if err := l.sync(t); err != nil {
		t.Fatal(err)
	}
	f.refuse = map[string]error{"TerminateInstances": code("InvalidInstanceID.NotFound")}
	wantPause(t, l.release(t), "Deleting")
	f.refuse, f.slow = nil, true
	wantPause(t, l.release(t), "Deleting")
	f.young = true
	wantPause(t, l.release(t), "Settling")
	f.young = false
	f.finish()
	if err := l.release(t); err != nil {
		t.Error(err)
	}
}

// EC2 accepts the termination of an old instance and at once reports that it does not exist: it may still run, and be
// billed, for as long as a new one.
func TestAnAcceptedTerminationIsNoEndForAWhile(t *testing.T) {
	f := &fakeEC2{slow: true}
	l := lifeOf(f, objectOf())
	wantPause(t, l.sync(t), "Pending")
	f.finish()
	if err := l.sync(t); err != nil {
		t.Fatal(err)
	}
	l.passes(24 * time.Hour)
	wantPause(t, l.release(t), "Deleting")
	f.young = true
	l.passes(4*time.Minute + 59*time.Second)
	wantPause(t, l.release(t), "Settling", "waits until it surely would")
	l.passes(2 * time.Second) // times of a status may be a second old
	if err := l.release(t); err != nil {
		t.Error(err)
	}
}

func TestAMachineThatIsUnknownForLongIsGone(t *testing.T) {
	for name, young := range map[string]bool{"seen once": false, "never seen": true} {
		f := &fakeEC2{young: young}
		l := lifeOf(f, objectOf())
		if err := l.sync(t); (err != nil) != young {
			t.Fatal(err)
		}
		f.young = true
		l.passes(Settling + time.Minute + time.Second)
		if err := l.release(t); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The launch succeeded, and its instance was terminated outside at once: EC2 shows that, so there is nothing to wait
// for.
func TestTheEndOfAYoungMachineIsBelieved(t *testing.T) {
	f := &fakeEC2{}
	l := lifeOf(f, objectOf())
	if err := l.sync(t); err != nil {
		t.Fatal(err)
	}
	f.last().to(ec2types.InstanceStateNameTerminated)
	wantPause(t, l.sync(t), "ExternallyDeleted")
	if err := l.release(t); err != nil {
		t.Error(err)
	}
}

// The response to the launch is lost, and EC2 shows the machine before its tags.
func TestAMachineWithoutItsTagsYetIsNotForeign(t *testing.T) {
	f := &fakeEC2{lose: true, bare: true}
	l := lifeOf(f, objectOf())
	if err := l.sync(t); err == nil {
		t.Fatal("the answer was not lost")
	}
	f.lose = false
	wantPause(t, l.sync(t), "Settling", "ownership tags")
	wantPause(t, l.release(t), "Settling", "ownership tags")
	l.obj.DeletionTimestamp, f.bare = nil, false
	if err := l.sync(t); err != nil || len(f.machines) != 1 || l.obj.Status.InstanceID != *f.last().vm.InstanceId {
		t.Errorf("%v, %d machines", err, len(f.machines))
	}
}

// EC2 remembers a refused launch by its token. Following our own advice, another type, must be possible.
func TestAnotherTypeCanBeChosenAfterARefusal(t *testing.T) {
	f := &fakeEC2{lacks: []ec2types.InstanceType{"t3.micro"}}
	l := lifeOf(f, objectOf())
	wantPause(t, l.sync(t), "InsufficientCapacity", "Choose another instanceType")
	wantPause(t, l.sync(t), "InsufficientCapacity")
	l.obj.Spec.InstanceType = "t3.large"
	if err := l.sync(t); err != nil || len(f.machines) != 1 || f.last().vm.InstanceType != "t3.large" {
		t.Errorf("%v, %d machines", err, len(f.machines))
	}
}

// A launch whose response was lost may still show later: neither a refusal nor an edit may launch a second machine.
func TestALostLaunchIsNotMadeAnewWhileItMayShow(t *testing.T) {
	f := &fakeEC2{lose: true}
	l := lifeOf(f, objectOf())
	if err := l.sync(t); err == nil {
		t.Fatal("the answer was not lost")
	}
	f.lose, f.young = false, true
	l.passes(time.Minute)
	f.refuse = map[string]error{"RunInstances": code("UnauthorizedOperation")}
	wantPause(t, l.sync(t), "AccessDenied")
	f.refuse = nil
	l.obj.Spec.InstanceType = "t3.large"
	wantPause(t, l.sync(t), "LaunchUnclear")
	l.passes(4 * time.Minute)
	wantPause(t, l.sync(t), "LaunchUnclear")
	f.young = false
	if err := l.sync(t); err != nil && len(f.machines) != 1 {
		t.Errorf("%v, %d machines", err, len(f.machines))
	}
}

// A process that died after a refusal and before recording it leaves a token that is used up and has no machine.
func TestATokenThatIsUsedUpIsReplaced(t *testing.T) {
	f := &fakeEC2{lacks: []ec2types.InstanceType{"t3.micro"}}
	l := lifeOf(f, objectOf())
	died := l.obj.DeepCopy()
	died.Status.AccountID, died.Status.LastSyncTime = account, &metav1.Time{Time: l.now}
	wantPause(t, l.sync(t), "InsufficientCapacity")
	l.obj = died
	l.obj.Spec.InstanceType = "t3.large"
	wantPause(t, l.sync(t), "LaunchUnclear")
	l.passes(Settling + time.Minute + time.Second)
	wantPause(t, l.sync(t), "LaunchUnclear")
	if err := l.sync(t); err != nil || len(f.machines) != 1 {
		t.Errorf("%v, %d machines", err, len(f.machines))
	}
}
