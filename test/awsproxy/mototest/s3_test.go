//go:build integration

package mototest_test

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/portico-platform/portico/test/awsproxy"
)

func createInput(bucket, region string, tags ...string) *s3.CreateBucketInput {
	c := &types.CreateBucketConfiguration{}
	if region != "us-east-1" {
		c.LocationConstraint = types.BucketLocationConstraint(region)
	}
	for i := 0; i+1 < len(tags); i += 2 {
		c.Tags = append(c.Tags, types.Tag{Key: aws.String(tags[i]), Value: aws.String(tags[i+1])})
	}
	return &s3.CreateBucketInput{Bucket: &bucket, CreateBucketConfiguration: c}
}

func create(t *testing.T, c *s3.Client, region string, tags ...string) string {
	t.Helper()
	bucket := unique(t)
	_, err := c.CreateBucket(t.Context(), createInput(bucket, region, tags...))
	must(t, err)
	return bucket
}

func tagsOf(t *testing.T, c *s3.Client, bucket string) map[string]string {
	t.Helper()
	out, err := c.GetBucketTagging(t.Context(), &s3.GetBucketTaggingInput{Bucket: &bucket})
	must(t, err)
	tags := map[string]string{}
	for _, tag := range out.TagSet {
		tags[*tag.Key] = *tag.Value
	}
	return tags
}

func TestCreateBucketAppliesTags(t *testing.T) {
	w := newWorld(t)
	for _, region := range []string{"us-east-1", "eu-west-1"} {
		c := w.s3(keyOne, region)
		bucket := create(t, c, region, "team", "a b=c", "kind", "S3Bucket")
		if got := tagsOf(t, c, bucket); got["team"] != "a b=c" || got["kind"] != "S3Bucket" || len(got) != 2 {
			t.Errorf("%s: tags %v", region, got)
		}
	}
	if n := len(w.Calls(awsproxy.Writes)); n != 2 {
		t.Errorf("%d writes in the journal, want the 2 of the client", n)
	}
}

func TestCreateBucketOnceMoreKeepsTags(t *testing.T) {
	w := newWorld(t)
	c := w.s3(keyOne, "us-east-1")
	bucket := create(t, c, "us-east-1", "team", "first")
	_, err := c.CreateBucket(t.Context(), createInput(bucket, "us-east-1", "team", "second"))
	must(t, err)
	if got := tagsOf(t, c, bucket)["team"]; got != "first" {
		t.Errorf("tag %q, want the first", got)
	}
	_, err = w.s3(keyOne, "eu-west-1").CreateBucket(t.Context(), createInput(bucket, "eu-west-1"))
	wantCode(t, err, "BucketAlreadyOwnedByYou")
	_, err = w.s3(keyTwo, "us-east-1").CreateBucket(t.Context(), createInput(bucket, "us-east-1", "team", "foreign"))
	wantCode(t, err, "BucketAlreadyExists")
	wantStatus(t, err, http.StatusConflict)
	if got := tagsOf(t, c, bucket)["team"]; got != "first" {
		t.Errorf("tag %q, want the first", got)
	}
}

func TestCreateBucketWithBadInputCreatesNothing(t *testing.T) {
	w := newWorld(t)
	c := w.s3(keyOne, "eu-west-1")
	for code, in := range map[string]*s3.CreateBucketInput{
		"InvalidTag":                         createInput(unique(t), "eu-west-1", "aws:team", "a"),
		"IllegalLocationConstraintException": createInput(unique(t), "us-east-1", "team", "a"),
	} {
		_, err := c.CreateBucket(t.Context(), in)
		wantCode(t, err, code)
		_, err = c.HeadBucket(t.Context(), &s3.HeadBucketInput{Bucket: in.Bucket})
		wantStatus(t, err, http.StatusNotFound)
	}
	_, err := c.CreateBucket(t.Context(), createInput("Upper-Case", "eu-west-1"))
	wantCode(t, err, "InvalidBucketName")
}

// TestCreateBucketIsOneStep checks that no caller sees the bucket before its tags are set.
func TestCreateBucketIsOneStep(t *testing.T) {
	w := newWorld(t)
	c := w.s3(keyOne, "eu-west-1")
	bucket := unique(t)
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for range 4 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				_, err := c.GetBucketTagging(context.Background(), &s3.GetBucketTaggingInput{Bucket: &bucket})
				if err != nil && strings.Contains(err.Error(), "NoSuchTagSet") {
					t.Error("seen without tags")
					return
				}
				if err == nil {
					return
				}
			}
		})
	}
	_, err := c.CreateBucket(t.Context(), createInput(bucket, "eu-west-1", "team", "a"))
	close(stop)
	wg.Wait()
	must(t, err)
}

func TestNewBucketHasSecureDefaults(t *testing.T) {
	w := newWorld(t)
	c := w.s3(keyOne, "eu-west-1")
	bucket := create(t, c, "eu-west-1")
	block, err := c.GetPublicAccessBlock(t.Context(), &s3.GetPublicAccessBlockInput{Bucket: &bucket})
	must(t, err)
	b := block.PublicAccessBlockConfiguration
	if !*b.BlockPublicAcls || !*b.IgnorePublicAcls {
		t.Errorf("public access is not blocked: %+v", b)
	}
	if !*b.BlockPublicPolicy || !*b.RestrictPublicBuckets {
		t.Errorf("public access is not blocked: %+v", b)
	}
	owner, err := c.GetBucketOwnershipControls(t.Context(), &s3.GetBucketOwnershipControlsInput{Bucket: &bucket})
	must(t, err)
	if got := owner.OwnershipControls.Rules[0].ObjectOwnership; got != types.ObjectOwnershipBucketOwnerEnforced {
		t.Errorf("ownership %s", got)
	}
	if got := encryption(t, c, bucket); got != types.ServerSideEncryptionAes256 {
		t.Errorf("encryption %s", got)
	}

	// A client's own setting stays, as in AWS.
	_, err = c.DeletePublicAccessBlock(t.Context(), &s3.DeletePublicAccessBlockInput{Bucket: &bucket})
	must(t, err)
	_, err = c.GetPublicAccessBlock(t.Context(), &s3.GetPublicAccessBlockInput{Bucket: &bucket})
	wantCode(t, err, "NoSuchPublicAccessBlockConfiguration")
}

func TestOwnershipGivenAtCreationIsKept(t *testing.T) {
	w := newWorld(t)
	c := w.s3(keyOne, "eu-west-1")
	in := createInput(unique(t), "eu-west-1")
	in.ObjectOwnership = types.ObjectOwnershipObjectWriter
	_, err := c.CreateBucket(t.Context(), in)
	must(t, err)
	out, err := c.GetBucketOwnershipControls(t.Context(), &s3.GetBucketOwnershipControlsInput{Bucket: in.Bucket})
	must(t, err)
	if got := out.OwnershipControls.Rules[0].ObjectOwnership; got != types.ObjectOwnershipObjectWriter {
		t.Errorf("ownership %s", got)
	}
}

func encryption(t *testing.T, c *s3.Client, bucket string) types.ServerSideEncryption {
	t.Helper()
	out, err := c.GetBucketEncryption(t.Context(), &s3.GetBucketEncryptionInput{Bucket: &bucket})
	must(t, err)
	return out.ServerSideEncryptionConfiguration.Rules[0].ApplyServerSideEncryptionByDefault.SSEAlgorithm
}

func TestDeleteBucketEncryptionFallsBackToAES256(t *testing.T) {
	w := newWorld(t)
	c := w.s3(keyOne, "eu-west-1")
	bucket := create(t, c, "eu-west-1")
	_, err := c.PutBucketEncryption(t.Context(), &s3.PutBucketEncryptionInput{
		Bucket: &bucket,
		ServerSideEncryptionConfiguration: &types.ServerSideEncryptionConfiguration{
			Rules: []types.ServerSideEncryptionRule{{
				ApplyServerSideEncryptionByDefault: &types.ServerSideEncryptionByDefault{
					SSEAlgorithm: types.ServerSideEncryptionAwsKms,
				},
			}},
		},
	})
	must(t, err)
	if got := encryption(t, c, bucket); got != types.ServerSideEncryptionAwsKms {
		t.Errorf("encryption %s, want what was put", got)
	}
	_, err = c.DeleteBucketEncryption(t.Context(), &s3.DeleteBucketEncryptionInput{Bucket: &bucket})
	must(t, err)
	if got := encryption(t, c, bucket); got != types.ServerSideEncryptionAes256 {
		t.Errorf("encryption %s, want AES256", got)
	}
}

func TestDeleteBucketCountsVersionsAndMarkers(t *testing.T) {
	w := newWorld(t)
	c := w.s3(keyOne, "eu-west-1")
	bucket := create(t, c, "eu-west-1")
	_, err := c.PutBucketVersioning(t.Context(), &s3.PutBucketVersioningInput{
		Bucket:                  &bucket,
		VersioningConfiguration: &types.VersioningConfiguration{Status: types.BucketVersioningStatusEnabled},
	})
	must(t, err)
	object := &s3.PutObjectInput{Bucket: &bucket, Key: aws.String("k"), Body: strings.NewReader("x")}
	put, err := c.PutObject(t.Context(), object)
	must(t, err)
	marker, err := c.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: &bucket, Key: object.Key})
	must(t, err)
	for _, version := range []*string{put.VersionId, marker.VersionId} {
		_, err = c.DeleteBucket(t.Context(), &s3.DeleteBucketInput{Bucket: &bucket})
		wantCode(t, err, "BucketNotEmpty")
		wantStatus(t, err, http.StatusConflict)
		_, err = c.DeleteObject(t.Context(), &s3.DeleteObjectInput{
			Bucket: &bucket, Key: object.Key, VersionId: version,
		})
		must(t, err)
	}
	_, err = c.DeleteBucket(t.Context(), &s3.DeleteBucketInput{Bucket: &bucket})
	must(t, err)
}

func TestVirtualHostStyle(t *testing.T) {
	w := newWorld(t)
	_, port, err := net.SplitHostPort(strings.TrimPrefix(w.operator.URL, "http://"))
	must(t, err)
	cfg := config(w.operator, keyOne, "eu-west-1")
	cfg.BaseEndpoint = aws.String("http://localhost:" + port)
	transport := &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, "127.0.0.1:"+port)
	}}
	defer transport.CloseIdleConnections()
	cfg.HTTPClient = &http.Client{Transport: transport}
	c := s3.NewFromConfig(cfg)
	bucket := create(t, c, "eu-west-1", "a", "b")
	body := bytes.Repeat([]byte("x"), 5<<20)
	_, err = c.PutObject(t.Context(),
		&s3.PutObjectInput{Bucket: &bucket, Key: aws.String("dir/a b"), Body: bytes.NewReader(body)})
	must(t, err)
	out, err := w.s3(keyOne, "eu-west-1").GetObject(
		t.Context(), &s3.GetObjectInput{Bucket: &bucket, Key: aws.String("dir/a b")})
	must(t, err)
	var got bytes.Buffer
	_, err = got.ReadFrom(out.Body)
	must(t, err)
	if !bytes.Equal(got.Bytes(), body) {
		t.Errorf("object of %d bytes came back with %d", len(body), got.Len())
	}
	if n := len(w.Calls(awsproxy.About(bucket))); n != 3 {
		t.Errorf("%d calls about the bucket, want 3", n)
	}
}
