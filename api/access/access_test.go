package access

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/config/crd"
)

const (
	invoices = "arn:aws:s3:::0d71a2f8c3b95e640-pay-invoices"
	orders   = "arn:aws:sqs:eu-west-1:111111111111:pay-orders"
	news     = "arn:aws:sns:eu-west-1:111111111111:pay-news"
)

func TestWords(t *testing.T) {
	for want, of := range map[string]struct {
		kind   string
		access v1alpha1.BindingAccess
	}{
		"list and read its objects":                                   {v1alpha1.KindS3Bucket, v1alpha1.AccessRead},
		"list and read its objects, and write and delete its objects": {v1alpha1.KindS3Bucket, v1alpha1.AccessReadWrite},
		"receive and delete its messages, and send messages to it":    {v1alpha1.KindSQSQueue, ""},
		"send messages to it":                                         {v1alpha1.KindSQSQueue, v1alpha1.AccessWrite},
		"publish to it":                                               {v1alpha1.KindSNSTopic, ""},
		"":                                                            {v1alpha1.KindRDSInstance, ""},
	} {
		if got := Words(of.kind, of.access); got != want {
			t.Errorf("%s %s: %q, want %q", of.kind, of.access, got, want)
		}
	}
}

func policyOf(t *testing.T, grants ...Grant) string {
	t.Helper()
	text, err := Policy(grants)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestAPolicyAllowsWhatIsGrantedAndNothingElse(t *testing.T) {
	at := func(kind, arn string, access v1alpha1.BindingAccess) Grant {
		return Grant{Kind: kind, ARN: arn, Access: access, Region: "eu-west-1", Account: "111111111111"}
	}
	key := func(g Grant, key string) Grant { g.Key = key; return g }
	bucket, queue := at(v1alpha1.KindS3Bucket, invoices, v1alpha1.AccessRead),
		at(v1alpha1.KindSQSQueue, orders, v1alpha1.AccessWrite)
	for name, row := range map[string]struct {
		grants []Grant
		want   string // of the statements
	}{
		"nothing":          {nil, ""},
		"no rights in AWS": {[]Grant{at(v1alpha1.KindRDSInstance, "arn:aws:rds:eu-west-1:111111111111:db:orders", "")}, ""},
		"a bucket to read": {
			[]Grant{bucket},
			`{"Effect":"Allow","Action":["s3:GetBucketLocation","s3:ListBucket"],"Resource":["` + invoices + `"]},
			{"Effect":"Allow","Action":["s3:GetObject"],"Resource":["` + invoices + `/*"]}`,
		},
		"two queues, in one statement": {
			[]Grant{queue, at(v1alpha1.KindSQSQueue, orders+"-dlq", v1alpha1.AccessWrite), queue},
			`{"Effect":"Allow","Action":["sqs:GetQueueAttributes","sqs:GetQueueUrl","sqs:SendMessage"],"Resource":["` +
				orders + `","` + orders + `-dlq"]}`,
		},
		"a topic": {[]Grant{at(v1alpha1.KindSNSTopic, news, "")}, `{"Effect":"Allow","Action":["sns:Publish"],"Resource":["` + news + `"]}`},
		"a key by its ID": {
			[]Grant{key(bucket, "1234")},
			`{"Effect":"Allow","Action":["s3:GetBucketLocation","s3:ListBucket"],"Resource":["` + invoices + `"]},
			{"Effect":"Allow","Action":["s3:GetObject"],"Resource":["` + invoices + `/*"]},
			{"Effect":"Allow","Action":["kms:Decrypt"],"Resource":["arn:aws:kms:eu-west-1:111111111111:key/1234"],"Condition":{"StringEquals":{"kms:ViaService":"s3.eu-west-1.amazonaws.com"}}}`,
		},
		"another account's key": {
			[]Grant{key(queue, "arn:aws:kms:eu-west-1:222222222222:key/1234")},
			`{"Effect":"Allow","Action":["sqs:GetQueueAttributes","sqs:GetQueueUrl","sqs:SendMessage"],"Resource":["` +
				orders + `"]},
			{"Effect":"Allow","Action":["kms:Decrypt","kms:GenerateDataKey"],"Resource":["arn:aws:kms:eu-west-1:222222222222:key/1234"],"Condition":{"StringEquals":{"kms:ViaService":"sqs.eu-west-1.amazonaws.com"}}}`,
		},
		"a key by its alias": {
			[]Grant{key(at(v1alpha1.KindSNSTopic, strings.ReplaceAll(news, "arn:aws:", "arn:aws-cn:"), ""),
				"alias/team")},
			`{"Effect":"Allow","Action":["sns:Publish"],"Resource":["arn:aws-cn:sns:eu-west-1:111111111111:pay-news"]},
			{"Effect":"Allow","Action":["kms:Decrypt","kms:GenerateDataKey"],"Resource":["arn:aws-cn:kms:eu-west-1:111111111111:key/*"],
			"Condition":{"ForAnyValue:StringEquals":{"kms:ResourceAliases":"alias/team"},"StringEquals":{"kms:ViaService":"sns.eu-west-1.amazonaws.com.cn"}}}`,
		},
		"what is no key": {
			[]Grant{
				key(queue, "*"), key(queue, "arn:aws:kms:*:*:key/*"), key(queue, "${aws:PrincipalTag/key}"),
				key(queue, "arn:aws:kms:eu-west-1:111111111111:key/?"),
			},
			`{"Effect":"Allow","Action":["sqs:GetQueueAttributes","sqs:GetQueueUrl","sqs:SendMessage"],"Resource":["` +
				orders + `"]}`,
		},
		"AWS's own key": {[]Grant{key(queue, "alias/aws/sqs")}, `{"Effect":"Allow","Action":["sqs:GetQueueAttributes","sqs:GetQueueUrl","sqs:SendMessage"],"Resource":["` + orders + `"]}`},
	} {
		want := ""
		if row.want != "" {
			want = `{"Version":"2012-10-17","Statement":[` + strings.NewReplacer("\n", "", "\t", "").Replace(row.want) +
				`]}`
		}
		if got := policyOf(t, row.grants...); got != want {
			t.Errorf("%s:\n%s, want\n%s", name, got, want)
		}
	}
	if _, err := Policy([]Grant{{Kind: v1alpha1.KindS3Bucket, ARN: "invoices"}}); err == nil {
		t.Error("what is no ARN is in a policy")
	}
}

func TestTheSameGrantsMakeTheSamePolicy(t *testing.T) {
	grants := []Grant{
		{Kind: v1alpha1.KindSQSQueue, ARN: orders},
		{Kind: v1alpha1.KindS3Bucket, ARN: invoices},
		{Kind: v1alpha1.KindSNSTopic, ARN: news},
	}
	first := policyOf(t, grants...)
	slices.Reverse(grants)
	if again := policyOf(t, grants...); again != first {
		t.Errorf("%s\n%s", first, again)
	}
}

// IAM takes 2,048 characters of a session's policy: an application that uses three of each kind fits.
func TestAPolicyOfNineBindingsIsShort(t *testing.T) {
	var grants []Grant
	for _, n := range []string{"-1", "-2", "-3"} {
		grants = append(grants, Grant{Kind: v1alpha1.KindSQSQueue, ARN: orders + n},
			Grant{Kind: v1alpha1.KindS3Bucket, ARN: invoices + n}, Grant{Kind: v1alpha1.KindSNSTopic, ARN: news + n})
	}
	if text := policyOf(t, grants...); len(text) > 2048 || !json.Valid([]byte(text)) {
		t.Errorf("%d characters: %s", len(text), text)
	}
}

func TestGrantsOfObjects(t *testing.T) {
	there := v1alpha1.AWSStatus{ARN: orders, Region: "eu-west-1", AccountID: "111111111111"}
	settled := there
	settled.Ready, settled.ObservedGeneration = true, 2
	at := func(generation int64) metav1.ObjectMeta { return metav1.ObjectMeta{Generation: generation} }
	bucket := func(meta metav1.ObjectMeta, asked, admitted string, s v1alpha1.AWSStatus) *v1alpha1.S3Bucket {
		return &v1alpha1.S3Bucket{
			ObjectMeta: meta, Spec: v1alpha1.S3BucketSpec{Encryption: &v1alpha1.S3Encryption{KMSKeyID: asked}},
			Status: v1alpha1.S3BucketStatus{AWSStatus: s, KMSKey: admitted},
		}
	}
	withKey := func(key string) Grant {
		return Grant{
			Kind: v1alpha1.KindS3Bucket, Access: v1alpha1.AccessRead, ARN: orders, Key: key,
			Region: "eu-west-1", Account: "111111111111",
		}
	}
	for name, row := range map[string]struct {
		obj  runtime.Object
		want Grant
	}{
		"a bucket": {
			bucket(at(2), "k", "k", there), withKey("k"),
		},
		"a key that is asked for and not admitted":      {bucket(at(2), "other", "", there), withKey("")},
		"another key is asked for than AWS has":         {bucket(at(3), "other", "k", settled), withKey("k")},
		"a status of before it had the key":             {bucket(at(2), "k", "", settled), withKey("k")},
		"such a status, and an edit that is not in AWS": {bucket(at(3), "k", "", settled), withKey("")},
		"a queue": {
			&v1alpha1.SQSQueue{Spec: v1alpha1.SQSQueueSpec{KMSMasterKeyID: "k"}, Status: v1alpha1.SQSQueueStatus{
				AWSStatus: there, KMSKey: "k",
			}},
			Grant{
				Kind: v1alpha1.KindSQSQueue, Access: v1alpha1.AccessRead, ARN: orders, Key: "k", Region: "eu-west-1",
				Account: "111111111111",
			},
		},
		"a topic": {
			&v1alpha1.SNSTopic{Spec: v1alpha1.SNSTopicSpec{KMSMasterKeyID: "k"}, Status: v1alpha1.SNSTopicStatus{
				AWSStatus: there, KMSKey: "k",
			}},
			Grant{
				Kind: v1alpha1.KindSNSTopic, Access: v1alpha1.AccessRead, ARN: orders, Key: "k", Region: "eu-west-1",
				Account: "111111111111",
			},
		},
		"one that is not in AWS yet": {&v1alpha1.S3Bucket{}, Grant{}},
		"a database":                 {&v1alpha1.RDSInstance{Status: v1alpha1.RDSInstanceStatus{AWSStatus: there}}, Grant{}},
	} {
		got, ok := Of(row.obj, v1alpha1.AccessRead)
		if ok != (row.want != Grant{}) || ok && got != row.want {
			t.Errorf("%s: %+v, %v", name, got, ok)
		}
	}
}

// TestEveryBindableKindIsDecidedOn compares the table with the kinds that give no rights in AWS.
func TestEveryBindableKindIsDecidedOn(t *testing.T) {
	all, err := crd.All()
	if err != nil {
		t.Fatal(err)
	}
	none := []string{v1alpha1.KindEC2Instance, v1alpha1.KindRDSInstance}
	for i := range all {
		if kind := all[i].Spec.Names.Kind; crd.OfAWS(&all[i]) && slices.Contains(none, kind) == (table[kind] != nil) {
			t.Errorf("the table says of %s what is not so, or nothing: give it rights, or add it to those that "+
				"give none", kind)
		}
	}
	for kind, rows := range table {
		for level, row := range rows {
			if row.words == "" || len(row.resource) == 0 {
				t.Errorf("%s %s: words %q, actions %q: want both", kind, level, row.words, row.resource)
			}
			for _, actions := range [][]string{row.resource, row.content, row.key} {
				if !slices.IsSorted(actions) {
					t.Errorf("%s %s: actions %q, want them sorted", kind, level, actions)
				}
			}
		}
	}
}
