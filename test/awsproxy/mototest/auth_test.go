//go:build integration

package mototest_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/portico-platform/portico/test/awsproxy"
)

func account(t *testing.T, c *sts.Client) string {
	t.Helper()
	out, err := c.GetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{})
	must(t, err)
	if !strings.Contains(*out.Arn, *out.Account) {
		t.Errorf("ARN %s is not of account %s", *out.Arn, *out.Account)
	}
	return *out.Account
}

func assume(t *testing.T, c *sts.Client, ofAccount string) aws.Credentials {
	t.Helper()
	out, err := c.AssumeRole(t.Context(), &sts.AssumeRoleInput{
		RoleArn: aws.String("arn:aws:iam::" + ofAccount + ":role/portico"), RoleSessionName: aws.String("test"),
	})
	must(t, err)
	k := out.Credentials
	return aws.Credentials{
		AccessKeyID: *k.AccessKeyId, SecretAccessKey: *k.SecretAccessKey,
		SessionToken: *k.SessionToken,
	}
}

func TestStaticKeysLiveInTheirAccounts(t *testing.T) {
	w := newWorld(t)
	for key, want := range map[string]string{keyOne: accountOne, keyTwo: accountTwo} {
		if got := account(t, w.sts(key, "eu-west-1")); got != want {
			t.Errorf("%s is of account %s, want %s", key, got, want)
		}
	}
	// The queue of one account does not exist for the other.
	name := unique(t)
	_, err := w.sqs(keyOne, "eu-west-1").CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: &name})
	must(t, err)
	_, err = w.sqs(keyTwo, "eu-west-1").GetQueueUrl(t.Context(), &sqs.GetQueueUrlInput{QueueName: &name})
	wantCode(t, err, "AWS.SimpleQueueService.NonExistentQueue")
}

func TestAssumedRoleBelongsToItsAccount(t *testing.T) {
	w := newWorld(t)
	c := assume(t, w.sts(keyOne, "eu-west-1"), "444444444444")
	if got := account(t, sts.NewFromConfig(configWith(w.operator, c, "eu-west-1"))); got != "444444444444" {
		t.Errorf("account %s", got)
	}
	buckets := s3.NewFromConfig(configWith(w.operator, c, "eu-west-1"))
	create(t, buckets, "eu-west-1")
	if calls := w.Calls(awsproxy.To("s3", "CreateBucket")); len(calls) != 1 || calls[0].Account != "444444444444" {
		t.Errorf("journal %+v", calls)
	}

	c.SessionToken = "" // the key is invalid without the token
	_, err := sts.NewFromConfig(configWith(w.operator, c, "eu-west-1")).GetCallerIdentity(
		t.Context(), &sts.GetCallerIdentityInput{})
	wantCode(t, err, "InvalidClientTokenId")
}

func TestAssumedRoleExpires(t *testing.T) {
	later := time.Duration(0)
	w := newWorld(t, func(o *awsproxy.Options) {
		o.Now = standing(&later)
	})
	out, err := w.sts(keyOne, "eu-west-1").AssumeRole(t.Context(), &sts.AssumeRoleInput{
		RoleArn: aws.String("arn:aws:iam::" + accountTwo + ":role/portico"), RoleSessionName: aws.String("test"),
		DurationSeconds: aws.Int32(900 - 120),
	})
	must(t, err)
	k := out.Credentials
	c := aws.Credentials{
		AccessKeyID: *k.AccessKeyId, SecretAccessKey: *k.SecretAccessKey,
		SessionToken: *k.SessionToken,
	}
	buckets := s3.NewFromConfig(configWith(w.operator, c, "eu-west-1"))
	_, err = buckets.ListBuckets(t.Context(), &s3.ListBucketsInput{})
	must(t, err)
	later = 14 * time.Minute // still within the signature's time
	_, err = buckets.ListBuckets(t.Context(), &s3.ListBucketsInput{})
	wantCode(t, err, "ExpiredToken")
}

// refusals returns the error of each protocol's SDK for a call with the key.
func refusals(t *testing.T, w *world, key string) map[string]error {
	t.Helper()
	_, onS3 := w.s3(key, "eu-west-1").ListBuckets(t.Context(), &s3.ListBucketsInput{})
	_, onSTS := w.sts(key, "eu-west-1").GetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{})
	_, onSQS := w.sqs(key, "eu-west-1").ListQueues(t.Context(), &sqs.ListQueuesInput{})
	_, onEC2 := w.ec2(key, "eu-west-1").DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{})
	return map[string]error{"s3": onS3, "sts": onSTS, "sqs": onSQS, "ec2": onEC2}
}

func wantCodes(t *testing.T, errs map[string]error, codes map[string]string) {
	t.Helper()
	for service, err := range errs {
		t.Run(service, func(t *testing.T) { wantCode(t, err, codes[service]) })
	}
}

var unknownKey = map[string]string{
	"s3": "InvalidAccessKeyId", "sts": "InvalidClientTokenId", "sqs": "InvalidClientTokenId", "ec2": "AuthFailure",
}

func TestUnknownKeyIsRefused(t *testing.T) {
	w := newWorld(t)
	wantCodes(t, refusals(t, w, "AKIANOBODY"), unknownKey)
	if calls := w.Calls(); len(calls) != 4 || calls[0].Account != "" || calls[0].Status != http.StatusForbidden {
		t.Errorf("journal %+v", calls)
	}
}

func TestRevokedAndMappedKeys(t *testing.T) {
	w := newWorld(t)
	w.RevokeKey(keyOne)
	wantCodes(t, refusals(t, w, keyOne), unknownKey)
	w.MapKey(keyOne, accountTwo)
	if got := account(t, w.sts(keyOne, "eu-west-1")); got != accountTwo {
		t.Errorf("account %s, want %s", got, accountTwo)
	}
	c := assume(t, w.sts(keyTwo, "eu-west-1"), accountOne)
	w.RevokeKey(c.AccessKeyID)
	_, err := s3.NewFromConfig(configWith(w.operator, c, "eu-west-1")).ListBuckets(t.Context(), &s3.ListBucketsInput{})
	wantCode(t, err, "InvalidAccessKeyId")
}

func TestUnsignedIsRefused(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct{ body, target, want string }{
		{"Action=GetCallerIdentity&Version=2011-06-15", "", "MissingAuthenticationToken"},
		{"{}", "AmazonSQS.ListQueues", "MissingAuthenticationToken"},
		{"", "", "AccessDenied"}, // S3 takes it for an anonymous call
	} {
		req, err := http.NewRequest(http.MethodPost, w.operator.URL+"/", strings.NewReader(c.body))
		must(t, err)
		if c.target != "" {
			req.Header.Set("X-Amz-Target", c.target)
		} else if c.body != "" {
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		resp, err := w.operator.Client().Do(req)
		must(t, err)
		resp.Body.Close()
		if calls := w.Calls(); resp.StatusCode/100 != 4 || !strings.HasPrefix(calls[len(calls)-1].ErrorCode, c.want) {
			t.Errorf("%q answered %d, journal %+v", c.body, resp.StatusCode, calls[len(calls)-1])
		}
	}
	resp, err := w.operator.Client().Get(w.operator.URL + awsproxy.HealthPath)
	must(t, err)
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("health answers %d", resp.StatusCode)
	}
}

func TestOldSignatureIsRefused(t *testing.T) {
	w := newWorld(t, func(o *awsproxy.Options) { o.Now = func() time.Time { return time.Now().Add(time.Hour) } })
	wantCodes(t, refusals(t, w, keyOne), map[string]string{
		"s3": "RequestTimeTooSkewed", "sts": "SignatureDoesNotMatch", "sqs": "SignatureDoesNotMatch",
		"ec2": "RequestExpired",
	})
}

func TestWebIdentityNeedsNoSignature(t *testing.T) {
	w := newWorld(t)
	anonymous := config(w.operator, "", "eu-west-1")
	anonymous.Credentials = aws.AnonymousCredentials{}
	out, err := sts.NewFromConfig(anonymous).AssumeRoleWithWebIdentity(t.Context(), &sts.AssumeRoleWithWebIdentityInput{
		RoleArn: aws.String("arn:aws:iam::" + accountTwo + ":role/web"), RoleSessionName: aws.String("test"),
		WebIdentityToken: aws.String("a.b.c"),
	})
	must(t, err)
	k := out.Credentials
	c := aws.Credentials{
		AccessKeyID: *k.AccessKeyId, SecretAccessKey: *k.SecretAccessKey,
		SessionToken: *k.SessionToken,
	}
	if got := account(t, sts.NewFromConfig(configWith(w.operator, c, "eu-west-1"))); got != accountTwo {
		t.Errorf("account %s, want %s", got, accountTwo)
	}
}
