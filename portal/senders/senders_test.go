package senders_test

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/senders"
)

func object(kind string, spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "portico.dev/v1alpha1", "kind": kind, "spec": spec,
		"status": map[string]any{"accountID": "111122223333"},
	}}
}

func TestWhatAnObjectOpensIsSaid(t *testing.T) {
	allow := func(entries ...map[string]any) []any {
		var all []any
		for _, e := range entries {
			all = append(all, e)
		}
		return all
	}
	topic, bucket := map[string]any{"topicRef": map[string]any{"name": "orders"}},
		map[string]any{"bucketRef": map[string]any{"name": "uploads"}}
	foreign := map[string]any{"arn": "arn:aws:s3:::theirs", "account": "999988887777"}
	const policy = `{"Statement":[{"Effect":"Allow","Principal":"*","Action":"sqs:*","Resource":"*"},` +
		`{"Effect":"Allow","Principal":{"AWS":["arn:aws:iam::111122223333:role/ours","999988887777"]},"Action":"sqs:*","Resource":"*"}]}`
	for name, row := range map[string]struct {
		of   *unstructured.Unstructured
		want []string
	}{
		"nobody": {object("SQSQueue", map[string]any{}), nil},
		"senders": {object("SQSQueue", map[string]any{"allowFrom": allow(topic, bucket, foreign)}), []string{
			"Anybody with access to topic orders can send.",
			"Bucket uploads can send when its objects change.",
			"Anybody with access to arn:aws:s3:::theirs of AWS account 999988887777 can send.",
		}},
		"publishers": {object("SNSTopic", map[string]any{"allowFrom": allow(bucket), "subscriptions": allow(
			map[string]any{"queueRef": map[string]any{"name": "inbox"}},
			map[string]any{"https": "https://hooks.example.com/"}, map[string]any{"email": "ops@example.com"},
		)}), []string{
			"Bucket uploads can publish when its objects change.",
			"Queue inbox gets what is published, if it lets this topic send.",
			"What is published goes to https://hooks.example.com/, once that has confirmed it.",
			"What is published goes to ops@example.com by mail, once somebody there has confirmed it.",
		}},
		"a policy": {
			object("SQSQueue", map[string]any{"policy": policy}),
			[]string{"Its policy lets everybody in.", "Its policy lets 999988887777 in."},
		},
		"no JSON": {object("SQSQueue", map[string]any{"policy": "{"}), nil},
		"a bucket": {object("S3Bucket", map[string]any{"requireTLS": false, "notifications": allow(map[string]any{
			"queueRef": map[string]any{"name": "inbox"}, "events": []any{"s3:ObjectCreated:*"}, "prefix": "in/",
			"suffix": ".json",
		})}), []string{
			"Requests without TLS are answered: others can read on the way what is sent.",
			"Queue inbox gets messages of s3:ObjectCreated:*, of keys that begin with in/, of keys that end with " +
				".json, if it lets this bucket send.",
		}},
		"others": {object("RDSInstance", map[string]any{}), nil},
	} {
		var got []string
		for _, s := range senders.Of(row.of) {
			got = append(got, s.Opens)
		}
		if !slices.Equal(got, row.want) {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
}

func TestThePageSaysWhoCanSend(t *testing.T) {
	var many []any
	for name := range strings.FieldsSeq("a b c d e f") {
		many = append(many, map[string]any{"topicRef": map[string]any{"name": name}})
	}
	question, answer := senders.Question(object("SQSQueue", map[string]any{"allowFrom": many}))
	if question != "Who can send" || !strings.HasPrefix(answer,
		"Everybody with that right in its AWS account. Anybody with access to topic a can send.") ||
		!strings.HasSuffix(answer, "topic e can send. More are in the spec.") {
		t.Errorf("%s: %s", question, answer)
	}
	if question, _ = senders.Question(object("S3Bucket", map[string]any{})); question != "" {
		t.Errorf("of a bucket: %s", question)
	}
}
