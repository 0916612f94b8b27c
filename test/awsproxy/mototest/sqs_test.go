//go:build integration

package mototest_test

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
	in := &sqs.CreateQueueInput{
		QueueName: &name, Tags: map[string]string{"team": "first"},
		Attributes: map[string]string{"DelaySeconds": "3"},
	}
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
		o.TimeScale = 1
		o.Now = standing(&later)
	})
	c := w.sqs(keyOne, "eu-west-1")
	name := unique(t)
	out, err := c.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: &name})
	must(t, err)
	_, err = c.DeleteQueue(t.Context(), &sqs.DeleteQueueInput{QueueUrl: out.QueueUrl})
	must(t, err)
	_, err = c.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: &name})
	if _, ok := errors.AsType[*types.QueueDeletedRecently](err); !ok {
		t.Errorf("got %v, want QueueDeletedRecently", err)
	}
	later = 61 * time.Second
	_, err = c.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: &name})
	must(t, err)
}

func TestTheRedriveAllowPolicyIsRemembered(t *testing.T) {
	w := newWorld(t)
	c := w.sqs(keyOne, "eu-west-1")
	name, attribute := unique(t), "RedriveAllowPolicy"
	out, err := c.CreateQueue(
		t.Context(), &sqs.CreateQueueInput{
			QueueName: &name, Attributes: map[string]string{attribute: `{"redrivePermission":"denyAll"}`},
		})
	must(t, err)
	read := func() string {
		got, err := c.GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{
			QueueUrl: out.QueueUrl, AttributeNames: []types.QueueAttributeName{"All"},
		})
		must(t, err)
		if got.Attributes["VisibilityTimeout"] != "30" {
			t.Errorf("the other attributes are lost: %v", got.Attributes)
		}
		return got.Attributes[attribute]
	}
	if got := read(); got != `{"redrivePermission":"denyAll"}` {
		t.Errorf("after creation %q", got)
	}
	_, err = c.SetQueueAttributes(t.Context(), &sqs.SetQueueAttributesInput{
		QueueUrl: out.QueueUrl, Attributes: map[string]string{attribute: ""},
	})
	must(t, err)
	if got := read(); got != "" {
		t.Errorf("after its removal %q", got)
	}
}

// TestTheRedriveAllowPolicyIsObeyed checks that a queue can name a dead-letter queue only if that accepts it as a
// source.
func TestTheRedriveAllowPolicyIsObeyed(t *testing.T) {
	w := newWorld(t)
	c := w.sqs(keyOne, "eu-west-1")
	dead, source := unique(t), unique(t)
	arnOf := func(name string) string { return "arn:aws:sqs:eu-west-1:111111111111:" + name }
	out, err := c.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: &dead, Attributes: map[string]string{
		"RedriveAllowPolicy": `{"redrivePermission":"byQueue","sourceQueueArns":["` + arnOf(source) + `"]}`,
	}})
	must(t, err)
	redrive := map[string]string{"RedrivePolicy": `{"deadLetterTargetArn":"` + arnOf(dead) + `","maxReceiveCount":3}`}
	_, err = c.CreateQueue(t.Context(), &sqs.CreateQueueInput{
		QueueName:  aws.String(source + "-other"),
		Attributes: redrive,
	})
	wantCode(t, err, "InvalidParameterValue")
	made, err := c.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: &source, Attributes: redrive})
	must(t, err)
	_, err = c.SetQueueAttributes(t.Context(), &sqs.SetQueueAttributesInput{
		QueueUrl: out.QueueUrl, Attributes: map[string]string{"RedriveAllowPolicy": `{"redrivePermission":"denyAll"}`},
	})
	must(t, err)
	_, err = c.SetQueueAttributes(t.Context(), &sqs.SetQueueAttributesInput{
		QueueUrl:   made.QueueUrl,
		Attributes: redrive,
	})
	wantCode(t, err, "InvalidParameterValue")
}

func TestListingsComeInSmallPages(t *testing.T) {
	w := newWorld(t)
	c := w.sqs(newAccount(w), "eu-west-1")
	for range 3 {
		name := unique(t)
		_, err := c.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: &name})
		must(t, err)
	}
	w.SetPageSize(2)
	defer w.SetPageSize(0)
	first, err := c.ListQueues(t.Context(), &sqs.ListQueuesInput{MaxResults: aws.Int32(1000)})
	must(t, err)
	if len(first.QueueUrls) != 2 || first.NextToken == nil {
		t.Errorf("a page of %d, want 2 and a token", len(first.QueueUrls))
	}
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

func TestADeadLetterQueueThatIsNotThereIsAnInvalidValue(t *testing.T) {
	w := newWorld(t)
	c := w.sqs(keyOne, "eu-west-1")
	nowhere := map[string]string{
		"RedrivePolicy": `{"deadLetterTargetArn":"arn:aws:sqs:eu-west-1:111111111111:nowhere","maxReceiveCount":3}`,
	}
	name := unique(t)
	_, err := c.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: &name, Attributes: nowhere})
	wantCode(t, err, "InvalidParameterValue")
	made, err := c.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: &name})
	must(t, err)
	_, err = c.SetQueueAttributes(t.Context(), &sqs.SetQueueAttributesInput{
		QueueUrl: made.QueueUrl, Attributes: nowhere,
	})
	wantCode(t, err, "InvalidParameterValue")
}

func TestDroppedAttributesAreAcceptedAndNotKept(t *testing.T) {
	w := newWorld(t)
	c := w.sqs(keyOne, "eu-west-1")
	made, err := c.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String(unique(t))})
	must(t, err)
	set := func(delay, timeout string) map[string]string {
		_, err := c.SetQueueAttributes(t.Context(), &sqs.SetQueueAttributesInput{
			QueueUrl: made.QueueUrl, Attributes: map[string]string{
				"DelaySeconds": delay, "VisibilityTimeout": timeout,
			},
		})
		must(t, err)
		got, err := c.GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{
			QueueUrl: made.QueueUrl, AttributeNames: []types.QueueAttributeName{"All"},
		})
		must(t, err)
		return got.Attributes
	}
	w.DropQueueAttributes("DelaySeconds")
	defer w.DropQueueAttributes()
	if got := set("7", "70"); got["DelaySeconds"] != "0" || got["VisibilityTimeout"] != "70" {
		t.Errorf("while one is dropped: %v", got)
	}
	w.DropQueueAttributes("DelaySeconds", "VisibilityTimeout")
	if got := set("7", "71"); got["DelaySeconds"] != "0" || got["VisibilityTimeout"] != "70" {
		t.Errorf("while both are dropped: %v", got)
	}
	w.DropQueueAttributes()
	if got := set("8", "80"); got["DelaySeconds"] != "8" || got["VisibilityTimeout"] != "80" {
		t.Errorf("afterwards: %v", got)
	}
}
