//go:build integration

package mototest_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/portico-platform/portico/controllers/cloud"
)

func TestTheDocumentOfBucketsKeepsNamespacesApart(t *testing.T) {
	w := newWorld(t)
	pay, search := bucketsOf(namespaceOf(t, w, "pay", "s3bucket")), bucketsOf(namespaceOf(t, w, "search", "s3bucket"))
	name := cloud.BucketPrefix("one", "pay") + "-pay-apart"
	input := func(name string) *s3.CreateBucketInput {
		tag := func(key, value *string) s3types.Tag { return s3types.Tag{Key: key, Value: value} }
		return &s3.CreateBucketInput{Bucket: &name, CreateBucketConfiguration: &s3types.CreateBucketConfiguration{
			LocationConstraint: "eu-west-1", Tags: tagsAs("pay", tag),
		}}
	}
	_, err := pay.CreateBucket(t.Context(), input(name))
	must(t, err)
	refusesAll(t, map[string]func() error{
		"create": func() error { return failed(search.CreateBucket(t.Context(), input(name+"-2"))) },
		"tags": func() error {
			return failed(search.GetBucketTagging(t.Context(), &s3.GetBucketTaggingInput{Bucket: &name}))
		},
		"untag": func() error {
			return failed(search.DeleteBucketTagging(t.Context(), &s3.DeleteBucketTaggingInput{Bucket: &name}))
		},
		"versions": func() error {
			return failed(search.ListObjectVersions(t.Context(), &s3.ListObjectVersionsInput{Bucket: &name}))
		},
		"object": func() error {
			return failed(search.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: &name, Key: aws.String("k")}))
		},
		"delete": func() error {
			return failed(search.DeleteBucket(t.Context(), &s3.DeleteBucketInput{Bucket: &name}))
		},
		"policy": func() error {
			return failed(search.PutBucketPolicy(t.Context(),
				&s3.PutBucketPolicyInput{Bucket: &name, Policy: aws.String("{}")}))
		},
		"read": func() error {
			return failed(pay.GetObject(t.Context(), &s3.GetObjectInput{Bucket: &name, Key: aws.String("k")}))
		},
	})
	_, err = pay.DeleteBucket(t.Context(), &s3.DeleteBucketInput{Bucket: &name})
	must(t, err)
}

// TestThePrefixKeepsNamespacesApartWhoseNamesBeginAlike checks that the bucket prefix distinguishes namespaces such as
// pay and pay-roll. IAM's * also matches hyphens, so a policy that matches by the namespace's name also matches the
// resources of a namespace whose name begins the same.
func TestThePrefixKeepsNamespacesApartWhoseNamesBeginAlike(t *testing.T) {
	w := newWorld(t)
	session := func(namespace, kind string) *s3.Client { return bucketsOf(namespaceOf(t, w, namespace, kind)) }
	const strict, chosen = "s3bucket", "s3bucket-chosen-names"
	picked, own := cloud.BucketPrefix("one", "pay-roll")+"-pay-roll-alike", "pay-roll-alike"
	for name, kind := range map[string]string{picked: strict, own: chosen} {
		_, err := session("pay-roll", kind).CreateBucket(
			t.Context(), createInput(name, "eu-west-1", "portico.dev/namespace", "pay-roll"))
		must(t, err)
	}
	looks := func(api *s3.Client, name string) func() error {
		return func() error {
			return failed(api.GetBucketTagging(t.Context(), &s3.GetBucketTaggingInput{Bucket: &name}))
		}
	}
	deletes := func(api *s3.Client, name string) func() error {
		return func() error {
			return failed(api.DeleteBucket(t.Context(), &s3.DeleteBucketInput{Bucket: &name}))
		}
	}
	pay, prefixed := session("pay", strict), session(cloud.BucketPrefix("one", "pay-roll"), chosen)
	refusesAll(t, map[string]func() error{
		"a look at a name that Portico picked": looks(pay, picked),
		"its deletion":                         deletes(pay, picked),
		"a look at a name that was chosen":     looks(pay, own),
		"a creation by a chosen name": func() error {
			return failed(pay.CreateBucket(t.Context(), createInput("pay-alike", "eu-west-1")))
		},
		"a look by the policy of chosen names":       looks(session("pay", chosen), picked),
		"by a namespace that is called like it":      looks(prefixed, picked),
		"its deletion by a namespace called like it": deletes(prefixed, picked),
	})
	must(t, looks(session("pay", chosen), own)()) // what docs/iam/README.md warns of
	must(t, deletes(session("pay-roll", strict), picked)())
	must(t, deletes(session("pay-roll", chosen), own)())
}
