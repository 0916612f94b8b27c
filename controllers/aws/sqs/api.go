package sqs

import (
	"cmp"
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/aws/senders"
	"github.com/portico-platform/portico/controllers/cloud"
)

type opt = func(*sqs.Options)

// api lists the calls that Portico makes to SQS; docs/iam is checked against it.
type api interface {
	queueAPI
	tagAPI
}

type queueAPI interface {
	CreateQueue(context.Context, *sqs.CreateQueueInput, ...opt) (*sqs.CreateQueueOutput, error)
	DeleteQueue(context.Context, *sqs.DeleteQueueInput, ...opt) (*sqs.DeleteQueueOutput, error)
	GetQueueUrl(context.Context, *sqs.GetQueueUrlInput, ...opt) (*sqs.GetQueueUrlOutput, error)
	GetQueueAttributes(context.Context, *sqs.GetQueueAttributesInput, ...opt) (*sqs.GetQueueAttributesOutput, error)
	SetQueueAttributes(context.Context, *sqs.SetQueueAttributesInput, ...opt) (*sqs.SetQueueAttributesOutput, error)
	ListQueues(context.Context, *sqs.ListQueuesInput, ...opt) (*sqs.ListQueuesOutput, error)
}

type tagAPI interface {
	ListQueueTags(context.Context, *sqs.ListQueueTagsInput, ...opt) (*sqs.ListQueueTagsOutput, error)
	TagQueue(context.Context, *sqs.TagQueueInput, ...opt) (*sqs.TagQueueOutput, error)
	UntagQueue(context.Context, *sqs.UntagQueueInput, ...opt) (*sqs.UntagQueueOutput, error)
}

var _ api = (*sqs.Client)(nil)

func clientFor(session *cloud.Session) *sqs.Client {
	return cloud.Shared(session, func() *sqs.Client { return sqs.NewFromConfig(session.ConfigFor(sqs.ServiceID)) })
}

// pageOfQueues is SQS's maximum of queues per page.
const pageOfQueues = 1000

// Queues lists the ARNs of the queues in the session's account and region.
func Queues(ctx context.Context, session *cloud.Session) ([]string, error) {
	return list(ctx, clientFor(session), session)
}

func list(ctx context.Context, api queueAPI, session *cloud.Session) ([]string, error) {
	var all []string
	pages := sqs.NewListQueuesPaginator(api, &sqs.ListQueuesInput{MaxResults: aws.Int32(pageOfQueues)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, cloud.Explain(err)
		}
		for _, url := range page.QueueUrls {
			all = append(all, session.ARN("sqs", lastPart(url)))
		}
	}
	return all, nil
}

// url returns the URL of a queue by its name; "" if there is none.
func (q *queue) url(ctx context.Context, name string) (string, error) {
	out, err := q.api.GetQueueUrl(
		ctx, &sqs.GetQueueUrlInput{QueueName: &name, QueueOwnerAWSAccountId: &q.Session.AccountID})
	if cloud.IsNotFound(err) {
		return "", nil
	}
	if err != nil {
		return "", cloud.Explain(err)
	}
	if aws.ToString(out.QueueUrl) == "" {
		return "", errors.New("SQS GetQueueUrl: the answer holds no URL")
	}
	return *out.QueueUrl, nil
}

// read reads all attributes: the configuration, and in the same call the counts, which change by themselves.
func (q *queue) read(ctx context.Context, _ *v1alpha1.SQSQueue, url string) (map[string]string, error) {
	out, err := q.api.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
		QueueUrl: &url, AttributeNames: []sqstypes.QueueAttributeName{sqstypes.QueueAttributeNameAll},
	})
	if err != nil {
		return nil, err
	}
	senders.Divide(out.Attributes)
	q.senders.Had(out.Attributes[senders.Own])
	q.Rest = cmp.Or(q.Rest, q.senders.CheckKey(ctx, q.keys, out.Attributes[kmsKey]))
	return out.Attributes, nil
}

// PolicyReader reads access policies of queues, for the kinds that send to them.
type PolicyReader struct{ api queueAPI }

// Policies returns the PolicyReader of a session.
func Policies(session *cloud.Session) PolicyReader { return PolicyReader{clientFor(session)} }

// Policy returns the access policy of the queue at the URL, empty if it has none.
func (p PolicyReader) Policy(ctx context.Context, url string) (string, error) {
	out, err := p.api.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
		QueueUrl: &url, AttributeNames: []sqstypes.QueueAttributeName{sqstypes.QueueAttributeNamePolicy},
	})
	if err != nil {
		return "", cloud.Explain(err)
	}
	return out.Attributes[string(sqstypes.QueueAttributeNamePolicy)], nil
}

// service implements attributes.Service.
type service struct{ api api }

func (s service) ListTags(ctx context.Context, url string) (map[string]string, error) {
	out, err := s.api.ListQueueTags(ctx, &sqs.ListQueueTagsInput{QueueUrl: &url})
	if err != nil {
		return nil, err
	}
	return out.Tags, nil
}

func (s service) Tag(ctx context.Context, url string, tags map[string]string) error {
	_, err := s.api.TagQueue(ctx, &sqs.TagQueueInput{QueueUrl: &url, Tags: tags})
	return err
}

func (s service) Untag(ctx context.Context, url string, keys []string) error {
	_, err := s.api.UntagQueue(ctx, &sqs.UntagQueueInput{QueueUrl: &url, TagKeys: keys})
	return err
}

func (s service) Delete(ctx context.Context, url string) error {
	_, err := s.api.DeleteQueue(ctx, &sqs.DeleteQueueInput{QueueUrl: &url})
	return err
}
