//go:build integration

package awsproxy_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/portico-platform/portico/test/awsproxy"
)

func TestCreateQueueOnceMoreKeepsTags(t *testing.T) {
	w := newWorld(t)
	c := w.sqs(keyOne, "eu-west-1")
	name := unique(t)
	in := &sqs.CreateQueueInput{QueueName: &name, Tags: map[string]string{"team": "first"}, Attributes: map[string]string{"DelaySeconds": "3"}}
	first, err := c.CreateQueue(t.Context(), in)
	must(t, err)
	in.Tags = map[string]string{"team": "second"}
	again, err := c.CreateQueue(t.Context(), in)
	must(t, err)
	if *again.QueueUrl != *first.QueueUrl || !strings.HasPrefix(*first.QueueUrl, w.operator.URL) {
		t.Errorf("URLs %s and %s", *first.QueueUrl, *again.QueueUrl)
	}
	tags, err := c.ListQueueTags(t.Context(), &sqs.ListQueueTagsInput{QueueUrl: first.QueueUrl})
	must(t, err)
	if tags.Tags["team"] != "first" {
		t.Errorf("tags %v, want the first", tags.Tags)
	}

	in.Attributes = map[string]string{"DelaySeconds": "4"}
	_, err = c.CreateQueue(t.Context(), in)
	wantCode(t, err, "QueueAlreadyExists")
	if n := len(w.Calls(awsproxy.To("sqs"), awsproxy.About(name))); n != 4 {
		t.Errorf("%d calls about the queue, want 4", n)
	}
}

func TestNameOfDeletedQueueIsTakenForAWhile(t *testing.T) {
	later := time.Duration(0)
	w := newWorld(t, func(o *awsproxy.Options) {
		o.QueueNameWait = time.Minute
		o.Now = func() time.Time { return time.Now().Add(later) }
	})
	c := w.sqs(keyOne, "eu-west-1")
	name := unique(t)
	out, err := c.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: &name})
	must(t, err)
	_, err = c.DeleteQueue(t.Context(), &sqs.DeleteQueueInput{QueueUrl: out.QueueUrl})
	must(t, err)
	_, err = c.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: &name})
	var recently *types.QueueDeletedRecently
	if !errors.As(err, &recently) {
		t.Errorf("got %v, want QueueDeletedRecently", err)
	}
	later = 61 * time.Second
	_, err = c.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: &name})
	must(t, err)
}

func TestListQueuesPages(t *testing.T) {
	w := newWorld(t)
	c := w.sqs(newAccount(w), "eu-west-1")
	var want, got []string
	for range 5 {
		out, err := c.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String(unique(t))})
		must(t, err)
		want = append(want, *out.QueueUrl)
	}
	pages := 0
	in := &sqs.ListQueuesInput{MaxResults: aws.Int32(2), QueueNamePrefix: aws.String("listqueues")}
	for p := sqs.NewListQueuesPaginator(c, in); p.HasMorePages(); pages++ {
		out, err := p.NextPage(t.Context())
		must(t, err)
		got = append(got, out.QueueUrls...)
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) || pages != 3 {
		t.Errorf("%d pages of %v, want 3 of %v", pages, got, want)
	}
}
