package ec2

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
)

// wantPause fails unless err is a WaitError with this reason, whose text contains these parts.
func wantPause(t *testing.T, err error, reason string, parts ...string) {
	t.Helper()
	wait, ok := engine.AsWait(err)
	if !ok || wait.Reason != reason {
		t.Fatalf("got %v, want %s", err, reason)
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("%s: %q does not speak of %q", reason, err, p)
		}
	}
}

// launchOne launches obj's instance, without reporting it.
func launchOne(t *testing.T, a *instance, obj *v1alpha1.EC2Instance) {
	t.Helper()
	if err := a.launch(obj).Do(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func deleting(obj *v1alpha1.EC2Instance) {
	now := metav1.Now()
	obj.DeletionTimestamp = &now
}

func TestAPlainInstanceTakesFourCallsAndRestsWithOne(t *testing.T) {
	f := &fakeEC2{}
	a, obj := adapterOf(f), objectOf()
	if err := settle(t, f, a, obj); err != nil {
		t.Fatal(err)
	}
	if want := []string{"DescribeInstances", "DescribeImages", "RunInstances", "DescribeInstances"}; !slices.Equal(
		f.calls, want) {
		t.Errorf("calls %v, want %v", f.calls, want)
	}
	if s := obj.Status; s.InstanceID == "" || !strings.HasSuffix(s.ARN, ":instance/"+s.InstanceID) ||
		s.LaunchTime.Nanosecond() != 0 {
		t.Errorf("status %+v", s)
	}
	if m := f.last().vm.MetadataOptions; m.HttpTokens != ec2types.HttpTokensStateRequired {
		t.Error("IMDSv2 is not required")
	}
	f.calls = nil
	observe(t, a, obj)
	if !slices.Equal(f.calls, []string{"DescribeInstances"}) {
		t.Errorf("a look took %v", f.calls)
	}
}

func TestWhatABatchDoesNotShowIsReadAlone(t *testing.T) {
	f := &fakeEC2{}
	a, obj := adapterOf(f), objectOf(full)
	if err := settle(t, f, a, obj); err != nil {
		t.Fatal(err)
	}
	f.hidden = true
	if seen := observe(t, a, obj); seen == nil || len(seen.volumes) != 2 {
		t.Errorf("seen %+v", seen)
	}
	f.machines = nil
	if observe(t, a, obj) != nil {
		t.Error("EC2's own word was not taken")
	}
}

// EC2 accepts 200 values in all filters of a call together.
func TestASearchOfManyKeepsToTheLimitOfValues(t *testing.T) {
	f := &fakeEC2{}
	s := adapterOf(f).svc
	keys := make([]ownerKey, s.byName.Most)
	for n := range keys {
		keys[n] = ownerKey{"cluster", "EC2Instance", fmt.Sprint("namespace-", n), fmt.Sprint("name-", n)}
	}
	if _, err := s.readByName(t.Context(), keys); err != nil || f.values > 200 {
		t.Errorf("%v, %d values", err, f.values)
	}
}

func TestTheEndIsSeen(t *testing.T) {
	f := &fakeEC2{slow: true}
	a, obj := adapterOf(f), objectOf()
	if err := settle(t, f, a, obj); err == nil {
		t.Error("a starting instance is in sync")
	}
	f.last().to(ec2types.InstanceStateNameShuttingDown)
	if observe(t, a, obj) != nil {
		t.Error("one that is being terminated outside is still there")
	}
	deleting(obj)
	if observe(t, a, obj) == nil {
		t.Error("one that we wait for is gone too soon")
	}
	f.finish()
	if observe(t, a, obj) != nil {
		t.Error("a terminated instance is still there")
	}
}

// The response to the launch was lost, and with it the ID; or the status still has the ID from before the acknowledged
// re-creation.
func TestALostLaunchIsFoundByTags(t *testing.T) {
	for name, id := range map[string]string{"no ID": "", "the ID of the one that is gone": "i-gone"} {
		f := &fakeEC2{}
		a, obj := adapterOf(f), objectOf()
		launchOne(t, a, obj)
		obj.Status.InstanceID = id
		if seen := observe(t, a, obj); seen == nil || seen.id() != *f.last().vm.InstanceId {
			t.Errorf("%s: found %v", name, seen)
		}
		f.hidden = true // and if the search does not show it yet
		launchOne(t, a, obj)
		if len(f.machines) != 1 || obj.Status.InstanceID != *f.last().vm.InstanceId {
			t.Errorf("%s: %d machines", name, len(f.machines))
		}
	}
}

func TestALaunchWithOtherSettingsIsFoundByItsToken(t *testing.T) {
	f := &fakeEC2{}
	a, obj := adapterOf(f), objectOf()
	launchOne(t, a, obj)
	obj.Status.InstanceID, obj.Spec.InstanceName = "", "other"
	launchOne(t, a, obj)
	if len(f.machines) != 1 || obj.Status.InstanceID != *f.last().vm.InstanceId {
		t.Errorf("%d machines, ID %s", len(f.machines), obj.Status.InstanceID)
	}
	f.hidden, obj.Status.InstanceID = true, ""
	wantPause(t, a.launch(obj).Do(t.Context()), "LaunchUnclear", "looks again for some minutes")
}

func TestSeveralInstancesAreNobodysChoice(t *testing.T) {
	f := &fakeEC2{}
	a, obj := adapterOf(f), objectOf()
	launchOne(t, a, obj)
	twin := objectOf()
	twin.Status.Recreations = 7 // another token
	launchOne(t, a, twin)
	obj.Status.InstanceID = ""
	_, err := a.Observe(t.Context(), obj)
	wantPause(t, err, "Ambiguous", "i-00000000000000001, i-00000000000000002", "nothing was changed")
	f.machines[0].tags["portico.dev/uid"] = "older"
	if seen := observe(t, a, obj); seen.id() != *f.machines[1].vm.InstanceId {
		t.Errorf("took %s, and has one of its own", seen.id())
	}
}

func TestAnEarlierLifeIsTakenBack(t *testing.T) {
	f := &fakeEC2{}
	launchOne(t, adapterOf(f), objectOf())
	f.last().to(ec2types.InstanceStateNameStopped)
	a, obj := adapterOf(f), objectOf()
	obj.UID = "new-life"
	wantPause(t, settle(t, f, a, obj), "Stopped", "state: Running")
	if len(f.machines) != 1 || f.last().tags["portico.dev/uid"] != "new-life" {
		t.Errorf("%d machines, tags %v", len(f.machines), f.last().tags)
	}
	other := objectOf()
	other.UID = "third"
	a.session.Identity.NamespaceUID = "another team's"
	if seen := observe(t, a, other); seen != nil {
		t.Error("a namespace of the same name inherits")
	}
}

// EC2 shows new tags late: the search for an instance that was marked a moment ago may find nothing.
func TestWhatIsTakenOverIsNotedFirst(t *testing.T) {
	f := &fakeEC2{}
	launchOne(t, adapterOf(f), objectOf())
	a, obj := adapterOf(f), objectOf()
	obj.UID = "new-life"
	seen := observe(t, a, obj)
	a.Reserve(obj, seen)
	obj.Status.LastSyncTime = &metav1.Time{Time: time.Now()} // as the marking left it
	clear(f.last().tags)
	if again := observe(t, a, obj); again == nil || again.id() != seen.id() {
		t.Errorf("found %v once its tags do not show, want %s", again, seen.id())
	}
	if obj.Status.ARN == "" {
		t.Error("no ARN is noted: its absence would be taken for a launch that is to come")
	}
}

// An instance that should have been adopted, was never marked, and is now offered to somebody else is released: there
// may be another one.
func TestWhatWasNeverMarkedIsForgotten(t *testing.T) {
	f := &fakeEC2{}
	somebody := objectOf()
	somebody.UID = "somebody"
	launchOne(t, adapterOf(f), somebody)
	f.last().tags = map[string]string{cloud.TagAdopt: "payments/worker"}
	a, obj := adapterOf(f), objectOf()
	obj.Spec.AdoptionPolicy = v1alpha1.AdoptionAdopt
	a.Reserve(obj, observe(t, a, obj))
	f.last().tags[cloud.TagAdopt] = "payments/other"
	if seen := observe(t, a, obj); seen != nil || obj.Status.ARN != "" || obj.Status.InstanceID != "" {
		t.Errorf("sees %v, status %+v", seen, obj.Status)
	}
}

// EC2 takes minutes to show changed tags: until then they are not written again.
func TestTagsOfAMachineSettleForMinutes(t *testing.T) {
	f := &fakeEC2{}
	a, obj := adapterOf(f), objectOf()
	launchOne(t, a, obj)
	f.last().tags["Name"] = "other"
	actions, err := a.Plan(obj, observe(t, a, obj))
	if err != nil || len(actions) != 1 || actions[0].Settles != Settling {
		t.Errorf("%+v, %v", actions, err)
	}
}

func TestAnOfferIsTakenByConsentOnly(t *testing.T) {
	f := &fakeEC2{}
	a, obj := adapterOf(f), objectOf()
	launchOne(t, a, obj)
	f.last().tags = map[string]string{cloud.TagAdopt: "payments/worker", "made-by": "hand"}
	obj.Status.InstanceID = ""
	if observe(t, a, obj) != nil {
		t.Error("an offer nobody asked for was looked at")
	}
	obj.Spec.AdoptionPolicy = v1alpha1.AdoptionAdopt
	if seen := observe(t, a, obj); seen == nil || a.Owner(obj, seen) != external.Offered {
		t.Fatalf("the offer was not seen: %+v", seen)
	}
	if err := settle(t, f, a, obj); err != nil {
		t.Fatal(err)
	}
	if _, left := f.last().tags[cloud.TagAdopt]; left || f.last().tags["made-by"] != "hand" || len(f.machines) != 1 {
		t.Errorf("tags %v", f.last().tags)
	}
}

func TestObserveLooksAtAnOfferAndChangesNothing(t *testing.T) {
	f := &fakeEC2{}
	a, obj := adapterOf(f), objectOf(full)
	launchOne(t, a, obj)
	f.last().tags = map[string]string{cloud.TagAdopt: "payments/worker"}
	obj.Status.InstanceID, obj.Spec.ManagementPolicy, obj.Spec.InstanceType = "", v1alpha1.ManagementObserve, "t3.large"
	obj.Spec.BlockDeviceMappings[1].VolumeSize = aws.Int32(100)
	seen := observe(t, a, obj)
	actions, err := a.Plan(obj, seen)
	var whys []string
	for _, s := range actions {
		whys = append(whys, s.Why)
	}
	if want := []string{
		"blockDeviceMappings[/dev/sdf].volumeSize 10 → 100",
		"instanceType t3.micro → t3.large",
	}; err != nil || !slices.Equal(whys, want) {
		t.Errorf("differences %q, %v", whys, err)
	}
}

func TestARoutineLookAtRestCostsNothing(t *testing.T) {
	f := &fakeEC2{}
	a, obj := adapterOf(f), objectOf()
	if err := settle(t, f, a, obj); err != nil {
		t.Fatal(err)
	}
	listing := &cloud.Listing[instanceState]{}
	arns, err := a.svc.list(t.Context(), a.session, listing)
	if err != nil || !slices.Equal(arns, []string{obj.Status.ARN}) {
		t.Fatalf("listed %v, %v", arns, err)
	}
	seen, ok := listing.Get(engine.WithRoutine(t.Context(), true), obj.Status.ARN)
	if actions, err := a.Plan(obj, &seen); !ok || err != nil || len(actions) != 0 {
		t.Errorf("the listing's picture asks for %v, %v", actions, err)
	}
	f.last().to(ec2types.InstanceStateNameTerminated)
	if arns, err := a.svc.list(t.Context(), a.session, listing); err != nil || len(arns) != 0 {
		t.Errorf("listed %v, %v", arns, err)
	}
	f.fail = code("RequestLimitExceeded")
	if arns, err := a.svc.list(t.Context(), a.session, listing); err == nil || arns != nil {
		t.Errorf("a failed listing gave %v", arns)
	}
}

// EC2 itself ends an instance if it may not use the key of a volume.
func TestALaunchThatEndsAtOnceIsToldAsThat(t *testing.T) {
	const reason = "Client.InternalError: Client error on launch"
	f := &fakeEC2{endAs: reason}
	a, obj := adapterOf(f), objectOf()
	err := a.launch(obj).Do(t.Context())
	wantPause(t, err, "LaunchFailed", reason, v1alpha1.AnnotationAcknowledgeRecreate+"=1")
	if obj.Status.ARN == "" {
		t.Error("without an ARN nobody can acknowledge")
	}
	_, err = a.Observe(t.Context(), obj)
	wantPause(t, err, "LaunchFailed", reason)
	obj.Annotations = map[string]string{v1alpha1.AnnotationAcknowledgeRecreate: "1"}
	if observe(t, a, obj) != nil {
		t.Error("acknowledged, and still there")
	}
	obj.Status.Recreations, obj.Status.ARN, f.endAs = 1, "", "" // as external does
	if err := settle(t, f, a, obj); err != nil || len(f.machines) != 2 {
		t.Errorf("%v, %d machines", err, len(f.machines))
	}
	deleting(obj)
	f.last().to(ec2types.InstanceStateNameTerminated)
	if observe(t, a, obj) != nil {
		t.Error("deletion waits for nothing")
	}
}

func TestAnInstanceThatSomebodyTerminatedWasNoFailedLaunch(t *testing.T) {
	f := &fakeEC2{}
	a, obj := adapterOf(f), objectOf()
	if err := settle(t, f, a, obj); err != nil {
		t.Fatal(err)
	}
	f.last().to(ec2types.InstanceStateNameTerminated)
	f.last().vm.StateReason = &ec2types.StateReason{
		Code:    aws.String("Client.UserInitiatedShutdown"),
		Message: aws.String("Client.UserInitiatedShutdown: User initiated shutdown"),
	}
	if seen, err := a.Observe(context.Background(), obj); seen != nil || err != nil {
		t.Errorf("%v, %v", seen, err)
	}
}
