//go:build integration

package mototest_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/portico-platform/portico/api/access"
	"github.com/portico-platform/portico/api/v1alpha1"
)

// use is a call that an application makes to a resource of a kind, and the access that allows it; "" if no access
// does.
type use struct {
	name, kind string
	needs      []v1alpha1.BindingAccess
	do         func(ctx context.Context, c clients, resource string) error
}

// clients are the AWS clients of one application.
type clients struct {
	s3  *s3.Client
	sqs *sqs.Client
	sns *sns.Client
}

var (
	readers = []v1alpha1.BindingAccess{v1alpha1.AccessRead, v1alpha1.AccessReadWrite, ""}
	writers = []v1alpha1.BindingAccess{v1alpha1.AccessWrite, v1alpha1.AccessReadWrite, ""}
	both    = []v1alpha1.BindingAccess{v1alpha1.AccessRead, v1alpha1.AccessWrite, v1alpha1.AccessReadWrite, ""}
)

var uses = slices.Concat(ofBuckets, ofQueues, ofTopics)

var ofBuckets = []use{
	{"list", v1alpha1.KindS3Bucket, readers, func(ctx context.Context, c clients, b string) error {
		_, err := c.s3.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: &b})
		return err
	}},
	{"get", v1alpha1.KindS3Bucket, readers, func(ctx context.Context, c clients, b string) error {
		_, err := c.s3.GetObject(ctx, &s3.GetObjectInput{Bucket: &b, Key: aws.String("there")})
		return err
	}},
	{"put", v1alpha1.KindS3Bucket, writers, func(ctx context.Context, c clients, b string) error {
		_, err := c.s3.PutObject(
			ctx, &s3.PutObjectInput{Bucket: &b, Key: aws.String("new"), Body: strings.NewReader("text")})
		return err
	}},
	{
		"upload in parts, and give up", v1alpha1.KindS3Bucket, writers,
		func(ctx context.Context, c clients, b string) error {
			up, err := c.s3.CreateMultipartUpload(
				ctx, &s3.CreateMultipartUploadInput{Bucket: &b, Key: aws.String("parts")})
			if err != nil {
				return err
			}
			if _, err = c.s3.ListParts(
				ctx, &s3.ListPartsInput{Bucket: &b, Key: aws.String("parts"), UploadId: up.UploadId}); err != nil {
				return err
			}
			_, err = c.s3.AbortMultipartUpload(
				ctx, &s3.AbortMultipartUploadInput{Bucket: &b, Key: aws.String("parts"), UploadId: up.UploadId})
			return err
		},
	},
	{"delete an object", v1alpha1.KindS3Bucket, writers, func(ctx context.Context, c clients, b string) error {
		_, err := c.s3.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b, Key: aws.String("old")})
		return err
	}},
	{"read the policy", v1alpha1.KindS3Bucket, nil, func(ctx context.Context, c clients, b string) error {
		_, err := c.s3.GetBucketPolicy(ctx, &s3.GetBucketPolicyInput{Bucket: &b})
		return err
	}},
	{"switch versioning off", v1alpha1.KindS3Bucket, nil, func(ctx context.Context, c clients, b string) error {
		_, err := c.s3.PutBucketVersioning(
			ctx, &s3.PutBucketVersioningInput{Bucket: &b, VersioningConfiguration: &s3types.VersioningConfiguration{
				Status: s3types.BucketVersioningStatusSuspended,
			}})
		return err
	}},
	{"delete the bucket", v1alpha1.KindS3Bucket, nil, func(ctx context.Context, c clients, b string) error {
		_, err := c.s3.DeleteBucket(ctx, &s3.DeleteBucketInput{Bucket: &b})
		return err
	}},
}

var ofQueues = []use{
	{"receive", v1alpha1.KindSQSQueue, readers, func(ctx context.Context, c clients, url string) error {
		_, err := c.sqs.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: &url})
		return err
	}},
	{"count", v1alpha1.KindSQSQueue, both, func(ctx context.Context, c clients, url string) error {
		_, err := c.sqs.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: &url})
		return err
	}},
	{"send", v1alpha1.KindSQSQueue, writers, func(ctx context.Context, c clients, url string) error {
		_, err := c.sqs.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &url, MessageBody: aws.String("text")})
		return err
	}},
	{"purge", v1alpha1.KindSQSQueue, nil, func(ctx context.Context, c clients, url string) error {
		_, err := c.sqs.PurgeQueue(ctx, &sqs.PurgeQueueInput{QueueUrl: &url})
		return err
	}},
	{"change the queue", v1alpha1.KindSQSQueue, nil, func(ctx context.Context, c clients, url string) error {
		_, err := c.sqs.SetQueueAttributes(
			ctx, &sqs.SetQueueAttributesInput{QueueUrl: &url, Attributes: map[string]string{"VisibilityTimeout": "1"}})
		return err
	}},
	{"delete the queue", v1alpha1.KindSQSQueue, nil, func(ctx context.Context, c clients, url string) error {
		_, err := c.sqs.DeleteQueue(ctx, &sqs.DeleteQueueInput{QueueUrl: &url})
		return err
	}},
}

var ofTopics = []use{
	{"publish", v1alpha1.KindSNSTopic, writers, func(ctx context.Context, c clients, arn string) error {
		_, err := c.sns.Publish(ctx, &sns.PublishInput{TopicArn: &arn, Message: aws.String("text")})
		return err
	}},
	{"subscribe", v1alpha1.KindSNSTopic, nil, func(ctx context.Context, c clients, arn string) error {
		_, err := c.sns.Subscribe(ctx, &sns.SubscribeInput{
			TopicArn: &arn, Protocol: aws.String("sqs"),
			Endpoint: aws.String(strings.Replace(arn, ":sns:", ":sqs:", 1)),
		})
		return err
	}},
	{"delete the topic", v1alpha1.KindSNSTopic, nil, func(ctx context.Context, c clients, arn string) error {
		_, err := c.sns.DeleteTopic(ctx, &sns.DeleteTopicInput{TopicArn: &arn})
		return err
	}},
}

// resources creates one resource of each kind, and returns the identifiers that calls use, and the ARNs.
func (e *eksWorld) resources(t *testing.T) (calls, arns map[string]string) {
	t.Helper()
	outside := config(e.outside, e.key, ireland)
	bucket := e.bucket(t)
	for _, key := range []string{"there", "old"} {
		_, err := bucketsOf(outside).PutObject(
			t.Context(), &s3.PutObjectInput{Bucket: &bucket, Key: &key, Body: strings.NewReader("text")})
		must(t, err)
	}
	queue, err := sqs.NewFromConfig(outside).CreateQueue(
		t.Context(), &sqs.CreateQueueInput{QueueName: aws.String(unique(t))})
	must(t, err)
	topic, err := sns.NewFromConfig(outside).CreateTopic(
		t.Context(), &sns.CreateTopicInput{Name: aws.String(unique(t))})
	must(t, err)
	url := *queue.QueueUrl
	return map[string]string{
			v1alpha1.KindS3Bucket: bucket, v1alpha1.KindSQSQueue: url,
			v1alpha1.KindSNSTopic: *topic.TopicArn,
		},
		map[string]string{
			v1alpha1.KindS3Bucket: "arn:aws:s3:::" + bucket, v1alpha1.KindSNSTopic: *topic.TopicArn,
			v1alpha1.KindSQSQueue: "arn:aws:sqs:" + ireland + ":" + e.account + ":" +
				url[strings.LastIndex(url, "/")+1:],
		}
}

// TestAnAccessAllowsWhatItSaysAndNothingElse has an application for each access of each kind. Its role allows
// everything and its association has the policy of that access. It tries every call, on the resource that it is bound
// to and on another one.
func TestAnAccessAllowsWhatItSaysAndNothingElse(t *testing.T) {
	e := newApplications(t)
	theirs, _ := e.resources(t)
	allowed, refused := 0, 0
	for _, kind := range []string{v1alpha1.KindS3Bucket, v1alpha1.KindSQSQueue, v1alpha1.KindSNSTopic} {
		for _, level := range both {
			ours, arns := e.resources(t)
			policy, err := access.Policy(
				[]access.Grant{{Kind: kind, Access: level, ARN: arns[kind], Region: ireland, Account: e.account}})
			must(t, err)
			if policy == "" { // no access allows reading from a topic
				continue
			}
			name := strings.ToLower(kind + "-" + string(level) + "-x")
			e.associate(t, policy, inAccount(name))
			cfg := e.pod(t, e.agent(t), "shop/"+name)
			app := clients{bucketsOf(cfg), sqs.NewFromConfig(cfg), sns.NewFromConfig(cfg)}
			for _, u := range uses {
				may := u.kind == kind && slices.Contains(u.needs, level)
				if err := u.do(t.Context(), app, ours[u.kind]); (err == nil) != may || err != nil && !isRefusal(err) {
					t.Errorf("%s of the %s %q: %s its own: %v", level, kind, name, u.name, err)
				}
				if err := u.do(t.Context(), app, theirs[u.kind]); !isRefusal(err) {
					t.Errorf("%s of the %s: %s another one: %v", level, kind, u.name, err)
				}
				if refused++; may {
					allowed++
				} else {
					refused++
				}
			}
		}
	}
	if allowed < 25 || refused < 300 {
		t.Errorf("%d calls were to be allowed, and %d to be refused: it tried too little", allowed, refused)
	}
	t.Logf("%d calls were allowed, and %d refused", allowed, refused)
}

// isRefusal reports whether the error is a denial of access.
func isRefusal(err error) bool {
	return err != nil && (strings.Contains(err.Error(), "AccessDenied") ||
		strings.Contains(err.Error(), "AuthorizationError"))
}
