// Package sns manages the SNS kinds.
package sns

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/sns"

	"github.com/portico-platform/portico/api/iampolicy"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/aws/attributes"
	"github.com/portico-platform/portico/controllers/aws/reference"
	"github.com/portico-platform/portico/controllers/aws/senders"
	"github.com/portico-platform/portico/controllers/aws/sqs"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
)

// publish is the action that a sender needs.
const publish = "sns:Publish"

// longest is the limit for a topic name, in characters.
const longest = attributes.LongestTopicName

const kmsKey = "KmsMasterKeyId"

type (
	setting    = attributes.Setting[*v1alpha1.SNSTopic]
	topicState = attributes.State
)

// topic adapts SNSTopic for one pass.
type topic struct {
	attributes.Adapter[*v1alpha1.SNSTopic]
	api     api
	kube    external.Kube
	keys    senders.KeyAPI
	queues  queueReader
	targets []target // endpoints to subscribe; see Resolve
	senders senders.Found
}

var (
	_ external.TagRestorer[*v1alpha1.SNSTopic, topicState] = (*topic)(nil)
	_ external.Resolver[*v1alpha1.SNSTopic]                = (*topic)(nil)
)

// Topic returns the adapter of SNSTopic for one pass.
func Topic(session *cloud.Session, kube external.Kube) external.Adapter[*v1alpha1.SNSTopic, topicState] {
	t := newTopic(session, clientFor(session), kube)
	t.keys, t.queues = senders.Keys(session), sqs.Policies(session)
	return t
}

func newTopic(session *cloud.Session, api api, kube external.Kube) *topic {
	t := &topic{api: api, kube: kube}
	t.Adapter = attributes.Adapter[*v1alpha1.SNSTopic]{
		Session: session, Service: service{api}, TagCall: "TagResource", UntagCall: "UntagResource",
		TagCommand: tagCommand,
		Settings:   t.settings, Find: t.find, Read: t.read, Create: t.create, Set: t.set,
	}
	return t
}

func (t *topic) name(obj *v1alpha1.SNSTopic) string {
	return t.Name(obj, cmp.Or(external.Noted(&obj.Status.AWSStatus, obj.Status.TopicName), obj.Spec.TopicName), longest,
		obj.Spec.FIFOTopic)
}

// settings returns the settings of a topic, from the API reference of SetTopicAttributes, and its subscriptions.
func (t *topic) settings(obj *v1alpha1.SNSTopic) []setting {
	return append([]setting{
		{Name: "DisplayName", Path: "displayName", Want: external.Text(func(o *v1alpha1.SNSTopic) string { return o.Spec.DisplayName })},
		{Name: "ContentBasedDeduplication", Path: "contentBasedDeduplication", Default: "false", Want: external.Bool(func(o *v1alpha1.SNSTopic) *bool { return o.Spec.ContentBasedDeduplication })},
		{Name: kmsKey, Path: "kmsMasterKeyId", Want: external.Text(func(o *v1alpha1.SNSTopic) string { return o.Spec.KMSMasterKeyID })},
		{
			Name: senders.Own, Path: senders.OwnPath, Normal: iampolicy.Normal,
			Want: func(o *v1alpha1.SNSTopic) (string, bool) {
				return t.senders.LetIn(publish, t.arn(o)), o.Spec.AllowFrom != nil
			},
		},
		{
			Name: senders.Rest, Path: senders.RestPath, Normal: iampolicy.Normal,
			Default: defaultPolicy(t.arn(obj), t.Session.AccountID),
			Want:    external.Text(func(o *v1alpha1.SNSTopic) string { return o.Spec.Policy }),
			Refuse:  func(policy string) error { return senders.Refuse(policy, t.Session, needed) },
		},
	}, t.subscriptions(obj)...)
}

func (t *topic) arn(obj *v1alpha1.SNSTopic) string { return t.Session.ARN("sns", t.name(obj)) }

// find returns the ARN, which follows from the name.
func (t *topic) find(_ context.Context, obj *v1alpha1.SNSTopic) (string, error) {
	return t.arn(obj), nil
}

// read reads the topic's attributes and its subscriptions, each only if any of them is declared or managed.
func (t *topic) read(ctx context.Context, obj *v1alpha1.SNSTopic, arn string) (map[string]string, error) {
	all := map[string]string{}
	if t.InUse(obj, false) {
		out, err := t.api.GetTopicAttributes(ctx, &sns.GetTopicAttributesInput{TopicArn: &arn})
		if err != nil {
			return nil, err
		}
		all = out.Attributes
		senders.Divide(all)
		t.senders.Had(all[senders.Own])
		t.Rest = cmp.Or(t.Rest, t.senders.CheckKey(ctx, t.keys, all[kmsKey]))
	}
	if t.InUse(obj, true) {
		return all, t.readSubscriptions(ctx, obj, arn, all)
	}
	return all, nil
}

// Reserve records where the topic will be.
func (t *topic) Reserve(obj *v1alpha1.SNSTopic, _ *topicState) {
	s := &obj.Status
	s.TopicName, s.Region, s.AccountID = t.name(obj), t.Session.Config.Region, t.Session.AccountID
}

// set plans one call for each change: SNS takes one attribute at a time.
func (t *topic) set(obj *v1alpha1.SNSTopic, seen *topicState, changes []external.Change) []external.Action {
	return external.PlanCalls(changes, func(some []external.Change) (actions []external.Action) {
		for _, c := range some {
			if address, ok := strings.CutPrefix(c.Name, subscribed); ok {
				actions = append(actions, t.setSubscription(seen, address, c)...)
			} else {
				actions = append(actions, t.setOne(obj, seen, c))
			}
		}
		return actions
	})
}

// setOne plans the call for a change to the topic itself.
func (t *topic) setOne(obj *v1alpha1.SNSTopic, seen *topicState, c external.Change) external.Action {
	set, all := attributes.Values(c), []external.Change{c}
	action := external.Action{
		Name: "SetTopicAttributes", Why: external.Describe(all), Changes: all,
		References: t.references(obj, set, seen.Attributes),
		Do: func(ctx context.Context) error {
			whole := maps.Clone(set)
			senders.Compose(whole, seen.Attributes)
			for name, value := range whole {
				in := &sns.SetTopicAttributesInput{TopicArn: &seen.ID, AttributeName: &name, AttributeValue: &value}
				if _, err := t.api.SetTopicAttributes(ctx, in); err != nil {
					return cloud.Explain(err)
				}
			}
			senders.Note(set, seen.Attributes)
			return nil
		},
	}
	return senders.Divisible(action, seen.Attributes[senders.Own], func(part external.Change) external.Action {
		return t.setOne(obj, seen, part)
	})
}

// references returns what the attributes newly refer to: a KMS key, senders, and principals that the policy lets in.
// Queues are in the object's namespace.
func (t *topic) references(obj *v1alpha1.SNSTopic, set, have map[string]string) []external.Reference {
	return append(reference.Added(reference.KMSKey, []string{""}, []string{set[kmsKey]}),
		senders.References(t.Session.AccountID, obj.Spec.AllowFrom, set, have)...)
}

// create creates the topic with its attributes and tags in one call. For an existing topic with the same tags
// CreateTopic responds as if it had created it; other tags or attributes are refused with the code of any invalid
// parameter.
func (t *topic) create(obj *v1alpha1.SNSTopic, set, tags map[string]string) external.Action {
	name, arn := t.name(obj), t.arn(obj)
	if obj.Spec.FIFOTopic {
		set["FifoTopic"] = "true"
	}
	refs := t.references(obj, set, nil)
	if _, declared := set[senders.Rest]; !declared && set[senders.Own] != "" {
		set[senders.Rest] = defaultPolicy(arn, t.Session.AccountID) // setting a policy replaces the default one
	}
	senders.Compose(set, nil)
	in := &sns.CreateTopicInput{Name: &name, Attributes: set, Tags: tagList(tags)}
	return external.Action{
		Name: "CreateTopic", Why: "topic " + name + " in " + t.Session.Config.Region, References: refs,
		Do: func(ctx context.Context) error {
			_, err := t.api.CreateTopic(ctx, in)
			if cloud.HasCode(err, "InvalidParameter") {
				if _, absent := t.Service.ListTags(ctx, arn); absent == nil {
					return nil // created in the meantime, or by an earlier try: the next pass reads its owner
				}
			}
			return cloud.Explain(err)
		},
	}
}

// tagCommand returns the command line that does the same as TagResource, and keeps all other tags.
func tagCommand(session *cloud.Session, arn string, tags map[string]string) string {
	return session.Command(sns.ServiceID, "sns", "tag-resource", "--resource-arn", arn, "--tags", cloud.TagText(tags))
}

// Report fills the status.
func (t *topic) Report(obj *v1alpha1.SNSTopic, seen *topicState) map[string]string {
	t.Reserve(obj, nil)
	s := &obj.Status
	s.KMSKey = external.Effective(s.KMSKey, obj.Spec.KMSMasterKeyID, seen.Attributes[kmsKey])
	s.ARN, s.Subscriptions = seen.ID, t.made(seen)
	s.AllowedSenders = nil
	if obj.Spec.AllowFrom != nil {
		s.AllowedSenders = t.senders.Allowed(seen.Attributes, publish, s.ARN)
	}
	return map[string]string{
		"type": "sns", "provider": "aws", "topic": s.TopicName, "arn": s.ARN, "region": s.Region,
		"endpoint": t.Session.Services.Endpoint(sns.ServiceID),
	}
}

// Delete deletes the topic, unless that would end subscriptions of others.
func (t *topic) Delete(ctx context.Context, obj *v1alpha1.SNSTopic, seen *topicState) (bool, error) {
	all, err := t.list(ctx, seen.ID)
	if cloud.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, cloud.Explain(err)
	}
	mine := external.ManagedBy(obj).Below(subscriptionPath)
	for _, s := range all {
		if s.arn != "" && !slices.Contains(mine, t.path(s.address)) {
			return false, engine.Blocked(v1alpha1.ReasonSubscribedTo,
				"others have subscribed to the topic %s, such as %s; nothing was deleted. Have them unsubscribe, or "+
					"set spec.deletionPolicy to Retain or Orphan to keep it", t.name(obj), s.address)
		}
	}
	return t.Adapter.Delete(ctx, obj, seen)
}
