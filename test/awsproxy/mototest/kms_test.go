//go:build integration

package mototest_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// kms makes a call to KMS without its SDK, because no other test needs that.
func kms(t *testing.T, cfg aws.Config, operation string, input map[string]string) (status int, answer string) {
	t.Helper()
	body, err := json.Marshal(input)
	must(t, err)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, *cfg.BaseEndpoint+"/", bytes.NewReader(body))
	must(t, err)
	req.Header.Set("X-Amz-Target", "TrentService."+operation)
	req.Header.Set("Content-Type", "application/x-amz-json-1.1")
	who, err := cfg.Credentials.Retrieve(t.Context())
	must(t, err)
	must(t, v4.NewSigner().SignHTTP(t.Context(), who, req, "UNSIGNED-PAYLOAD", "kms", cfg.Region, time.Now()))
	resp, err := cfg.HTTPClient.Do(req)
	must(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	must(t, err)
	return resp.StatusCode, string(text)
}

// newKey creates a key, and returns its ARN.
func newKey(t *testing.T, cfg aws.Config, policy string) string {
	t.Helper()
	status, text := kms(t, cfg, "CreateKey", map[string]string{"Policy": policy})
	var out struct{ KeyMetadata struct{ Arn string } }
	if err := json.Unmarshal([]byte(text), &out); err != nil || status != 200 {
		t.Fatalf("%d %s", status, text)
	}
	return out.KeyMetadata.Arn
}

const (
	ownersOfKey = `"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::111111111111:root"},"Action":"kms:*","Resource":"*"`
	snsUsesKey  = `"Effect":"Allow","Principal":{"Service":"sns.amazonaws.com"},"Action":["kms:GenerateDataKey*","kms:Decrypt"],"Resource":"*"`
)

// TestAnEncryptedQueueGetsWhatItsKeyLetsIn checks that the key of a queue must allow the sending service, too. Keys
// that AWS manages allow no service.
func TestAnEncryptedQueueGetsWhatItsKeyLetsIn(t *testing.T) {
	w := newWorld(t)
	cfg := config(w.outside, keyOne, "eu-west-1")
	topic := w.topic(t)
	good := newKey(t, cfg, policyOf(ownersOfKey, snsUsesKey))
	alias := "alias/" + strings.ReplaceAll(unique(t), ".", "-")
	if status, text := kms(t, cfg, "CreateAlias", map[string]string{
		"AliasName":   alias,
		"TargetKeyId": good[strings.LastIndex(good, "/")+1:],
	}); status != 200 {
		t.Fatal(text)
	}
	off := newKey(t, cfg, policyOf(ownersOfKey, snsUsesKey))
	if status, text := kms(t, cfg, "DisableKey", map[string]string{"KeyId": off[strings.LastIndex(off,
		"/")+1:]}); status != 200 {
		t.Fatal(text)
	}
	changed := newKey(t, cfg, policyOf(ownersOfKey))
	if status, text := kms(t, cfg, "PutKeyPolicy", map[string]string{
		"KeyId": changed, "PolicyName": "default",
		"Policy": policyOf(ownersOfKey, snsUsesKey),
	}); status != 200 {
		t.Fatal(text)
	}
	for name, tc := range map[string]struct {
		key  string
		want bool
	}{
		"SQS's own keys":           {"", true},
		"a key that lets SNS in":   {good, true},
		"by its ID":                {good[strings.LastIndex(good, "/")+1:], true},
		"by an alias":              {alias, true},
		"let in later":             {changed, true},
		"for the topic":            {newKey(t, cfg, policyOf(ownersOfKey, snsUsesKey+`,"Condition":{"ArnLike":{"aws:SourceArn":"arn:aws:sns:*:*:*"}}`)), true},
		"for another account":      {newKey(t, cfg, policyOf(ownersOfKey, snsUsesKey+`,"Condition":{"StringEquals":{"aws:SourceAccount":"`+accountTwo+`"}}`)), false},
		"a key for its account":    {newKey(t, cfg, policyOf(ownersOfKey)), false},
		"a key for decrypting":     {newKey(t, cfg, policyOf(ownersOfKey, strings.Replace(snsUsesKey, `"kms:GenerateDataKey*",`, "", 1))), false},
		"a key that is off":        {off, false},
		"the key that AWS manages": {"alias/aws/sqs", false},
		"a key that is not there":  {"00000000-1111-4222-8333-444444444444", false},
	} {
		t.Run(name, func(t *testing.T) {
			url, arn := w.queue(t, keyOne)
			must(t, w.setQueue(t, keyOne, url, map[string]string{
				"Policy":         policyOf(on(toSNS, arn)),
				"KmsMasterKeyId": tc.key,
			}))
			w.subscribe(t, topic, arn)
			w.publish(t, topic, "secret")
			if got := w.received(t, keyOne, url); (len(got) == 1) != tc.want {
				t.Errorf("received %q", got)
			}
		})
	}
}

// TestKeysAreJudgedByTheirPolicies checks that a key's policy alone decides who can use it, even in its own account.
func TestKeysAreJudgedByTheirPolicies(t *testing.T) {
	w := newWorld(t)
	root := config(w.outside, keyOne, "eu-west-1")
	may := roleOf(t, w, "a", statements(
		`"Action":["kms:DescribeKey","kms:GetKeyPolicy"],"Resource":"arn:aws:kms:*:*:key/*"`))
	mayNot := roleOf(t, w, "a", statements(`"Action":"s3:*","Resource":"*"`))
	shared, closed := newKey(t, root, policyOf(ownersOfKey)),
		newKey(t, root, policyOf(strings.Replace(ownersOfKey, accountOne, accountTwo, 1)))
	for name, tc := range map[string]struct {
		who            aws.Config
		operation, key string
		status         int
	}{
		"a role of the account":      {may, "GetKeyPolicy", shared, 200},
		"by ID":                      {may, "DescribeKey", shared[strings.LastIndex(shared, "/")+1:], 200},
		"without permission":         {mayNot, "GetKeyPolicy", shared, 400},
		"of a key for others":        {may, "DescribeKey", closed, 400},
		"root of a key for others":   {root, "DescribeKey", closed, 400},
		"another account":            {config(w.outside, keyTwo, "eu-west-1"), "DescribeKey", shared, 400},
		"another account, let in":    {config(w.outside, keyTwo, "eu-west-1"), "DescribeKey", closed, 200},
		"a key that is not there":    {may, "DescribeKey", "00000000-1111-4222-8333-444444444444", 400},
		"a role that lacks the call": {may, "PutKeyPolicy", shared, 400},
	} {
		input := map[string]string{"KeyId": tc.key, "PolicyName": "default"}
		if status, text := kms(t, tc.who, tc.operation, input); status != tc.status {
			t.Errorf("%s: %d %s", name, status, text)
		}
	}
	if status, text := kms(t, root, "PutKeyPolicy",
		map[string]string{"KeyId": shared, "PolicyName": "default", "Policy": `{}`}); status != 400 ||
		!strings.Contains(text, "MalformedPolicyDocumentException") {
		t.Errorf("a policy that is none: %d %s", status, text)
	}
	if _, err := sqs.NewFromConfig(mayNot).ListQueues(t.Context(), &sqs.ListQueuesInput{}); err == nil {
		t.Error("the role may list queues")
	}
}
