package s3

import (
	"context"
	"encoding/xml"
	"net/http"

	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// S3's refusal where attribute-based access control is on for the bucket: API_PutBucketAbac says that the calls "can
// no longer" be used, and probes of AWS by the S3-compatible server Argmin found this code and this message.
const (
	abacCode     = "BadRequest"
	abacOn       = "This S3 general purpose bucket has attribute-based access control (ABAC) enabled."
	abacToAdd    = " To add tags to this bucket, initiate a TagResource request."
	abacToRemove = " To delete tags from this bucket, initiate an UntagResource request."
)

// abac stores the setting of attribute-based access control, which moto does not have, and refuses the calls that it
// rules out. It returns nil for all other calls.
func (s *Service) abac(ctx context.Context, x *wire.Exchange) (*wire.Reply, error) {
	facts, err := s.facts(ctx, x)
	if err != nil || facts.owner == "" {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	on := s.byTags[x.Bucket]
	switch {
	case x.Call.Operation == "PutBucketAbac":
		var to struct{ Status string }
		if xml.Unmarshal(x.Body, &to) != nil || (to.Status != "Enabled" && to.Status != "Disabled") {
			return x.Fail(http.StatusBadRequest, "MalformedXML", "The XML you provided was not well-formed or did "+
				"not validate against our published schema"), nil
		}
		s.byTags[x.Bucket] = to.Status == "Enabled"
		return &wire.Reply{Status: http.StatusOK, Header: http.Header{}}, nil
	case x.Call.Operation == "GetBucketAbac":
		status := "Disabled"
		if on {
			status = "Enabled"
		}
		return wire.XMLReply(http.StatusOK, `<AbacStatus xmlns="`+namespace+`"><Status>%s</Status></AbacStatus>`, status),
			nil
	case on && x.Call.Operation == "PutBucketTagging":
		return x.Fail(http.StatusBadRequest, abacCode, abacOn+abacToAdd+abacToRemove), nil
	case on && x.Call.Operation == "DeleteBucketTagging":
		return x.Fail(http.StatusBadRequest, abacCode, abacOn+abacToRemove), nil
	}
	return nil, nil
}

// Control serves the calls of S3 Control.
type Control struct{ *Service }

// Around serves the calls on the tags of buckets, whether or not attribute-based access control is on: moto
// serves them for buckets of any owner and region, and for missing ones.
func (s Control) Around(ctx context.Context, x *wire.Exchange, next wire.Forward) (*wire.Reply, error) {
	if x.Bucket == "" {
		return next(ctx)
	}
	if s.young(x, x.Bucket) {
		return x.Fail(http.StatusNotFound, "NoSuchBucket", "The specified bucket does not exist"), nil
	}
	defer s.locks.Lock(x.Bucket, false)()
	facts, err := s.facts(ctx, x)
	if err != nil {
		return nil, err
	}
	switch account := x.In.Header.Get("X-Amz-Account-Id"); {
	case account == "":
		return x.Fail(http.StatusBadRequest, "InvalidRequest", "Missing required header for this request: "+
			"x-amz-account-id"), nil
	case facts.owner == "":
		return x.Fail(http.StatusNotFound, "NoSuchBucket", "The specified bucket does not exist"), nil
	case account != facts.owner:
		return x.Fail(http.StatusForbidden, "AccessDenied", "Access Denied"), nil
	}
	if refusal, err := s.refuseElsewhere(ctx, x); refusal != nil || err != nil {
		return refusal, err
	}
	var sent struct {
		Tags []wire.Tag `xml:"Tags>Tag"`
	}
	if x.Call.Operation == "TagResource" && xml.Unmarshal(x.Body, &sent) != nil {
		return x.Fail(http.StatusBadRequest, "MalformedXML", "The XML you provided was not well-formed or did not "+
			"validate against our published schema"), nil
	}
	if refusal := checkTags(x, sent.Tags); refusal != nil {
		return refusal, nil
	}
	return next(ctx)
}
