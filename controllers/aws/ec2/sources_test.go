package ec2

import (
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/aws/reference"
	"github.com/portico-platform/portico/controllers/external"
)

func ownedBy(owner string, public bool, tags map[string]string) ec2types.Image {
	return ec2types.Image{OwnerId: &owner, Public: &public, Tags: tagList(tags)}
}

var (
	forPayments = map[string]string{"portico.dev/namespace": "payments"}
	forSearch   = map[string]string{"portico.dev/namespace": "search"}
)

// Anyone who launches from an image has its data: a private image of the account is for those that its tags, or the
// list, allow.
func TestAnotherTeamsImageIsNotLaunchedFrom(t *testing.T) {
	for name, row := range map[string]struct {
		image   ec2types.Image
		listed  []string
		allowed bool
	}{
		"private, of nobody":             {ownedBy(account, false, nil), nil, false},
		"private, of another team":       {ownedBy(account, false, forSearch), nil, false},
		"private, of the team":           {ownedBy(account, false, forPayments), nil, true},
		"private, for all":               {ownedBy(account, false, nil), []string{theImage}, true},
		"all are open":                   {ownedBy(account, false, forSearch), []string{"*"}, true},
		"public, of the account":         {ownedBy(account, true, nil), nil, true},
		"shared by another account":      {ownedBy("999999999999", false, nil), nil, true},
		"a list of others opens no more": {ownedBy(account, false, nil), []string{"ami-00000000"}, false},
	} {
		for _, byParameter := range []bool{false, true} {
			f := &fakeEC2{images: map[string]ec2types.Image{theImage: row.image}, parameters: map[string]string{
				"/portico/images/web": theImage,
			}}
			obj := objectOf()
			if byParameter {
				obj.Spec.ImageID, obj.Spec.ImageSSMParameter = "", "/portico/images/web"
			}
			a := adapterOf(f)
			a.session.Provider, a.session.Rules.AllowedImages = "aws-prod", row.listed
			err := a.launch(obj).Do(t.Context())
			if (err == nil) != row.allowed || (len(f.machines) == 1) != row.allowed {
				t.Errorf("%s: %v, %d machines", name, err, len(f.machines))
			}
			if !row.allowed {
				wantPause(t, err, "ReferenceNotAllowed", "the image "+theImage, "allowedImages of AWSProvider aws-prod",
					"portico.dev/namespace=payments")
			}
		}
	}
}

// Another team's snapshot is another team's disk.
func TestAnotherTeamsSnapshotIsNotRead(t *testing.T) {
	const ours, theirs = "snap-0001", "snap-0002"
	snapshots := map[string]ec2types.Snapshot{
		ours:        {OwnerId: aws.String(account), Tags: tagList(forPayments)},
		theirs:      {OwnerId: aws.String(account), Tags: tagList(forSearch)},
		"snap-0003": {OwnerId: aws.String("999999999999")},
		"snap-0004": {OwnerId: aws.String(account)},
	}
	for id, reason := range map[string]string{
		ours: "", theirs: "SnapshotNotAllowed", "snap-0003": "",
		"snap-0004": "SnapshotNotAllowed", "snap-0005": "SnapshotNotAllowed",
	} {
		f := &fakeEC2{snapshots: snapshots}
		a := adapterOf(f)
		a.session.Rules.AllowedImages = []string{"*"}
		obj := objectOf(func(s *v1alpha1.EC2InstanceSpec) {
			s.BlockDeviceMappings = []v1alpha1.EC2BlockDevice{{DeviceName: root}, {DeviceName: extra, SnapshotID: id}}
		})
		err := a.launch(obj).Do(t.Context())
		if reason == "" && (err != nil || len(f.machines) != 1) {
			t.Errorf("%s: %v", id, err)
		}
		if reason != "" {
			wantPause(t, err, reason)
			if len(f.machines) != 0 {
				t.Errorf("%s was launched from", id)
			}
		}
	}
}

// AWS's own images, which its public parameters name, need no check.
func TestAPublicParameterCostsNoLook(t *testing.T) {
	const parameter = publicImages + "ami-amazon-linux-latest/x"
	f := &fakeEC2{parameters: map[string]string{parameter: theImage}}
	obj := objectOf(func(s *v1alpha1.EC2InstanceSpec) { s.ImageID, s.ImageSSMParameter = "", parameter })
	launchOne(t, adapterOf(f), obj)
	if slices.Contains(f.calls, "DescribeImages") {
		t.Errorf("calls %v", f.calls)
	}
}

// The action names what it makes a machine refer to; existing references are not admitted again.
func TestWhatAMachineRefersToIsNamed(t *testing.T) {
	f := &fakeEC2{}
	a, obj := settled(t, f, full, func(s *v1alpha1.EC2InstanceSpec) {
		s.BlockDeviceMappings[0].KMSKeyID = "alias/ours"
	})
	want := []external.Reference{
		{Kind: reference.SecurityGroup, Name: "sg-2"},
		{Kind: reference.SecurityGroup, Name: "sg-1"},
		{Kind: reference.Subnet, Name: "subnet-1"},
		{Kind: reference.InstanceProfile, Name: "worker"},
		{Kind: reference.KeyPair, Name: "key"},
		{Kind: reference.KMSKey, Name: "alias/ours"},
		{Kind: reference.KMSKey},
	}
	if got := a.launch(obj).References; !slices.Equal(got, want) {
		t.Errorf("a launch names %v", got)
	}
	obj.Spec.SecurityGroupIDs, obj.Spec.IAMInstanceProfile = []string{"sg-1", "sg-3"}, "admin"
	actions, err := a.Plan(obj, observe(t, a, obj))
	var got []external.Reference
	for _, s := range actions {
		got = append(got, s.References...)
	}
	if want := []external.Reference{
		{Kind: reference.SecurityGroup, Name: "sg-3"},
		{Kind: reference.InstanceProfile, Name: "admin"},
	}; err != nil || !slices.Equal(got, want) {
		t.Errorf("an edit names %v, %v", got, err)
	}
}
