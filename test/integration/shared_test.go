//go:build integration

package integration

import (
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// sharedAccount is an AWS account of several teams, used by somebody with access to AWS.
type sharedAccount struct {
	t   *testing.T
	ec2 *ec2.Client
	iam *iam.Client
}

func (s sharedAccount) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// tag shares a resource with a namespace.
func (s sharedAccount) tag(id, namespace string) {
	s.t.Helper()
	_, err := s.ec2.CreateTags(
		s.t.Context(), &ec2.CreateTagsInput{
			Resources: []string{id}, Tags: []ec2types.Tag{
				{Key: aws.String("portico.dev/namespace"), Value: &namespace},
			},
		})
	s.must(err)
}

func (s sharedAccount) group(name string) string {
	s.t.Helper()
	out, err := s.ec2.CreateSecurityGroup(s.t.Context(), &ec2.CreateSecurityGroupInput{
		GroupName: &name, Description: &name,
	})
	s.must(err)
	return *out.GroupId
}

func (s sharedAccount) profile(name, namespace string) {
	s.t.Helper()
	_, err := s.iam.CreateInstanceProfile(s.t.Context(), &iam.CreateInstanceProfileInput{
		InstanceProfileName: &name, Tags: []iamtypes.Tag{{Key: aws.String("portico.dev/namespace"), Value: &namespace}},
	})
	s.must(err)
}

// disk runs a machine for another team, and returns an image of it and a snapshot of its volume.
func (s sharedAccount) disk() (image, snapshot string) {
	s.t.Helper()
	vm, err := s.ec2.RunInstances(s.t.Context(), &ec2.RunInstancesInput{
		ImageId:  aws.String(simulatedImage),
		MinCount: aws.Int32(1), MaxCount: aws.Int32(1),
	})
	s.must(err)
	id := vm.Instances[0].InstanceId
	made, err := s.ec2.CreateImage(
		s.t.Context(), &ec2.CreateImageInput{InstanceId: id, Name: aws.String("golden-" + *id)})
	s.must(err)
	out, err := s.ec2.DescribeVolumes(s.t.Context(), &ec2.DescribeVolumesInput{
		Filters: []ec2types.Filter{{Name: aws.String("attachment.instance-id"), Values: []string{*id}}},
	})
	s.must(err)
	taken, err := s.ec2.CreateSnapshot(s.t.Context(), &ec2.CreateSnapshotInput{VolumeId: out.Volumes[0].VolumeId})
	s.must(err)
	return *made.ImageId, *taken.SnapshotId
}

// A team requests, one by one, what other teams have in a shared account.
func TestATeamUsesOnlyItsPartOfASharedAccount(t *testing.T) {
	c := withOperator(t)
	ns := team(t, c)
	p := account(t, c, "230000000077")
	s := sharedAccountOf(t, p)
	ours, theirs := s.group("ours"), s.group("theirs")
	s.tag(ours, ns)
	s.tag(theirs, "search")
	s.profile("deployer", "search")
	image, snapshot := s.disk()

	asking := func(name string, change func(*v1alpha1.EC2InstanceSpec)) *v1alpha1.EC2Instance {
		return machineOf(ns, name, func(spec *v1alpha1.EC2InstanceSpec) { spec.ProviderRef.Name = p.Name }, change)
	}
	for name, x := range map[string]struct {
		change       func(*v1alpha1.EC2InstanceSpec)
		reason, says string
	}{
		"network":  {func(s *v1alpha1.EC2InstanceSpec) { s.SecurityGroupIDs = []string{ours, theirs} }, "ReferenceNotAllowed", "the security group " + theirs},
		"role":     {func(s *v1alpha1.EC2InstanceSpec) { s.IAMInstanceProfile = "deployer" }, "ReferenceNotAllowed", "the instance profile deployer"},
		"image":    {func(s *v1alpha1.EC2InstanceSpec) { s.ImageID = image }, "ReferenceNotAllowed", "the image " + image},
		"key":      {disk(v1alpha1.EC2BlockDevice{DeviceName: "/dev/sdf", KMSKeyID: "alias/theirs"}), "ReferenceNotAllowed", "the KMS key alias/theirs"},
		"snapshot": {disk(v1alpha1.EC2BlockDevice{DeviceName: "/dev/sdf", SnapshotID: snapshot}), "SnapshotNotAllowed", snapshot},
	} {
		m := asking(name, x.change)
		create(t, c, m)
		got := reason(t, c, m, x.reason)
		if !strings.Contains(got.Message, x.says) || !strings.Contains(got.Message, "portico.dev/namespace="+ns) {
			t.Errorf("%s: message %q", name, got.Message)
		}
		gone(t, c, m)
	}

	q := queueOf(ns, "orders")
	q.Spec.ProviderRef.Name = p.Name
	q.Spec.DeadLetterQueue = &v1alpha1.SQSDeadLetterQueue{
		TargetARN:       "arn:aws:sqs:eu-west-1:230000000077:search-orders",
		MaxReceiveCount: 1,
	}
	create(t, c, q)
	if got := reason(t, c, q, "ReferenceNotAllowed"); !strings.Contains(got.Message, "the dead-letter queue "+
		q.Spec.DeadLetterQueue.TargetARN) {
		t.Errorf("a queue of theirs: message %q", got.Message)
	}
	gone(t, c, q)

	m := asking("worker", func(s *v1alpha1.EC2InstanceSpec) { s.SecurityGroupIDs = []string{ours} })
	createReady(t, c, m)
	edit(t, c, m, func(m *v1alpha1.EC2Instance) {
		m.Spec.SecurityGroupIDs, m.Spec.Tags = []string{ours, theirs}, v1alpha1.Tags{"tier": "web"}
	})
	reason(t, c, m, "ReferenceNotAllowed")
	held := func() []string {
		out, err := s.ec2.DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{
			InstanceIds: []string{m.Status.InstanceID},
		})
		s.must(err)
		vm := out.Reservations[0].Instances[0]
		if vm.State.Name != ec2types.InstanceStateNameRunning ||
			!slices.ContainsFunc(vm.Tags, func(tag ec2types.Tag) bool { return *tag.Key == "tier" }) {
			t.Errorf("the machine is %s, tags %v", vm.State.Name, vm.Tags)
		}
		var ids []string
		for _, g := range vm.SecurityGroups {
			ids = append(ids, *g.GroupId)
		}
		slices.Sort(ids)
		return ids
	}
	if got := held(); !slices.Equal(got, []string{ours}) {
		t.Fatalf("it is in the groups %v", got)
	}

	// A list of the provider allows the group for all, and later no longer does: a group that is in use remains.
	edit(t, c, p, func(p *v1alpha1.AWSProvider) { p.Spec.AllowedSecurityGroups = []string{theirs} })
	ready(t, c, m)
	edit(t, c, p, func(p *v1alpha1.AWSProvider) { p.Spec.AllowedSecurityGroups = nil })
	await(t, "the machine to follow the provider", func() (bool, string) {
		err := c.Get(t.Context(), client.ObjectKeyFromObject(m), m)
		return err == nil && m.Status.ProviderGeneration == p.Generation, "not yet"
	})
	ready(t, c, m)
	if got := held(); len(got) != 2 {
		t.Errorf("after the list was narrowed it is in the groups %v", got)
	}
}

// A team can neither set nor change tags of the platform, in Kubernetes or in AWS.
func TestTagsThatThePlatformKeeps(t *testing.T) {
	c := withOperator(t)
	withoutAdmission(t, c) // it would refuse these tags at once
	ns := team(t, c)
	p := account(t, c, "230000000078")
	edit(t, c, p, func(p *v1alpha1.AWSProvider) {
		p.Spec.EnforcedTags, p.Spec.ForbiddenTagKeys = v1alpha1.Tags{"cost-center": "4711"}, []string{"billing*"}
	})
	b := bucketOf(ns, "taxed")
	b.Spec.ProviderRef.Name, b.Spec.Tags = p.Name, v1alpha1.Tags{"cost-center": "1", "billing-code": "free"}
	create(t, c, b)
	if got := reason(t, c, b, "TagForbidden"); !strings.Contains(
		got.Message, "billing-code. Remove them from spec.tags") || !strings.Contains(got.Message, p.Name) {
		t.Errorf("message %q", got.Message)
	}
	api := outside(t, p.Name)
	if tagsOf(t, api, b.Spec.BucketName) != nil {
		t.Fatal("it was made all the same")
	}
	edit(t, c, b, func(b *v1alpha1.S3Bucket) { delete(b.Spec.Tags, "billing-code") })
	ready(t, c, b)
	if got := tagsOf(t, api, b.Spec.BucketName)["cost-center"]; got != "4711" {
		t.Fatalf("cost-center is %q", got)
	}
	tags := tagsOf(t, api, b.Spec.BucketName)
	tags["cost-center"] = "1"
	var set []s3types.Tag
	for key, value := range tags {
		set = append(set, s3types.Tag{Key: &key, Value: &value})
	}
	if _, err := api.PutBucketTagging(t.Context(), &s3.PutBucketTaggingInput{
		Bucket: &b.Spec.BucketName, Tagging: &s3types.Tagging{TagSet: set},
	}); err != nil {
		t.Fatal(err)
	}
	annotate(t, c, b, v1alpha1.AnnotationReconcileRequestedAt, "1")
	await(t, "the tag to be the platform's again", func() (bool, string) {
		got := tagsOf(t, api, b.Spec.BucketName)["cost-center"]
		return got == "4711", got
	})
	edit(t, c, b, func(b *v1alpha1.S3Bucket) { b.Spec.Tags = v1alpha1.Tags{"billing": "free", "team": "payments"} })
	reason(t, c, b, "TagForbidden")
	if tags := tagsOf(t, api, b.Spec.BucketName); tags["team"] != "payments" || tags["billing"] != "" {
		t.Errorf("tags %v", tags)
	}
}
