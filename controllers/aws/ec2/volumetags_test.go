package ec2

import (
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
)

// taking returns an object that adopts the machine that another one has launched, with the volume at extra declared.
func taking(t *testing.T, f *fakeEC2, size int32, offered ...string) (*instance, *v1alpha1.EC2Instance) {
	t.Helper()
	disks := func(s *v1alpha1.EC2InstanceSpec) {
		s.AdoptionPolicy = v1alpha1.AdoptionAdopt
		s.BlockDeviceMappings = []v1alpha1.EC2BlockDevice{{DeviceName: extra, VolumeSize: aws.Int32(10)}}
	}
	a, obj := adapterOf(f), objectOf(disks)
	launchOne(t, a, obj)
	f.offer(offered...)
	obj.Status, f.calls = v1alpha1.EC2InstanceStatus{}, nil
	obj.Spec.BlockDeviceMappings[0].VolumeSize = &size
	return a, obj
}

// The IAM policy checks the volume's own tags: volumes that are offered with the instance are adopted with it, marked
// before they are changed, and released with it.
func TestOfferedVolumesAreTakenWithTheInstance(t *testing.T) {
	f := &fakeEC2{}
	a, obj := taking(t, f, 30, extra, root)
	if err := settle(t, f, a, obj); err != nil {
		t.Fatal(err)
	}
	marked, grown := slices.Index(f.calls, "CreateTags"), slices.Index(f.calls, "ModifyVolume")
	if tags := f.volumeTags(extra); a.session.Identity.Owner(obj, tags) != external.Ours ||
		tags["portico.dev/adopt"] != "" || tags["made-by"] != "hand" {
		t.Errorf("the volume has the tags %v", tags)
	}
	if marked < 0 || grown < marked || *f.last().volumes[extra].Size != 30 {
		t.Errorf("calls %v", f.calls)
	}
	if tags := f.volumeTags(root); tags["portico.dev/uid"] != "" || tags["portico.dev/adopt"] == "" {
		t.Errorf("a volume that the spec does not name has the tags %v", tags)
	}
	if err := a.Disown(t.Context(), obj, observe(t, a, obj)); err != nil {
		t.Fatal(err)
	}
	if tags := f.volumeTags(extra); len(tags) != 1 || tags["made-by"] != "hand" {
		t.Errorf("let go, the volume has the tags %v", tags)
	}
}

// A volume that nobody offers is left alone as long as it needs no change.
func TestAVolumeThatIsNotOfferedIsMarkedOnlyToBeChanged(t *testing.T) {
	f := &fakeEC2{}
	a, obj := taking(t, f, 10)
	if err := settle(t, f, a, obj); err != nil || len(f.volumeTags(extra)) != 1 {
		t.Fatalf("%v; the volume has the tags %v", err, f.volumeTags(extra))
	}
	obj.Spec.BlockDeviceMappings[0].VolumeSize = aws.Int32(30)
	id := *f.last().volumes[extra].VolumeId
	f.refuse = map[string]error{"CreateTags " + id: code("UnauthorizedOperation")}
	actions, rest := a.Plan(obj, observe(t, a, obj))
	if rest != nil || len(actions) != 1 {
		t.Fatalf("%+v, %v", actions, rest)
	}
	wantPause(t, actions[0].Do(t.Context()), "AccessDenied", id, extra, "was not changed",
		"portico.dev/adopt=payments/worker")
	f.refuse = nil
	if err := settle(t, f, a, obj); err != nil || *f.last().volumes[extra].Size != 30 ||
		a.session.Identity.Owner(obj, f.volumeTags(extra)) != external.Ours {
		t.Errorf("%v; %d GiB, tags %v", err, *f.last().volumes[extra].Size, f.volumeTags(extra))
	}
}

// Errors other than a missing permission are reported as such.
func TestTroubleWithAVolumesTagsIsTold(t *testing.T) {
	f := &fakeEC2{}
	a, obj := taking(t, f, 10, extra)
	seen := observe(t, a, obj)
	f.refuse = map[string]error{"CreateTags " + *f.last().volumes[extra].VolumeId: code("RequestLimitExceeded")}
	actions, _ := a.Plan(obj, seen)
	at := slices.IndexFunc(actions, func(s external.Action) bool { return strings.Contains(s.Why, extra) })
	if at < 0 {
		t.Fatalf("planned %+v", actions)
	}
	if wait, ok := engine.AsWait(actions[at].Do(t.Context())); !ok || wait.Reason != "Throttled" {
		t.Errorf("got %+v", wait)
	}
}

// A volume with the marks of another object stays that object's.
func TestAVolumeOfAnotherObjectIsNotTaken(t *testing.T) {
	f := &fakeEC2{}
	a, obj := settled(t, f, full)
	theirs := a.session.Identity.OwnershipTags(obj)
	theirs["portico.dev/name"] = "other"
	f.last().volumes[extra].Tags = tagList(theirs)
	obj.Spec.BlockDeviceMappings[1].VolumeSize = aws.Int32(30)
	f.calls = nil
	wantPause(t, settle(t, f, a, obj), "AccessDenied", extra, "another object", "was not changed")
	if got := f.volumeTags(extra)["portico.dev/name"]; got != "other" || slices.Contains(f.calls, "ModifyVolume") {
		t.Errorf("after the calls %v the volume is that of %s, want other", f.calls, got)
	}
}
