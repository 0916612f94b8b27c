package awsproxy

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
)

// SendFromRule sends a message to a queue or topic as EventBridge does for a rule, and reports whether it arrived: it
// is dropped unless the receiver's policy lets events.amazonaws.com send for the rule ("Using resource-based policies
// for Amazon EventBridge" of its guide).
func (p *post) SendFromRule(ctx context.Context, ruleARN, toARN, body string) (delivered bool, err error) {
	rule, to := splitARN(ruleARN), splitARN(toARN)
	s := sender{service: "events.amazonaws.com", arn: ruleARN, account: rule.account}
	if delivered, err = p.admits(ctx, s, toARN); err != nil || !delivered {
		return false, err
	}
	if to.service == "sqs" {
		return p.upstream.askAbout(ctx, to, "AmazonSQS.SendMessage",
			map[string]any{"QueueUrl": "http://sqs/" + to.account + "/" + to.resource, "MessageBody": body},
			&struct{}{})
	}
	x := &exchange{call: Call{Account: to.account, Region: to.region}}
	if err := p.allowFromTopic(ctx, x, toARN); err != nil {
		return false, err
	}
	header := http.Header{}
	x.setPrivateHeaders(header)
	r, err := p.upstream.ask(ctx, question{
		service: "sns", region: to.region, account: to.account, method: http.MethodPost, path: "/",
		header: map[string]string{
			"Content-Type": "application/x-www-form-urlencoded",
			deliverHeader:  header.Get(deliverHeader),
		},
		body: url.Values{
			"Action": {"Publish"}, "Version": {"2010-03-31"}, "TopicArn": {toARN},
			"Message": {body},
		}.Encode(),
	})
	if err != nil {
		return false, err
	}
	return r.status == http.StatusOK, r.broken(nil)
}

// ConfirmSubscription confirms an endpoint's pending subscription to a topic, as the owner of the endpoint does with
// the link that SNS sends there.
func (p *post) ConfirmSubscription(ctx context.Context, topicARN, endpoint string) error {
	id := splitARN(topicARN)
	r, err := p.upstream.ask(ctx, question{
		service: "sns", region: id.region, account: id.account, method: http.MethodPost, path: "/",
		header: map[string]string{"Content-Type": "application/x-www-form-urlencoded", endpointHeader: endpoint},
		body: url.Values{
			"Action": {"ConfirmSubscription"}, "Version": {"2010-03-31"}, "TopicArn": {topicARN},
			"Token": {"by endpoint"},
		}.Encode(),
	})
	if err != nil {
		return err
	}
	if r.status != http.StatusOK {
		return fmt.Errorf("no subscription of %s to %s waits for its confirmation: %s", endpoint, topicARN, r.body)
	}
	return nil
}
