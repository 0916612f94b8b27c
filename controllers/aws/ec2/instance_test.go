package ec2

import (
	"context"
	"maps"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/cloud/cloudtest"
	"github.com/portico-platform/portico/controllers/external"
	"github.com/portico-platform/portico/controllers/external/externaltest"
)

const (
	account, region = "111122223333", "eu-west-1"
	theImage        = "ami-0123456789abcdef0"
)

// adapterOf returns the adapter of one pass; f outlives it.
func adapterOf(f *fakeEC2, others ...client.Object) *instance {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		panic(err)
	}
	svc := newService(f, f, 0)
	svc.profiles = f
	return &instance{
		svc: svc, now: func() time.Time { return theTime },
		kube: external.Kube{Reader: fake.NewClientBuilder().WithScheme(scheme).WithObjects(others...).Build()},
		session: &cloud.Session{
			Config: aws.Config{Region: region}, AccountID: account, Partition: "aws",
			Identity: cloud.Identity{Cluster: "cluster", Kind: "EC2Instance", NamespaceUID: "ns-uid"},
		},
	}
}

func objectOf(change ...func(*v1alpha1.EC2InstanceSpec)) *v1alpha1.EC2Instance {
	obj := &v1alpha1.EC2Instance{
		ObjectMeta: metav1.ObjectMeta{Namespace: "payments", Name: "worker", UID: "0f0e0d0c-1111", Generation: 1},
		Spec: v1alpha1.EC2InstanceSpec{
			AWSSpec: v1alpha1.AWSSpec{ProviderRef: v1alpha1.LocalRef{Name: "aws"}}, InstanceName: "Worker",
			InstanceType: "t3.micro", ImageID: theImage,
		},
	}
	for _, c := range change {
		c(&obj.Spec)
	}
	return obj
}

const extra = "/dev/sdf"

// full declares everything that can be declared together, except the power state.
func full(s *v1alpha1.EC2InstanceSpec) {
	s.KeyName, s.SubnetID, s.SecurityGroupIDs, s.IAMInstanceProfile = "key", "subnet-1", []string{"sg-2", "sg-1"},
		"worker"
	s.UserData, s.Monitoring, s.EBSOptimized, s.DisableAPITermination = "#!/bin/sh", aws.Bool(true), aws.Bool(true),
		aws.Bool(false)
	s.MetadataOptions = &v1alpha1.EC2MetadataOptions{
		HTTPTokens: "required", HTTPEndpoint: "enabled",
		HTTPPutResponseHopLimit: aws.Int32(2),
	}
	s.BlockDeviceMappings = []v1alpha1.EC2BlockDevice{
		{DeviceName: root, VolumeSize: aws.Int32(20), Encrypted: aws.Bool(true)},
		{DeviceName: extra, VolumeSize: aws.Int32(10), VolumeType: "gp3", IOPS: aws.Int32(4000), Throughput: aws.Int32(250), DeleteOnTermination: aws.Bool(true)},
	}
	s.Tags = v1alpha1.Tags{"team": "payments"}
}

func stopped(s *v1alpha1.EC2InstanceSpec) { s.State = powerStopped }

func running(s *v1alpha1.EC2InstanceSpec) { s.State = powerRunning }

func allowed(s *v1alpha1.EC2InstanceSpec) { s.AllowStop = true }

// drifts returns changes made outside Portico, of everything that full declares.
func drifts(f *fakeEC2) map[string]func() {
	volume := func() *ec2types.Volume { return f.last().volumes[extra] }
	return map[string]func(){
		"a tag":         func() { f.last().tags["team"], f.last().tags["made-by"] = "search", "hand" },
		"the name":      func() { f.last().tags["Name"] = "other" },
		"the owner tag": func() { f.last().tags["portico.dev/uid"] = "older" },
		"groups":        func() { f.last().group([]string{"sg-1", "sg-3"}) },
		"profile":       func() { f.last().associate(profileOf("admin")) },
		"monitoring": func() {
			f.last().vm.Monitoring = &ec2types.Monitoring{State: ec2types.MonitoringStateDisabled}
		},
		"protection":  func() { f.last().protected = true },
		"tokens":      func() { f.last().option("optional", "", nil) },
		"hops":        func() { f.last().option("", "", aws.Int32(64)) },
		"endpoint":    func() { f.last().option("", "disabled", nil) },
		"type":        func() { f.last().vm.InstanceType = "t3.large" },
		"optimized":   func() { f.last().vm.EbsOptimized = aws.Bool(false) },
		"size":        func() { volume().Size = aws.Int32(9) },
		"volume type": func() { volume().VolumeType = ec2types.VolumeTypeGp2 },
		"iops":        func() { volume().Iops = aws.Int32(3000) },
		"throughput":  func() { volume().Throughput = aws.Int32(125) },
		"kept":        func() { f.last().keep(extra, false) },
	}
}

func lawsOf(f *fakeEC2, obj *v1alpha1.EC2Instance, drift map[string]func()) externaltest.Case[*v1alpha1.EC2Instance,
	instanceState] {
	return externaltest.Case[*v1alpha1.EC2Instance, instanceState]{
		Adapter: adapterOf(f), Object: obj,
		Writes: func() int { return f.writes },
		Fail:   func(err error) { f.fail = err },
		Errors: []error{
			code("UnauthorizedOperation"), code("RequestLimitExceeded"), code("InternalError"),
			code("RequestExpired"), code("InvalidInstanceID.Malformed"), code("InvalidVolume.NotFound"),
		},
		Lose: func(on bool) { f.lose = on },
		Strip: func() {
			maps.DeleteFunc(f.last().tags, func(key, _ string) bool { return strings.HasPrefix(key, "portico.dev/") })
		},
		Foreign: func() bool { return f.last().tags["made-by"] == "hand" },
		Drift:   drift,
		Together: [][]string{
			{endpointPath, tokensPath}, {endpointPath, hopsPath}, // EC2 accepts the others only if enabled
			// one modification in hours
			{volumePath(extra, "volumeSize"), volumePath(extra, "volumeType"), volumePath(extra, "iops"), volumePath(extra, "throughput")},
		},
	}
}

// A type is changed in one action only while the machine is stopped, which is the only state in which every field can
// drift at once.
func TestAStoppedInstanceKeepsTheLaws(t *testing.T) {
	f := &fakeEC2{}
	externaltest.Laws(t, lawsOf(f, objectOf(full, stopped), drifts(f)))
}

func TestARunningInstanceKeepsTheLaws(t *testing.T) {
	f := &fakeEC2{}
	drift := drifts(f)
	delete(drift, "type")
	delete(drift, "optimized")
	drift["state"] = func() { f.last().to(ec2types.InstanceStateNameStopped) }
	drift["credits"] = func() { f.last().credits = standard }
	externaltest.Laws(t, lawsOf(f, objectOf(full, running, credited("unlimited")), drift))
}

type fataler interface {
	Helper()
	Fatal(...any)
}

func observe(t fataler, a *instance, obj *v1alpha1.EC2Instance) *instanceState {
	t.Helper()
	seen, err := a.Observe(context.Background(), obj)
	if err != nil {
		t.Fatal(err)
	}
	return seen
}

// settle acts and reports until nothing is left to do, and returns the error that remains.
func settle(t fataler, f *fakeEC2, a *instance, obj *v1alpha1.EC2Instance) error {
	t.Helper()
	for range 8 {
		seen := observe(t, a, obj)
		actions, rest := a.Plan(obj, seen)
		if len(actions) == 0 && seen != nil {
			a.Report(obj, seen)
		}
		if len(actions) == 0 {
			return rest
		}
		for _, s := range actions {
			if err := s.Do(context.Background()); err != nil {
				t.Fatal(s.Name, err)
			}
		}
	}
	t.Fatal("not settled after", f.calls)
	return nil
}

// The permissions in the docs are those that the calls need, including what EC2 does for the caller.
func TestThePolicyInTheDocsIsThatOfTheCalls(t *testing.T) {
	cloudtest.Policy(t, "../../../docs/iam/ec2instance.json", "ec2", reflect.TypeFor[api](), map[string][]string{
		"": {
			"ssm:GetParameter", "ssm:GetParametersByPath", "ec2:DescribeSubnets", "ec2:DescribeSecurityGroups",
			"ec2:DescribeKeyPairs", "iam:PassRole", "tag:GetResources", "iam:GetInstanceProfile", "kms:DescribeKey",
			"kms:CreateGrant", "kms:Decrypt",
			"kms:GenerateDataKeyWithoutPlaintext", "kms:ReEncryptFrom", "kms:ReEncryptTo",
		},
	})
}
