// Package sns keeps SNS kinds.
package sns

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/sns"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/aws/attributes"
	"github.com/portico-platform/portico/controllers/aws/reference"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
)

// longest is SNS's limit for a topic name, in characters.
const longest = 256

const kmsKey = "KmsMasterKeyId"

type (
	attribute  = attributes.Attribute[*v1alpha1.SNSTopic]
	topicState = attributes.State
)

// topic adapts SNSTopic; made for one pass.
type topic struct {
	attributes.Adapter[*v1alpha1.SNSTopic]
	api     api
	kube    external.Kube
	targets []target // the queues to subscribe; see Resolve
}

// Topic adapts SNSTopic.
func Topic(session *cloud.Session, kube external.Kube) external.Adapter[*v1alpha1.SNSTopic, topicState] {
	return newTopic(session, clientFor(session), kube)
}

func newTopic(session *cloud.Session, api api, kube external.Kube) *topic {
	t := &topic{api: api, kube: kube}
	t.Adapter = attributes.Adapter[*v1alpha1.SNSTopic]{
		Session: session, Service: service{api}, TagCall: "TagResource", UntagCall: "UntagResource", TagCommand: tagCommand,
		All: t.all, Find: t.find, Read: t.read, Create: t.create, Set: t.set,
	}
	return t
}

func (t *topic) name(obj *v1alpha1.SNSTopic) string {
	return t.Name(obj, cmp.Or(obj.Status.TopicName, obj.Spec.TopicName), longest, obj.Spec.FIFOTopic)
}

// all returns the attributes of a topic, by the API reference of SetTopicAttributes, and its subscriptions.
func (t *topic) all(obj *v1alpha1.SNSTopic) []attribute {
	return append([]attribute{
		{Name: "DisplayName", Path: "displayName", Want: external.Text(func(o *v1alpha1.SNSTopic) string { return o.Spec.DisplayName })},
		{Name: "ContentBasedDeduplication", Path: "contentBasedDeduplication", Default: "false", Want: external.Bool(func(o *v1alpha1.SNSTopic) *bool { return o.Spec.ContentBasedDeduplication })},
		{Name: kmsKey, Path: "kmsMasterKeyId", Want: external.Text(func(o *v1alpha1.SNSTopic) string { return o.Spec.KMSMasterKeyID })},
		{
			Name: "Policy", Path: "policy", Normal: normalPolicy, Default: defaultPolicy(t.arn(obj), t.Session.AccountID),
			Want:   external.Text(func(o *v1alpha1.SNSTopic) string { return o.Spec.Policy }),
			Refuse: t.refusePolicy,
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
	}
	if t.InUse(obj, true) {
		return all, t.readSubscriptions(ctx, obj, arn, all)
	}
	return all, nil
}

// Reserve notes where the topic will be.
func (t *topic) Reserve(obj *v1alpha1.SNSTopic, _ *topicState) {
	s := &obj.Status
	s.TopicName, s.Region, s.AccountID = t.name(obj), t.Session.Config.Region, t.Session.AccountID
}

// set makes one call for each change: SNS takes one attribute at a time.
func (t *topic) set(obj *v1alpha1.SNSTopic, seen *topicState, changes []external.Change) (actions []external.Action) {
	for _, c := range changes {
		only := []external.Change{c}
		for name, value := range t.NamesOf(obj, only) {
			if queue, ok := strings.CutPrefix(name, subscribed); ok {
				actions = append(actions, t.setSubscription(seen, queue, c)...)
				continue
			}
			actions = append(actions, external.Action{
				Name: "SetTopicAttributes", Why: external.Describe(only), Changes: only, References: references(map[string]string{name: value}),
				Do: func(ctx context.Context) error {
					_, err := t.api.SetTopicAttributes(ctx, &sns.SetTopicAttributesInput{TopicArn: &seen.ID, AttributeName: &name, AttributeValue: &value})
					return cloud.Explain(err)
				},
			})
		}
	}
	return actions
}

// references returns what the attributes have the topic refer to: a KMS key. Its queues are of the object's namespace.
func references(set map[string]string) []external.Reference {
	return reference.Added(reference.KMSKey, []string{""}, []string{set[kmsKey]})
}

// create makes the topic with its attributes and tags in one call. CreateTopic answers for an existing topic of the same tags
// as if it had made it, and refuses other tags or attributes with the code of any invalid parameter.
func (t *topic) create(obj *v1alpha1.SNSTopic, set, tags map[string]string) external.Action {
	name, arn := t.name(obj), t.arn(obj)
	if obj.Spec.FIFOTopic {
		set["FifoTopic"] = "true"
	}
	in := &sns.CreateTopicInput{Name: &name, Attributes: set, Tags: tagList(tags)}
	return external.Action{
		Name: "CreateTopic", Why: "topic " + name + " in " + t.Session.Config.Region, References: references(set),
		Do: func(ctx context.Context) error {
			_, err := t.api.CreateTopic(ctx, in)
			if cloud.HasCode(err, "InvalidParameter") {
				if _, absent := t.Service.ListTags(ctx, arn); absent == nil {
					return nil // made in the meantime, or by an earlier try: the next look tells whose it is
				}
			}
			return cloud.Explain(err)
		},
	}
}

// tagCommand returns the command that does what TagResource does, which keeps all other tags.
func tagCommand(session *cloud.Session, arn string, tags map[string]string) string {
	return session.Command(sns.ServiceID, "sns", "tag-resource", "--resource-arn", arn, "--tags", cloud.TagText(tags))
}

// Report fills the status.
func (t *topic) Report(obj *v1alpha1.SNSTopic, seen *topicState) map[string]string {
	t.Reserve(obj, nil)
	s := &obj.Status
	s.KMSKey = external.Admitted(s.KMSKey, obj.Spec.KMSMasterKeyID, seen.Attributes[kmsKey])
	s.ARN, s.Subscriptions = seen.ID, t.made(seen)
	return map[string]string{
		"type": "sns", "provider": "aws", "topic": s.TopicName, "arn": s.ARN, "region": s.Region, "endpoint": t.Session.Services.Endpoint(sns.ServiceID),
	}
}

// Delete removes the topic, unless that would end subscriptions of others.
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
		if !slices.Contains(mine, t.path(s.queue)) {
			return false, engine.Blocked(v1alpha1.ReasonSubscribedTo, "others have subscribed to the topic %s, such as %s; nothing was deleted. Have them unsubscribe, or set spec.deletionPolicy to Retain or Orphan to keep it", t.name(obj), s.queue)
		}
	}
	return t.Adapter.Delete(ctx, obj, seen)
}
