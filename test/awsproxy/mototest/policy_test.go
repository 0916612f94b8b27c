//go:build integration

package mototest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

const toSNS = `"Effect":"Allow","Principal":{"Service":"sns.amazonaws.com"},"Action":"sqs:SendMessage"`

// policyOf returns a document of statements, each without its braces.
func policyOf(statements ...string) string {
	return `{"Version":"2012-10-17","Statement":[{` + strings.Join(statements, `},{`) + `}]}`
}

// on adds the resource to a statement, and its conditions.
func on(statement, resource string, conditions ...string) string {
	statement += `,"Resource":"` + resource + `"`
	if len(conditions) > 0 {
		statement += `,"Condition":{` + strings.Join(conditions, ",") + `}`
	}
	return statement
}

// repeated returns a list of n statements.
func repeated(n int, statement string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(`"Sid":"s%d",`, i) + statement
	}
	return policyOf(all...)
}

// listOf returns a list of n texts.
func listOf(n int, format string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(format, i)
	}
	return `["` + strings.Join(all, `","`) + `"]`
}

// queue creates a queue, and returns its URL and ARN.
func (w *world) queue(t *testing.T, key string) (url, arn string) {
	t.Helper()
	return w.queueNamed(t, key, unique(t), nil)
}

func (w *world) queueNamed(t *testing.T, key, name string, attributes map[string]string) (url, arn string) {
	t.Helper()
	c := w.sqs(key, "eu-west-1")
	out, err := c.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: &name, Attributes: attributes})
	must(t, err)
	return *out.QueueUrl, w.queueAttribute(t, key, *out.QueueUrl, "QueueArn")
}

func (w *world) queueAttribute(t *testing.T, key, url, name string) string {
	t.Helper()
	got, err := w.sqs(key, "eu-west-1").GetQueueAttributes(t.Context(),
		&sqs.GetQueueAttributesInput{QueueUrl: &url, AttributeNames: []sqstypes.QueueAttributeName{"All"}})
	must(t, err)
	return got.Attributes[name]
}

func (w *world) setQueue(t *testing.T, key, url string, attributes map[string]string) error {
	t.Helper()
	_, err := w.sqs(key, "eu-west-1").SetQueueAttributes(t.Context(),
		&sqs.SetQueueAttributesInput{QueueUrl: &url, Attributes: attributes})
	return err
}

// topic creates a topic in account one, and returns its ARN.
func (w *world) topic(t *testing.T) string {
	t.Helper()
	out, err := w.sns(keyOne).CreateTopic(t.Context(), &sns.CreateTopicInput{Name: aws.String(unique(t))})
	must(t, err)
	return *out.TopicArn
}

func (w *world) setTopic(t *testing.T, arn, policy string) error {
	t.Helper()
	_, err := w.sns(keyOne).SetTopicAttributes(t.Context(),
		&sns.SetTopicAttributesInput{TopicArn: &arn, AttributeName: aws.String("Policy"), AttributeValue: &policy})
	return err
}

func TestSQSTakesPoliciesAsAWSDoes(t *testing.T) {
	w := newWorld(t)
	url, arn := w.queue(t, keyOne)
	const invalid, over = "InvalidAttributeValue", "OverLimit"
	send := on(toSNS, arn)
	for name, tc := range map[string]struct{ policy, code string }{
		"a service":            {policyOf(send), ""},
		"with a condition":     {policyOf(on(toSNS, arn, `"ArnLike":{"aws:SourceArn":"arn:aws:sns:*:*:*"}`, `"Bool":{"aws:SecureTransport":true}`)), ""},
		"all resources":        {policyOf(on(toSNS, "*")), ""},
		"queues by a pattern":  {policyOf(on(toSNS, arn[:len(arn)-1]+"*")), ""},
		"actions by a pattern": {policyOf(strings.Replace(send, "SendMessage", "*", 1)), ""},
		"upper case":           {policyOf(strings.Replace(send, "sqs:", "SQS:", 1)), ""},
		"7 actions": {
			policyOf(strings.Replace(send, `"sqs:SendMessage"`,
				`["sqs:SendMessage","sqs:ReceiveMessage","sqs:DeleteMessage","sqs:PurgeQueue","sqs:GetQueueUrl","sqs:GetQueueAttributes","sqs:TagQueue"]`, 1)), "",
		},
		"8 actions": {
			policyOf(strings.Replace(send, `"sqs:SendMessage"`,
				`["sqs:SendMessage","sqs:ReceiveMessage","sqs:DeleteMessage","sqs:PurgeQueue","sqs:GetQueueUrl","sqs:GetQueueAttributes","sqs:TagQueue","sqs:UntagQueue"]`, 1)), over,
		},
		"20 statements":            {repeated(20, send), ""},
		"21 statements":            {repeated(21, send), over},
		"51 principals":            {policyOf(strings.Replace(send, `{"Service":"sns.amazonaws.com"}`, `{"AWS":`+listOf(51, "1%011d")+`}`, 1)), over},
		"too long":                 {policyOf(on(toSNS, arn, `"ArnLike":{"aws:SourceArn":`+listOf(200, "arn:aws:sns:eu-west-1:111111111111:a-topic-with-a-long-name-%d")+`}`)), over},
		"no JSON":                  {`{`, invalid},
		"no statement":             {`{"Version":"2012-10-17","Statement":[]}`, invalid},
		"two of a Sid":             {policyOf(`"Sid":"a",`+send, `"Sid":"a",`+send), invalid},
		"no principal":             {policyOf(strings.Replace(send, `"Principal":{"Service":"sns.amazonaws.com"},`, "", 1)), invalid},
		"half a principal":         {policyOf(strings.Replace(send, `"Service":"sns.amazonaws.com"`, `"AWS":"arn:aws:iam::111111111111:role/*"`, 1)), invalid},
		"no service":               {policyOf(strings.Replace(send, "sns.amazonaws.com", "sns", 1)), invalid},
		"another queue":            {policyOf(on(toSNS, "arn:aws:sqs:eu-west-1:111111111111:other")), invalid},
		"another service's action": {policyOf(strings.Replace(send, "sqs:SendMessage", "sns:Publish", 1)), invalid},
		"an action on no queue":    {policyOf(strings.Replace(send, "SendMessage", "ListQueues", 1)), invalid},
		"a misspelled key":         {policyOf(on(toSNS, arn, `"ArnLike":{"aws:SourceArm":"*"}`)), invalid},
	} {
		err := w.setQueue(t, keyOne, url, map[string]string{"Policy": tc.policy})
		if tc.code == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		t.Run(name, func(t *testing.T) { wantCode(t, err, tc.code) })
	}
	_, err := w.sqs(keyOne, "eu-west-1").CreateQueue(
		t.Context(), &sqs.CreateQueueInput{QueueName: aws.String(unique(t)), Attributes: map[string]string{
			"Policy": `{}`,
		}})
	wantCode(t, err, invalid)
}

// TestSQSKeepsAPolicyAsItIs checks that SQS returns a policy unchanged, and keeps it when other attributes change; moto
// does neither.
func TestSQSKeepsAPolicyAsItIs(t *testing.T) {
	w := newWorld(t)
	name := unique(t)
	text := strings.ReplaceAll(policyOf(on(toSNS, "arn:aws:sqs:eu-west-1:111111111111:"+name)), ",", " ,\n ")
	url, _ := w.queueNamed(t, keyOne, name, map[string]string{"Policy": text})
	must(t, w.setQueue(t, keyOne, url, map[string]string{"DelaySeconds": "5"}))
	if got := w.queueAttribute(t, keyOne, url, "Policy"); got != text {
		t.Errorf("the policy is\n%s\nwant\n%s", got, text)
	}
	must(t, w.setQueue(t, keyOne, url, map[string]string{"Policy": ""}))
	if got := w.queueAttribute(t, keyOne, url, "Policy"); got != "" {
		t.Errorf("after its removal the policy is %s", got)
	}
}

const publish = `"Effect":"Allow","Principal":{"AWS":"*"},"Action":"sns:Publish"`

func TestSNSTakesPoliciesAsAWSDoes(t *testing.T) {
	w := newWorld(t)
	arn := w.topic(t)
	plain := on(publish, arn)
	for name, tc := range map[string]struct{ policy, message string }{
		"everybody":        {policyOf(plain), ""},
		"all resources":    {policyOf(on(publish, "*")), ""},
		"upper case":       {policyOf(strings.Replace(plain, "sns:", "SNS:", 1)), ""},
		"100 statements":   {repeated(100, plain), ""},
		"101 statements":   {repeated(101, plain), "maximum allowed size"},
		"no JSON":          {`{`, "Policy Error: null"},
		"two of a Sid":     {policyOf(`"Sid":"a",`+plain, `"Sid":"a",`+plain), "Policy Error: null"},
		"another topic":    {policyOf(on(publish, arn+"s")), "Policy Error: null"},
		"half a principal": {policyOf(strings.Replace(plain, `"AWS":"*"`, `"AWS":"arn:aws:iam::111111111111:role/*"`, 1)), "PrincipalNotFound"},
		"another service's action": {
			policyOf(strings.Replace(plain, "sns:Publish", "sqs:SendMessage", 1)),
			"out of service scope",
		},
		"an action on no topic": {
			policyOf(strings.Replace(plain, "Publish", "CreateTopic", 1)),
			"out of service scope",
		},
		"all actions": {policyOf(strings.Replace(plain, "Publish", "*", 1)), "out of service scope"},
	} {
		err := w.setTopic(t, arn, tc.policy)
		if tc.message == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		t.Run(name, func(t *testing.T) {
			wantCode(t, err, "InvalidParameter")
			if !strings.Contains(err.Error(), tc.message) {
				t.Errorf("%v", err)
			}
		})
	}
	_, err := w.sns(keyOne).CreateTopic(
		t.Context(), &sns.CreateTopicInput{Name: aws.String(unique(t)), Attributes: map[string]string{"Policy": `{}`}})
	wantCode(t, err, "InvalidParameter")
}

// TestPoliciesComeBackInTheirNormalForm checks that SNS and S3 return a policy in a normal form.
func TestPoliciesComeBackInTheirNormalForm(t *testing.T) {
	w := newWorld(t)
	mess := func(action, resource string) string {
		return `{ "Version": "2012-10-17", "Statement": { "Effect": "Allow", "Principal": {"AWS": ["222222222222", "111111111111"]}, "Action": ["` + action + `"],
			"Resource": "` + resource + `", "Condition": {"Bool": {"aws:SecureTransport": [true]}, "StringEquals": {"aws:SourceAccount": ["111111111111"]}} } }`
	}
	normal := func(action, resource string) string {
		return `{"Statement":[{"Action":"` + action +
			`","Condition":{"Bool":{"aws:SecureTransport":"true"},"StringEquals":{"aws:SourceAccount":"111111111111"}},"Effect":"Allow",` +
			`"Principal":{"AWS":["arn:aws:iam::111111111111:root","arn:aws:iam::222222222222:root"]},"Resource":"` +
			resource + `"}],"Version":"2012-10-17"}`
	}
	arn := w.topic(t)
	must(t, w.setTopic(t, arn, mess("sns:Publish", arn)))
	topic, err := w.sns(keyOne).GetTopicAttributes(t.Context(), &sns.GetTopicAttributesInput{TopicArn: &arn})
	must(t, err)
	if got, want := topic.Attributes["Policy"], normal("sns:Publish", arn); got != want {
		t.Errorf("SNS has\n%s\nwant\n%s", got, want)
	}
	bucket := create(t, w.s3(keyOne, "eu-west-1"), "eu-west-1")
	must(t, w.putPolicy(t, keyOne, bucket, mess("s3:ListBucket", "arn:aws:s3:::"+bucket)))
	out, err := w.s3(keyOne, "eu-west-1").GetBucketPolicy(t.Context(), &s3.GetBucketPolicyInput{Bucket: &bucket})
	must(t, err)
	if got, want := *out.Policy, normal("s3:ListBucket", "arn:aws:s3:::"+bucket); got != want {
		t.Errorf("S3 has\n%s\nwant\n%s", got, want)
	}
}

func (w *world) putPolicy(t *testing.T, key, bucket, policy string) error {
	t.Helper()
	_, err := w.s3(key, "eu-west-1").PutBucketPolicy(t.Context(),
		&s3.PutBucketPolicyInput{Bucket: &bucket, Policy: &policy})
	return err
}

func TestS3TakesPoliciesAsAWSDoes(t *testing.T) {
	w := newWorld(t)
	bucket := create(t, w.s3(keyOne, "eu-west-1"), "eu-west-1")
	arn := "arn:aws:s3:::" + bucket
	const role,
		all = `"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::111111111111:role/app"},"Action":"s3:GetObject"`,
		`"Effect":"Allow","Principal":"*","Action":"s3:GetObject"`
	const tls = `"Effect":"Deny","Principal":"*","Action":"s3:*","Resource":["BUCKET","BUCKET/*"],"Condition":{"Bool":{"aws:SecureTransport":"false"}}`
	list := strings.Replace(role, "GetObject", "ListBucket", 1)
	for name, tc := range map[string]struct{ policy, code, message string }{
		"a role":                    {policyOf(on(role, arn+"/*")), "", ""},
		"TLS only":                  {policyOf(strings.ReplaceAll(tls, "BUCKET", arn)), "", ""},
		"a list of the bucket":      {policyOf(on(list, arn)), "", ""},
		"everybody from an account": {policyOf(on(all, arn+"/*", `"StringEquals":{"aws:SourceAccount":"111111111111"}`)), "", ""},
		"everybody":                 {policyOf(on(all, arn+"/*")), "AccessDenied", "BlockPublicPolicy"},
		"everybody of AWS":          {policyOf(on(strings.Replace(all, `"*"`, `{"AWS":"*"}`, 1), arn+"/*")), "AccessDenied", "BlockPublicPolicy"},
		"everybody by TLS":          {policyOf(on(all, arn+"/*", `"Bool":{"aws:SecureTransport":"true"}`)), "AccessDenied", "BlockPublicPolicy"},
		"topics of everybody":       {policyOf(on(all, arn+"/*", `"ArnLike":{"aws:SourceArn":"arn:aws:sns:*:*:*"}`)), "AccessDenied", "BlockPublicPolicy"},
		"all but one account":       {policyOf(on(all, arn+"/*", `"StringNotEquals":{"aws:SourceAccount":"111111111111"}`)), "AccessDenied", "BlockPublicPolicy"},
		"no JSON":                   {`{`, "MalformedPolicy", "valid JSON"},
		"too long": {
			policyOf(on(role, arn+"/"+strings.Repeat("a", 20<<10))), "MalformedPolicy",
			"maximum allowed document size",
		},
		"no principal": {policyOf(`"Effect":"Allow","Action":"s3:GetObject","Resource":"` + arn + `/*"`), "MalformedPolicy", "Missing required field Principal"},
		"half a principal": {
			policyOf(on(strings.Replace(role, "role/app", "role/*", 1), arn+"/*")),
			"MalformedPolicy", "Invalid principal in policy",
		},
		"every resource": {policyOf(on(role, "*")), "MalformedPolicy", "Policy has invalid resource"},
		"another bucket": {
			policyOf(on(role, "arn:aws:s3:::other/*")), "MalformedPolicy",
			"Policy has invalid resource",
		},
		"another service's action": {policyOf(on(strings.Replace(role, "s3:GetObject", "sqs:SendMessage", 1),
			arn+"/*")), "MalformedPolicy", "Policy has invalid action"},
		"objects of the bucket": {
			policyOf(on(role, arn)), "MalformedPolicy",
			"Action does not apply to any resource(s) in statement",
		},
		"a list of objects": {
			policyOf(on(list, arn+"/*")), "MalformedPolicy",
			"Action does not apply to any resource(s) in statement",
		},
		"a misspelled key": {policyOf(on(role, arn+"/*", `"Bool":{"aws:SecureTransfer":"false"}`)), "MalformedPolicy", "invalid condition key"},
		"two of a Sid":     {policyOf(`"Sid":"a",`+on(role, arn+"/*"), `"Sid":"a",`+on(role, arn+"/*")), "MalformedPolicy", ""},
	} {
		err := w.putPolicy(t, keyOne, bucket, tc.policy)
		if tc.code == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		t.Run(name, func(t *testing.T) {
			wantCode(t, err, tc.code)
			if !strings.Contains(err.Error(), tc.message) {
				t.Errorf("%v", err)
			}
		})
	}
	_, err := w.s3(keyOne, "eu-west-1").PutPublicAccessBlock(t.Context(), &s3.PutPublicAccessBlockInput{
		Bucket:                         &bucket,
		PublicAccessBlockConfiguration: &s3types.PublicAccessBlockConfiguration{BlockPublicAcls: aws.Bool(true)},
	})
	must(t, err)
	for policy, want := range map[string]bool{
		policyOf(on(all, arn+"/*", `"Bool":{"aws:SecureTransport":"true"}`)): true,
		policyOf(on(role, arn+"/*")):                                         false,
	} {
		must(t, w.putPolicy(t, keyOne, bucket, policy))
		out, err := w.s3(keyOne, "eu-west-1").GetBucketPolicyStatus(t.Context(),
			&s3.GetBucketPolicyStatusInput{Bucket: &bucket})
		must(t, err)
		if *out.PolicyStatus.IsPublic != want {
			t.Errorf("public %v: %s", !want, policy)
		}
	}
}
