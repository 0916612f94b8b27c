package awsproxy

import (
	"context"
	"encoding/xml"
	"net/http"
	"strings"
)

// eventful are the calls that a bucket can send notifications about.
var eventful = map[string]bool{
	"PutObject": true, "PostObject": true, "CopyObject": true, "CompleteMultipartUpload": true, "DeleteObject": true,
	"DeleteObjects":    true,
	"PutObjectTagging": true, "DeleteObjectTagging": true, "PutObjectAcl": true, "RestoreObject": true,
}

// bucketSender returns S3 as the sender for the call's bucket.
func bucketSender(x *exchange, owner string) sender {
	return sender{service: "s3.amazonaws.com", arn: x.globalARN("s3", "", x.bucket), account: owner}
}

// notify allows the deliveries to the destinations that the bucket notifies of the call, where their policies still
// allow S3: S3 drops what it cannot deliver.
func (s *s3Service) notify(ctx context.Context, x *exchange) error {
	if !eventful[x.call.Operation] {
		return nil
	}
	r, err := s.ask(ctx, x, http.MethodGet, "/"+x.bucket, "notification", "")
	if err != nil || r.status != http.StatusOK {
		return r.broken(err)
	}
	var c notificationConfiguration
	if xml.Unmarshal(r.body, &c) != nil || len(c.Queues)+len(c.Topics) == 0 {
		return nil //nolint:nilerr // moto answers with nothing where nobody is notified
	}
	facts, err := s.facts(ctx, x)
	if err != nil {
		return err
	}
	asked := map[string]bool{}
	for _, rule := range append(c.Queues, c.Topics...) {
		to := rule.destination()
		if asked[to] {
			continue
		}
		asked[to] = true
		if err := s.openWay(ctx, x, bucketSender(x, facts.owner), to); err != nil {
			return err
		}
	}
	return nil
}

// openWay allows the deliveries from a bucket to a queue, or to a topic and from it to its queues.
func (s *s3Service) openWay(ctx context.Context, x *exchange, from sender, to string) error {
	before := len(x.deliver)
	if err := s.post.allowDelivery(ctx, x, from, to); err != nil {
		return err
	}
	if len(x.deliver) == before || !strings.Contains(to, ":sns:") {
		return nil
	}
	return s.post.allowFromTopic(ctx, x, to)
}
