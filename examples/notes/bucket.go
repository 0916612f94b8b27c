package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
)

// mostLines is how many files, messages and rows the page shows.
const mostLines = 10

// errNotBound says that the application has no such binding.
var errNotBound = errors.New("it is not bound: see the bindings of the web app")

// bucket is the S3Bucket of the binding FILES.
type bucket struct {
	name string
	api  *s3.Client
}

// newBucket returns the bucket that the variables name, nil if they name none.
func newBucket(cfg aws.Config, env func(string) string) *bucket {
	name := env("FILES_BUCKET")
	if name == "" {
		return nil
	}
	return &bucket{name, s3.NewFromConfig(cfg, func(o *s3.Options) { o.Region = env("FILES_REGION") })}
}

// put writes a note as a file.
func (b *bucket) put(ctx context.Context, text string) (string, error) {
	if b == nil {
		return "", errNotBound
	}
	key := "note-" + time.Now().UTC().Format("20060102-150405.000") + ".txt"
	_, err := b.api.PutObject(ctx, &s3.PutObjectInput{
		Bucket: &b.name, Key: &key, Body: strings.NewReader(text), ContentType: aws.String("text/plain"),
	})
	return "wrote the file " + key, err
}

// refused asks for what the application is not bound to: all buckets of the account.
func (b *bucket) refused(ctx context.Context, _ string) (string, error) {
	if b == nil {
		return "", errNotBound
	}
	_, err := b.api.ListBuckets(ctx, &s3.ListBucketsInput{})
	if err == nil {
		return "", errors.New("AWS lists all buckets of the account to this application: it should not")
	}
	refusal, refused := errors.AsType[smithy.APIError](err)
	if !refused || refusal.ErrorCode() != "AccessDenied" {
		return "", err
	}
	return "AWS refused to list all buckets, as it should: " + refusal.ErrorMessage(), nil
}

func (b *bucket) card(ctx context.Context) card {
	if b == nil {
		return card{}
	}
	c := card{Name: b.name}
	out, err := b.api.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: &b.name, MaxKeys: aws.Int32(1000)})
	if err != nil {
		c.Err = err
		return c
	}
	c.Note = fmt.Sprintf("files: %d", aws.ToInt32(out.KeyCount))
	newest := out.Contents[max(0, len(out.Contents)-mostLines):]
	for _, o := range newest {
		c.Lines = append(c.Lines, fmt.Sprintf("%s (%d bytes)", aws.ToString(o.Key), aws.ToInt64(o.Size)))
	}
	return c
}
