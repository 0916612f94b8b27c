package delivery

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// SendFromRule sends a message to a queue or topic as EventBridge does for a rule, and reports whether it arrived: it
// is dropped unless the receiver's policy lets events.amazonaws.com send for the rule ("Using resource-based policies
// for Amazon EventBridge" of its guide).
func (p *Post) SendFromRule(ctx context.Context, ruleARN, toARN, body string) (delivered bool, err error) {
	rule, to := wire.SplitARN(ruleARN), wire.SplitARN(toARN)
	s := wire.Sender{Service: "events.amazonaws.com", ARN: ruleARN, Account: rule.Account}
	if delivered, err = p.admits(ctx, s, toARN); err != nil || !delivered {
		return false, err
	}
	if to.Service == "sqs" {
		return p.upstream.AskAbout(ctx, to, "AmazonSQS.SendMessage",
			map[string]any{"QueueUrl": "http://sqs/" + to.Account + "/" + to.Resource, "MessageBody": body},
			&struct{}{})
	}
	x := &wire.Exchange{Call: wire.Call{Account: to.Account, Region: to.Region}}
	if err := p.AllowFromTopic(ctx, x, toARN); err != nil {
		return false, err
	}
	header := http.Header{}
	x.SetPrivateHeaders(header)
	r, err := p.upstream.Ask(ctx, wire.Question{
		Service: "sns", Region: to.Region, Account: to.Account, Method: http.MethodPost, Path: "/",
		Header: map[string]string{
			"Content-Type":     "application/x-www-form-urlencoded",
			wire.DeliverHeader: header.Get(wire.DeliverHeader),
		},
		Body: url.Values{
			"Action": {"Publish"}, "Version": {"2010-03-31"}, "TopicArn": {toARN},
			"Message": {body},
		}.Encode(),
	})
	if err != nil {
		return false, err
	}
	return r.Status == http.StatusOK, r.Broken(nil)
}

// ConfirmSubscription confirms an endpoint's pending subscription to a topic, as the owner of the endpoint does with
// the link that SNS sends there.
func (p *Post) ConfirmSubscription(ctx context.Context, topicARN, endpoint string) error {
	id := wire.SplitARN(topicARN)
	r, err := p.upstream.Ask(ctx, wire.Question{
		Service: "sns", Region: id.Region, Account: id.Account, Method: http.MethodPost, Path: "/",
		Header: map[string]string{"Content-Type": "application/x-www-form-urlencoded", wire.EndpointHeader: endpoint},
		Body: url.Values{
			"Action": {"ConfirmSubscription"}, "Version": {"2010-03-31"}, "TopicArn": {topicARN},
			"Token": {"by endpoint"},
		}.Encode(),
	})
	if err != nil {
		return err
	}
	if r.Status != http.StatusOK {
		return fmt.Errorf("no subscription of %s to %s waits for its confirmation: %s", endpoint, topicARN, r.Body)
	}
	return nil
}
