package awsproxy

import (
	"context"
	"encoding/xml"
	"net/http"
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
func (s *s3Service) abac(ctx context.Context, x *exchange) (*reply, error) {
	facts, err := s.facts(ctx, x)
	if err != nil || facts.owner == "" {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	on := s.byTags[x.bucket]
	switch {
	case x.call.Operation == "PutBucketAbac":
		var to struct{ Status string }
		if xml.Unmarshal(x.body, &to) != nil || (to.Status != "Enabled" && to.Status != "Disabled") {
			return x.fail(http.StatusBadRequest, "MalformedXML", "The XML you provided was not well-formed or did "+
				"not validate against our published schema"), nil
		}
		s.byTags[x.bucket] = to.Status == "Enabled"
		return &reply{status: http.StatusOK, header: http.Header{}}, nil
	case x.call.Operation == "GetBucketAbac":
		status := "Disabled"
		if on {
			status = "Enabled"
		}
		return xmlReply(http.StatusOK, `<AbacStatus xmlns="`+s3Namespace+`"><Status>%s</Status></AbacStatus>`, status),
			nil
	case on && x.call.Operation == "PutBucketTagging":
		return x.fail(http.StatusBadRequest, abacCode, abacOn+abacToAdd+abacToRemove), nil
	case on && x.call.Operation == "DeleteBucketTagging":
		return x.fail(http.StatusBadRequest, abacCode, abacOn+abacToRemove), nil
	}
	return nil, nil
}

// s3Control serves the calls of S3 Control.
type s3Control struct{ *s3Service }

// around serves the calls on the tags of buckets, whether or not attribute-based access control is on: moto
// serves them for buckets of any owner and region, and for missing ones.
func (s s3Control) around(ctx context.Context, x *exchange, next forward) (*reply, error) {
	if x.bucket == "" {
		return next(ctx)
	}
	if s.young(x, x.bucket) {
		return x.fail(http.StatusNotFound, "NoSuchBucket", "The specified bucket does not exist"), nil
	}
	defer s.locks.lock(x.bucket, false)()
	facts, err := s.facts(ctx, x)
	if err != nil {
		return nil, err
	}
	switch account := x.in.Header.Get("X-Amz-Account-Id"); {
	case account == "":
		return x.fail(http.StatusBadRequest, "InvalidRequest", "Missing required header for this request: "+
			"x-amz-account-id"), nil
	case facts.owner == "":
		return x.fail(http.StatusNotFound, "NoSuchBucket", "The specified bucket does not exist"), nil
	case account != facts.owner:
		return x.fail(http.StatusForbidden, "AccessDenied", "Access Denied"), nil
	}
	if refusal, err := s.guard(ctx, x); refusal != nil || err != nil {
		return refusal, err
	}
	var sent struct {
		Tags []tag `xml:"Tags>Tag"`
	}
	if x.call.Operation == "TagResource" && xml.Unmarshal(x.body, &sent) != nil {
		return x.fail(http.StatusBadRequest, "MalformedXML", "The XML you provided was not well-formed or did not "+
			"validate against our published schema"), nil
	}
	if refusal := checkTags(x, sent.Tags); refusal != nil {
		return refusal, nil
	}
	return next(ctx)
}
