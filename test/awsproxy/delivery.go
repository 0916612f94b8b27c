package awsproxy

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/portico-platform/portico/test/awsproxy/iampolicy"
)

// delivery is a permission to deliver messages from a topic or bucket to a queue or topic, by ARNs.
type delivery struct{ from, to string }

// The proxy sends its decisions to test/moto/server.py in these headers. Clients cannot set them.
const (
	deliverHeader  = "X-Portico-Deliver"
	callerHeader   = "X-Portico-Caller"
	endpointHeader = "X-Portico-Endpoint"
)

// setPrivateHeaders passes to moto the account that owns the resource, the caller's account, and the deliveries that
// are allowed during the call.
func (x *exchange) setPrivateHeaders(h http.Header) {
	for _, name := range []string{accountHeader, deliverHeader, callerHeader, endpointHeader, PlainHTTPHeader} {
		h.Del(name)
	}
	if x.call.Account != "" {
		h.Set(accountHeader, x.account())
		h.Set(callerHeader, x.call.Account)
	}
	ways := make([]string, len(x.deliver))
	for i, d := range x.deliver {
		ways[i] = d.from + ">" + d.to
	}
	if len(ways) > 0 {
		h.Set(deliverHeader, strings.Join(ways, " "))
	}
}

// sender is a service that sends on behalf of one of its resources.
type sender struct {
	service string // the service's principal
	arn     string // of the topic, bucket or rule
	account string // owner of the ARN
}

func topicSender(arn string) sender {
	return sender{service: "sns.amazonaws.com", arn: arn, account: splitARN(arn).account}
}

// post decides which messages of services arrive.
type post struct {
	upstream *upstream
	obedient atomic.Bool // the simulator drops the messages that the proxy refuses
	now      func() time.Time
	policyOf policyFinder
}

func newPost(up *upstream, now func() time.Time, policyOf policyFinder) *post {
	return &post{upstream: up, now: now, policyOf: policyOf}
}

// deliveries opens the ways of messages during a call.
type deliveries interface {
	// allowDelivery makes moto deliver what a sender sends during the call, if the receiver allows it.
	allowDelivery(ctx context.Context, x *exchange, s sender, to string) error
	// allowFromTopic makes moto deliver what is published to the topic during the call to the queues that allow it.
	allowFromTopic(ctx context.Context, x *exchange, topicARN string) error
}

// admits reports whether a queue or topic accepts what a service sends: it must exist, its policy must allow the
// service to send for the resource, and if it is encrypted with a KMS key, the key's policy must allow the service to
// use the key. If not, the sender gets no error: "Fanout to Amazon SQS queues" of SNS's guide, "Amazon SNS message
// delivery status".
func (p *post) admits(ctx context.Context, s sender, to string) (bool, error) {
	if err := p.obeys(ctx); err != nil {
		return false, err
	}
	id := splitARN(to)
	var attributes map[string]string
	var err error
	action, usage := "sqs:SendMessage", "aws:sqs:arn"
	switch id.service {
	case "sqs":
		attributes, err = queueAttributes(ctx, p.upstream, id)
	case "sns":
		action, usage = "sns:Publish", "aws:sns:topicArn"
		attributes, err = topicAttributes(ctx, p.upstream, id)
	}
	if err != nil || attributes["Policy"] == "" {
		return false, err
	}
	policy, err := ParseResourcePolicy([]byte(attributes["Policy"]))
	if err != nil {
		return false, fmt.Errorf("%s: %w", to, err)
	}
	known := p.knownOf(s, id)
	if !policy.Admits(iampolicy.Request{Action: action, Resource: to, Context: known.values},
		iampolicy.Principal{Kind: "Service", Name: s.service}) {
		return false, nil
	}
	if attributes["KmsMasterKeyId"] == "" {
		return true, nil
	}
	return p.keyAdmits(ctx, s, id, attributes["KmsMasterKeyId"], known.with("kms:EncryptionContext:"+usage, to))
}

// knownOf returns the values of condition keys for a call by a service. There is no aws:PrincipalArn: only principals
// of accounts have it.
func (p *post) knownOf(s sender, to arnOf) facts {
	return facts{}.with("aws:SourceArn", s.arn).with("aws:SourceAccount", s.account).with("aws:PrincipalIsAWSService",
		"true").
		with("aws:PrincipalServiceName", s.service).with("aws:PrincipalServiceNamesList",
		s.service).with("aws:SecureTransport", "true").
		with("aws:ViaAWSService", "false").with("aws:RequestedRegion", to.region).with("aws:ResourceAccount",
		to.account).
		with("aws:CurrentTime", p.now().UTC().Format(time.RFC3339))
}

func (f facts) values(key string) []string { return f[key] }

// keyAdmits reports whether a key allows the service to encrypt: "Configure KMS permissions for AWS services" of
// SQS's guide. Keys that AWS manages, such as alias/aws/sqs, allow no service, and nobody can change that.
func (p *post) keyAdmits(ctx context.Context, s sender, of arnOf, key string, known facts) (bool, error) {
	at := arnOf{partition: of.partition, service: "kms", region: of.region, account: of.account}
	if id := splitARN(key); id.account != "" {
		at = id
	}
	arn, usable, err := keyOf(ctx, p.upstream, at, key)
	if err != nil || !usable || strings.Contains(key, "alias/aws/") {
		return false, err
	}
	policy, err := p.policyOf(ctx, arn)
	if err != nil {
		return false, err
	}
	for _, action := range []string{"kms:GenerateDataKey", "kms:Decrypt"} {
		r := iampolicy.Request{Action: action, Resource: arn, Context: known.values}
		if !policy.Admits(r, iampolicy.Principal{Kind: "Service", Name: s.service}) {
			return false, nil
		}
	}
	return true, nil
}

// errDelivers means that the simulator is not the one that the tests start.
var errDelivers = errors.New("the simulator delivers what the proxy would drop: start it by test/moto/server.py")

// obeys returns an error if the simulator cannot drop messages that policies refuse.
func (p *post) obeys(ctx context.Context) error {
	if p.obedient.Load() {
		return nil
	}
	r, err := p.upstream.ask(ctx, question{
		service: "sqs", region: "us-east-1", method: http.MethodGet,
		path: "/moto-api/portico",
	})
	if err != nil {
		return err
	}
	if r.status != http.StatusOK {
		return errDelivers
	}
	p.obedient.Store(true)
	return nil
}

// allowFromTopic makes moto deliver what is published to the topic during the call to the queues that allow it.
func (p *post) allowFromTopic(ctx context.Context, x *exchange, topicARN string) error {
	queues, err := subscribedQueues(ctx, p.upstream, topicARN)
	if err != nil {
		return err
	}
	for _, queue := range queues {
		if err := p.allowDelivery(ctx, x, topicSender(topicARN), queue); err != nil {
			return err
		}
	}
	return nil
}

// allowDelivery makes moto deliver what a sender sends during the call, if the receiver allows it.
func (p *post) allowDelivery(ctx context.Context, x *exchange, s sender, to string) error {
	admitted, err := p.admits(ctx, s, to)
	if admitted {
		x.deliver = append(x.deliver, delivery{from: s.arn, to: to})
	}
	return err
}

// subscribedQueues returns the queues that have confirmed a subscription to the topic; none if there is no such topic.
func subscribedQueues(ctx context.Context, u *upstream, topicARN string) ([]string, error) {
	id := splitARN(topicARN)
	if id.account == "" { // an SMS to a phone number
		return nil, nil
	}
	x := &exchange{call: Call{Account: id.account, Region: id.region}}
	form := url.Values{"Action": {"ListSubscriptionsByTopic"}, "Version": {"2010-03-31"}, "TopicArn": {topicARN}}
	var queues []string
	for {
		r, err := u.askForm(ctx, x, "sns", form)
		if err != nil || r.status != http.StatusOK {
			return queues, r.broken(err)
		}
		page, err := readSNS(r)
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
