package sns

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sns"

	"github.com/portico-platform/portico/controllers/aws/reference"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/external"
)

// setSubscription returns the calls that make a change to a subscription: SNS takes one attribute at a time.
func (t *topic) setSubscription(seen *topicState, address string, c external.Change) []external.Action {
	id := seen.Attributes[idOf+address]
	action := func(name, why string, do func(context.Context) error) external.Action {
		return external.Action{Name: name, Why: why, Changes: []external.Change{c}, Do: do}
	}
	whole := external.Describe([]external.Change{c})
	switch {
	case c.From == unanswered:
		return []external.Action{action("Unsubscribe", whole,
			func(context.Context) error { return stillAsked(address) })}
	case c.To == "":
		return []external.Action{action("Unsubscribe", whole, func(ctx context.Context) error {
			_, err := t.api.Unsubscribe(ctx, &sns.UnsubscribeInput{SubscriptionArn: &id})
			return cloud.Explain(err)
		})}
	case c.From == "":
		subscribe := action("Subscribe", whole, func(ctx context.Context) error {
			_, err := t.api.Subscribe(ctx, &sns.SubscribeInput{
				TopicArn: &seen.ID, Protocol: aws.String(protocol(address)), Endpoint: &address,
				ReturnSubscriptionArn: true, Attributes: t.deliverySettings(address, c),
			})
			return cloud.Explain(err)
		})
		if protocol(address) != "sqs" { // a queue is in the object's namespace
			subscribe.References = reference.Added(reference.Subscriber, nil, []string{address})
		}
		return []external.Action{subscribe}
	}
	return t.changeSubscription(id, address, c)
}

// changeSubscription returns the calls that change the settings of a subscription.
func (t *topic) changeSubscription(id, address string, c external.Change) (actions []external.Action) {
	set := t.deliverySettings(address, c)
	names := slices.Sorted(maps.Keys(set))
	if set["FilterPolicyScope"] == byBody { // before the filter, which only this scope accepts
		slices.Reverse(names)
	}
	for _, name := range names {
		in := &sns.SetSubscriptionAttributesInput{
			SubscriptionArn: &id, AttributeName: &name, AttributeValue: aws.String(set[name]),
		}
		why := fmt.Sprintf("%s, %s → %s", c.Path, name, external.OrNone(set[name]))
		do := func(ctx context.Context) error {
			_, err := t.api.SetSubscriptionAttributes(ctx, in)
			return cloud.Explain(err)
		}
		actions = append(actions, external.Action{
			Name: "SetSubscriptionAttributes", Why: why, Changes: []external.Change{c}, Do: do,
		})
	}
	return actions
}

// deliverySettings returns the attributes of a subscription that a change sets; for a new one, all that differ from the
// default. The filter is the text of the spec.
func (t *topic) deliverySettings(address string, c external.Change) map[string]string {
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
			set["FilterPolicy"] = t.filter(address)
		}
	}
	if want.Scope != "" && want.Scope != cmp.Or(have.Scope, byAttributes) {
		set["FilterPolicyScope"] = want.Scope
	}
	return set
}

// filter returns the filter policy that the spec has for an address.
func (t *topic) filter(address string) string {
	at := slices.IndexFunc(t.targets, func(to target) bool { return to.address == address })
	if at < 0 {
		return "{}"
	}
	return t.targets[at].filter
}
