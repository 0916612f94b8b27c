//go:build integration

package mototest_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/portico-platform/portico/test/awsproxy"
)

// session opens a session of a role of account one with a document, and returns the role's ARN, too.
func (w *world) session(t *testing.T, document string) (cfg aws.Config, role string) {
	t.Helper()
	cfg = roleOf(t, w, "a", document, func(in *sts.AssumeRoleInput) { role = *in.RoleArn })
	return cfg, role
}

const (
	nothing = `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"ec2:*","Resource":"*"}}`
	byDeny  = "with an explicit deny in a resource-based policy"
)

// everyone returns a statement about everybody.
func everyone(effect, action string) string {
	return `"Effect":"` + effect + `","Principal":"*","Action":"` + action + `"`
}

// TestPoliciesOfResourcesLockOut checks that a deny in a resource's policy applies regardless of the caller's own
// policies: to the operator's roles, and to root.
func TestPoliciesOfResourcesLockOut(t *testing.T) {
	w := newWorld(t)
	cfg, _ := w.session(t, everything)
	url, queue := w.queue(t, keyOne)
	topic := w.topic(t)
	must(t, w.setQueue(t, keyOne, url, map[string]string{"Policy": policyOf(on(everyone("Deny",
		"sqs:SetQueueAttributes"), queue))}))
	must(t, w.setTopic(t, topic, policyOf(on(everyone("Deny", "sns:SetTopicAttributes"), topic))))
	for name, who := range map[string]aws.Config{
		"a role": cfg, "root": config(w.operator, keyOne, "eu-west-1"),
		"root outside": config(w.outside, keyOne, "eu-west-1"),
	} {
		t.Run(name, func(t *testing.T) {
			q, s := sqs.NewFromConfig(who), sns.NewFromConfig(who)
			_, err := q.SetQueueAttributes(t.Context(),
				&sqs.SetQueueAttributesInput{QueueUrl: &url, Attributes: map[string]string{"DelaySeconds": "1"}})
			wantDenied(t, err, "AccessDenied", "sqs:setqueueattributes on resource: "+queue, byDeny)
			_, err = q.GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{QueueUrl: &url})
			must(t, err)
			_, err = s.SetTopicAttributes(t.Context(),
				&sns.SetTopicAttributesInput{
					TopicArn: &topic, AttributeName: aws.String("DisplayName"),
					AttributeValue: aws.String("x"),
				})
			wantDenied(t, err, "AuthorizationError", "SNS:SetTopicAttributes on resource: "+topic, byDeny)
			_, err = s.GetTopicAttributes(t.Context(), &sns.GetTopicAttributesInput{TopicArn: &topic})
			must(t, err)
		})
	}
}

// TestRootOpensABucketAgain checks that root can always read, change and delete a bucket's policy, so that no account
// locks itself out.
func TestRootOpensABucketAgain(t *testing.T) {
	w := newWorld(t)
	root := w.s3(keyOne, "eu-west-1")
	bucket := create(t, root, "eu-west-1")
	cfg, role := w.session(t, everything)
	api := bucketsOf(cfg)
	arn := "arn:aws:s3:::" + bucket
	lock := `"Effect":"Deny","Principal":"*","Action":"s3:*","Resource":["` + arn + `","` + arn + `/*"]`
	must(t, w.putPolicy(t, keyOne, bucket, policyOf(lock)))
	_, err := api.PutBucketPolicy(t.Context(), &s3.PutBucketPolicyInput{
		Bucket: &bucket,
		Policy: aws.String(policyOf(lock)),
	})
	wantDenied(t, err, "AccessDenied", "s3:PutBucketPolicy", byDeny)
	_, err = api.GetBucketTagging(t.Context(), &s3.GetBucketTaggingInput{Bucket: &bucket})
	wantDenied(t, err, "AccessDenied", "s3:GetBucketTagging", byDeny)
	_, err = root.PutObject(t.Context(), &s3.PutObjectInput{Bucket: &bucket, Key: aws.String("a")})
	wantDenied(t, err, "AccessDenied",
		"User: arn:aws:iam::"+accountOne+":root is not authorized to perform: s3:PutObject", byDeny)
	_, err = root.GetBucketPolicy(t.Context(), &s3.GetBucketPolicyInput{Bucket: &bucket})
	must(t, err)
	must(t, w.putPolicy(t, keyOne, bucket, policyOf(lock+`,"Condition":{"ArnNotEquals":{"aws:PrincipalArn":["`+role+
		`"]}}`)))
	_, err = api.PutObject(t.Context(), &s3.PutObjectInput{Bucket: &bucket, Key: aws.String("a")})
	must(t, err)
	_, err = root.DeleteBucketPolicy(t.Context(), &s3.DeleteBucketPolicyInput{Bucket: &bucket})
	must(t, err)
	_, err = root.PutObject(t.Context(), &s3.PutObjectInput{Bucket: &bucket, Key: aws.String("b")})
	must(t, err)
	must(t, w.putPolicy(t, keyOne, bucket, policyOf(on(everyone("Deny", "s3:DeleteObject"), arn+"/a"))))
	out, err := root.DeleteObjects(t.Context(), &s3.DeleteObjectsInput{
		Bucket: &bucket,
		Delete: &s3types.Delete{Objects: []s3types.ObjectIdentifier{{Key: aws.String("a")}, {Key: aws.String("b")}}},
	})
	must(t, err)
	if len(out.Deleted) != 1 || *out.Deleted[0].Key != "b" {
		t.Fatalf("deleted %+v, errors %+v", out.Deleted, out.Errors)
	}
	if len(out.Errors) != 1 || *out.Errors[0].Code != "AccessDenied" {
		t.Errorf("deleted %+v, errors %+v", out.Deleted, out.Errors)
	}
}

// TestPoliciesOfResourcesLetIn checks that a resource's policy that names a role is sufficient within the account, and
// one that names the account is not.
func TestPoliciesOfResourcesLetIn(t *testing.T) {
	w := newWorld(t)
	url, queue := w.queue(t, keyOne)
	bucket := create(t, w.s3(keyOne, "eu-west-1"), "eu-west-1")
	topic := w.topic(t)
	cfg, role := w.session(t, nothing)
	calls := map[string]func(ctx context.Context) error{
		"AccessDenied sqs:SendMessage": func(ctx context.Context) error {
			_, err := sqs.NewFromConfig(cfg).SendMessage(ctx,
				&sqs.SendMessageInput{QueueUrl: &url, MessageBody: aws.String("a")})
			return err
		},
		"AuthorizationError sns:Publish": func(ctx context.Context) error {
			_, err := sns.NewFromConfig(cfg).Publish(ctx, &sns.PublishInput{TopicArn: &topic, Message: aws.String("a")})
			return err
		},
		"AccessDenied s3:PutObject": func(ctx context.Context) error {
			_, err := bucketsOf(cfg).PutObject(ctx, &s3.PutObjectInput{Bucket: &bucket, Key: aws.String("a")})
			return err
		},
	}
	put := func(principal string) {
		statement := func(action string) string {
			return `"Effect":"Allow","Principal":{"AWS":"` + principal + `"},"Action":"` + action + `"`
		}
		must(t, w.setQueue(t, keyOne, url, map[string]string{"Policy": policyOf(on(statement("sqs:SendMessage"),
			queue))}))
		must(t, w.setTopic(t, topic, policyOf(on(statement("sns:Publish"), topic))))
		must(t, w.putPolicy(t, keyOne, bucket, policyOf(on(statement("s3:PutObject"), "arn:aws:s3:::"+bucket+"/*"))))
	}
	for _, principal := range []string{"", accountOne, role + "-other"} {
		if principal != "" {
			put(principal)
		}
		for name, call := range calls {
			code, action, _ := strings.Cut(name, " ")
			wantDenied(t, call(t.Context()), code,
				"because no identity-based policy allows the "+strings.NewReplacer("sqs:SendMessage", "sqs:sendmessage",
					"sns:", "SNS:").Replace(action))
		}
	}
	for _, principal := range []string{role, strings.Replace(role, ":iam:", ":sts:", 1)} {
		put(strings.Replace(principal, ":sts::"+accountOne+":role/", ":sts::"+accountOne+":assumed-role/", 1) +
			map[bool]string{true: "/tester"}[principal != role])
		for name, call := range calls {
			if err := call(t.Context()); err != nil {
				t.Errorf("%s by %s: %v", name, principal, err)
			}
		}
	}
}

// TestOtherAccountsNeedBothPolicies checks that for another account's resources both sides must allow the request.
func TestOtherAccountsNeedBothPolicies(t *testing.T) {
	w := newWorld(t)
	url, queue := w.queue(t, keyTwo)
	bucket := create(t, w.s3(keyTwo, "eu-west-1"), "eu-west-1")
	arn := "arn:aws:s3:::" + bucket
	may, _ := w.session(t, everything)
	mayNot, role := w.session(t, nothing)
	root := config(w.operator, keyOne, "eu-west-1")
	send := func(cfg aws.Config) error {
		_, err := sqs.NewFromConfig(cfg).SendMessage(t.Context(),
			&sqs.SendMessageInput{QueueUrl: &url, MessageBody: aws.String("a")})
		return err
	}
	put := func(cfg aws.Config) error {
		_, err := bucketsOf(cfg).PutObject(t.Context(), &s3.PutObjectInput{Bucket: &bucket, Key: aws.String("a")})
		return err
	}
	for _, cfg := range []aws.Config{may, root} {
		wantDenied(t, send(cfg), "AccessDenied", "because no resource-based policy allows the sqs:sendmessage action")
		wantDenied(t, put(cfg), "AccessDenied", "because no resource-based policy allows the s3:PutObject action")
	}
	must(t, w.setQueue(t, keyTwo, url, map[string]string{
		"Policy": policyOf(on(`"Effect":"Allow","Principal":{"AWS":["`+accountOne+`","`+role+
			`"]},"Action":"sqs:SendMessage"`, queue)),
	}))
	must(t, w.putPolicy(t, keyTwo, bucket, policyOf(
		on(`"Effect":"Allow","Principal":{"AWS":["`+accountOne+`","`+role+`"]},"Action":"s3:PutObject"`, arn+"/*"))))
	for _, cfg := range []aws.Config{may, root} {
		must(t, send(cfg))
		must(t, put(cfg))
	}
	wantDenied(t, send(mayNot), "AccessDenied", "because no identity-based policy allows the sqs:sendmessage action")
	wantDenied(t, put(mayNot), "AccessDenied", "because no identity-based policy allows the s3:PutObject action")
	_, err := bucketsOf(may).DeleteBucket(t.Context(), &s3.DeleteBucketInput{Bucket: &bucket})
	wantDenied(t, err, "AccessDenied", "s3:DeleteBucket")
	w.wantReceived(t, keyTwo, url, "a", "a")
}

// plainHTTP makes calls count as calls without TLS.
type plainHTTP struct{ client *http.Client }

func (p plainHTTP) Do(r *http.Request) (*http.Response, error) {
	r.Header.Set(awsproxy.PlainHTTPHeader, "true")
	return p.client.Do(r)
}

// TestABucketMayWantTLS checks that a bucket that requires TLS refuses only calls without it.
func TestABucketMayWantTLS(t *testing.T) {
	w := newWorld(t)
	bucket := create(t, w.s3(keyOne, "eu-west-1"), "eu-west-1")
	arn := "arn:aws:s3:::" + bucket
	must(t, w.putPolicy(t, keyOne, bucket, policyOf(`"Effect":"Deny","Principal":"*","Action":"s3:*","Resource":["`+arn+
		`","`+arn+`/*"],"Condition":{"Bool":{"aws:SecureTransport":"false"}}`)))
	workload := httptest.NewServer(w.Workload())
	defer workload.Close()
	for name, tc := range map[string]struct {
		server *httptest.Server
		plain  bool
		denied bool
	}{
		"outside": {w.outside, false, false}, "outside without TLS": {w.outside, true, true},
		"a workload": {workload, false, false}, "a workload without TLS": {workload, true, true},
		"the operator, which never does": {w.operator, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config(tc.server, keyOne, "eu-west-1")
			if tc.plain {
				cfg.HTTPClient = plainHTTP{tc.server.Client()}
			}
			_, err := bucketsOf(cfg).PutObject(t.Context(), &s3.PutObjectInput{Bucket: &bucket, Key: aws.String("a")})
			if !tc.denied {
				must(t, err)
				return
			}
			wantDenied(t, err, "AccessDenied", "s3:PutObject", byDeny)
		})
	}
}
