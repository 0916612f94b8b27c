package awsproxy

import (
	"cmp"
	"context"
	"encoding/xml"
	"net/http"
	"net/url"
	"slices"
)

// snsNeeds returns the permissions of a call to SNS: the one named like the operation, and to tag, if a topic is
// created with tags.
func (s *snsService) needs(_ context.Context, x *exchange) ([]need, error) {
	topic := cmp.Or(x.form.Get("TopicArn"), x.form.Get("ResourceArn"), x.form.Get("TargetArn"))
	n := need{action: "sns:" + x.call.Operation, resource: topic, facts: facts{}}
	switch x.call.Operation {
	case "ListTopics", "ListSubscriptions":
		return plainNeed(n.action, x.arn("sns", "*")), nil
	case "GetSubscriptionAttributes", "SetSubscriptionAttributes", "Unsubscribe":
		return plainNeed(n.action, x.form.Get("SubscriptionArn")), nil // a subscription has no tags
	case "GetTopicAttributes", "SetTopicAttributes", "ListTagsForResource", "ListSubscriptionsByTopic", "DeleteTopic",
		"Publish", "ConfirmSubscription":
	case "Subscribe":
		n.facts.with("sns:Protocol", x.form.Get("Protocol")).with("sns:Endpoint", x.form.Get("Endpoint"))
	case "PublishBatch":
		n.action = "sns:Publish"
	case "TagResource":
		n.facts.tagged(formTags(x.form, "Tags.member."))
	case "UntagResource":
		n.facts.untagging(slices.Values(formList(x.form, "TagKeys.member.")))
	case "CreateTopic":
		n.resource, n.mayBeNew = x.arn("sns", x.form.Get("Name")), true
		n.facts.tagged(formTags(x.form, "Tags.member."))
	default:
		return nil, unknownOperation(x)
	}
	n.tags = func(ctx context.Context) (map[string]string, bool, error) {
		return formTagsOf(ctx, s.upstream, x, "sns", url.Values{
			"Action": {"ListTagsForResource"}, "Version": {"2010-03-31"},
			"ResourceArn": {n.resource},
		})
	}
	if x.call.Operation == "CreateTopic" && x.form.Has("Tags.member.1.Key") {
		tagging := n
		tagging.action = "sns:TagResource"
		return []need{n, tagging}, nil
	}
	return []need{n}, nil
}

// formTags reads tags of the query protocol.
func formTags(form url.Values, prefix string) map[string]string {
	return pairs(form, prefix+"%d.Key", prefix+"%d.Value")
}

// formTagsOf asks a service with the query protocol for the tags of a resource; found is false if the service
// refuses.
func formTagsOf(ctx context.Context, up *upstream, x *exchange, service string, form url.Values) (
	tags map[string]string, found bool, err error,
) {
	r, err := up.askForm(ctx, x, service, form)
	if err != nil || r.status != http.StatusOK {
		return nil, false, r.broken(err)
	}
	var answer struct {
		SNS []tag `xml:"ListTagsForResourceResult>Tags>member"`
		RDS []tag `xml:"ListTagsForResourceResult>TagList>Tag"`
		EC2 []struct {
			Key   string `xml:"key"`
			Value string `xml:"value"`
		} `xml:"tagSet>item"`
	}
	if err := xml.Unmarshal(r.body, &answer); err != nil {
		return nil, false, err
	}
	tags = map[string]string{}
	for _, t := range slices.Concat(answer.SNS, answer.RDS) {
		tags[t.Key] = t.Value
	}
	for _, t := range answer.EC2 {
		tags[t.Key] = t.Value
	}
	return tags, true, nil
}

// askForm calls a service with the query protocol.
func (u *upstream) askForm(ctx context.Context, x *exchange, service string, form url.Values) (*reply, error) {
	return u.ask(ctx, question{
		service: service, region: x.call.Region, account: x.account(), method: http.MethodPost, path: "/",
		header: map[string]string{"Content-Type": "application/x-www-form-urlencoded"}, body: form.Encode(),
	})
}
