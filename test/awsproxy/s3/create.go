package s3

import (
	"cmp"
	"context"
	"encoding/xml"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// bucketLag is the longest time that S3 may show the former state, two minutes: "Amazon S3 data consistency model" says
// that bucket configurations are eventually consistent, without a time; SDKs wait for two minutes for a new bucket.
const bucketLag = 2 * time.Minute

// createBucketConfiguration is the part of CreateBucket's body that matters here.
type createBucketConfiguration struct {
	LocationConstraint string
	Tags               []wire.Tag `xml:"Tags>Tag"`
}

var bucketName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)

// asked returns the configuration that CreateBucket requests, and the tags that the server will store of it, or the
// refusal.
func (s *Service) asked(x *wire.Exchange) (config createBucketConfiguration, kept []wire.Tag, refusal *wire.Reply) {
	if len(x.Body) > 0 && xml.Unmarshal(x.Body, &config) != nil {
		return config, nil, x.Fail(http.StatusBadRequest, "MalformedXML", "The XML you provided was not well-formed "+
			"or did not validate against our published schema")
	}
	if !bucketName.MatchString(x.Bucket) {
		return config, nil, x.Fail(http.StatusBadRequest, "InvalidBucketName", "The specified bucket is not valid.")
	}
	if refusal := checkTags(x, config.Tags); refusal != nil {
		return config, nil, refusal
	}
	kept, refusal = s.servers.of(x.Bucket).atCreation(x, config.Tags)
	return config, kept, refusal
}

// create serves CreateBucket; the caller holds the lock on the bucket. What it does after moto has created the bucket
// looks atomic to all others.
func (s *Service) create(ctx context.Context, x *wire.Exchange, next wire.Forward) (*wire.Reply, error) {
	config, tags, refusal := s.asked(x)
	if refusal != nil {
		return refusal, nil
	}
	if config.LocationConstraint == "" {
		x.Body = nil // moto fails on a configuration without one
	}
	before, err := s.region(ctx, x)
	if err != nil {
		return nil, err
	}
	r, err := next(ctx)
	if err != nil || r.Status != http.StatusOK || before != "" {
		return r, err // in us-east-1, creating one's own bucket again returns 200 and changes nothing
	}
	for _, part := range newBucketParts(x, tags) {
		done, err := s.ask(ctx, x, http.MethodPut, "/"+x.Bucket, part.query, part.body)
		if err == nil && done.Status >= 300 {
			err = fmt.Errorf("%s: %d %s", part.query, done.Status, done.Body)
		}
		if err != nil {
			return s.undo(ctx, x, err)
		}
	}
	region := cmp.Or(config.LocationConstraint, "us-east-1")
	s.remember(x.Bucket, bucketFacts{owner: x.Call.Account, region: region})
	if x.Call.Actor == wire.Operator {
		s.lag.Begin(bucketOf(x.Bucket), bucketLag)
	}
	return r, nil
}

func bucketOf(name string) string { return "bucket " + name }

// young reports whether the bucket is still hidden from the operator.
func (s *Service) young(x *wire.Exchange, bucket string) bool {
	return x.Call.Actor == wire.Operator && s.lag.Hides(bucketOf(bucket))
}

// undo removes a bucket that could not be completed.
func (s *Service) undo(ctx context.Context, x *wire.Exchange, cause error) (*wire.Reply, error) {
	if _, err := s.ask(ctx, x, http.MethodDelete, "/"+x.Bucket, "", ""); err != nil {
		return nil, fmt.Errorf("%w; then remove the bucket: %w", cause, err)
	}
	return nil, fmt.Errorf("complete the new bucket: %w", cause)
}

type bucketPart struct{ query, body string }

// newBucketParts returns the tags, and the settings that AWS gives every new bucket since April 2023.
func newBucketParts(x *wire.Exchange, tags []wire.Tag) []bucketPart {
	parts := []bucketPart{
		{"publicAccessBlock", `<PublicAccessBlockConfiguration xmlns="` + namespace + `">` +
			`<BlockPublicAcls>true</BlockPublicAcls><IgnorePublicAcls>true</IgnorePublicAcls>` +
			`<BlockPublicPolicy>true</BlockPublicPolicy><RestrictPublicBuckets>true</RestrictPublicBuckets></PublicAccessBlockConfiguration>`},
	}
	if x.In.Header.Get("X-Amz-Object-Ownership") == "" {
		parts = append(parts, bucketPart{"ownershipControls", `<OwnershipControls xmlns="` + namespace + `">` +
			`<Rule><ObjectOwnership>BucketOwnerEnforced</ObjectOwnership></Rule></OwnershipControls>`})
	}
	if len(tags) == 0 {
		return parts
	}
	var set strings.Builder
	for _, t := range tags {
		fmt.Fprintf(&set, "<Tag><Key>%s</Key><Value>%s</Value></Tag>", wire.EscapeXML(t.Key), wire.EscapeXML(t.Value))
	}
	return append(parts, bucketPart{"tagging", `<Tagging xmlns="` + namespace + `"><TagSet>` + set.String() +
		`</TagSet></Tagging>`})
}

// checkTags refuses the tags that AWS refuses, before the bucket is created.
func checkTags(x *wire.Exchange, tags []wire.Tag) *wire.Reply {
	invalid := func(message string) *wire.Reply { return x.Fail(http.StatusBadRequest, "InvalidTag", message) }
	if len(tags) > 50 {
		return x.Fail(http.StatusBadRequest, "BadRequest", "Bucket tag count cannot be greater than 50")
	}
	seen := map[string]bool{}
	for _, t := range tags {
		switch {
		case seen[t.Key]:
			return invalid("Cannot provide multiple Tags with the same key")
		case strings.HasPrefix(strings.ToLower(t.Key), "aws:"):
			return invalid("System tags cannot be added/updated by requester")
		case t.Key == "" || len([]rune(t.Key)) > 128:
			return invalid("The TagKey you have provided is invalid")
		case !wire.TagText.MatchString(t.Key):
			return invalid("The TagKey you have provided is invalid")
		case !wire.TagText.MatchString(t.Value):
			return invalid("The TagValue you have provided is invalid")
		case len([]rune(t.Value)) > 256:
			return invalid("The TagValue you have provided is invalid")
		}
		seen[t.Key] = true
	}
	return nil
}
