//go:build integration

package integration

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// A machine is launched and its object deleted before EC2 shows it. It runs and costs money: the object must stay
// until it is terminated.
func TestAMachineThatDoesNotShowYetIsNotLeftBehind(t *testing.T) {
	c := admin(t)
	startOperator(t, operatorOptions{timeScale: 1})
	world.Proxy.HideYoungInstances(time.Hour)
	defer world.Proxy.HideYoungInstances(0)
	m := machineOf(team(t, c), "hasty")
	create(t, c, m)
	reason(t, c, m, "Creating")
	id := m.Status.InstanceID
	if err := erase(t, c, m); err != nil {
		t.Fatal(err)
	}
	if got := reason(t, c, m, "Settling"); !strings.Contains(got.Message, "waits until it surely would") {
		t.Errorf("message %q", got.Message)
	}
	if left := machinesWith(t, "instance-id", id); len(left) != 1 {
		t.Fatalf("%d machines", len(left))
	}
	world.Proxy.HideYoungInstances(0)
	annotate(t, c, m, v1alpha1.AnnotationReconcileRequestedAt, "1")
	awaitGone(t, c, m)
	if left := machinesWith(t, "instance-id", id); len(left) != 0 {
		t.Errorf("%d machines are left", len(left))
	}
}

// A former machine is tagged, and EC2 shows its former tags for minutes: no second one is launched, and it is not
// left behind if its object is deleted meanwhile.
func TestAMachineThatIsTakenBackIsKnownBeforeItsTagsShow(t *testing.T) {
	c := admin(t)
	ns := team(t, c)
	m := machineOf(ns, "again")
	var id string
	t.Run("its first life", func(t *testing.T) {
		startOperator(t, operatorOptions{})
		m.Spec.DeletionPolicy = v1alpha1.DeletionRetain
		createReady(t, c, m)
		id = m.Status.InstanceID
		gone(t, c, m)
	})
	startOperator(t, operatorOptions{timeScale: 1})
	end := world.Proxy.HoldTags()
	defer end()
	m = machineOf(ns, "again")
	create(t, c, m)
	await(t, "the machine to be marked", func() (bool, string) {
		return len(machinesWith(t, "tag:portico.dev/uid", string(m.UID))) == 1, "not yet"
	})
	for n := range 3 {
		annotate(t, c, m, v1alpha1.AnnotationReconcileRequestedAt, fmt.Sprint(n))
		reason(t, c, m, "Settling")
	}
	if all := machinesWith(t, "tag:portico.dev/namespace", ns); len(all) != 1 || m.Status.InstanceID != id {
		t.Errorf("%d machines, and the object has %s, not %s", len(all), m.Status.InstanceID, id)
	}
	if err := erase(t, c, m); err != nil {
		t.Fatal(err)
	}
	reason(t, c, m, "Settling")
	end()
	annotate(t, c, m, v1alpha1.AnnotationReconcileRequestedAt, "again")
	awaitGone(t, c, m)
	if left := machinesWith(t, "instance-id", id); len(left) != 0 {
		t.Errorf("%d machines are left", len(left))
	}
}

// EC2 accepts a termination, reports that the machine does not exist, and lets it run: the object stays until that is
// impossible.
func TestAMachineWhoseTerminationIsLostIsNotLeftBehind(t *testing.T) {
	c := admin(t)
	startOperator(t, operatorOptions{timeScale: .02}) // five minutes take six seconds
	m := machineOf(team(t, c), "undead")
	createReady(t, c, m)
	id := m.Status.InstanceID
	await(t, "a machine that is old", func() (bool, string) {
		return time.Since(m.Status.LastSyncTime.Time) > 7*time.Second, "young"
	})
	end := world.Proxy.LoseTerminations()
	defer end()
	if err := erase(t, c, m); err != nil {
		t.Fatal(err)
	}
	reason(t, c, m, "Settling")
	end()
	awaitGone(t, c, m)
	if left := machinesWith(t, "instance-id", id); len(left) != 0 {
		t.Errorf("%d machines are left", len(left))
	}
}

// The advice in a refusal works, although EC2 ties the token of the refused launch to its type.
func TestAnotherTypeIsLaunchedAfterOneThatIsNotToBeHad(t *testing.T) {
	c := admin(t)
	startOperator(t, operatorOptions{timeScale: 1})
	defer world.Proxy.ExhaustCapacity("t3.nano")()
	m := machineOf(team(t, c), "scarce", func(s *v1alpha1.EC2InstanceSpec) { s.InstanceType = "t3.nano" })
	create(t, c, m)
	if got := reason(t, c, m, "InsufficientCapacity"); !strings.Contains(got.Message, "Choose another instanceType") {
		t.Errorf("message %q", got.Message)
	}
	edit(t, c, m, func(m *v1alpha1.EC2Instance) { m.Spec.InstanceType = "t3.small" })
	ready(t, c, m)
	if got := machinesWith(t, "tag:portico.dev/uid", string(m.UID)); len(got) != 1 ||
		got[0].InstanceType != ec2types.InstanceTypeT3Small {
		t.Errorf("%d machines", len(got))
	}
}

// A new profile is waited for, at the launch and later; the machine gets it as soon as EC2 knows it.
func TestAMachineWaitsForANewInstanceProfile(t *testing.T) {
	c := withOperator(t)
	ns, p := team(t, c), account(t, c, "230000000078")
	s := sharedAccount{t, ec2.NewFromConfig(outsideConfig(t, p.Name)), iam.NewFromConfig(outsideConfig(t, p.Name))}
	world.Proxy.DelayProfiles(time.Minute)
	defer world.Proxy.DelayProfiles(0)
	first, second := ns+"-first", ns+"-second"
	s.profile(first, ns)
	m := machineOf(ns, "worker", func(spec *v1alpha1.EC2InstanceSpec) {
		spec.ProviderRef.Name, spec.IAMInstanceProfile = p.Name, first
	})
	create(t, c, m)
	if got := reason(t, c, m, "Settling"); !strings.Contains(
		got.Message, first+" was created a moment ago, and EC2 does not know it yet") {
		t.Errorf("%q", got.Message)
	}
	world.Proxy.DelayProfiles(0)
	wakeNow(t, c, m)
	ready(t, c, m)
	world.Proxy.DelayProfiles(time.Minute)
	s.profile(second, ns)
	edit(t, c, m, func(m *v1alpha1.EC2Instance) { m.Spec.IAMInstanceProfile = second })
	reason(t, c, m, "Settling")
	world.Proxy.DelayProfiles(0)
	wakeNow(t, c, m)
	ready(t, c, m)
	gone(t, c, m)
}
