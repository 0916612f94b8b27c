//go:build integration

package integration

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/rds"
	"github.com/aws/aws-sdk-go-v2/service/sns"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// refusedField waits until obj reports that AWS refuses path, and nothing else.
func refusedField(t *testing.T, obj engine.Object, status *v1alpha1.AWSStatus, path string) {
	t.Helper()
	c := admin(t)
	got := reason(t, c, obj, v1alpha1.ReasonInvalidSpec)
	if !strings.Contains(got.Message, path) {
		t.Errorf("message %q does not name %s", got.Message, path)
	}
	for _, left := range status.UnappliedFields {
		if left != path && !strings.HasPrefix(left, "preferred") {
			t.Errorf("not applied: %v", status.UnappliedFields)
		}
	}
}

// A backup window that RDS refuses, because it overlaps the maintenance window, does not prevent Portico from closing
// and protecting a database that was made public.
func TestARefusedWindowKeepsNoDatabaseOpen(t *testing.T) {
	c := withOperator(t)
	d := databaseOf(team(t, c), "ledger", func(s *v1alpha1.RDSInstanceSpec) {
		s.SkipFinalSnapshot, s.PubliclyAccessible, s.DeletionProtection = true, aws.Bool(false), aws.Bool(false)
	})
	createReady(t, c, d)
	_, err := outsideRDS(t).ModifyDBInstance(t.Context(), &rds.ModifyDBInstanceInput{
		DBInstanceIdentifier: &d.Status.DBInstanceIdentifier, PubliclyAccessible: aws.Bool(true),
		ApplyImmediately:      aws.Bool(true),
		PreferredBackupWindow: aws.String("01:00-01:30"), PreferredMaintenanceWindow: aws.String("sun:03:30-sun:04:30"),
	})
	if err != nil {
		t.Fatal(err)
	}
	edit(t, c, d, func(d *v1alpha1.RDSInstance) {
		d.Spec.PreferredBackupWindow, d.Spec.DeletionProtection = "03:00-04:00", aws.Bool(true)
	})
	refusedField(t, d, &d.Status.AWSStatus, "preferredBackupWindow")
	if has := inRDS(t, d); *has.PubliclyAccessible || !*has.DeletionProtection {
		t.Errorf("public %v, protected %v", *has.PubliclyAccessible, *has.DeletionProtection)
	}
	edit(t, c, d, func(d *v1alpha1.RDSInstance) {
		d.Spec.PreferredBackupWindow, d.Spec.DeletionProtection = "05:30-06:30", aws.Bool(false)
	})
	ready(t, c, d)
}

// One tag too many does not prevent Portico from closing a machine's metadata service, which is reported as a repair.
func TestATagTooManyKeepsNoMetadataOpen(t *testing.T) {
	c := withOperator(t)
	m := machineOf(team(t, c), "worker", func(s *v1alpha1.EC2InstanceSpec) {
		s.MetadataOptions = &v1alpha1.EC2MetadataOptions{HTTPTokens: "required"}
	})
	createReady(t, c, m)
	var theirs []ec2types.Tag
	for n := range 50 - len(inEC2(t, m).Tags) {
		theirs = append(theirs, ec2types.Tag{Key: aws.String(fmt.Sprintf("theirs-%d", n)), Value: aws.String("x")})
	}
	api := outsideEC2(t)
	if _, err := api.CreateTags(
		t.Context(), &ec2.CreateTagsInput{Resources: []string{m.Status.InstanceID}, Tags: theirs}); err != nil {
		t.Fatal(err)
	}
	edit(t, c, m, func(m *v1alpha1.EC2Instance) { m.Spec.Tags = v1alpha1.Tags{"cost-center": "42"} })
	got := reason(t, c, m, v1alpha1.ReasonQuotaExceeded)
	if !strings.Contains(got.Message, "tags.cost-center") {
		t.Errorf("message %q", got.Message)
	}
	if _, err := api.ModifyInstanceMetadataOptions(t.Context(), &ec2.ModifyInstanceMetadataOptionsInput{
		InstanceId: &m.Status.InstanceID, HttpTokens: ec2types.HttpTokensStateOptional,
		HttpEndpoint: ec2types.InstanceMetadataEndpointStateEnabled,
	}); err != nil {
		t.Fatal(err)
	}
	wakeNow(t, c, m)
	await(t, "session tokens to be required again", func() (bool, string) {
		tokens := inEC2(t, m).MetadataOptions.HttpTokens
		return tokens == ec2types.HttpTokensStateRequired, string(tokens)
	})
	awaitEvent(t, c, m, v1alpha1.ReasonRepaired, "httpTokens")
	if got := reason(t, c, m, v1alpha1.ReasonQuotaExceeded); !strings.Contains(got.Message, "tags.cost-center") {
		t.Errorf("message %q", got.Message)
	}
	if _, err := api.DeleteTags(
		t.Context(), &ec2.DeleteTagsInput{Resources: []string{m.Status.InstanceID}, Tags: theirs[:1]}); err != nil {
		t.Fatal(err)
	}
	wakeNow(t, c, m)
	ready(t, c, m)
}

// A filter that SNS refuses does not block other queues' subscriptions, or the topic's binding.
func TestARefusedFilterHoldsUpNoOtherSubscription(t *testing.T) {
	c := withOperator(t)
	ns := team(t, c)
	for _, name := range []string{"first", "second"} {
		createReady(t, c, queueOf(ns, name))
	}
	o := topics.object(ns, "news").(*v1alpha1.SNSTopic)
	o.Spec.Subscriptions = []v1alpha1.SNSSubscription{
		{QueueRef: &v1alpha1.LocalRef{Name: "first"}, FilterPolicy: `{"a":{"b":{"c":["d"]}}}`},
		{QueueRef: &v1alpha1.LocalRef{Name: "second"}, FilterPolicy: `{"a":["b"]}`},
	}
	create(t, c, o)
	got := reason(t, c, o, v1alpha1.ReasonInvalidSpec)
	if !strings.Contains(got.Message, "subscriptions.") {
		t.Errorf("message %q", got.Message)
	}
	s := o.Status
	if len(s.Subscriptions) != 1 || s.Subscriptions[0].Queue != "second" {
		t.Errorf("Subscriptions = %+v, want one to second", s.Subscriptions)
	}
	if s.ARN == "" || s.Binding == nil {
		t.Errorf("ARN = %q, Binding = %v; want both", s.ARN, s.Binding)
	}
}

// A change of the meaning of Portico's filter is reverted.
func TestTheScopeOfAFilterIsPutBack(t *testing.T) {
	c := withOperator(t)
	ns := team(t, c)
	q := queueOf(ns, "orders")
	q.Spec.AllowFrom = v1alpha1.Senders{{TopicRef: &v1alpha1.LocalRef{Name: "news"}}}
	createReady(t, c, q)
	o := topics.object(ns, "news").(*v1alpha1.SNSTopic)
	o.Spec.Subscriptions = []v1alpha1.SNSSubscription{
		{QueueRef: &v1alpha1.LocalRef{Name: "orders"}, FilterPolicy: `{"a":["b"]}`},
	}
	createReady(t, c, o)
	subscription := o.Status.Subscriptions[0].SubscriptionARN
	_, err := topicClient(t).SetSubscriptionAttributes(t.Context(), &sns.SetSubscriptionAttributesInput{
		SubscriptionArn: &subscription, AttributeName: aws.String("FilterPolicyScope"),
		AttributeValue: aws.String("MessageBody"),
	})
	if err != nil {
		t.Fatal(err)
	}
	wakeNow(t, c, o)
	awaitEvent(t, c, o, v1alpha1.ReasonRepaired, "FilterPolicyScope")
	out, err := topicClient(t).GetSubscriptionAttributes(t.Context(), &sns.GetSubscriptionAttributesInput{
		SubscriptionArn: &subscription,
	})
	if err != nil || out.Attributes["FilterPolicyScope"] != "MessageAttributes" {
		t.Errorf("%v, attributes %v", err, out.Attributes)
	}
}

// AWS gets the policy as the spec has it: the root user of an account is not the same as its number in a condition.
func TestAPolicyIsWrittenAsTheSpecHasIt(t *testing.T) {
	c := withOperator(t)
	o := topics.object(team(t, c), "news").(*v1alpha1.SNSTopic)
	o.Spec.Policy = `{"Version":"2012-10-17","Statement":[{"Sid":"only-root","Effect":"Deny","Principal":"*","Action":"sns:Publish","Resource":"*",` +
		`"Condition":{"ArnNotEquals":{"aws:PrincipalArn":"arn:aws:iam::123456789012:root"}}}]}`
	createReady(t, c, o)
	if has := topicAttributes(t, o)["Policy"]; !strings.Contains(has, "arn:aws:iam::123456789012:root") {
		t.Errorf("AWS has %s", has)
	}
	m := world.Proxy.Mark()
	wakeNow(t, c, o)
	life{topics, c, t, o}.passes(m, 1)
	if got := topics.calls(m); strings.Contains(fmt.Sprint(got), "SetTopicAttributes") {
		t.Errorf("at rest it calls %v", got)
	}
}

// A policy that denies everybody access to the topic's own settings is not written: Portico could not undo it.
// Everything else is.
func TestAPolicyThatLocksPorticoOutIsNotWritten(t *testing.T) {
	c := withOperator(t)
	ns := team(t, c)
	const lock = `{"Statement":{"Sid":"nobody","Effect":"Deny","Principal":"*","Action":"sns:*","Resource":"*"}}`
	fresh := topics.object(ns, "locked").(*v1alpha1.SNSTopic)
	fresh.Spec.Policy = lock
	create(t, c, fresh)
	if got := reason(t, c, fresh, v1alpha1.ReasonInvalidSpec); !strings.Contains(
		got.Message, "its statement nobody denies") {
		t.Errorf("message %q", got.Message)
	}
	if fresh.Status.ARN != "" {
		t.Errorf("it was made: %s", fresh.Status.ARN)
	}
	o := topics.object(ns, "news").(*v1alpha1.SNSTopic)
	createReady(t, c, o)
	before := topicAttributes(t, o)["Policy"]
	edit(t, c, o, func(o *v1alpha1.SNSTopic) { o.Spec.Policy, o.Spec.DisplayName = lock, "News" })
	refusedField(t, o, &o.Status.AWSStatus, "policy")
	if has := topicAttributes(t, o); has["Policy"] != before || has["DisplayName"] != "News" {
		t.Errorf("policy %s, display name %q", has["Policy"], has["DisplayName"])
	}
	if err := c.Delete(t.Context(), fresh); err != nil {
		t.Fatal(err)
	}
	gone(t, c, fresh)
}
