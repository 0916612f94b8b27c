package s3

import (
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/aws/reference"
	"github.com/portico-platform/portico/controllers/external"
)

// The key is checked before the bucket is created, and before it replaces another one.
func TestTheKeyOfABucketIsNamed(t *testing.T) {
	f := &fakeS3{}
	a, b := adapter(f), object()
	b.Spec.Encryption = &v1alpha1.S3Encryption{Algorithm: "aws:kms", KMSKeyID: "one"}
	named := func() (all []external.Reference) {
		t.Helper()
		seen, err := a.Observe(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		actions, err := a.Plan(b, seen)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range actions {
			all = append(all, s.References...)
		}
		return all
	}
	one := []external.Reference{{Kind: reference.KMSKey, Name: "one"}}
	if got := named(); !slices.Equal(got, one) {
		t.Errorf("a creation names %v", got)
	}
	settle(t, a, b)
	b.Spec.Encryption.BucketKeyEnabled = aws.Bool(true)
	if got := named(); len(got) != 0 {
		t.Errorf("the key that it has is named again: %v", got)
	}
	b.Spec.Encryption.KMSKeyID = "two"
	if got := named(); len(got) != 1 || got[0].Name != "two" {
		t.Errorf("an edit names %v", got)
	}
}
