package sns

import (
	"context"
	"encoding/xml"
	"net/http"
	"net/url"

	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// Attributes returns all attributes of a topic; none if it does not exist.
func Attributes(ctx context.Context, u *wire.Upstream, id wire.ARN) (map[string]string, error) {
	x := &wire.Exchange{Call: wire.Call{Account: id.Account, Region: id.Region}}
	r, err := u.AskForm(ctx, x, "sns", url.Values{
		"Action": {"GetTopicAttributes"}, "Version": {"2010-03-31"}, "TopicArn": {id.String()},
	})
	if err != nil || r.Status != http.StatusOK {
		return nil, r.Broken(err)
	}
	var answer response
	if err := xml.Unmarshal(r.Body, &answer); err != nil {
		return nil, err
	}
	return entries(answer.Topic), nil
}

// SubscribedQueues returns the queues that have confirmed a subscription to the topic; none if there is no such topic.
func SubscribedQueues(ctx context.Context, u *wire.Upstream, topicARN string) ([]string, error) {
	id := wire.SplitARN(topicARN)
	if id.Account == "" { // an SMS to a phone number
		return nil, nil
	}
	x := &wire.Exchange{Call: wire.Call{Account: id.Account, Region: id.Region}}
	form := url.Values{"Action": {"ListSubscriptionsByTopic"}, "Version": {"2010-03-31"}, "TopicArn": {topicARN}}
	var queues []string
	for {
		r, err := u.AskForm(ctx, x, "sns", form)
		if err != nil || r.Status != http.StatusOK {
			return queues, r.Broken(err)
		}
		page, err := read(r)
		if err != nil {
			return nil, err
		}
		for _, s := range page.Subscriptions {
			if s.Protocol == "sqs" && s.SubscriptionArn != pendingSubscription {
				queues = append(queues, s.Endpoint)
			}
		}
		if page.NextOfTopic == "" {
			return queues, nil
		}
		form.Set("NextToken", page.NextOfTopic)
	}
}
