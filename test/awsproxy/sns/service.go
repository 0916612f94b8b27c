// Package sns is Amazon SNS: topics, subscriptions and their policies.
package sns

import (
	"cmp"
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// Service refuses what moto accepts and SNS does not: the creation of a topic that exists with other tags or
// attributes, a repeated subscription with other attributes, a nested filter, and an invalid policy. It shortens the
// pages of the operator's listings, whose size SNS does not let the caller choose. Moto itself refuses a FIFO queue
// for a standard topic, and makes deletions idempotent.
type Service struct {
	upstream *wire.Upstream
	post     wire.Deliveries
	locks    wire.Locks   // by topic
	pageSize func() int64 // of the operator's listings; 0 is no limit
}

// New returns SNS; pageSize returns the size of the pages of the operator's listings, 0 for no limit.
func New(up *wire.Upstream, post wire.Deliveries, pageSize func() int64) *Service {
	return &Service{upstream: up, post: post, pageSize: pageSize}
}

// Around serves the calls to SNS.
func (s *Service) Around(ctx context.Context, x *wire.Exchange, next wire.Forward) (*wire.Reply, error) {
	if refused := refuse(x); refused != nil {
		return refused, nil
	}
	defer s.locks.Lock(x.Account()+"/"+x.Call.Region+"/"+x.Call.Resource, true)()
	var refusal *wire.Reply
	var err error
	switch x.Call.Operation {
	case "CreateTopic":
		if refusal, err = policyOfNewTopic(x); refusal == nil && err == nil {
			refusal, err = s.create(ctx, x)
		}
	case "SetTopicAttributes":
		refusal, err = policyOfTopic(x)
	case "Subscribe":
		refusal, err = s.subscribe(ctx, x)
	case "Publish", "PublishBatch":
		err = s.post.AllowFromTopic(ctx, x, cmp.Or(x.Form.Get("TopicArn"), x.Form.Get("TargetArn")))
	case "ListTopics":
		return s.page(ctx, x, next)
	}
	if refusal != nil || err != nil {
		return refusal, err
	}
	return next(ctx)
}

// response has the parts of the responses that are needed.
type response struct {
	Tags []struct {
		Key, Value string
	} `xml:"ListTagsForResourceResult>Tags>member"`
	Topic         []entry `xml:"GetTopicAttributesResult>Attributes>entry"`
	Subscription  []entry `xml:"GetSubscriptionAttributesResult>Attributes>entry"`
	Subscriptions []struct {
		SubscriptionArn, Endpoint, Protocol string
	} `xml:"ListSubscriptionsByTopicResult>Subscriptions>member"`
	Topics []string `xml:"ListTopicsResult>Topics>member>TopicArn"`
	Next   string   `xml:"ListTopicsResult>NextToken"`

	NextOfTopic string `xml:"ListSubscriptionsByTopicResult>NextToken"`
}

// pendingSubscription is listed instead of the ARN of a subscription that is not confirmed.
const pendingSubscription = "PendingConfirmation"

func read(r *wire.Reply) (answer response, err error) {
	if err = xml.Unmarshal(r.Body, &answer); err != nil {
		err = fmt.Errorf("read the simulator's answer: %w", err)
	}
	return answer, err
}

type entry struct {
	Key   string `xml:"key"`
	Value string `xml:"value"`
}

// ask makes a call on the proxy's own behalf; found is false if the resource does not exist.
func (s *Service) ask(ctx context.Context, x *wire.Exchange, operation, parameter, arn string) (
	answer response, found bool, err error,
) {
	r, err := s.upstream.AskForm(ctx, x, "sns", url.Values{
		"Action": {operation}, "Version": {"2010-03-31"}, parameter: {arn},
	})
	if err != nil || r.Status != http.StatusOK {
		return answer, false, err
	}
	return answer, true, xml.Unmarshal(r.Body, &answer)
}

func (s *Service) create(ctx context.Context, x *wire.Exchange) (*wire.Reply, error) {
	topic := x.ARN("sns", x.Form.Get("Name"))
	have, found, err := s.ask(ctx, x, "ListTagsForResource", "ResourceArn", topic)
	if err != nil || !found {
		return nil, err
	}
	tags := map[string]string{}
	for _, t := range have.Tags {
		tags[t.Key] = t.Value
	}
	given := wire.Pairs(x.Form, "Tags.member.%d.Key", "Tags.member.%d.Value")
	if len(given) > 0 && (len(given) != len(tags) || differs(given, tags)) {
		return x.Fail(http.StatusBadRequest, "InvalidParameter", "Invalid parameter: Tags Reason: Topic already "+
			"exists with different tags"), nil
	}
	if have, _, err = s.ask(ctx, x, "GetTopicAttributes", "TopicArn", topic); err != nil {
		return nil, err
	}
	if differs(attributesOf(x), entries(have.Topic)) {
		return x.Fail(http.StatusBadRequest, "InvalidParameter", "Invalid parameter: Attributes Reason: Topic "+
			"already exists with different attributes"), nil
	}
	return nil, nil
}

// nested reports whether a filter policy has a nested object: only the scope MessageBody accepts it. SNS then creates
// no subscription.
func nested(filter string) bool {
	var policy map[string]any
	if json.Unmarshal([]byte(filter), &policy) != nil {
		return false
	}
	for _, value := range policy {
		if _, object := value.(map[string]any); object {
			return true
		}
	}
	return false
}

func (s *Service) subscribe(ctx context.Context, x *wire.Exchange) (*wire.Reply, error) {
	if given := attributesOf(x); given["FilterPolicyScope"] != "MessageBody" && nested(given["FilterPolicy"]) {
		return x.Fail(http.StatusBadRequest, "InvalidParameter",
			"Invalid parameter: Attributes Reason: FilterPolicy: Filter policy scope MessageAttributes does not "+
				"support nested filter policy"), nil
	}
	if x.Form.Get("Protocol") == "sqs" { // a queue of another account has to confirm
		from := wire.TopicSender(x.Form.Get("TopicArn"))
		if err := s.post.AllowDelivery(ctx, x, from, x.Form.Get("Endpoint")); err != nil {
			return nil, err
		}
	}
	all, _, err := s.ask(ctx, x, "ListSubscriptionsByTopic", "TopicArn", x.Form.Get("TopicArn"))
	if err != nil {
		return nil, err
	}
	for _, one := range all.Subscriptions {
		if one.Endpoint != x.Form.Get("Endpoint") || one.SubscriptionArn == pendingSubscription {
			continue
		}
		have, _, err := s.ask(ctx, x, "GetSubscriptionAttributes", "SubscriptionArn", one.SubscriptionArn)
		if err != nil {
			return nil, err
		}
		if differs(attributesOf(x), entries(have.Subscription)) {
			return x.Fail(http.StatusBadRequest, "InvalidParameter",
				"Invalid parameter: Attributes Reason: Subscription already exists with different attributes"), nil
		}
	}
	return nil, nil
}

// page shortens a page to the size set by SetPageSize. moto's tokens are offsets.
func (s *Service) page(ctx context.Context, x *wire.Exchange, next wire.Forward) (*wire.Reply, error) {
	r, err := next(ctx)
	size := int(s.pageSize())
	if err != nil || r.Status != http.StatusOK || size == 0 || x.Call.Actor != wire.Operator {
		return r, err
	}
	var page response
	if err := xml.Unmarshal(r.Body, &page); err != nil {
		return nil, err
	}
	if len(page.Topics) <= size {
		return r, nil
	}
	before, _ := strconv.Atoi(x.Form.Get("NextToken")) // without a token it is 0
	var members strings.Builder
	for _, arn := range page.Topics[:size] {
		members.WriteString("<member><TopicArn>" + wire.EscapeXML(arn) + "</TopicArn></member>")
	}
	r.Body = []byte("<ListTopicsResponse><ListTopicsResult><Topics>" + members.String() + "</Topics><NextToken>" +
		strconv.Itoa(before+size) +
		"</NextToken></ListTopicsResult><ResponseMetadata><RequestId/></ResponseMetadata></ListTopicsResponse>")
	r.Header.Del("Content-Length")
	return r, nil
}

func entries(list []entry) map[string]string {
	all := map[string]string{}
	for _, e := range list {
		all[e.Key] = e.Value
	}
	return all
}

func attributesOf(x *wire.Exchange) map[string]string {
	return wire.Pairs(x.Form, "Attributes.entry.%d.key", "Attributes.entry.%d.value")
}

// differs reports whether any given value differs from the current one.
func differs(given, have map[string]string) bool {
	for name, value := range given {
		if compact(have[name]) != compact(value) {
			return true
		}
	}
	return false
}

// compact removes the white space that moto writes in JSON.
func compact(value string) string {
	if !strings.HasPrefix(value, "{") {
		return value
	}
	var v any
	if json.Unmarshal([]byte(value), &v) != nil {
		return value
	}
	text, err := json.Marshal(v)
	if err != nil {
		return value
	}
	return string(text)
}
