package ec2

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

func TestTheTokenIsOfTheObjectAndItsLife(t *testing.T) {
	obj := objectOf()
	obj.UID = "12345678-1234-1234-1234-123456789012"
	first := token(obj)
	obj.Status.Recreations = 1_000_000
	if again := token(obj); again == first || len(again) > 64 {
		t.Errorf("tokens %s and %s", first, again)
	}
}

func TestTheImageThatAParameterNames(t *testing.T) {
	named := func(s *v1alpha1.EC2InstanceSpec) { s.ImageID, s.ImageSSMParameter = "", "/images/web" }
	f := &fakeEC2{parameters: map[string]string{"/images/web": theImage + "\n"}}
	a, obj := settled(t, f, named)
	if obj.Status.ImageID != theImage {
		t.Errorf("launched from %s", obj.Status.ImageID)
	}
	f.parameters["/images/web"] = "ami-ffffffffffffffff0"
	if err := settle(t, f, a, obj); err != nil || len(f.calls) != 1 {
		t.Errorf("a later image matters: %v, %v", err, f.calls)
	}
	f = &fakeEC2{parameters: map[string]string{"/images/web": "hunter2"}}
	err := adapterOf(f).launch(objectOf(named)).Do(t.Context())
	wantPause(t, err, "ImageParameterInvalid", "/images/web", "nothing was launched")
	if strings.Contains(err.Error(), "hunter2") {
		t.Errorf("the value is told: %v", err)
	}
	f.parameters = nil
	wantPause(t, adapterOf(f).launch(objectOf(named)).Do(t.Context()), "ImageParameterNotFound", "/images/web", region)
	f.refuse = map[string]error{"GetParameter": code("AccessDeniedException")}
	wantPause(t, adapterOf(f).launch(objectOf(named)).Do(t.Context()), "AccessDenied")
	if len(f.machines) != 0 {
		t.Error("something was launched")
	}
}

func TestUserDataStaysASecret(t *testing.T) {
	const secret = "#!/bin/sh\nexport TOKEN=open-sesame\n"
	boot := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "payments", Name: "boot"}, Data: map[string][]byte{
		"script": []byte(secret), "long": make([]byte, longestUserData+1),
	}}
	script := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "payments", Name: "boot"},
		Data:       map[string]string{"script": "echo"},
	}
	from := func(secret *v1alpha1.SecretKeyRef, config *v1alpha1.ConfigMapKeyRef) *v1alpha1.EC2Instance {
		return objectOf(func(s *v1alpha1.EC2InstanceSpec) {
			s.UserDataFrom = &v1alpha1.EC2UserDataSource{SecretKeyRef: secret, ConfigMapKeyRef: config}
		})
	}
	f := &fakeEC2{}
	a := adapterOf(f, boot, script)
	launchOne(t, a, from(&v1alpha1.SecretKeyRef{Name: "boot", Key: "script"}, nil))
	encoded := base64.StdEncoding.EncodeToString([]byte(secret))
	if f.last().user != encoded {
		t.Errorf("user data %q", f.last().user)
	}
	other := from(nil, &v1alpha1.ConfigMapKeyRef{Name: "boot", Key: "script"})
	other.UID = "other"
	launchOne(t, a, other)
	if f.last().user != base64.StdEncoding.EncodeToString([]byte("echo")) {
		t.Errorf("user data %q", f.last().user)
	}
	wantPause(t, a.launch(from(&v1alpha1.SecretKeyRef{Name: "none", Key: "x"}, nil)).Do(t.Context()), "SecretNotFound")
	wantPause(t, a.launch(from(nil, &v1alpha1.ConfigMapKeyRef{Name: "none", Key: "x"})).Do(t.Context()),
		"ConfigMapNotFound")
	wantPause(t, a.launch(from(&v1alpha1.SecretKeyRef{Name: "boot", Key: "long"}, nil)).Do(t.Context()),
		"UserDataTooLong", "16385", "16384")

	third := from(&v1alpha1.SecretKeyRef{Name: "boot", Key: "script"}, nil)
	third.UID = "third"
	for _, c := range []string{"InvalidParameterValue", "Unheard.Of"} {
		f.refuse = map[string]error{"RunInstances": &smithy.GenericAPIError{Code: c, Message: "bad value " + encoded}}
		if err := a.launch(third).Do(t.Context()); err == nil || strings.Contains(err.Error(), encoded) {
			t.Errorf("%s: %v", c, err)
		}
	}
}

// errProfile is EC2's error for an instance profile that does not exist.
var errProfile = &smithy.GenericAPIError{
	Code:    "InvalidParameterValue",
	Message: "Value (worker) for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance Profile name",
}

func TestWhatALaunchSays(t *testing.T) {
	f := &fakeEC2{}
	a := adapterOf(f)
	obj := objectOf(full)
	for c, want := range map[string]struct{ reason, says string }{
		"InvalidAMIID.NotFound":                   {"InvalidSpec", "no image " + theImage + " in " + region},
		"InvalidAMIID.Unavailable":                {"InvalidSpec", "another image"},
		"InvalidKeyPair.NotFound":                 {"InvalidSpec", "no key pair key"},
		"InvalidSubnetID.NotFound":                {"InvalidSpec", "no subnet subnet-1"},
		"InvalidGroup.NotFound":                   {"InvalidSpec", "sg-1, sg-2"},
		"InvalidSnapshot.NotFound":                {"InvalidSpec", "another snapshotID"},
		"InvalidUserData.Malformed":               {"InvalidSpec", "userData"},
		"VPCIdNotSpecified":                       {"InvalidSpec", "no default network"},
		"InvalidParameterValue":                   {"InvalidSpec", "Change the spec"},
		"Unsupported":                             {"InvalidSpec", "Change the spec"},
		"NoSuchEntity":                            {"InvalidSpec", "no instance profile worker in this account; nothing was changed. Correct iamInstanceProfile"},
		"InsufficientFreeAddressesInSubnet":       {"InvalidSpec", "no free address"},
		"InsufficientInstanceCapacity":            {"InsufficientCapacity", "t3.micro"},
		"InstanceLimitExceeded":                   {"QuotaExceeded", "raise the quota"},
		"VcpuLimitExceeded":                       {"QuotaExceeded", "raise the quota"},
		"VolumeTypeNotAvailableInZone":            {"InvalidSpec", "Change the spec"},
		"InvalidParameterDependency":              {"InvalidSpec", "Change the spec"},
		"SecurityGroupsPerInterfaceLimitExceeded": {"QuotaExceeded", "raise the quota"},
		"UnauthorizedOperation":                   {"AccessDenied", "permission"},
		"RequestLimitExceeded":                    {"Throttled", "slows down"},
		"AuthFailure":                             {"CredentialsRejected", "renew"},
		"OptInRequired":                           {"InvalidSpec", "accept them in AWS Marketplace"},
		"RequestExpired":                          {"ClockSkew", "check the clock"},
	} {
		f.refuse = map[string]error{"RunInstances": code(c)}
		wantPause(t, a.launch(obj).Do(t.Context()), want.reason, want.says)
	}
	f.refuse = map[string]error{
		"RunInstances": &smithy.GenericAPIError{Code: "AuthFailure", Message: "Not authorized for images: [" +
			theImage + "]"},
	}
	wantPause(t, a.launch(obj).Do(t.Context()), "InvalidSpec", theImage+" is not shared with this account")
	f.refuse = map[string]error{"RunInstances": errProfile}
	wantPause(t, a.launch(obj).Do(t.Context()), "InvalidSpec", "no instance profile worker", "nothing was changed")
	f.refuse = map[string]error{"RunInstances": code("InternalError")}
	if _, waiting := engine.AsWait(a.launch(obj).Do(t.Context())); waiting {
		t.Error("a failure of AWS's is not the owner's")
	}
}

// The process died after the launch and before recording it, and the instance was terminated meanwhile.
func TestALaunchWhoseInstanceIsOverCanBeAcknowledged(t *testing.T) {
	f := &fakeEC2{}
	a, obj := adapterOf(f), objectOf()
	launchOne(t, a, obj)
	f.last().to(ec2types.InstanceStateNameTerminated)
	id := obj.Status.InstanceID
	obj.Status.InstanceID = ""
	wantPause(t, a.launch(obj).Do(t.Context()), "Settling", id)
	if obj.Status.InstanceID != id || obj.Status.ARN == "" {
		t.Errorf("noted %q, %q; without an ARN nobody can acknowledge", obj.Status.InstanceID, obj.Status.ARN)
	}
	f.machines, obj.Status.InstanceID, obj.Status.ARN = nil, "", "" // an hour later EC2 does not show it any more
	wantPause(t, a.launch(obj).Do(t.Context()), "LaunchFailed", v1alpha1.AnnotationAcknowledgeRecreate+"=1",
		"nothing was launched")
	obj.Annotations = map[string]string{v1alpha1.AnnotationAcknowledgeRecreate: "1"}
	wantPause(t, a.launch(obj).Do(t.Context()), "Creating")
	if len(f.machines) != 0 || obj.Status.Recreations != 1 {
		t.Errorf("%d machines before the acknowledgement is saved, recreations %d", len(f.machines),
			obj.Status.Recreations)
	}
	if err := settle(t, f, a, obj); err != nil || len(f.machines) != 1 {
		t.Errorf("%v, %d machines", err, len(f.machines))
	}
}

func TestALaunchIsSafeByDefault(t *testing.T) {
	s := objectOf(full).Spec
	s.BlockDeviceMappings[0].Encrypted = nil
	for _, m := range mappings(&s) {
		if !aws.ToBool(m.Ebs.Encrypted) || m.Ebs.VolumeType != ec2types.VolumeTypeGp3 {
			t.Errorf("%s: encrypted %v, %s", *m.DeviceName, aws.ToBool(m.Ebs.Encrypted), m.Ebs.VolumeType)
		}
	}
	s.BlockDeviceMappings[0].Encrypted = aws.Bool(false)
	if *mappings(&s)[0].Ebs.Encrypted {
		t.Error("encrypted false was not heard")
	}
	for name, row := range map[string]struct {
		in          *v1alpha1.EC2MetadataOptions
		tokens, end string
	}{
		"nothing said": {nil, "required", "enabled"},
		"tokens":       {&v1alpha1.EC2MetadataOptions{HTTPTokens: "optional"}, "optional", "enabled"},
		"switched off": {&v1alpha1.EC2MetadataOptions{HTTPEndpoint: "disabled"}, "", "disabled"},
	} {
		if got := launchMetadata(row.in); string(got.HttpTokens) != row.tokens || string(got.HttpEndpoint) != row.end {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// All settings of an instance are part of its launch, so that it never runs without them.
func TestALaunchNeedsNoChangesAfterIt(t *testing.T) {
	f := &fakeEC2{}
	a, obj := adapterOf(f), objectOf(full, running)
	launchOne(t, a, obj)
	if actions, err := a.Plan(obj, observe(t, a, obj)); err != nil || len(actions) != 0 {
		t.Errorf("still to do: %+v, %v", actions, err)
	}
}
