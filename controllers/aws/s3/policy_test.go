package s3

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"testing"

	"github.com/portico-platform/portico/controllers/cloud/cloudtest"
)

func TestAListingIsCompleteOrNone(t *testing.T) {
	f := &fakeS3{}
	got, err := list(t.Context(), f, adapter(f).session)
	if err != nil || !slices.Equal(got, []string{"arn:aws:s3:::a", "arn:aws:s3:::b"}) {
		t.Errorf("listed %v, %v", got, err)
	}
	f.fail = code("SlowDown")
	if got, err := list(t.Context(), f, adapter(f).session); err == nil || got != nil {
		t.Errorf("a listing whose second page failed gave %v, %v", got, err)
	}
}

// The permissions in the docs are exactly those that the calls need.
func TestThePolicyInTheDocsIsThatOfTheCalls(t *testing.T) {
	cloudtest.Policy(t, "../../../docs/iam/s3bucket.json", "s3", reflect.TypeFor[api](), map[string][]string{
		"":                                   {"tag:GetResources", "sqs:GetQueueAttributes", "sns:GetTopicAttributes"},
		"ListBuckets":                        {"s3:ListAllMyBuckets"},
		"CreateBucket":                       {"s3:CreateBucket", "s3:TagResource"},
		"DeleteBucketTagging":                {"s3:PutBucketTagging"},
		"ListObjectVersions":                 {"s3:ListBucketVersions"},
		"DeleteObject":                       {"s3:DeleteObject", "s3:DeleteObjectVersion"},
		"DeleteObjects":                      {"s3:DeleteObject", "s3:DeleteObjectVersion"},
		"GetBucketEncryption":                {"s3:GetEncryptionConfiguration"},
		"PutBucketEncryption":                {"s3:PutEncryptionConfiguration"},
		"GetPublicAccessBlock":               {"s3:GetBucketPublicAccessBlock"},
		"PutPublicAccessBlock":               {"s3:PutBucketPublicAccessBlock"},
		"GetBucketLifecycleConfiguration":    {"s3:GetLifecycleConfiguration"},
		"PutBucketLifecycleConfiguration":    {"s3:PutLifecycleConfiguration"},
		"DeleteBucketLifecycle":              {"s3:PutLifecycleConfiguration"},
		"GetBucketCors":                      {"s3:GetBucketCORS"},
		"PutBucketCors":                      {"s3:PutBucketCORS"},
		"DeleteBucketCors":                   {"s3:PutBucketCORS"},
		"GetBucketNotificationConfiguration": {"s3:GetBucketNotification"},
		"PutBucketNotificationConfiguration": {"s3:PutBucketNotification"},
	})
}

// The policy for buckets with chosen names allows the same as the other one.
func TestThePolicyOfChosenNamesAllowsTheSame(t *testing.T) {
	actions := func(file string) (all [][]string) {
		text, err := os.ReadFile("../../../docs/iam/" + file)
		if err != nil {
			t.Fatal(err)
		}
		var document struct {
			Statement []struct {
				Action   []string
				Resource string
			}
		}
		if err := json.Unmarshal(text, &document); err != nil {
			t.Fatal(err)
		}
		for _, s := range document.Statement {
			if s.Resource != "*" {
				all = append(all, s.Action)
			}
		}
		return all
	}
	if picked, chosen := actions("s3bucket.json"), actions("s3bucket-chosen-names.json"); len(chosen) != 3 ||
		!reflect.DeepEqual(picked, chosen) {
		t.Errorf("%v and %v", picked, chosen)
	}
}
