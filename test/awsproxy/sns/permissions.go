package sns

import (
	"cmp"
	"context"
	"net/url"
	"slices"

	"github.com/portico-platform/portico/test/awsproxy/permit"
	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// Needs returns the permissions of a call to SNS: the one named like the operation, and to tag, if a topic is
// created with tags.
func (s *Service) Needs(_ context.Context, x *wire.Exchange) ([]permit.Need, error) {
	topic := cmp.Or(x.Form.Get("TopicArn"), x.Form.Get("ResourceArn"), x.Form.Get("TargetArn"))
	n := permit.Need{Action: "sns:" + x.Call.Operation, Resource: topic, Facts: permit.Facts{}}
	switch x.Call.Operation {
	case "ListTopics", "ListSubscriptions":
		return permit.Plain(n.Action, x.ARN("sns", "*")), nil
	case "GetSubscriptionAttributes", "SetSubscriptionAttributes", "Unsubscribe":
		return permit.Plain(n.Action, x.Form.Get("SubscriptionArn")), nil // a subscription has no tags
	case "GetTopicAttributes", "SetTopicAttributes", "ListTagsForResource", "ListSubscriptionsByTopic", "DeleteTopic",
		"Publish", "ConfirmSubscription":
	case "Subscribe":
		n.Facts.With("sns:Protocol", x.Form.Get("Protocol")).With("sns:Endpoint", x.Form.Get("Endpoint"))
	case "PublishBatch":
		n.Action = "sns:Publish"
	case "TagResource":
		n.Facts.Tagged(wire.FormTags(x.Form, "Tags.member."))
	case "UntagResource":
		n.Facts.Untagging(slices.Values(wire.FormList(x.Form, "TagKeys.member.")))
	case "CreateTopic":
		n.Resource, n.MayBeNew = x.ARN("sns", x.Form.Get("Name")), true
		n.Facts.Tagged(wire.FormTags(x.Form, "Tags.member."))
	default:
		return nil, permit.UnknownOperation(x)
	}
	n.Tags = func(ctx context.Context) (map[string]string, bool, error) {
		return wire.FormTagsOf(ctx, s.upstream, x, "sns", url.Values{
			"Action": {"ListTagsForResource"}, "Version": {"2010-03-31"},
			"ResourceArn": {n.Resource},
		})
	}
	if x.Call.Operation == "CreateTopic" && x.Form.Has("Tags.member.1.Key") {
		tagging := n
		tagging.Action = "sns:TagResource"
		return []permit.Need{n, tagging}, nil
	}
	return []permit.Need{n}, nil
}
