package s3

import (
	"context"
	"encoding/xml"
	"net/http"
	"strings"

	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// eventful are the calls that a bucket can send notifications about.
var eventful = map[string]bool{
	"PutObject": true, "PostObject": true, "CopyObject": true, "CompleteMultipartUpload": true, "DeleteObject": true,
	"DeleteObjects":    true,
	"PutObjectTagging": true, "DeleteObjectTagging": true, "PutObjectAcl": true, "RestoreObject": true,
}

// bucketSender returns S3 as the sender for the call's bucket.
func bucketSender(x *wire.Exchange, owner string) wire.Sender {
	return wire.Sender{Service: "s3.amazonaws.com", ARN: x.GlobalARN("s3", "", x.Bucket), Account: owner}
}

// notify allows the deliveries to the destinations that the bucket notifies of the call, where their policies still
// allow S3: S3 drops what it cannot deliver.
func (s *Service) notify(ctx context.Context, x *wire.Exchange) error {
	if !eventful[x.Call.Operation] {
		return nil
	}
	r, err := s.ask(ctx, x, http.MethodGet, "/"+x.Bucket, "notification", "")
	if err != nil || r.Status != http.StatusOK {
		return r.Broken(err)
	}
	var c notificationConfiguration
	if xml.Unmarshal(r.Body, &c) != nil || len(c.Queues)+len(c.Topics) == 0 {
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
func (s *Service) openWay(ctx context.Context, x *wire.Exchange, from wire.Sender, to string) error {
	before := len(x.Deliver)
	if err := s.post.AllowDelivery(ctx, x, from, to); err != nil {
		return err
	}
	if len(x.Deliver) == before || !strings.Contains(to, ":sns:") {
		return nil
	}
	return s.post.AllowFromTopic(ctx, x, to)
}
