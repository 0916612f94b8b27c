package s3

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/aws/sns"
	"github.com/portico-platform/portico/controllers/aws/sqs"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
	"github.com/portico-platform/portico/controllers/watch"
)

// Refs are the references of buckets in their namespace: the queues and topics that they notify.
var Refs = []watch.Ref{
	watch.LocalRef{From: &v1alpha1.S3Bucket{}, To: &v1alpha1.SQSQueue{}, When: sqs.ReadyChanged()},
	watch.LocalRef{From: &v1alpha1.S3Bucket{}, To: &v1alpha1.SNSTopic{}, When: sns.AllowedChanged()},
}

// ownID is the prefix of the IDs of Portico's notifications in S3; a number follows.
const ownID = "portico-"

func isOwn(id *string) bool {
	number, ok := strings.CutPrefix(aws.ToString(id), ownID)
	_, err := strconv.ParseUint(number, 10, 32)
	return ok && err == nil
}

// notification is one notification of a bucket, in a form for comparison.
type notification struct {
	ARN    string   `json:"arn"` // of the queue or topic
	Events []string `json:"events"`
	Prefix string   `json:"prefix,omitempty"`
	Suffix string   `json:"suffix,omitempty"`
}

// notified are the notifications of a bucket: Portico's, sorted, and all others, which one call replaces with them.
type notified struct {
	Own    []notification `json:"own,omitempty"`
	others s3types.NotificationConfiguration
}

const notificationsPath = "notifications"

var notifications = typedFeature[notified]{
	path: notificationsPath,
	settings: []setting[notified]{{
		Path: notificationsPath,
		Want: external.Whole(func(b *v1alpha1.S3Bucket) bool { return len(b.Spec.Notifications) > 0 }),
		Have: func(v *notified) string { return external.JSON(*v) },
	}},
	want: func(t target, s *v1alpha1.S3BucketSpec, _ func(string) bool, have notified) notified {
		if len(s.Notifications) == 0 {
			have.Own = nil
		} else {
			have.Own = t.to.with(have.Own)
		}
		return have
	},
	get: func(ctx context.Context, t target) (notified, error) {
		out, err := t.api.GetBucketNotificationConfiguration(ctx,
			&s3.GetBucketNotificationConfigurationInput{Bucket: t.bucket, ExpectedBucketOwner: t.account})
		if err != nil {
			return notified{}, err
		}
		return notificationsOf(out), nil
	},
	call: "PutBucketNotificationConfiguration",
	put: func(ctx context.Context, t target, v notified) error {
		_, err := t.api.PutBucketNotificationConfiguration(ctx, &s3.PutBucketNotificationConfigurationInput{
			Bucket: t.bucket, ExpectedBucketOwner: t.account, NotificationConfiguration: v.configuration(),
		})
		return err
	},
	waits: notTaken,
}

// notTaken returns what the bucket waits for if S3 has tested its queues and topics and one refuses the bucket, else
// nil. The spec is valid then, and S3 does not say which one it is.
func notTaken(v notified, err error) error {
	var answer smithy.APIError
	if !errors.As(err, &answer) || answer.ErrorCode() != "InvalidArgument" ||
		!strings.Contains(answer.ErrorMessage(), "Unable to validate the following destination configurations") {
		return nil
	}
	return external.Postponed(engine.Wait(v1alpha1.ReasonNotLetIn, time.Minute,
		"S3 cannot send to all of %s, and sets no notification before it can. Each must be there, let the bucket send "+
			"(allowFrom), and have no KMS key that keeps s3.amazonaws.com out", strings.Join(v.receivers(), ", ")))
}

// receivers returns the ARNs of all queues and topics that are notified, sorted, including those that others added.
func (v notified) receivers() (all []string) {
	for _, n := range v.Own {
		all = append(all, n.ARN)
	}
	for _, c := range v.others.QueueConfigurations {
		all = append(all, aws.ToString(c.QueueArn))
	}
	for _, c := range v.others.TopicConfigurations {
		all = append(all, aws.ToString(c.TopicArn))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// notificationsOf divides S3's notifications into Portico's and all others.
func notificationsOf(out *s3.GetBucketNotificationConfigurationOutput) (all notified) {
	all.others.EventBridgeConfiguration = out.EventBridgeConfiguration
	all.others.LambdaFunctionConfigurations = out.LambdaFunctionConfigurations
	for _, c := range out.QueueConfigurations {
		if isOwn(c.Id) {
			all.Own = append(all.Own, read(aws.ToString(c.QueueArn), c.Events, c.Filter))
		} else {
			all.others.QueueConfigurations = append(all.others.QueueConfigurations, c)
		}
	}
	for _, c := range out.TopicConfigurations {
		if isOwn(c.Id) {
			all.Own = append(all.Own, read(aws.ToString(c.TopicArn), c.Events, c.Filter))
		} else {
			all.others.TopicConfigurations = append(all.others.TopicConfigurations, c)
		}
	}
	sortNotifications(all.Own)
	return all
}

func read(arn string, events []s3types.Event, filter *s3types.NotificationConfigurationFilter) notification {
	n := notification{ARN: arn}
	for _, e := range events {
		n.Events = append(n.Events, string(e))
	}
	slices.Sort(n.Events)
	if filter == nil || filter.Key == nil {
		return n
	}
	for _, rule := range filter.Key.FilterRules {
		switch strings.ToLower(string(rule.Name)) { // S3 returns Prefix for prefix
		case "prefix":
			n.Prefix = aws.ToString(rule.Value)
		case "suffix":
			n.Suffix = aws.ToString(rule.Value)
		}
	}
	return n
}

// configuration returns all notifications in S3's form.
func (v notified) configuration() *s3types.NotificationConfiguration {
	c := v.others
	c.QueueConfigurations, c.TopicConfigurations = slices.Clone(c.QueueConfigurations),
		slices.Clone(c.TopicConfigurations)
	for i, n := range v.Own {
		id := aws.String(fmt.Sprintf("%s%d", ownID, i+1))
		var events []s3types.Event
		for _, e := range n.Events {
			events = append(events, s3types.Event(e))
		}
		if strings.Contains(n.ARN, ":sns:") {
			c.TopicConfigurations = append(c.TopicConfigurations,
				s3types.TopicConfiguration{Id: id, TopicArn: &n.ARN, Events: events, Filter: n.filter()})
		} else {
			c.QueueConfigurations = append(c.QueueConfigurations,
				s3types.QueueConfiguration{Id: id, QueueArn: &n.ARN, Events: events, Filter: n.filter()})
		}
	}
	return &c
}

// filter returns the prefix and suffix that the keys of objects must have, nil for any.
func (n notification) filter() *s3types.NotificationConfigurationFilter {
	var rules []s3types.FilterRule
	for name, value := range map[s3types.FilterRuleName]string{
		s3types.FilterRuleNamePrefix: n.Prefix,
		s3types.FilterRuleNameSuffix: n.Suffix,
	} {
		if value != "" {
			rules = append(rules, s3types.FilterRule{Name: name, Value: aws.String(value)})
		}
	}
	if rules == nil {
		return nil
	}
	return &s3types.NotificationConfigurationFilter{Key: &s3types.S3KeyFilter{FilterRules: rules}}
}
