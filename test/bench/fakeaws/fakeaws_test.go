package fakeaws

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
)

const region = "eu-west-1"

func start(tb testing.TB) (*Server, aws.Config) {
	tb.Helper()
	s, err := Start()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = s.Close() })
	return s, aws.Config{
		Region: region, BaseEndpoint: &s.URL, RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
	}
}

func s3Client(cfg aws.Config) *s3.Client {
	return s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = true })
}

func code(err error) string {
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		return api.ErrorCode()
	}
	return fmt.Sprint(err)
}

func want(t *testing.T, got, expected string) {
	t.Helper()
	if got != expected {
		t.Errorf("got %s, want %s", got, expected)
	}
}

func newBucket(name string) *s3.CreateBucketInput {
	return &s3.CreateBucketInput{Bucket: &name, CreateBucketConfiguration: &s3types.CreateBucketConfiguration{
		LocationConstraint: region, Tags: []s3types.Tag{{Key: aws.String("uid"), Value: aws.String("<1>")}},
	}}
}

func TestBucketsKeepTheirTags(t *testing.T) {
	_, cfg := start(t)
	c, name, ctx := s3Client(cfg), aws.String("b-1"), t.Context()
	get := &s3.GetBucketTaggingInput{Bucket: name, ExpectedBucketOwner: aws.String(AccountID)}

	_, err := c.GetBucketTagging(ctx, get)
	want(t, code(err), "NoSuchBucket")
	if _, err := c.CreateBucket(ctx, newBucket("b-1")); err != nil {
		t.Fatal(err)
	}
	_, err = c.CreateBucket(ctx, newBucket("b-1"))
	want(t, code(err), "BucketAlreadyOwnedByYou")
	out, err := c.GetBucketTagging(ctx, get)
	if err != nil || len(out.TagSet) != 1 || *out.TagSet[0].Value != "<1>" {
		t.Errorf("%+v, %v", out, err)
	}
	_, err = c.GetBucketTagging(
		ctx, &s3.GetBucketTaggingInput{Bucket: name, ExpectedBucketOwner: aws.String("000000000000")})
	want(t, code(err), "AccessDenied")

	if _, err := c.PutBucketTagging(ctx, &s3.PutBucketTaggingInput{Bucket: name, Tagging: &s3types.Tagging{
		TagSet: []s3types.Tag{{Key: aws.String("a"), Value: aws.String("2")}},
	}}); err != nil {
		t.Fatal(err)
	}
	if out, err = c.GetBucketTagging(ctx, get); err != nil || *out.TagSet[0].Key != "a" {
		t.Errorf("%+v, %v", out, err)
	}
	if _, err := c.DeleteBucketTagging(ctx, &s3.DeleteBucketTaggingInput{Bucket: name}); err != nil {
		t.Fatal(err)
	}
	_, err = c.GetBucketTagging(ctx, get)
	want(t, code(err), "NoSuchTagSet")
	if _, err := c.DeleteBucket(ctx, &s3.DeleteBucketInput{Bucket: name}); err != nil {
		t.Fatal(err)
	}
	_, err = c.DeleteBucket(ctx, &s3.DeleteBucketInput{Bucket: name})
	want(t, code(err), "NoSuchBucket")
	_, err = c.GetBucketVersioning(ctx, &s3.GetBucketVersioningInput{Bucket: name})
	want(t, code(err), "NotImplemented")
}

func TestBucketsAreListedInPages(t *testing.T) {
	_, cfg := start(t)
	c, ctx := s3Client(cfg), t.Context()
	for i := range 5 {
		if _, err := c.CreateBucket(ctx, newBucket(fmt.Sprintf("list-%d", i))); err != nil {
			t.Fatal(err)
		}
	}
	var names []string
	pages := s3.NewListBucketsPaginator(
		c, &s3.ListBucketsInput{BucketRegion: aws.String(region), MaxBuckets: aws.Int32(2)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil || len(page.Buckets) > 2 {
			t.Fatalf("%+v, %v", page, err)
		}
		for _, b := range page.Buckets {
			names = append(names, *b.Name)
		}
	}
	if !slices.Equal(names, []string{"list-0", "list-1", "list-2", "list-3", "list-4"}) {
		t.Errorf("got %v", names)
	}
}

func TestQueuesKeepTagsAndAttributes(t *testing.T) {
	_, cfg := start(t)
	c, ctx := sqs.NewFromConfig(cfg), t.Context()
	_, err := c.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: aws.String("q")})
	want(t, code(err), "AWS.SimpleQueueService.NonExistentQueue")
	if missing, ok := errors.AsType[*sqstypes.QueueDoesNotExist](err); !ok {
		t.Errorf("%T is no %T", err, missing)
	}
	create := &sqs.CreateQueueInput{
		QueueName: aws.String("q"), Tags: map[string]string{"uid": "1"}, Attributes: map[string]string{
			"DelaySeconds": "7",
		},
	}
	made, err := c.CreateQueue(ctx, create)
	if err != nil {
		t.Fatal(err)
	}
	create.Tags = map[string]string{"uid": "2"}
	if again, err := c.CreateQueue(ctx, create); err != nil || *again.QueueUrl != *made.QueueUrl {
		t.Errorf("%+v, %v", again, err)
	}
	create.Attributes = map[string]string{"DelaySeconds": "8"}
	_, err = c.CreateQueue(ctx, create)
	want(t, code(err), "QueueAlreadyExists")

	url := made.QueueUrl
	if _, err := c.SetQueueAttributes(
		ctx, &sqs.SetQueueAttributesInput{
			QueueUrl: url, Attributes: map[string]string{"VisibilityTimeout": "9"},
		}); err != nil {
		t.Fatal(err)
	}
	_, err = c.SetQueueAttributes(
		ctx, &sqs.SetQueueAttributesInput{QueueUrl: url, Attributes: map[string]string{"Colour": "9"}})
	want(t, code(err), "InvalidAttributeName")
	have, err := c.GetQueueAttributes(
		ctx, &sqs.GetQueueAttributesInput{QueueUrl: url, AttributeNames: []sqstypes.QueueAttributeName{"All"}})
	if err != nil {
		t.Fatal(err)
	}
	want(t, have.Attributes["DelaySeconds"], "7")
	want(t, have.Attributes["VisibilityTimeout"], "9")
	want(t, have.Attributes["QueueArn"], "arn:aws:sqs:eu-west-1:"+AccountID+":q")

	if _, err := c.TagQueue(ctx, &sqs.TagQueueInput{QueueUrl: url, Tags: map[string]string{"a": "b"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.UntagQueue(ctx, &sqs.UntagQueueInput{QueueUrl: url, TagKeys: []string{"uid"}}); err != nil {
		t.Fatal(err)
	}
	tags, err := c.ListQueueTags(ctx, &sqs.ListQueueTagsInput{QueueUrl: url})
	if err != nil || len(tags.Tags) != 1 || tags.Tags["a"] != "b" {
		t.Errorf("%+v, %v", tags, err)
	}
	if _, err := c.DeleteQueue(ctx, &sqs.DeleteQueueInput{QueueUrl: url}); err != nil {
		t.Fatal(err)
	}
	_, err = c.CreateQueue(ctx, create)
	want(t, code(err), "AWS.SimpleQueueService.QueueDeletedRecently")
}

func TestQueuesAreListedInPages(t *testing.T) {
	_, cfg := start(t)
	c, ctx := sqs.NewFromConfig(cfg), t.Context()
	for i := range 5 {
		if _, err := c.CreateQueue(
			ctx, &sqs.CreateQueueInput{QueueName: aws.String(fmt.Sprintf("q-%d", i))}); err != nil {
			t.Fatal(err)
		}
	}
	urls, pages := []string{}, sqs.NewListQueuesPaginator(c, &sqs.ListQueuesInput{MaxResults: aws.Int32(2)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil || len(page.QueueUrls) > 2 {
			t.Fatalf("%+v, %v", page, err)
		}
		urls = append(urls, page.QueueUrls...)
	}
	if len(urls) != 5 {
		t.Errorf("got %v", urls)
	}
}

func TestCallsAreCountedAndDelayed(t *testing.T) {
	s, cfg := start(t)
	ctx, c := t.Context(), sts.NewFromConfig(cfg)
	who, err := c.GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	if err != nil || *who.Account != AccountID {
		t.Fatalf("%+v, %v", who, err)
	}
	if list, err := ec2.NewFromConfig(cfg).DescribeInstances(ctx, &ec2.DescribeInstancesInput{}); err != nil ||
		len(list.Reservations) > 0 {
		t.Errorf("%+v, %v", list, err)
	}
	before := s.Counts()
	var seen []Call
	s.OnCall(func(call Call) { seen = append(seen, call) })
	s.SetLatency(20 * time.Millisecond)
	began := time.Now()
	_, err = s3Client(cfg).GetBucketTagging(ctx, &s3.GetBucketTaggingInput{Bucket: aws.String("none")})
	want(t, code(err), "NoSuchBucket")
	if took := time.Since(began); took < 20*time.Millisecond {
		t.Errorf("the answer came after %s", took)
	}
	if len(seen) != 1 {
		t.Fatalf("seen %+v, want one call", seen)
	}
	want(t, seen[0].Resource, "none")
	want(t, seen[0].Operation, "GetBucketTagging")
	if seen[0].Write() {
		t.Error("Write() = true, want false")
	}
	counts := s.Counts().Since(before)
	if got := counts["s3 GetBucketTagging"]; got != (Count{1, 1}) || counts.Total() != 1 || counts.Writes() != 0 {
		t.Errorf("counts = %v, want one read", counts)
	}
	if n := before.Of("sts").Total(); n != 1 {
		t.Errorf("calls of STS before = %d, want 1", n)
	}
}

// BenchmarkReads measures without the SDK, which would take most of the time of a call.
func BenchmarkReads(b *testing.B) {
	s, cfg := start(b)
	if _, err := s3Client(cfg).CreateBucket(b.Context(), newBucket("b-1")); err != nil {
		b.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	b.SetParallelism(8)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			get, _ := http.NewRequest(http.MethodGet, s.URL+"/b-1?tagging", nil)
			get.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=test/20260101/"+region+
				"/s3/aws4_request, Signature=none")
			answer, err := client.Do(get)
			if err != nil {
				b.Error(err)
				return
			}
			if _, err := io.Copy(io.Discard, answer.Body); err != nil || answer.StatusCode != http.StatusOK {
				b.Error(answer.Status, err)
			}
			_ = answer.Body.Close()
		}
	})
}
