// Package delivery decides which messages of SNS, S3 and EventBridge arrive in queues and topics: those that the
// policies of the receiver and of its key allow. moto delivers them.
package delivery

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/portico-platform/portico/test/awsproxy/iampolicy"
	"github.com/portico-platform/portico/test/awsproxy/kms"
	"github.com/portico-platform/portico/test/awsproxy/permit"
	"github.com/portico-platform/portico/test/awsproxy/sns"
	"github.com/portico-platform/portico/test/awsproxy/sqs"
	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// Post decides which messages of services arrive.
type Post struct {
	upstream *wire.Upstream
	obedient atomic.Bool // the simulator drops the messages that the proxy refuses
	now      func() time.Time
	policyOf permit.PolicyFinder
}

// New returns the post; policyOf returns the policy of a receiver or a key.
func New(up *wire.Upstream, now func() time.Time, policyOf permit.PolicyFinder) *Post {
	return &Post{upstream: up, now: now, policyOf: policyOf}
}

// admits reports whether a queue or topic accepts what a service sends: it must exist, its policy must allow the
// service to send for the resource, and if it is encrypted with a KMS key, the key's policy must allow the service to
// use the key. If not, the sender gets no error: "Fanout to Amazon SQS queues" of SNS's guide, "Amazon SNS message
// delivery status".
func (p *Post) admits(ctx context.Context, s wire.Sender, to string) (bool, error) {
	if err := p.obeys(ctx); err != nil {
		return false, err
	}
	id := wire.SplitARN(to)
	var attributes map[string]string
	var err error
	action, usage := "sqs:SendMessage", "aws:sqs:arn"
	switch id.Service {
	case "sqs":
		attributes, err = sqs.Attributes(ctx, p.upstream, id)
	case "sns":
		action, usage = "sns:Publish", "aws:sns:topicArn"
		attributes, err = sns.Attributes(ctx, p.upstream, id)
	}
	if err != nil || attributes["Policy"] == "" {
		return false, err
	}
	policy, err := permit.ParseResourcePolicy([]byte(attributes["Policy"]))
	if err != nil {
		return false, fmt.Errorf("%s: %w", to, err)
	}
	known := p.knownOf(s, id)
	if !policy.Admits(iampolicy.Request{Action: action, Resource: to, Context: known.Values},
		iampolicy.Principal{Kind: "Service", Name: s.Service}) {
		return false, nil
	}
	if attributes["KmsMasterKeyId"] == "" {
		return true, nil
	}
	return p.keyAdmits(ctx, s, id, attributes["KmsMasterKeyId"], known.With("kms:EncryptionContext:"+usage, to))
}

// knownOf returns the values of condition keys for a call by a service. There is no aws:PrincipalArn: only principals
// of accounts have it.
func (p *Post) knownOf(s wire.Sender, to wire.ARN) permit.Facts {
	return permit.Facts{}.With("aws:SourceArn", s.ARN).With("aws:SourceAccount", s.Account).
		With("aws:PrincipalIsAWSService", "true").
		With("aws:PrincipalServiceName", s.Service).With("aws:PrincipalServiceNamesList",
		s.Service).With("aws:SecureTransport", "true").
		With("aws:ViaAWSService", "false").With("aws:RequestedRegion", to.Region).With("aws:ResourceAccount",
		to.Account).
		With("aws:CurrentTime", p.now().UTC().Format(time.RFC3339))
}

// keyAdmits reports whether a key allows the service to encrypt: "Configure KMS permissions for AWS services" of
// SQS's guide. Keys that AWS manages, such as alias/aws/sqs, allow no service, and nobody can change that.
func (p *Post) keyAdmits(ctx context.Context, s wire.Sender, of wire.ARN, key string, known permit.Facts) (
	bool, error,
) {
	at := wire.ARN{Partition: of.Partition, Service: "kms", Region: of.Region, Account: of.Account}
	if id := wire.SplitARN(key); id.Account != "" {
		at = id
	}
	arn, usable, err := kms.KeyOf(ctx, p.upstream, at, key)
	if err != nil || !usable || strings.Contains(key, "alias/aws/") {
		return false, err
	}
	policy, err := p.policyOf(ctx, arn)
	if err != nil {
		return false, err
	}
	for _, action := range []string{"kms:GenerateDataKey", "kms:Decrypt"} {
		r := iampolicy.Request{Action: action, Resource: arn, Context: known.Values}
		if !policy.Admits(r, iampolicy.Principal{Kind: "Service", Name: s.Service}) {
			return false, nil
		}
	}
	return true, nil
}

// errDelivers means that the simulator is not the one that the tests start.
var errDelivers = errors.New("the simulator delivers what the proxy would drop: start it by test/moto/server.py")

// obeys returns an error if the simulator cannot drop messages that policies refuse.
func (p *Post) obeys(ctx context.Context) error {
	if p.obedient.Load() {
		return nil
	}
	r, err := p.upstream.Ask(ctx, wire.Question{
		Service: "sqs", Region: "us-east-1", Method: http.MethodGet,
		Path: "/moto-api/portico",
	})
	if err != nil {
		return err
	}
	if r.Status != http.StatusOK {
		return errDelivers
	}
	p.obedient.Store(true)
	return nil
}

// AllowFromTopic makes moto deliver what is published to the topic during the call to the queues that allow it.
func (p *Post) AllowFromTopic(ctx context.Context, x *wire.Exchange, topicARN string) error {
	queues, err := sns.SubscribedQueues(ctx, p.upstream, topicARN)
	if err != nil {
		return err
	}
	for _, queue := range queues {
		if err := p.AllowDelivery(ctx, x, wire.TopicSender(topicARN), queue); err != nil {
			return err
		}
	}
	return nil
}

// AllowDelivery makes moto deliver what a sender sends during the call, if the receiver allows it.
func (p *Post) AllowDelivery(ctx context.Context, x *wire.Exchange, s wire.Sender, to string) error {
	admitted, err := p.admits(ctx, s, to)
	if admitted {
		x.Deliver = append(x.Deliver, wire.Delivery{From: s.ARN, To: to})
	}
	return err
}
