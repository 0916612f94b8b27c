//go:build integration

package mototest_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	snstypes "github.com/aws/aws-sdk-go-v2/service/sns/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// application returns the settings of a Pod whose association has a policy, and whose role allows everything.
func (e *eksWorld) application(t *testing.T, name string, allowed ...string) aws.Config {
	t.Helper()
	e.associate(t, statements(allowed...), inAccount(name))
	return e.pod(t, e.agent(t), "shop/"+name)
}

func newApplications(t *testing.T) *eksWorld {
	t.Helper()
	e := newEKSWorld(t, newWorld(t))
	e.role = e.boundRole(t, everything, everything)
	return e
}

// TestAnApplicationUsesABucket checks that an application reads, writes and lists what its policy names, and nothing
// else. Without permission to list, it does not learn which objects are missing.
func TestAnApplicationUsesABucket(t *testing.T) {
	e := newApplications(t)
	bucket := e.bucket(t)
	arn := "arn:aws:s3:::" + bucket
	cfg := e.application(t, "all",
		`"Action":["s3:GetObject","s3:PutObject","s3:DeleteObject","s3:AbortMultipartUpload","s3:ListMultipartUploadParts"],"Resource":"`+arn+`/*"`,
		`"Action":"s3:ListBucket","Resource":"`+arn+`","Condition":{"StringLike":{"s3:prefix":"in/*"}}`)
	api, key := bucketsOf(cfg), aws.String("in/key")
	up, err := api.CreateMultipartUpload(t.Context(), &s3.CreateMultipartUploadInput{Bucket: &bucket, Key: key})
	must(t, err)
	part, err := api.UploadPart(t.Context(), &s3.UploadPartInput{
		Bucket: &bucket, Key: key, UploadId: up.UploadId,
		PartNumber: aws.Int32(1), Body: strings.NewReader("text"),
	})
	must(t, err)
	_, err = api.ListParts(t.Context(), &s3.ListPartsInput{Bucket: &bucket, Key: key, UploadId: up.UploadId})
	must(t, err)
	_, err = api.CompleteMultipartUpload(t.Context(), &s3.CompleteMultipartUploadInput{
		Bucket: &bucket, Key: key, UploadId: up.UploadId, MultipartUpload: &s3types.CompletedMultipartUpload{
			Parts: []s3types.CompletedPart{{ETag: part.ETag, PartNumber: aws.Int32(1)}},
		},
	})
	must(t, err)
	second, err := api.CreateMultipartUpload(t.Context(), &s3.CreateMultipartUploadInput{
		Bucket: &bucket, Key: aws.String("in/second"),
	})
	must(t, err)
	_, abortErr := api.AbortMultipartUpload(t.Context(), &s3.AbortMultipartUploadInput{
		Bucket: &bucket, Key: aws.String("in/second"), UploadId: second.UploadId,
	})
	_, copyErr := api.CopyObject(t.Context(), &s3.CopyObjectInput{
		Bucket: &bucket, Key: aws.String("in/copy"),
		CopySource: aws.String(bucket + "/in/key"),
	})
	_, getErr := api.GetObject(t.Context(), &s3.GetObjectInput{Bucket: &bucket, Key: key})
	_, headErr := api.HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: &bucket, Key: key})
	_, listErr := api.ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: &bucket, Prefix: aws.String("in/")})
	_, deleteErr := api.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: &bucket, Key: key})
	must(t, errors.Join(abortErr, copyErr, getErr, headErr, listErr, deleteErr))
	_, err = api.ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: &bucket})
	wantDenied(t, err, "AccessDenied", "s3:ListBucket")
	_, err = api.CopyObject(t.Context(), &s3.CopyObjectInput{
		Bucket: &bucket, Key: aws.String("in/copy"),
		CopySource: aws.String(e.bucket(t) + "/key"),
	})
	wantDenied(t, err, "AccessDenied", "s3:GetObject")
	_, err = api.PutObject(t.Context(), &s3.PutObjectInput{Bucket: &bucket, Key: key, Tagging: aws.String("a=b")})
	wantDenied(t, err, "AccessDenied", "s3:PutObjectTagging")
	_, err = api.GetObject(t.Context(), &s3.GetObjectInput{Bucket: &bucket, Key: key, VersionId: aws.String("null")})
	wantDenied(t, err, "AccessDenied", "s3:GetObjectVersion")
	_, err = api.DeleteBucket(t.Context(), &s3.DeleteBucketInput{Bucket: &bucket})
	wantDenied(t, err, "AccessDenied", "s3:DeleteBucket")
	_, err = api.GetObject(t.Context(), &s3.GetObjectInput{Bucket: &bucket, Key: aws.String("in/absent")})
	wantDenied(t, err, "AccessDenied", "s3:ListBucket")
	lister := bucketsOf(e.application(t, "lister", `"Action":["s3:GetObject","s3:ListBucket"],"Resource":"*"`))
	_, err = lister.GetObject(t.Context(), &s3.GetObjectInput{Bucket: &bucket, Key: aws.String("in/absent")})
	wantCode(t, err, "NoSuchKey")
	_, err = lister.HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: &bucket, Key: aws.String("in/absent")})
	wantStatus(t, err, 404)
	_, err = api.HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: &bucket, Key: aws.String("in/absent")})
	wantStatus(t, err, 403)
}

// TestAnApplicationUsesAQueue checks that one permission covers sending, receiving or deleting one message and a batch.
func TestAnApplicationUsesAQueue(t *testing.T) {
	e := newApplications(t)
	made, err := e.sqs(e.key, ireland).CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String(unique(t))})
	must(t, err)
	url := made.QueueUrl
	arn := "arn:aws:sqs:eu-west-1:" + e.account + ":" + (*url)[strings.LastIndex(*url, "/")+1:]
	api := sqs.NewFromConfig(
		e.application(
			t, "both",
			`"Action":["sqs:SendMessage","sqs:ReceiveMessage","sqs:DeleteMessage","sqs:ChangeMessageVisibility","sqs:GetQueueUrl","sqs:GetQueueAttributes"],"Resource":"`+arn+`"`))
	_, err = api.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: url, MessageBody: aws.String("a")})
	must(t, err)
	batch := &sqs.SendMessageBatchInput{QueueUrl: url, Entries: []sqstypes.SendMessageBatchRequestEntry{
		{Id: aws.String("1"), MessageBody: aws.String("b")},
	}}
	_, err = api.SendMessageBatch(t.Context(), batch)
	must(t, err)
	got, err := api.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: url})
	must(t, err)
	handle := got.Messages[0].ReceiptHandle
	_, changeErr := api.ChangeMessageVisibility(t.Context(), &sqs.ChangeMessageVisibilityInput{
		QueueUrl: url, ReceiptHandle: handle, VisibilityTimeout: 30,
	})
	_, deleteErr := api.DeleteMessageBatch(t.Context(), &sqs.DeleteMessageBatchInput{
		QueueUrl: url, Entries: []sqstypes.DeleteMessageBatchRequestEntry{
			{Id: aws.String("1"), ReceiptHandle: handle},
		},
	})
	_, readErr := api.GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{QueueUrl: url})
	must(t, errors.Join(changeErr, deleteErr, readErr))
	_, err = api.PurgeQueue(t.Context(), &sqs.PurgeQueueInput{QueueUrl: url})
	wantDenied(t, err, "AccessDenied", "sqs:purgequeue")
	receiver := sqs.NewFromConfig(e.application(t, "receiver", `"Action":"sqs:ReceiveMessage","Resource":"`+arn+`"`))
	_, err = receiver.SendMessageBatch(t.Context(), batch)
	wantDenied(t, err, "AccessDenied", "sqs:sendmessage on resource: "+arn)
	_, err = receiver.ChangeMessageVisibilityBatch(t.Context(), &sqs.ChangeMessageVisibilityBatchInput{
		QueueUrl: url, Entries: []sqstypes.ChangeMessageVisibilityBatchRequestEntry{
			{Id: aws.String("1"), ReceiptHandle: handle},
		},
	})
	wantDenied(t, err, "AccessDenied", "sqs:changemessagevisibility")
}

func TestAnApplicationPublishes(t *testing.T) {
	e := newApplications(t)
	outside := sns.NewFromConfig(config(e.outside, e.key, ireland))
	var topics []*string
	for range 2 {
		made, err := outside.CreateTopic(t.Context(), &sns.CreateTopicInput{Name: aws.String(unique(t))})
		must(t, err)
		topics = append(topics, made.TopicArn)
	}
	api := sns.NewFromConfig(e.application(t, "publisher", `"Action":"sns:Publish","Resource":"`+*topics[0]+`"`))
	for i, topic := range topics {
		_, one := api.Publish(t.Context(), &sns.PublishInput{TopicArn: topic, Message: aws.String("text")})
		_, many := api.PublishBatch(
			t.Context(), &sns.PublishBatchInput{
				TopicArn: topic, PublishBatchRequestEntries: []snstypes.PublishBatchRequestEntry{
					{Id: aws.String("1"), Message: aws.String("text")},
				},
			})
		if i == 0 {
			must(t, errors.Join(one, many))
			continue
		}
		wantDenied(t, one, "AuthorizationError", "SNS:Publish on resource: "+*topic)
		wantDenied(t, many, "AuthorizationError", "SNS:Publish")
	}
}

// TestAnApplicationMayNotChangeItsRights checks that the entrance for applications is as strict as the others, and
// refuses calls to EKS without permission.
func TestAnApplicationMayNotChangeItsRights(t *testing.T) {
	e := newApplications(t)
	cfg := e.application(t, "plain", `"Action":"s3:*","Resource":"*"`)
	_, err := eks.NewFromConfig(cfg).CreatePodIdentityAssociation(t.Context(), e.creation())
	wantDenied(t, err, "AccessDeniedException",
		"because no session policy allows the eks:CreatePodIdentityAssociation action")
}
