package awsproxy

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
)

// snsService refuses what moto accepts and SNS does not: the creation of a topic that exists with other tags or
// attributes, a repeated subscription with other attributes, a nested filter, and an invalid policy. It shortens the
// pages of the operator's listings, whose size SNS does not let the caller choose. Moto itself refuses a FIFO queue
// for a standard topic, and makes deletions idempotent.
type snsService struct {
	upstream *upstream
	post     deliveries
	locks    locks        // by topic
	pageSize func() int64 // of the operator's listings; 0 is no limit
}

func newSNS(up *upstream, post deliveries, pageSize func() int64) *snsService {
	return &snsService{upstream: up, post: post, pageSize: pageSize}
}

func (s *snsService) around(ctx context.Context, x *exchange, next forward) (*reply, error) {
	if refused := refuseSNS(x); refused != nil {
		return refused, nil
	}
	defer s.locks.lock(x.account()+"/"+x.call.Region+"/"+x.call.Resource, true)()
	var refusal *reply
	var err error
	switch x.call.Operation {
	case "CreateTopic":
		if refusal, err = policyOfNewTopic(x); refusal == nil && err == nil {
			refusal, err = s.create(ctx, x)
		}
	case "SetTopicAttributes":
		refusal, err = policyOfTopic(x)
	case "Subscribe":
		refusal, err = s.subscribe(ctx, x)
	case "Publish", "PublishBatch":
		err = s.post.allowFromTopic(ctx, x, cmp.Or(x.form.Get("TopicArn"), x.form.Get("TargetArn")))
	case "ListTopics":
		return s.page(ctx, x, next)
	}
	if refusal != nil || err != nil {
		return refusal, err
	}
	return next(ctx)
}

// snsAnswer has the parts of the responses that are needed.
type snsAnswer struct {
	Tags []struct {
		Key, Value string
	} `xml:"ListTagsForResourceResult>Tags>member"`
	Topic         []snsEntry `xml:"GetTopicAttributesResult>Attributes>entry"`
	Subscription  []snsEntry `xml:"GetSubscriptionAttributesResult>Attributes>entry"`
	Subscriptions []struct {
		SubscriptionArn, Endpoint, Protocol string
	} `xml:"ListSubscriptionsByTopicResult>Subscriptions>member"`
	Topics []string `xml:"ListTopicsResult>Topics>member>TopicArn"`
	Next   string   `xml:"ListTopicsResult>NextToken"`

	NextOfTopic string `xml:"ListSubscriptionsByTopicResult>NextToken"`
}

// pendingSubscription is listed instead of the ARN of a subscription that is not confirmed.
const pendingSubscription = "PendingConfirmation"

func readSNS(r *reply) (answer snsAnswer, err error) {
	if err = xml.Unmarshal(r.body, &answer); err != nil {
		err = fmt.Errorf("read the simulator's answer: %w", err)
	}
	return answer, err
}

type snsEntry struct {
	Key   string `xml:"key"`
	Value string `xml:"value"`
}

// ask makes a call on the proxy's own behalf; found is false if the resource does not exist.
func (s *snsService) ask(ctx context.Context, x *exchange, operation, parameter, arn string) (
	answer snsAnswer, found bool, err error,
) {
	r, err := s.upstream.ask(ctx, question{
		service: "sns", region: x.call.Region, account: x.account(), method: http.MethodPost, path: "/",
		header: map[string]string{"Content-Type": "application/x-www-form-urlencoded"},
		body:   url.Values{"Action": {operation}, "Version": {"2010-03-31"}, parameter: {arn}}.Encode(),
	})
	if err != nil || r.status != http.StatusOK {
		return answer, false, err
	}
	return answer, true, xml.Unmarshal(r.body, &answer)
}

func (s *snsService) create(ctx context.Context, x *exchange) (*reply, error) {
	topic := x.arn("sns", x.form.Get("Name"))
	have, found, err := s.ask(ctx, x, "ListTagsForResource", "ResourceArn", topic)
	if err != nil || !found {
		return nil, err
	}
	tags := map[string]string{}
	for _, t := range have.Tags {
		tags[t.Key] = t.Value
	}
	given := pairs(x.form, "Tags.member.%d.Key", "Tags.member.%d.Value")
	if len(given) > 0 && (len(given) != len(tags) || differs(given, tags)) {
		return x.fail(http.StatusBadRequest, "InvalidParameter", "Invalid parameter: Tags Reason: Topic already "+
			"exists with different tags"), nil
	}
	if have, _, err = s.ask(ctx, x, "GetTopicAttributes", "TopicArn", topic); err != nil {
		return nil, err
	}
	if differs(attributesOf(x), entries(have.Topic)) {
		return x.fail(http.StatusBadRequest, "InvalidParameter", "Invalid parameter: Attributes Reason: Topic "+
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

func (s *snsService) subscribe(ctx context.Context, x *exchange) (*reply, error) {
	if given := attributesOf(x); given["FilterPolicyScope"] != "MessageBody" && nested(given["FilterPolicy"]) {
		return x.fail(http.StatusBadRequest, "InvalidParameter",
			"Invalid parameter: Attributes Reason: FilterPolicy: Filter policy scope MessageAttributes does not "+
				"support nested filter policy"), nil
	}
	if x.form.Get("Protocol") == "sqs" { // a queue of another account has to confirm
		if err := s.post.allowDelivery(ctx, x, topicSender(x.form.Get("TopicArn")), x.form.Get("Endpoint")); err != nil {
			return nil, err
		}
	}
	all, _, err := s.ask(ctx, x, "ListSubscriptionsByTopic", "TopicArn", x.form.Get("TopicArn"))
	if err != nil {
		return nil, err
	}
	for _, one := range all.Subscriptions {
		if one.Endpoint != x.form.Get("Endpoint") || one.SubscriptionArn == pendingSubscription {
			continue
		}
		have, _, err := s.ask(ctx, x, "GetSubscriptionAttributes", "SubscriptionArn", one.SubscriptionArn)
		if err != nil {
			return nil, err
		}
		if differs(attributesOf(x), entries(have.Subscription)) {
			return x.fail(http.StatusBadRequest, "InvalidParameter",
				"Invalid parameter: Attributes Reason: Subscription already exists with different attributes"), nil
		}
	}
	return nil, nil
}

// page shortens a page to the size set by SetPageSize. moto's tokens are offsets.
func (s *snsService) page(ctx context.Context, x *exchange, next forward) (*reply, error) {
	r, err := next(ctx)
	size := int(s.pageSize())
	if err != nil || r.status != http.StatusOK || size == 0 || x.call.Actor != Operator {
		return r, err
	}
	var page snsAnswer
	if err := xml.Unmarshal(r.body, &page); err != nil {
		return nil, err
	}
	if len(page.Topics) <= size {
		return r, nil
	}
	before, _ := strconv.Atoi(x.form.Get("NextToken")) // without a token it is 0
	var members strings.Builder
	for _, arn := range page.Topics[:size] {
		members.WriteString("<member><TopicArn>" + escapeXML(arn) + "</TopicArn></member>")
	}
	r.body = []byte("<ListTopicsResponse><ListTopicsResult><Topics>" + members.String() + "</Topics><NextToken>" +
		strconv.Itoa(before+size) +
		"</NextToken></ListTopicsResult><ResponseMetadata><RequestId/></ResponseMetadata></ListTopicsResponse>")
	r.header.Del("Content-Length")
	return r, nil
}

func entries(list []snsEntry) map[string]string {
	all := map[string]string{}
	for _, e := range list {
		all[e.Key] = e.Value
	}
	return all
}

func attributesOf(x *exchange) map[string]string {
	return pairs(x.form, "Attributes.entry.%d.key", "Attributes.entry.%d.value")
}

// pairs reads a map of the query protocol.
func pairs(form url.Values, key, value string) map[string]string {
	all := map[string]string{}
	for i := 1; form.Has(fmt.Sprintf(key, i)); i++ {
		all[form.Get(fmt.Sprintf(key, i))] = form.Get(fmt.Sprintf(value, i))
	}
	return all
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
