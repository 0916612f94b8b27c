package ec2

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
)

func brought(owner, alias string, gib int32) ec2types.Image {
	return ec2types.Image{
		OwnerId: &owner, ImageOwnerAlias: aws.String(alias), Public: aws.Bool(true),
		BlockDeviceMappings: []ec2types.BlockDeviceMapping{
			{DeviceName: aws.String("/dev/xvda"), Ebs: &ec2types.EbsBlockDevice{VolumeSize: &gib}},
		},
	}
}

// The guardrails of the account and of the team also apply to what only AWS knows about a launch.
func TestALaunchKeepsGuardrails(t *testing.T) {
	owners := func(all ...string) v1alpha1.Guardrails { return v1alpha1.Guardrails{AllowedImageOwners: all} }
	small := v1alpha1.Guardrails{MaxVolumeSizeGiB: new(int32(20))}
	named := []v1alpha1.EC2BlockDevice{{DeviceName: "/dev/xvda", VolumeSize: new(int32(10))}}
	for name, row := range map[string]struct {
		image   ec2types.Image
		rules   v1alpha1.Guardrails
		volumes []v1alpha1.EC2BlockDevice
		says    string
	}{
		"of the account":            {brought(account, "", 8), owners("self"), nil, ""},
		"of AWS":                    {brought("137112412989", "amazon", 8), owners("self", "amazon"), nil, ""},
		"of a known account":        {brought("999999999999", "", 8), owners("999999999999"), nil, ""},
		"of an unknown account":     {brought("888888888888", "", 8), owners("self", "amazon", "999999999999"), nil, "the image " + theImage + " of account 888888888888 is not allowed: "},
		"AWS needs its alias":       {brought("amazon", "", 8), owners("amazon"), nil, "allows amazon, by "},
		"a small volume":            {brought(account, "", 20), small, nil, ""},
		"a large volume":            {brought(account, "", 21), small, nil, "the volume /dev/xvda of the image " + theImage + " with 21 GiB is not allowed"},
		"one that the spec resizes": {brought(account, "", 21), small, named, ""},
	} {
		for by, set := range map[string]func(*instance, *v1alpha1.Guardrails){
			"AWSProvider aws-prod": func(i *instance, g *v1alpha1.Guardrails) { i.session.Rules.Guardrails = g },
			"Team growth": func(i *instance, g *v1alpha1.Guardrails) {
				i.session.Team = &v1alpha1.Team{ObjectMeta: metav1.ObjectMeta{Name: "growth"}, Spec: v1alpha1.TeamSpec{
					Guardrails: &v1alpha1.TeamGuardrails{Guardrails: *g},
				}}
			},
		} {
			f := &fakeEC2{images: map[string]ec2types.Image{theImage: row.image}}
			obj, a := objectOf(), adapterOf(f)
			obj.Spec.BlockDeviceMappings, a.session.Provider = row.volumes, "aws-prod"
			set(a, &row.rules)
			err := a.launch(obj).Do(t.Context())
			if (err == nil) != (row.says == "") || (len(f.machines) == 1) != (row.says == "") {
				t.Errorf("%s by %s: %v, %d machines", name, by, err, len(f.machines))
			}
			if row.says != "" {
				wantPause(t, err, "NotAllowed", row.says, ": "+by+" allows ")
			}
		}
	}
}

// Where encryption is required, the volumes of an image are encrypted too.
func TestTheVolumesOfAnImageAreEncrypted(t *testing.T) {
	for _, required := range []bool{false, true} {
		f := &fakeEC2{images: map[string]ec2types.Image{theImage: brought(account, "", 8)}}
		obj, a := objectOf(), adapterOf(f)
		a.session.Rules.Guardrails = &v1alpha1.Guardrails{RequireEncryption: required}
		in, err := a.launchInput(t.Context(), obj)
		if err != nil {
			t.Fatal(err)
		}
		encrypted := len(in.BlockDeviceMappings) == 1 && *in.BlockDeviceMappings[0].DeviceName == "/dev/xvda" &&
			*in.BlockDeviceMappings[0].Ebs.Encrypted
		if encrypted != required {
			t.Errorf("required %t: volumes %+v", required, in.BlockDeviceMappings)
		}
	}
}
