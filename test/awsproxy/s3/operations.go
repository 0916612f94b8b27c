package s3

import (
	"net/http"
	"net/url"
	"strings"
)

// bucketParts maps S3's subresources to the part of the operation's name after Get, Put or Delete. It is a slice
// because the first that is present counts.
var bucketParts = []struct{ parameter, name string }{
	{"abac", "BucketAbac"},
	{"accelerate", "BucketAccelerateConfiguration"},
	{"acl", "BucketAcl"},
	{"analytics", "BucketAnalyticsConfiguration"},
	{"cors", "BucketCors"},
	{"encryption", "BucketEncryption"},
	{"intelligent-tiering", "BucketIntelligentTieringConfiguration"},
	{"inventory", "BucketInventoryConfiguration"},
	{"lifecycle", "BucketLifecycleConfiguration"},
	{"location", "BucketLocation"},
	{"logging", "BucketLogging"},
	{"metrics", "BucketMetricsConfiguration"},
	{"notification", "BucketNotificationConfiguration"},
	{"object-lock", "ObjectLockConfiguration"},
	{"ownershipControls", "BucketOwnershipControls"},
	{"policyStatus", "BucketPolicyStatus"},
	{"policy", "BucketPolicy"},
	{"publicAccessBlock", "PublicAccessBlock"},
	{"replication", "BucketReplication"},
	{"requestPayment", "BucketRequestPayment"},
	{"tagging", "BucketTagging"},
	{"versioning", "BucketVersioning"},
	{"website", "BucketWebsite"},
}

var objectParts = []struct{ parameter, name string }{
	{"acl", "ObjectAcl"},
	{"attributes", "ObjectAttributes"},
	{"legal-hold", "ObjectLegalHold"},
	{"retention", "ObjectRetention"},
	{"tagging", "ObjectTagging"},
	{"torrent", "ObjectTorrent"},
}

// verbs are the first words of operations; POST has names of its own.
var verbs = map[string]string{
	http.MethodGet: "Get", http.MethodPut: "Put", http.MethodDelete: "Delete",
}

// Operation returns the operation's name in the API reference.
func Operation(r *http.Request, bucket, key string, query url.Values) string {
	switch {
	case bucket == "":
		return "ListBuckets"
	case r.Method == http.MethodHead && key == "":
		return "HeadBucket"
	case r.Method == http.MethodHead:
		return "HeadObject"
	case key == "":
		return bucketOperation(r.Method, query)
	default:
		return objectOperation(r, query)
	}
}

func bucketOperation(method string, query url.Values) string {
	for _, p := range bucketParts {
		if query.Has(p.parameter) {
			if method == http.MethodDelete && p.parameter == "lifecycle" {
				return "DeleteBucketLifecycle"
			}
			return verbs[method] + p.name
		}
	}
	switch method {
	case http.MethodPut:
		return "CreateBucket"
	case http.MethodDelete:
		return "DeleteBucket"
	case http.MethodPost:
		if query.Has("delete") {
			return "DeleteObjects"
		}
		return "PostObject"
	}
	switch {
	case query.Has("versions"):
		return "ListObjectVersions"
	case query.Has("uploads"):
		return "ListMultipartUploads"
	case query.Get("list-type") == "2":
		return "ListObjectsV2"
	default:
		return "ListObjects"
	}
}

func objectOperation(r *http.Request, query url.Values) string {
	for _, p := range objectParts {
		if query.Has(p.parameter) {
			return verbs[r.Method] + p.name
		}
	}
	upload := query.Has("uploadId")
	switch {
	case r.Method == http.MethodPost && query.Has("uploads"):
		return "CreateMultipartUpload"
	case r.Method == http.MethodPost && upload:
		return "CompleteMultipartUpload"
	case r.Method == http.MethodPut && upload:
		return "UploadPart"
	case r.Method == http.MethodDelete && upload:
		return "AbortMultipartUpload"
	case r.Method == http.MethodGet && upload:
		return "ListParts"
	case r.Method == http.MethodPut && r.Header.Get("X-Amz-Copy-Source") != "":
		return "CopyObject"
	case r.Method == http.MethodPost:
		return "PostObject"
	default:
		return verbs[r.Method] + "Object"
	}
}

// ControlOperation knows the tag operations; Portico calls no others.
func ControlOperation(method, path string) (operation, resource string) {
	resource, ok := strings.CutPrefix(path, "/v20180820/tags/")
	if !ok {
		return method + " " + path, ""
	}
	resource = resource[strings.LastIndex(resource, ":")+1:]
	switch method {
	case http.MethodGet:
		return "ListTagsForResource", resource
	case http.MethodDelete:
		return "UntagResource", resource
	default:
		return "TagResource", resource
	}
}
