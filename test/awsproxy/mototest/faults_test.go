//go:build integration

package mototest_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/portico-platform/portico/test/awsproxy"
)

func TestFaultsHaveTheServicesCodes(t *testing.T) {
	for kind, codes := range map[awsproxy.FaultKind]map[string]string{
		awsproxy.Throttle:    {"s3": "SlowDown", "sts": "Throttling", "sqs": "ThrottlingException", "ec2": "RequestLimitExceeded"},
		awsproxy.ServerError: {"s3": "InternalError", "sts": "InternalFailure", "sqs": "InternalFailure", "ec2": "InternalError"},
		awsproxy.Denied:      {"s3": "AccessDenied", "sts": "AccessDenied", "sqs": "AccessDenied", "ec2": "UnauthorizedOperation"},
	} {
		t.Run(string(kind), func(t *testing.T) {
			w := newWorld(t)
			w.Inject(awsproxy.Fault{Kind: kind})
			errs := refusals(t, w, keyOne)
			wantCodes(t, errs, codes)
			for service, err := range errs {
				retried := retry.NewStandard().IsErrorRetryable(err)
				if want := kind != awsproxy.Denied; retried != want {
					t.Errorf("%s: the SDK finds it retryable: %t", service, retried)
				}
			}
			for _, c := range w.Calls() {
				if c.Fault != string(kind) || c.ErrorCode != codes[c.Service] {
					t.Errorf("journal %+v", c)
				}
			}
		})
	}
}

func TestFaultsSpareTheOutside(t *testing.T) {
	w := newWorld(t)
	w.Inject(awsproxy.Fault{Kind: awsproxy.ServerError})
	w.SetLatency(time.Hour)
	w.OnCall(func(context.Context, awsproxy.Call, awsproxy.Phase) error { return io.EOF })
	c := s3.NewFromConfig(config(w.outside, keyOne, "eu-west-1"))
	bucket := create(t, c, "eu-west-1", "a", "b")
	if got := tagsOf(t, c, bucket); len(got) != 1 { // as strict as the operator's entrance
		t.Errorf("tags %v", got)
	}
	if n := len(w.Calls(awsproxy.By(awsproxy.Outside))); n != 2 {
		t.Errorf("%d calls of the outside, want 2", n)
	}
	resp, err := w.outside.Client().Get(w.outside.URL + awsproxy.JournalPath)
	must(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	must(t, err)
	if !strings.Contains(string(text), "s3:CreateBucket") || !strings.Contains(string(text), bucket) {
		t.Errorf("journal page:\n%s", text)
	}
}

func TestLostReplyCommits(t *testing.T) {
	w := newWorld(t)
	c := w.s3(keyOne, "eu-west-1")
	w.Inject(awsproxy.Fault{Service: "s3", Operation: "CreateBucket", Kind: awsproxy.LostReply, Times: 1})
	bucket := unique(t)
	_, err := c.CreateBucket(t.Context(), createInput(bucket, "eu-west-1", "a", "b"))
	if err == nil {
		t.Fatal("the reply came through")
	}
	if got := tagsOf(t, c, bucket); got["a"] != "b" {
		t.Errorf("tags %v", got)
	}
	if got := w.Calls(awsproxy.Writes); len(got) != 1 || got[0].Status != 0 || got[0].Fault != "lost-reply" {
		t.Errorf("journal %+v", got)
	}
}

// TestClientGoneStillCommitsWhole checks that a client that disconnects during a creation leaves no half-created bucket
// behind.
func TestClientGoneStillCommitsWhole(t *testing.T) {
	w := newWorld(t)
	bucket := unique(t)
	ctx, cancel := context.WithCancel(t.Context())
	w.OnCall(func(_ context.Context, _ awsproxy.Call, phase awsproxy.Phase) error {
		if phase == awsproxy.Before {
			cancel()
		}
		return nil
	})
	_, err := w.s3(keyOne, "eu-west-1").CreateBucket(ctx, createInput(bucket, "eu-west-1", "a", "b"))
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want cancelled", err)
	}
	w.operator.Close() // waits for calls in progress
	if got := tagsOf(t, s3.NewFromConfig(config(w.outside, keyOne, "eu-west-1")), bucket); got["a"] != "b" {
		t.Errorf("tags %v", got)
	}
}

func TestHangEndsWithTheClientOrTheProxy(t *testing.T) {
	w := newWorld(t)
	c := w.sqs(keyOne, "eu-west-1")
	w.Inject(awsproxy.Fault{Kind: awsproxy.Hang})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := c.ListQueues(ctx, &sqs.ListQueuesInput{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the client's own deadline", err)
	}
	go func() {
		for len(w.Calls(func(c awsproxy.Call) bool { return c.Fault == "hang" })) < 2 {
			time.Sleep(time.Millisecond)
		}
		w.Close()
	}()
	if _, err := c.ListQueues(t.Context(), &sqs.ListQueuesInput{}); err == nil {
		t.Error("a hanging call was answered")
	}
}

func TestPartialPageLeavesOutTheLast(t *testing.T) {
	w := newWorld(t)
	buckets, queues, instances := w.s3(keyTwo, "eu-west-1"), w.sqs(keyTwo, "eu-west-1"), w.ec2(keyTwo, "eu-central-1")
	create(t, buckets, "eu-west-1")
	_, err := queues.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String(unique(t))})
	must(t, err)
	run(t, instances, runInput(unique(t), "t3.micro"))
	run(t, instances, runInput(unique(t), "t3.micro"))
	count := func() [3]int {
		b, err := buckets.ListBuckets(t.Context(), &s3.ListBucketsInput{})
		must(t, err)
		q, err := queues.ListQueues(t.Context(), &sqs.ListQueuesInput{})
		must(t, err)
		i, err := instances.DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{})
		must(t, err)
		return [3]int{len(b.Buckets), len(q.QueueUrls), len(i.Reservations)}
	}
	all := count()
	remove := w.Inject(awsproxy.Fault{Kind: awsproxy.PartialPage})
	if got, want := count(), [3]int{all[0] - 1, all[1] - 1, all[2] - 1}; got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	remove()
	if got := count(); got != all {
		t.Errorf("after removal got %v, want %v", got, all)
	}
}

func TestSecondPageFails(t *testing.T) {
	w := newWorld(t)
	c := w.s3(keyOne, "eu-west-1")
	create(t, c, "eu-west-1")
	create(t, c, "eu-west-1")
	w.Inject(awsproxy.Fault{Operation: "List*", OnlyContinued: true, Kind: awsproxy.ServerError})
	p := s3.NewListBucketsPaginator(c, &s3.ListBucketsInput{MaxBuckets: aws.Int32(1)})
	_, err := p.NextPage(t.Context())
	must(t, err)
	_, err = p.NextPage(t.Context())
	wantStatus(t, err, http.StatusInternalServerError)
}

func TestHooksCutTheWorld(t *testing.T) {
	for _, phase := range []awsproxy.Phase{awsproxy.Before, awsproxy.After} {
		w := newWorld(t)
		bucket := unique(t)
		w.OnCall(func(_ context.Context, c awsproxy.Call, at awsproxy.Phase) error {
			if at == phase && c.Write && c.Names(bucket) {
				return errors.New("the controller has stopped")
			}
			return nil
		})
		c := w.s3(keyOne, "eu-west-1")
		if _, err := c.CreateBucket(t.Context(), createInput(bucket, "eu-west-1", "a", "b")); err == nil {
			t.Fatal("the reply came through")
		}
		if calls := w.Calls(awsproxy.Writes); len(calls) != 1 || calls[0].Fault != "hook" || calls[0].Status != 0 {
			t.Errorf("journal %+v", calls)
		}
		w.OnCall(nil)
		_, err := c.GetBucketTagging(t.Context(), &s3.GetBucketTaggingInput{Bucket: &bucket})
		if phase == awsproxy.Before {
			wantCode(t, err, "NoSuchBucket")
		} else {
			must(t, err)
		}
	}
}

func TestRequestIDsChange(t *testing.T) {
	w := newWorld(t)
	seen := map[string]bool{}
	for range 2 {
		for service, err := range refusals(t, w, "AKIANOBODY") {
			var e interface{ ServiceRequestID() string }
			if !errors.As(err, &e) || len(e.ServiceRequestID()) < 16 || seen[e.ServiceRequestID()] {
				t.Errorf("%s: request ID of %v", service, err)
				continue
			}
			seen[e.ServiceRequestID()] = true
		}
	}
}
