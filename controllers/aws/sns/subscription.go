package sns

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sns"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/aws/sqs"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
	"github.com/portico-platform/portico/controllers/watch"
)

// A subscription is an attribute of its topic: its name is subscribed and the queue's ARN, its path subscriptionPath and the
// queue's name, its value a delivery. The name idOf and the queue's ARN leads to the subscription's own ARN.
const (
	subscribed       = "subscription "
	idOf             = "subscription ARN "
	subscriptionPath = "subscriptions"
)

// delivery is what a subscription says, in a form for comparing.
type delivery struct {
	Raw    bool   `json:"rawMessageDelivery"`
	Filter string `json:"filterPolicy,omitempty"`
	Scope  string `json:"filterPolicyScope,omitempty"`
}

// byAttributes is the scope that filters of ours are written for, and SNS's default: they speak of attributes of
// messages. MessageBody would have them match other messages.
const byAttributes = "MessageAttributes"

// target is a queue to subscribe.
type target struct {
	name, arn string // of the object, and of its queue
	delivery  delivery
	filter    string // as the spec has it
}

// scoped returns the delivery with the scope of its filter; "" is SNS's default. Without a filter it means nothing, and
// is left out.
func (d delivery) scoped(scope string) delivery {
	if d.Scope = cmp.Or(scope, byAttributes); d.Filter == "" {
		d.Scope = ""
	}
	return d
}

// subscription is one that SNS has.
type subscription struct{ arn, queue string }

// path returns the managed path of a queue's subscription; empty for what is no queue beside the topic.
func (t *topic) path(queue string) string {
	if name, ours := strings.CutPrefix(queue, t.Session.ARN("sqs", "")); ours {
		return subscriptionPath + "." + name
	}
	return ""
}

// Resolve finds the queues. One that is missing holds up neither the topic nor the others, and one that was subscribed stays.
func (t *topic) Resolve(ctx context.Context, obj *v1alpha1.SNSTopic) error {
	for _, s := range obj.Spec.Subscriptions {
		arn, err := t.queue(ctx, obj, s.QueueRef.Name)
		if _, ok := engine.AsWait(err); err != nil && !ok {
			return err
		}
		if err != nil {
			t.Rest = err
			i := slices.IndexFunc(obj.Status.Subscriptions, func(made v1alpha1.SNSSubscriptionStatus) bool { return made.Queue == s.QueueRef.Name })
			if i < 0 {
				continue
			}
			arn = obj.Status.Subscriptions[i].QueueARN
		}
		t.targets = append(t.targets, target{
			name: s.QueueRef.Name, arn: arn, filter: s.FilterPolicy, delivery: delivery{s.RawMessageDelivery, normalFilter(s.FilterPolicy), ""}.scoped(""),
		})
	}
	return nil
}

// QueueRefs are the queues that topics of their namespace name, and wait for.
var QueueRefs = watch.LocalRef{From: &v1alpha1.SNSTopic{}, To: &v1alpha1.SQSQueue{}, When: sqs.ReadyChanged()}

var queueLookup = sqs.Lookup{
	Field: "spec.subscriptions", Queue: "queue", This: "this topic",
	Waiting: v1alpha1.ReasonWaitingForQueues, Mismatch: v1alpha1.ReasonQueueMismatch,
}

// queue returns the ARN of the SQSQueue of this name in obj's namespace.
func (t *topic) queue(ctx context.Context, obj *v1alpha1.SNSTopic, name string) (string, error) {
	queue, err := queueLookup.Get(ctx, t.kube, obj.Namespace, name)
	if err != nil {
		return "", err
	}
	if queue.Spec.FIFOQueue && !obj.Spec.FIFOTopic {
		return "", engine.Blocked(v1alpha1.ReasonQueueMismatch, "the queue %s is a FIFO queue, and gets messages of FIFO topics only; choose a standard queue", name)
	}
	return queueLookup.ARN(t.Session, queue)
}

// subscriptions returns the subscriptions that are declared, and those that were ours.
func (t *topic) subscriptions(obj *v1alpha1.SNSTopic) (all []attribute) {
	paths := external.ManagedBy(obj).Below(subscriptionPath)
	add := func(queue, want string) {
		all = append(all, attribute{
			Name: subscribed + queue, Path: t.path(queue), Later: true,
			Want: func(*v1alpha1.SNSTopic) (string, bool) { return want, want != "" },
		})
		paths = slices.DeleteFunc(paths, func(path string) bool { return path == t.path(queue) })
	}
	for _, to := range t.targets {
		add(to.arn, external.JSON(to.delivery))
	}
	for _, path := range slices.Clone(paths) {
		add(t.Session.ARN("sqs", strings.TrimPrefix(path, subscriptionPath+".")), "")
	}
	return all
}

// list returns the topic's confirmed subscriptions: others have a word in place of an ARN, and end by themselves.
func (t *topic) list(ctx context.Context, topic string) (all []subscription, err error) {
	for pages := sns.NewListSubscriptionsByTopicPaginator(t.api, &sns.ListSubscriptionsByTopicInput{TopicArn: &topic}); pages.HasMorePages(); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, s := range page.Subscriptions {
			if strings.HasPrefix(aws.ToString(s.SubscriptionArn), "arn:") {
				all = append(all, subscription{*s.SubscriptionArn, aws.ToString(s.Endpoint)})
			}
		}
	}
	return all, nil
}

// readSubscriptions adds the subscriptions that obj declares or manages to all.
func (t *topic) readSubscriptions(ctx context.Context, obj *v1alpha1.SNSTopic, topic string, all map[string]string) error {
	listed, err := t.list(ctx, topic)
	if err != nil {
		return err
	}
	ours := t.subscriptions(obj)
	for _, s := range listed {
		if !slices.ContainsFunc(ours, func(a attribute) bool { return a.Name == subscribed+s.queue }) {
			continue
		}
		out, err := t.api.GetSubscriptionAttributes(ctx, &sns.GetSubscriptionAttributesInput{SubscriptionArn: &s.arn})
		if cloud.IsNotFound(err) {
			continue // listings show it for a while after its end
		}
		if err != nil {
			return err
		}
		raw, _ := strconv.ParseBool(out.Attributes["RawMessageDelivery"]) // SNS lists it always
		all[subscribed+s.queue] = external.JSON(delivery{raw, normalFilter(out.Attributes["FilterPolicy"]), ""}.scoped(out.Attributes["FilterPolicyScope"]))
		all[idOf+s.queue] = s.arn
	}
	return nil
}

// setSubscription returns the calls that make a change to a queue's subscription: SNS takes one attribute at a time.
func (t *topic) setSubscription(seen *topicState, queue string, c external.Change) []external.Action {
	id := seen.Attributes[idOf+queue]
	action := func(name, why string, do func(context.Context) error) external.Action {
		return external.Action{Name: name, Why: why, Changes: []external.Change{c}, Do: do}
	}
	whole := external.Describe([]external.Change{c})
	switch {
	case c.To == "":
		return []external.Action{action("Unsubscribe", whole, func(ctx context.Context) error {
			_, err := t.api.Unsubscribe(ctx, &sns.UnsubscribeInput{SubscriptionArn: &id})
			return cloud.Explain(err)
		})}
	case c.From == "":
		return []external.Action{action("Subscribe", whole, func(ctx context.Context) error {
			_, err := t.api.Subscribe(ctx, &sns.SubscribeInput{
				TopicArn: &seen.ID, Protocol: aws.String("sqs"), Endpoint: &queue, ReturnSubscriptionArn: true, Attributes: t.settings(queue, c),
			})
			return cloud.Explain(err)
		})}
	}
	var actions []external.Action
	set := t.settings(queue, c)
	for _, name := range slices.Sorted(maps.Keys(set)) {
		in := &sns.SetSubscriptionAttributesInput{SubscriptionArn: &id, AttributeName: &name, AttributeValue: aws.String(set[name])}
		why := fmt.Sprintf("%s, %s → %s", c.Path, name, external.OrNone(set[name]))
		actions = append(actions, action("SetSubscriptionAttributes", why, func(ctx context.Context) error {
			_, err := t.api.SetSubscriptionAttributes(ctx, in)
			return cloud.Explain(err)
		}))
	}
	return actions
}

// settings returns the attributes of a queue's subscription that a change sets; all that are no default, of a new one.
// The filter is the text of the spec.
func (t *topic) settings(queue string, c external.Change) map[string]string {
	var want, have delivery
	_ = json.Unmarshal([]byte(c.To), &want)   // written by JSON
	_ = json.Unmarshal([]byte(c.From), &have) // "" leaves the zero value, which is what a new one has
	set := map[string]string{}
	if want.Raw != have.Raw {
		set["RawMessageDelivery"] = strconv.FormatBool(want.Raw)
	}
	if want.Filter != have.Filter {
		set["FilterPolicy"] = "{}"
		if want.Filter != "" {
			set["FilterPolicy"] = t.filter(queue)
		}
	}
	if have.Scope != "" && want.Scope != "" && want.Scope != have.Scope {
		set["FilterPolicyScope"] = want.Scope
	}
	return set
}

// filter returns the filter policy that the spec has for a queue.
func (t *topic) filter(queue string) string {
	at := slices.IndexFunc(t.targets, func(to target) bool { return to.arn == queue })
	if at < 0 {
		return "{}"
	}
	return t.targets[at].filter
}

// made returns the subscriptions that obj declares and SNS has.
func (t *topic) made(seen *topicState) (all []v1alpha1.SNSSubscriptionStatus) {
	for _, to := range t.targets {
		if id := seen.Attributes[idOf+to.arn]; id != "" {
			all = append(all, v1alpha1.SNSSubscriptionStatus{Queue: to.name, QueueARN: to.arn, SubscriptionARN: id})
		}
	}
	return all
}
