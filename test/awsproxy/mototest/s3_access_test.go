//go:build integration

package mototest_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/portico-platform/portico/test/awsproxy"
)

func TestForeignBucketIsDenied(t *testing.T) {
	w := newWorld(t)
	mine, theirs := w.s3(keyOne, "eu-west-1"), w.s3(keyTwo, "eu-west-1")
	bucket := create(t, mine, "eu-west-1")
	_, err := theirs.GetBucketLocation(t.Context(), &s3.GetBucketLocationInput{Bucket: &bucket})
	wantCode(t, err, "AccessDenied")
	_, err = theirs.DeleteBucket(
		t.Context(), &s3.DeleteBucketInput{Bucket: &bucket, ExpectedBucketOwner: aws.String(accountOne)})
	wantCode(t, err, "AccessDenied")
	_, err = theirs.HeadBucket(t.Context(), &s3.HeadBucketInput{Bucket: &bucket})
	wantStatus(t, err, http.StatusForbidden)
	_, err = theirs.PutObject(
		t.Context(), &s3.PutObjectInput{Bucket: &bucket, Key: aws.String("k"), Body: strings.NewReader("x")})
	wantCode(t, err, "AccessDenied")

	// A second proxy has not seen the creation of the bucket, and must know its owner as well.
	_, err = newWorld(t).s3(keyTwo, "eu-west-1").GetBucketTagging(t.Context(), &s3.GetBucketTaggingInput{
		Bucket: &bucket,
	})
	wantCode(t, err, "AccessDenied")
	_, err = newWorld(t).s3(keyOne, "eu-west-1").GetBucketLocation(t.Context(), &s3.GetBucketLocationInput{
		Bucket: &bucket,
	})
	must(t, err)
}

func TestExpectedBucketOwner(t *testing.T) {
	w := newWorld(t)
	c := w.s3(keyOne, "eu-west-1")
	bucket := create(t, c, "eu-west-1", "a", "b")
	_, err := c.GetBucketTagging(t.Context(), &s3.GetBucketTaggingInput{
		Bucket: &bucket, ExpectedBucketOwner: aws.String(accountTwo),
	})
	wantCode(t, err, "AccessDenied")
	wantStatus(t, err, http.StatusForbidden)
	_, err = c.GetBucketTagging(t.Context(), &s3.GetBucketTaggingInput{
		Bucket: &bucket, ExpectedBucketOwner: aws.String(accountOne),
	})
	must(t, err)
	missing := unique(t)
	_, err = c.GetBucketTagging(t.Context(), &s3.GetBucketTaggingInput{
		Bucket: &missing, ExpectedBucketOwner: aws.String(accountTwo),
	})
	wantCode(t, err, "NoSuchBucket")
	wantStatus(t, err, http.StatusNotFound)
}

func TestBucketAnswersInItsRegionOnly(t *testing.T) {
	w := newWorld(t)
	bucket := create(t, w.s3(keyOne, "eu-west-1"), "eu-west-1", "a", "b")
	for _, world := range []*world{w, newWorld(t)} {
		c := world.s3(keyOne, "us-west-2")
		_, err := c.GetBucketTagging(t.Context(), &s3.GetBucketTaggingInput{Bucket: &bucket})
		wantCode(t, err, "PermanentRedirect")
		wantStatus(t, err, http.StatusMovedPermanently)
		out, err := c.GetBucketLocation(t.Context(), &s3.GetBucketLocationInput{Bucket: &bucket})
		must(t, err)
		if out.LocationConstraint != "eu-west-1" {
			t.Errorf("location %s", out.LocationConstraint)
		}
	}
}

func TestNameOfDeletedBucketIsFree(t *testing.T) {
	w := newWorld(t)
	mine, theirs := w.s3(keyOne, "eu-west-1"), w.s3(keyTwo, "eu-west-1")
	bucket := create(t, mine, "eu-west-1", "a", "b")
	_, err := mine.DeleteBucket(t.Context(), &s3.DeleteBucketInput{Bucket: &bucket})
	must(t, err)
	_, err = theirs.CreateBucket(t.Context(), createInput(bucket, "eu-west-1", "c", "d"))
	must(t, err)
	if got := tagsOf(t, theirs, bucket); got["c"] != "d" || len(got) != 1 {
		t.Errorf("tags %v", got)
	}
	_, err = mine.GetBucketTagging(t.Context(), &s3.GetBucketTaggingInput{Bucket: &bucket})
	wantCode(t, err, "AccessDenied")
}

func TestListBucketsPages(t *testing.T) {
	w := newWorld(t)
	c := w.s3(newAccount(w), "eu-west-1")
	var want []string
	for range 5 {
		want = append(want, create(t, c, "eu-west-1"))
	}
	_, err := c.CreateBucket(t.Context(), createInput("zz-other-"+unique(t), "eu-west-1"))
	must(t, err)
	var got []string
	pages := 0
	for p := s3.NewListBucketsPaginator(
		c, &s3.ListBucketsInput{MaxBuckets: aws.Int32(2), Prefix: aws.String("list")}); p.HasMorePages(); pages++ {
		out, err := p.NextPage(t.Context())
		must(t, err)
		for _, b := range out.Buckets {
			got = append(got, *b.Name)
		}
	}
	slices.Sort(want)
	if !slices.Equal(got, want) || pages != 3 {
		t.Errorf("%d pages of %v, want 3 of %v", pages, got, want)
	}
	if n := len(w.Calls(awsproxy.To("s3", "ListBuckets"), func(c awsproxy.Call) bool { return c.Continued })); n != 2 {
		t.Errorf("%d further pages in the journal, want 2", n)
	}
	_, err = c.ListBuckets(t.Context(), &s3.ListBucketsInput{ContinuationToken: aws.String("!")})
	wantCode(t, err, "InvalidArgument")
}
