package sns

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sns"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
)

// A subscription is a setting of its topic. Its name is subscribed and the address: the ARN of a queue, an HTTPS URL
// or a mail address. Its path is subscriptionPath and the queue's name or the address, its value a delivery. The
// attribute with the name idOf and the address holds the subscription's own ARN.
const (
	subscribed       = "subscription "
	idOf             = "subscription ARN "
	subscriptionPath = "subscriptions"
)

// delivery holds the settings of a subscription, in a form for comparison.
type delivery struct {
	Raw    bool   `json:"rawMessageDelivery"`
	Filter string `json:"filterPolicy,omitempty"`
	Scope  string `json:"filterPolicyScope,omitempty"`
}

// Scopes of a filter: what it applies to. SNS's default is message attributes.
const (
	byAttributes = "MessageAttributes"
	byBody       = "MessageBody"
)

// target is an endpoint to subscribe.
type target struct {
	queue    string // the name of the SQSQueue; empty for other endpoints
	address  string // for calls: the ARN of the queue, a URL or a mail address
	delivery delivery
	filter   string // as in the spec
}

// scoped returns the delivery with the scope of its filter; "" is SNS's default. Without a filter the scope means
// nothing, and is omitted.
func (d delivery) scoped(scope string) delivery {
	if d.Scope = cmp.Or(scope, byAttributes); d.Filter == "" {
		d.Scope = ""
	}
	return d
}

// subscription is one that SNS has; it has no ARN until the address has confirmed it.
type subscription struct{ arn, address string }

// protocol returns SNS's name for the protocol of an address.
func protocol(address string) string {
	switch {
	case strings.HasPrefix(address, "https://"):
		return "https"
	case strings.Contains(address, "@"):
		return "email"
	}
	return "sqs"
}

// path returns the managed path of a subscription; empty for an endpoint that is neither a queue in the topic's account
// and region, nor a URL or mail address.
func (t *topic) path(address string) string {
	if protocol(address) != "sqs" {
		return subscriptionPath + "." + address
	}
	if name, ours := strings.CutPrefix(address, t.Session.ARN("sqs", "")); ours {
		return subscriptionPath + "." + name
	}
	return ""
}

// addressAt returns the address of a managed path.
func (t *topic) addressAt(path string) string {
	name := strings.TrimPrefix(path, subscriptionPath+".")
	if protocol(name) != "sqs" {
		return name
	}
	return t.Session.ARN("sqs", name)
}

// subscriptions returns the subscriptions that are declared, and those that are still managed.
func (t *topic) subscriptions(obj *v1alpha1.SNSTopic) (all []setting) {
	paths := external.ManagedBy(obj).Below(subscriptionPath)
	add := func(address, want string) {
		all = append(all, setting{
			Name: subscribed + address, Path: t.path(address), Later: true,
			Want: func(*v1alpha1.SNSTopic) (string, bool) { return want, want != "" },
		})
		paths = slices.DeleteFunc(paths, func(path string) bool { return path == t.path(address) })
	}
	for _, to := range t.targets {
		add(to.address, external.JSON(to.delivery))
	}
	for _, path := range slices.Clone(paths) {
		add(t.addressAt(path), "")
	}
	return all
}

// list returns the topic's subscriptions. Unconfirmed ones have a placeholder instead of an ARN, and expire.
func (t *topic) list(ctx context.Context, topic string) (all []subscription, err error) {
	for pages := sns.NewListSubscriptionsByTopicPaginator(t.api, &sns.ListSubscriptionsByTopicInput{
		TopicArn: &topic,
	}); pages.HasMorePages(); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, s := range page.Subscriptions {
			one := subscription{address: aws.ToString(s.Endpoint)}
			if strings.HasPrefix(aws.ToString(s.SubscriptionArn), "arn:") {
				one.arn = *s.SubscriptionArn
			}
			all = append(all, one)
		}
	}
	return all, nil
}

// readSubscriptions adds the subscriptions that obj declares or manages to all. An unconfirmed one counts as in sync:
// SNS returns nothing about it, and accepts no change.
func (t *topic) readSubscriptions(ctx context.Context, obj *v1alpha1.SNSTopic, topic string,
	all map[string]string,
) error {
	listed, err := t.list(ctx, topic)
	if err != nil {
		return err
	}
	ours := t.subscriptions(obj)
	for _, s := range listed {
		i := slices.IndexFunc(ours, func(one setting) bool { return one.Name == subscribed+s.address })
		if i < 0 {
			continue
		}
		if s.arn == "" {
			want, _ := ours[i].Want(obj)
			all[subscribed+s.address] = cmp.Or(want, unanswered)
			continue
		}
		out, err := t.api.GetSubscriptionAttributes(ctx, &sns.GetSubscriptionAttributesInput{SubscriptionArn: &s.arn})
		if cloud.IsNotFound(err) {
			continue // listings show it for a while after its deletion
		}
		if err != nil {
			return err
		}
		raw, _ := strconv.ParseBool(out.Attributes["RawMessageDelivery"]) // SNS lists it always
		all[subscribed+s.address] = external.JSON(delivery{
			raw, normalFilter(out.Attributes["FilterPolicy"]),
			"",
		}.scoped(out.Attributes["FilterPolicyScope"]))
		all[idOf+s.address] = s.arn
	}
	return t.note(t.unconfirmed(all))
}

// unanswered is the value of a subscription that nobody has confirmed, and that is no longer wanted.
const unanswered = "not confirmed"

// unconfirmed returns an error for the addresses that have not confirmed yet that they want the messages.
func (t *topic) unconfirmed(all map[string]string) error {
	var open []string
	for _, to := range t.targets {
		if _, there := all[subscribed+to.address]; there && all[idOf+to.address] == "" {
			open = append(open, to.address)
		}
	}
	if len(open) == 0 {
		return nil
	}
	return external.Postponed(engine.Wait(v1alpha1.ReasonWaitingForConfirmation, time.Minute,
		"SNS has asked %s to confirm the subscription, and sends nothing there before: "+
			"a mail has a link for that, and what answers at an HTTPS address has to open the SubscribeURL of the "+
			"message",
		strings.Join(open, ", ")))
}

// stillAsked returns the error for an address that is no longer wanted and cannot be unsubscribed before it has
// confirmed.
func stillAsked(address string) error {
	return external.Postponed(engine.Wait(v1alpha1.ReasonWaitingForConfirmation, time.Hour,
		"SNS still asks %s whether it wants the messages, and lets nobody withdraw that. "+
			"If it confirms, Portico unsubscribes it; if not, SNS forgets it after two days", address))
}

// made returns the declared subscriptions that SNS has.
func (t *topic) made(seen *topicState) (all []v1alpha1.SNSSubscriptionStatus) {
	for _, to := range t.targets {
		id, there := seen.Attributes[idOf+to.address], seen.Attributes[subscribed+to.address] != ""
		switch {
		case to.queue != "" && id != "":
			all = append(all, v1alpha1.SNSSubscriptionStatus{
				Queue: to.queue, QueueARN: to.address,
				SubscriptionARN: id,
			})
		case to.queue == "" && there:
			all = append(all, v1alpha1.SNSSubscriptionStatus{Address: to.address, SubscriptionARN: id})
		}
	}
	return all
}
