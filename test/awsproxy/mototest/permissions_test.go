//go:build integration

package mototest_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	ststypes "github.com/aws/aws-sdk-go-v2/service/sts/types"
	"github.com/aws/smithy-go"

	"github.com/portico-platform/portico/test/awsproxy"
	"github.com/portico-platform/portico/test/awsproxy/iampolicy"
)

// everything allows all actions.
const everything = `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"*","Resource":"*"}}`

// policies returns the documents as identity policies.
func policies(t *testing.T, documents ...string) iampolicy.Policies {
	t.Helper()
	var all iampolicy.Policies
	for _, text := range documents {
		p, err := awsproxy.ParsePolicy([]byte(text))
		must(t, err)
		all.Identity = append(all.Identity, p)
	}
	return all
}

// statements returns a document with statements that allow.
func statements(all ...string) string {
	return `{"Version":"2012-10-17","Statement":[{"Effect":"Allow",` + strings.Join(all, `},{"Effect":"Allow",`) + `}]}`
}

// roleOf opens a session of a role in account one, with a policy document and the tag of a team.
func roleOf(t *testing.T, w *world, team, document string, change ...func(*sts.AssumeRoleInput)) aws.Config {
	t.Helper()
	role := "arn:aws:iam::" + accountOne + ":role/" + unique(t)
	t.Cleanup(w.AttachPolicies(role, policies(t, document)))
	in := &sts.AssumeRoleInput{
		RoleArn: &role, RoleSessionName: aws.String("tester"), Tags: []ststypes.Tag{
			{Key: aws.String("team"), Value: &team},
		},
	}
	for _, c := range change {
		c(in)
	}
	out, err := w.sts(keyOne, "eu-west-1").AssumeRole(t.Context(), in)
	must(t, err)
	k := out.Credentials
	return configWith(w.operator, aws.Credentials{
		AccessKeyID: *k.AccessKeyId, SecretAccessKey: *k.SecretAccessKey,
		SessionToken: *k.SessionToken,
	}, "eu-west-1")
}

// wantDenied asserts the code, that it is 403, and the parts of the message.
func wantDenied(t *testing.T, err error, code string, parts ...string) {
	t.Helper()
	wantCode(t, err, code)
	wantStatus(t, err, http.StatusForbidden)
	var e smithy.APIError
	errors.As(err, &e)
	for _, part := range parts {
		if !strings.Contains(e.ErrorMessage(), part) {
			t.Errorf("the message %q lacks %q", e.ErrorMessage(), part)
		}
	}
}

// TestADenialIsAsTheServiceSaysIt checks that each service reports a missing permission in its own format.
func TestADenialIsAsTheServiceSaysIt(t *testing.T) {
	w := newWorld(t)
	cfg := roleOf(t, w, "a", statements(`"Action":"iam:GetInstanceProfile","Resource":"*"`))
	name := unique(t)
	_, err := bucketsOf(cfg).CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: &name})
	wantDenied(t, err, "AccessDenied", ":assumed-role/", "/tester is not authorized to perform: s3:CreateBucket on "+
		"resource: \"arn:aws:s3:::"+name+
		"\" because no identity-based policy allows the s3:CreateBucket action")
	_, err = bucketsOf(cfg).ListBuckets(t.Context(), &s3.ListBucketsInput{})
	wantDenied(t, err, "AccessDenied", "s3:ListAllMyBuckets because")
	_, err = sqs.NewFromConfig(cfg).CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: &name})
	wantDenied(t, err, "AccessDenied", "sqs:createqueue on resource: arn:aws:sqs:eu-west-1:"+accountOne+":"+name+
		" because no identity-based policy allows the sqs:createqueue action")
	_, err = sns.NewFromConfig(cfg).CreateTopic(t.Context(), &sns.CreateTopicInput{Name: &name})
	wantDenied(t, err, "AuthorizationError", "SNS:CreateTopic on resource: arn:aws:sns:eu-west-1:"+accountOne+":"+name+
		" because no identity-based policy allows the SNS:CreateTopic action")
	_, err = ec2.NewFromConfig(cfg).DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{})
	wantDenied(t, err, "UnauthorizedOperation", "You are not authorized to perform this operation. User: ",
		"ec2:DescribeInstances because", "Encoded authorization failure message: ")
	if calls := w.Calls(awsproxy.To("sqs")); len(calls) != 1 || calls[0].Status != 403 ||
		calls[0].ErrorCode != "AccessDenied" {
		t.Errorf("journal %+v", calls)
	}
}

func bucketsOf(cfg aws.Config) *s3.Client {
	return s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = true })
}

// TestBucketsAreJudgedByName checks that permissions depend on the names of buckets and the tags of a creation: a
// session cannot access another team's buckets.
func TestBucketsAreJudgedByName(t *testing.T) {
	w := newWorld(t)
	create := `"Action":["s3:CreateBucket","s3:GetBucketTagging","s3:PutLifecycleConfiguration"],"Resource":"arn:*:s3:::${aws:PrincipalTag/team}-*"`
	name := "pay-" + unique(t)
	tagged := &s3.CreateBucketInput{Bucket: &name, CreateBucketConfiguration: &s3types.CreateBucketConfiguration{
		LocationConstraint: "eu-west-1", Tags: []s3types.Tag{{Key: aws.String("a"), Value: aws.String("b")}},
	}}
	_, err := bucketsOf(roleOf(t, w, "pay", statements(create))).CreateBucket(t.Context(), tagged)
	wantDenied(t, err, "AccessDenied", "s3:TagResource")
	full := statements(create,
		`"Action":"s3:TagResource","Resource":"*","Condition":{"StringEquals":{"aws:RequestTag/a":"b"},"ForAllValues:StringEquals":{"aws:TagKeys":"a"}}`)
	api := bucketsOf(roleOf(t, w, "pay", full))
	_, err = api.CreateBucket(t.Context(), tagged)
	must(t, err)
	_, err = api.GetBucketTagging(t.Context(), &s3.GetBucketTaggingInput{Bucket: &name})
	must(t, err)
	_, err = api.DeleteBucketLifecycle(t.Context(), &s3.DeleteBucketLifecycleInput{Bucket: &name})
	must(t, err)
	_, err = api.DeleteBucket(t.Context(), &s3.DeleteBucketInput{Bucket: &name})
	wantDenied(t, err, "AccessDenied", "s3:DeleteBucket")
	_, err = bucketsOf(roleOf(t, w, "roll", full)).GetBucketTagging(t.Context(), &s3.GetBucketTaggingInput{
		Bucket: &name,
	})
	wantDenied(t, err, "AccessDenied", "s3:GetBucketTagging")
}

// TestObjectsAreJudgedOneByOne checks that DeleteObjects reports a result for each object, and deletes only those that
// the caller has permission to delete.
func TestObjectsAreJudgedOneByOne(t *testing.T) {
	w := newWorld(t)
	bucket := create(t, w.s3(keyOne, "eu-west-1"), "eu-west-1")
	for _, key := range []string{"ours/1", "theirs/1"} {
		_, err := w.s3(keyOne, "eu-west-1").PutObject(t.Context(), &s3.PutObjectInput{Bucket: &bucket, Key: &key})
		must(t, err)
	}
	api := bucketsOf(roleOf(t, w, "ours", statements(`"Action":"s3:DeleteObject","Resource":"arn:aws:s3:::`+bucket+
		`/${aws:PrincipalTag/team}/*"`)))
	out, err := api.DeleteObjects(t.Context(), &s3.DeleteObjectsInput{Bucket: &bucket, Delete: &s3types.Delete{
		Objects: []s3types.ObjectIdentifier{{Key: aws.String("ours/1")}, {Key: aws.String("theirs/1")}},
	}})
	must(t, err)
	if len(out.Deleted) != 1 || *out.Deleted[0].Key != "ours/1" {
		t.Fatalf("deleted %+v, errors %+v", out.Deleted, out.Errors)
	}
	if len(out.Errors) != 1 || *out.Errors[0].Key != "theirs/1" {
		t.Errorf("deleted %+v, errors %+v", out.Deleted, out.Errors)
	}
	if *out.Errors[0].Code != "AccessDenied" {
		t.Errorf("deleted %+v, errors %+v", out.Deleted, out.Errors)
	}
	_, err = api.DeleteObject(
		t.Context(), &s3.DeleteObjectInput{Bucket: &bucket, Key: aws.String("ours/1"), VersionId: aws.String("null")})
	wantDenied(t, err, "AccessDenied", "s3:DeleteObjectVersion")
}

// TestQueuesAreJudgedByTags checks that permissions on a queue depend on its tags, and on the tags that a call gives
// it.
func TestQueuesAreJudgedByTags(t *testing.T) {
	w := newWorld(t)
	document := statements(
		`"Action":["sqs:CreateQueue","sqs:TagQueue"],"Resource":"*","Condition":{"StringEquals":{"aws:RequestTag/team":"${aws:PrincipalTag/team}"},"Null":{"aws:ResourceTag/team":"true"}}`,
		`"Action":"sqs:DeleteQueue","Resource":"*","Condition":{"StringEquals":{"aws:ResourceTag/team":"${aws:PrincipalTag/team}"}}`)
	ours, theirs := sqs.NewFromConfig(roleOf(t, w, "ours", document)),
		sqs.NewFromConfig(roleOf(t, w, "theirs", document))
	name := unique(t)
	_, err := ours.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: &name})
	wantDenied(t, err, "AccessDenied", "sqs:createqueue")
	_, err = ours.CreateQueue(
		t.Context(), &sqs.CreateQueueInput{QueueName: &name, Tags: map[string]string{"team": "theirs"}})
	wantDenied(t, err, "AccessDenied", "sqs:createqueue")
	made, err := ours.CreateQueue(
		t.Context(), &sqs.CreateQueueInput{QueueName: &name, Tags: map[string]string{"team": "ours"}})
	must(t, err)
	_, err = theirs.TagQueue(
		t.Context(), &sqs.TagQueueInput{QueueUrl: made.QueueUrl, Tags: map[string]string{"team": "theirs"}})
	wantDenied(t, err, "AccessDenied", "sqs:tagqueue")
	_, err = theirs.DeleteQueue(t.Context(), &sqs.DeleteQueueInput{QueueUrl: made.QueueUrl})
	wantDenied(t, err, "AccessDenied", "sqs:deletequeue")
	_, err = ours.DeleteQueue(t.Context(), &sqs.DeleteQueueInput{QueueUrl: made.QueueUrl})
	must(t, err)
	_, err = ours.DeleteQueue(t.Context(), &sqs.DeleteQueueInput{QueueUrl: made.QueueUrl})
	wantCode(t, err, "AWS.SimpleQueueService.NonExistentQueue")
}

// TestALaunchIsJudgedResourceByResource checks that a launch needs the permission on everything that it creates and
// uses.
func TestALaunchIsJudgedResourceByResource(t *testing.T) {
	w := newWorld(t)
	image := imageOf(t, w)
	spec := func(kinds ...ec2types.ResourceType) *ec2.RunInstancesInput {
		in := &ec2.RunInstancesInput{
			ImageId: &image, MinCount: aws.Int32(1), MaxCount: aws.Int32(1),
			InstanceType: "t3.micro",
		}
		for _, kind := range kinds {
			in.TagSpecifications = append(in.TagSpecifications, ec2types.TagSpecification{
				ResourceType: kind, Tags: []ec2types.Tag{{Key: aws.String("team"), Value: aws.String("a")}},
			})
		}
		return in
	}
	made := `"Action":"ec2:RunInstances","Resource":["arn:aws:ec2:*:*:instance/*","arn:aws:ec2:*:*:volume/*"],"Condition":{"StringEquals":{"aws:RequestTag/team":"${aws:PrincipalTag/team}"}}`
	tags := `"Action":"ec2:CreateTags","Resource":"*","Condition":{"StringEquals":{"ec2:CreateAction":"RunInstances"}}`
	used := func(kinds ...string) string {
		return `"Action":"ec2:RunInstances","Resource":["arn:aws:ec2:*:*:` +
			strings.Join(kinds, `","arn:aws:ec2:*:*:`) + `"]`
	}
	all := []string{"network-interface/*", "image/*", "subnet/*", "security-group/*"}
	for i, kind := range all {
		without := append(append([]string{}, all[:i]...), all[i+1:]...)
		_, err := ec2.NewFromConfig(roleOf(t, w, "a", statements(made, tags, used(without...)))).RunInstances(
			t.Context(), spec("instance", "volume"))
		wantDenied(t, err, "UnauthorizedOperation", "ec2:RunInstances on resource: ", strings.TrimSuffix(kind, "*"))
	}
	_, err := ec2.NewFromConfig(roleOf(t, w, "a", statements(made, used(all...)))).RunInstances(
		t.Context(), spec("instance", "volume"))
	wantDenied(t, err, "UnauthorizedOperation", "ec2:CreateTags")
	api := ec2.NewFromConfig(
		roleOf(t, w, "a", statements(made, tags, used(all...),
			`"Action":"ec2:TerminateInstances","Resource":"*","Condition":{"StringEquals":{"aws:ResourceTag/team":"a"}}`)))
	_, err = api.RunInstances(t.Context(), spec("instance"))
	wantDenied(t, err, "UnauthorizedOperation", ":volume/*")
	out, err := api.RunInstances(t.Context(), spec("instance", "volume"))
	must(t, err)
	id := *out.Instances[0].InstanceId
	_, err = api.CreateTags(t.Context(), &ec2.CreateTagsInput{
		Resources: []string{id}, Tags: []ec2types.Tag{{Key: aws.String("x"), Value: aws.String("y")}},
	})
	wantDenied(t, err, "UnauthorizedOperation", "ec2:CreateTags on resource: arn:aws:ec2:eu-west-1:"+accountOne+
		":instance/"+id)
	_, err = api.TerminateInstances(t.Context(), &ec2.TerminateInstancesInput{
		InstanceIds: []string{"i-0123456789abcdef0"},
	})
	wantCode(t, err, "InvalidInstanceID.NotFound")
	_, err = api.TerminateInstances(t.Context(), &ec2.TerminateInstancesInput{InstanceIds: []string{id}})
	must(t, err)
}

func imageOf(t *testing.T, w *world) string {
	t.Helper()
	out, err := w.ec2(keyOne, "eu-west-1").DescribeImages(t.Context(), &ec2.DescribeImagesInput{})
	must(t, err)
	return *out.Images[0].ImageId
}

// TestBoundariesAndSessionPoliciesTakeAway checks that a session policy and a boundary only restrict.
func TestBoundariesAndSessionPoliciesTakeAway(t *testing.T) {
	w := newWorld(t)
	queues := func(change ...func(*sts.AssumeRoleInput)) *sqs.Client {
		return sqs.NewFromConfig(roleOf(t, w, "a", everything, change...))
	}
	_, err := queues().ListQueues(t.Context(), &sqs.ListQueuesInput{})
	must(t, err)
	session := func(in *sts.AssumeRoleInput) {
		in.Policy = aws.String(statements(`"Action":"s3:*","Resource":"*"`))
	}
	_, err = queues(session).ListQueues(t.Context(), &sqs.ListQueuesInput{})
	wantDenied(t, err, "AccessDenied", "because no session policy allows the sqs:listqueues action")
	broken := func(in *sts.AssumeRoleInput) { in.Policy = aws.String(`{}`) }
	in := &sts.AssumeRoleInput{
		RoleArn:         aws.String("arn:aws:iam::" + accountOne + ":role/x"),
		RoleSessionName: aws.String("x"),
	}
	broken(in)
	_, err = w.sts(keyOne, "eu-west-1").AssumeRole(t.Context(), in)
	wantCode(t, err, "MalformedPolicyDocument")
	role := "arn:aws:iam::" + accountOne + ":role/" + unique(t)
	limits := policies(t, everything)
	limits.Boundary = policies(t, statements(`"Action":"s3:*","Resource":"*"`)).Identity[0]
	t.Cleanup(w.AttachPolicies(role, limits))
	in = &sts.AssumeRoleInput{RoleArn: &role, RoleSessionName: aws.String("x")}
	out, err := w.sts(keyOne, "eu-west-1").AssumeRole(t.Context(), in)
	must(t, err)
	k := out.Credentials
	cfg := configWith(w.operator, aws.Credentials{
		AccessKeyID: *k.AccessKeyId, SecretAccessKey: *k.SecretAccessKey,
		SessionToken: *k.SessionToken,
	}, "eu-west-1")
	_, err = sqs.NewFromConfig(cfg).ListQueues(t.Context(), &sqs.ListQueuesInput{})
	wantDenied(t, err, "AccessDenied", "because no permissions boundary allows the sqs:listqueues action")
}

// TestAnUnknownOperationIsNotLetThrough checks that a call whose permissions are not defined here is refused.
func TestAnUnknownOperationIsNotLetThrough(t *testing.T) {
	w := newWorld(t)
	_, err := sqs.NewFromConfig(roleOf(t, w, "a", everything)).ListMessageMoveTasks(
		t.Context(), &sqs.ListMessageMoveTasksInput{SourceArn: aws.String("arn:aws:sqs:eu-west-1:1:q")})
	wantStatus(t, err, 500)
}
