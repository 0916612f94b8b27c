package awsproxy

import (
	"context"
	"encoding/xml"
	"net/http"
	"strings"
)

// s3Actions are the actions of operations on buckets that have another name than the operation, by S3's page
// "Required permissions for Amazon S3 API operations".
var s3Actions = map[string]string{
	"ListObjects": "ListBucket", "ListObjectsV2": "ListBucket", "HeadBucket": "ListBucket",
	"ListObjectVersions": "ListBucketVersions", "ListMultipartUploads": "ListBucketMultipartUploads",
	"DeleteBucketTagging": "PutBucketTagging",
	"GetBucketEncryption": "GetEncryptionConfiguration", "PutBucketEncryption": "PutEncryptionConfiguration",
	"DeleteBucketEncryption": "PutEncryptionConfiguration",
	"GetPublicAccessBlock":   "GetBucketPublicAccessBlock", "PutPublicAccessBlock": "PutBucketPublicAccessBlock",
	"DeletePublicAccessBlock":         "PutBucketPublicAccessBlock",
	"GetBucketLifecycleConfiguration": "GetLifecycleConfiguration",
	"PutBucketLifecycleConfiguration": "PutLifecycleConfiguration",
	"DeleteBucketLifecycle":           "PutLifecycleConfiguration",
	"GetBucketCors":                   "GetBucketCORS", "PutBucketCors": "PutBucketCORS",
	"DeleteBucketCors":                   "PutBucketCORS",
	"GetBucketAccelerateConfiguration":   "GetAccelerateConfiguration",
	"PutBucketAccelerateConfiguration":   "PutAccelerateConfiguration",
	"GetBucketNotificationConfiguration": "GetBucketNotification",
	"PutBucketNotificationConfiguration": "PutBucketNotification",
	"GetObjectLockConfiguration":         "GetBucketObjectLockConfiguration",
	"PutObjectLockConfiguration":         "PutBucketObjectLockConfiguration",
	"GetBucketReplication":               "GetReplicationConfiguration",
	"PutBucketReplication":               "PutReplicationConfiguration",
	"DeleteBucketReplication":            "PutReplicationConfiguration",
	"DeleteBucketOwnershipControls":      "PutBucketOwnershipControls",
}

// sameS3Actions are the operations on buckets whose actions have the same name.
var sameS3Actions = map[string]bool{
	"DeleteBucket": true, "GetBucketTagging": true, "PutBucketTagging": true, "GetBucketVersioning": true,
	"PutBucketVersioning": true,
	"GetBucketLocation":   true, "GetBucketAcl": true, "PutBucketAcl": true, "GetBucketPolicy": true,
	"PutBucketPolicy": true, "DeleteBucketPolicy": true,
	"GetBucketPolicyStatus": true, "GetBucketOwnershipControls": true, "PutBucketOwnershipControls": true,
	"GetBucketLogging": true, "PutBucketLogging": true,
	"GetBucketAbac": true, "PutBucketAbac": true, "GetBucketRequestPayment": true, "GetBucketWebsite": true,
}

func (s *s3Service) needs(_ context.Context, x *exchange) ([]need, error) {
	bucket := x.globalARN("s3", "", x.bucket)
	_, key, _ := strings.Cut(strings.TrimPrefix(x.path, "/"), "/")
	object := bucket + "/" + key
	switch action := s3Actions[x.call.Operation]; {
	case x.call.Operation == "ListBuckets":
		return plainNeed("s3:ListAllMyBuckets", "*"), nil
	case x.call.Operation == "CreateBucket":
		return createBucketNeeds(x, bucket), nil
	case x.call.Operation == "DeleteObjects":
		return nil, nil // each object is judged separately: see objectsToDelete
	case x.call.Operation == "DeleteObject":
		return plainNeed(deletion(x.query.Get("versionId")), object), nil
	case action == "ListBucket" || action == "ListBucketVersions":
		return []need{{action: "s3:" + action, resource: bucket, facts: listingFacts(x)}}, nil
	case action != "":
		return plainNeed("s3:"+action, bucket), nil
	case sameS3Actions[x.call.Operation]:
		return plainNeed("s3:"+x.call.Operation, bucket), nil
	}
	return objectNeeds(x, object)
}

func deletion(version string) string {
	if version != "" {
		return "s3:DeleteObjectVersion"
	}
	return "s3:DeleteObject"
}

// createBucketNeeds returns the permission for each part of a creation.
func createBucketNeeds(x *exchange, bucket string) []need {
	var config createBucketConfiguration
	_ = xml.Unmarshal(x.body, &config) // create refuses invalid XML
	tags := map[string]string{}
	for _, t := range config.Tags {
		tags[t.Key] = t.Value
	}
	all := []need{{action: "s3:CreateBucket", resource: bucket, facts: facts{}.tagged(tags)}}
	locked := x.in.Header.Get("X-Amz-Bucket-Object-Lock-Enabled") == "true"
	for _, part := range []struct {
		action string
		asked  bool
	}{
		{"s3:TagResource", len(tags) > 0},
		{"s3:PutBucketOwnershipControls", x.in.Header.Get("X-Amz-Object-Ownership") != ""},
		{"s3:PutBucketAcl", x.in.Header.Get("X-Amz-Acl") != ""},
		{"s3:PutBucketObjectLockConfiguration", locked},
		{"s3:PutBucketVersioning", locked},
	} {
		if part.asked {
			all = append(all, need{action: part.action, resource: bucket, facts: all[0].facts})
		}
	}
	return all
}

// s3ControlNeeds returns the permission of the calls on the tags of a bucket, named like the operation.
func (s3Control) needs(_ context.Context, x *exchange) ([]need, error) {
	switch x.call.Operation {
	case "TagResource", "UntagResource", "ListTagsForResource":
		n := need{action: "s3:" + x.call.Operation, resource: x.globalARN("s3", "", x.call.Resource), facts: facts{}}
		var tagging struct {
			Tags []tag `xml:"Tags>Tag"`
		}
		if x.call.Operation == "TagResource" && xml.Unmarshal(x.body, &tagging) == nil {
			tags := map[string]string{}
			for _, t := range tagging.Tags {
				tags[t.Key] = t.Value
			}
			n.facts.tagged(tags)
		}
		if keys := x.query["tagKeys"]; len(keys) > 0 {
			n.facts.with("aws:TagKeys", keys...)
		}
		return []need{n}, nil
	}
	return nil, unknownOperation(x)
}

// deleteObjects is the body of DeleteObjects.
type deleteObjects struct {
	XMLName xml.Name         `xml:"Delete"`
	Objects []objectToDelete `xml:"Object"`
	Quiet   bool
}

type objectToDelete struct {
	Key       string
	VersionID string `xml:"VersionId,omitempty"`
}

// refusedObject is an object that the caller has no permission to delete.
type refusedObject struct {
	XMLName   xml.Name `xml:"Error"`
	Key       string
	VersionID string `xml:"VersionId,omitempty"`
	Code      string
	Message   string
}

// deleteAllowed serves DeleteObjects, which S3 answers for each object: those that the caller has no permission to
// delete are errors within the response.
func (s *s3Service) deleteAllowed(ctx context.Context, x *exchange, next forward) (*reply, error) {
	var asked deleteObjects
	if xml.Unmarshal(x.body, &asked) != nil {
		return next(ctx)
	}
	var refused []byte
	allowed := deleteObjects{Quiet: asked.Quiet}
	for _, o := range asked.Objects {
		n := need{action: deletion(o.VersionID), resource: x.globalARN("s3", "", x.bucket+"/"+o.Key)}
		d, _, err := s.decide(ctx, x, &n)
		if err != nil {
			return nil, err
		}
		if d.Allowed {
			allowed.Objects = append(allowed.Objects, o)
			continue
		}
		one, err := xml.Marshal(refusedObject{
			Key: o.Key, VersionID: o.VersionID, Code: "AccessDenied",
			Message: n.message(x, d.Because()),
		})
		if err != nil {
			return nil, err
		}
		refused = append(refused, one...)
	}
	if refused == nil {
		return next(ctx)
	}
	r, err := deleteThose(ctx, x, allowed, next)
	if err != nil || r.status != http.StatusOK {
		return r, err
	}
	r.body = []byte(strings.Replace(string(r.body), "</DeleteResult>", string(refused)+"</DeleteResult>", 1))
	r.header.Del("Content-Length")
	return r, nil
}

// deleteThose makes moto delete the allowed objects; if there are none, the response is empty.
func deleteThose(ctx context.Context, x *exchange, allowed deleteObjects, next forward) (r *reply, err error) {
	if len(allowed.Objects) == 0 {
		return xmlReply(http.StatusOK, `<DeleteResult xmlns="`+s3Namespace+`"></DeleteResult>`), nil
	}
	if x.body, err = xml.Marshal(allowed); err != nil {
		return nil, err
	}
	return next(ctx)
}
