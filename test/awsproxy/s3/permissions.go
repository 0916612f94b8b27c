package s3

import (
	"context"
	"encoding/xml"
	"net/http"
	"strings"

	"github.com/portico-platform/portico/test/awsproxy/permit"
	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// bucketActions are the actions of operations on buckets that have another name than the operation, by S3's page
// "Required permissions for Amazon S3 API operations".
var bucketActions = map[string]string{
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

// sameActions are the operations on buckets whose actions have the same name.
var sameActions = map[string]bool{
	"DeleteBucket": true, "GetBucketTagging": true, "PutBucketTagging": true, "GetBucketVersioning": true,
	"PutBucketVersioning": true,
	"GetBucketLocation":   true, "GetBucketAcl": true, "PutBucketAcl": true, "GetBucketPolicy": true,
	"PutBucketPolicy": true, "DeleteBucketPolicy": true,
	"GetBucketPolicyStatus": true, "GetBucketOwnershipControls": true, "PutBucketOwnershipControls": true,
	"GetBucketLogging": true, "PutBucketLogging": true,
	"GetBucketAbac": true, "PutBucketAbac": true, "GetBucketRequestPayment": true, "GetBucketWebsite": true,
}

// Needs returns the permissions of a call on a bucket or an object.
func (s *Service) Needs(_ context.Context, x *wire.Exchange) ([]permit.Need, error) {
	bucket := x.GlobalARN("s3", "", x.Bucket)
	_, key, _ := strings.Cut(strings.TrimPrefix(x.Path, "/"), "/")
	object := bucket + "/" + key
	switch action := bucketActions[x.Call.Operation]; {
	case x.Call.Operation == "ListBuckets":
		return permit.Plain("s3:ListAllMyBuckets", "*"), nil
	case x.Call.Operation == "CreateBucket":
		return createBucketNeeds(x, bucket), nil
	case x.Call.Operation == "DeleteObjects":
		return nil, nil // each object is judged separately: see objectsToDelete
	case x.Call.Operation == "DeleteObject":
		return permit.Plain(deletion(x.Query.Get("versionId")), object), nil
	case action == "ListBucket" || action == "ListBucketVersions":
		return []permit.Need{{Action: "s3:" + action, Resource: bucket, Facts: listingFacts(x)}}, nil
	case action != "":
		return permit.Plain("s3:"+action, bucket), nil
	case sameActions[x.Call.Operation]:
		return permit.Plain("s3:"+x.Call.Operation, bucket), nil
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
func createBucketNeeds(x *wire.Exchange, bucket string) []permit.Need {
	var config createBucketConfiguration
	_ = xml.Unmarshal(x.Body, &config) // create refuses invalid XML
	tags := map[string]string{}
	for _, t := range config.Tags {
		tags[t.Key] = t.Value
	}
	all := []permit.Need{{Action: "s3:CreateBucket", Resource: bucket, Facts: permit.Facts{}.Tagged(tags)}}
	locked := x.In.Header.Get("X-Amz-Bucket-Object-Lock-Enabled") == "true"
	for _, part := range []struct {
		action string
		asked  bool
	}{
		{"s3:TagResource", len(tags) > 0},
		{"s3:PutBucketOwnershipControls", x.In.Header.Get("X-Amz-Object-Ownership") != ""},
		{"s3:PutBucketAcl", x.In.Header.Get("X-Amz-Acl") != ""},
		{"s3:PutBucketObjectLockConfiguration", locked},
		{"s3:PutBucketVersioning", locked},
	} {
		if part.asked {
			all = append(all, permit.Need{Action: part.action, Resource: bucket, Facts: all[0].Facts})
		}
	}
	return all
}

// Needs returns the permission of the calls on the tags of a bucket, named like the operation.
func (Control) Needs(_ context.Context, x *wire.Exchange) ([]permit.Need, error) {
	switch x.Call.Operation {
	case "TagResource", "UntagResource", "ListTagsForResource":
		n := permit.Need{
			Action: "s3:" + x.Call.Operation, Resource: x.GlobalARN("s3", "", x.Call.Resource), Facts: permit.Facts{},
		}
		var tagging struct {
			Tags []wire.Tag `xml:"Tags>Tag"`
		}
		if x.Call.Operation == "TagResource" && xml.Unmarshal(x.Body, &tagging) == nil {
			tags := map[string]string{}
			for _, t := range tagging.Tags {
				tags[t.Key] = t.Value
			}
			n.Facts.Tagged(tags)
		}
		if keys := x.Query["tagKeys"]; len(keys) > 0 {
			n.Facts.With("aws:TagKeys", keys...)
		}
		return []permit.Need{n}, nil
	}
	return nil, permit.UnknownOperation(x)
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
func (s *Service) deleteAllowed(ctx context.Context, x *wire.Exchange, next wire.Forward) (*wire.Reply, error) {
	var asked deleteObjects
	if xml.Unmarshal(x.Body, &asked) != nil {
		return next(ctx)
	}
	var refused []byte
	allowed := deleteObjects{Quiet: asked.Quiet}
	for _, o := range asked.Objects {
		n := permit.Need{Action: deletion(o.VersionID), Resource: x.GlobalARN("s3", "", x.Bucket+"/"+o.Key)}
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
			Message: n.Message(x, d.Because()),
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
	if err != nil || r.Status != http.StatusOK {
		return r, err
	}
	r.Body = []byte(strings.Replace(string(r.Body), "</DeleteResult>", string(refused)+"</DeleteResult>", 1))
	r.Header.Del("Content-Length")
	return r, nil
}

// deleteThose makes moto delete the allowed objects; if there are none, the response is empty.
func deleteThose(ctx context.Context, x *wire.Exchange, allowed deleteObjects, next wire.Forward) (
	r *wire.Reply, err error,
) {
	if len(allowed.Objects) == 0 {
		return wire.XMLReply(http.StatusOK, `<DeleteResult xmlns="`+namespace+`"></DeleteResult>`), nil
	}
	if x.Body, err = xml.Marshal(allowed); err != nil {
		return nil, err
	}
	return next(ctx)
}
