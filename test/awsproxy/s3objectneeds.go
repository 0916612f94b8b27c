package awsproxy

import (
	"context"
	"net/http"
	"net/url"
	"strings"
)

// s3ObjectActions are the actions of operations on objects, by S3's page "Required permissions for Amazon S3 API
// operations"; the actions on a version have other names.
var s3ObjectActions = map[string]struct{ action, version string }{
	"GetObject": {"GetObject", "GetObjectVersion"}, "HeadObject": {"GetObject", "GetObjectVersion"},
	"GetObjectAttributes": {"GetObjectAttributes", "GetObjectVersionAttributes"},
	"GetObjectTagging":    {"GetObjectTagging", "GetObjectVersionTagging"},
	"PutObjectTagging":    {"PutObjectTagging", "PutObjectVersionTagging"},
	"DeleteObjectTagging": {"DeleteObjectTagging", "DeleteObjectVersionTagging"},
	"GetObjectAcl":        {"GetObjectAcl", "GetObjectVersionAcl"},
	"PutObjectAcl":        {"PutObjectAcl", "PutObjectVersionAcl"},

	"PutObject": {action: "PutObject"}, "CopyObject": {action: "PutObject"},
	"CreateMultipartUpload": {action: "PutObject"}, "UploadPart": {action: "PutObject"}, "CompleteMultipartUpload": {action: "PutObject"},
	"AbortMultipartUpload": {action: "AbortMultipartUpload"}, "ListParts": {action: "ListMultipartUploadParts"},
}

// objectNeeds returns the permissions of a call about one object: on it, on the object that it is copied from, and
// for what the call sets with it, such as tags.
func objectNeeds(x *exchange, object string) ([]need, error) {
	of, known := s3ObjectActions[x.call.Operation]
	if !known {
		return nil, unknownOperation(x)
	}
	action := of.action
	if of.version != "" && x.query.Get("versionId") != "" {
		action = of.version
	}
	all := plainNeed("s3:"+action, object)
	if x.call.Operation == "GetObjectAttributes" {
		all = append(all, need{action: strings.Replace(all[0].action, "Attributes", "", 1), resource: object})
	}
	if of.action != "PutObject" {
		return all, nil
	}
	if from := x.in.Header.Get("X-Amz-Copy-Source"); from != "" {
		source, version, _ := strings.Cut(strings.TrimPrefix(from, "/"), "?versionId=")
		if plain, err := url.PathUnescape(source); err == nil {
			source = plain
		}
		get := need{action: "s3:GetObject", resource: x.globalARN("s3", "", source)}
		if version != "" {
			get.action = "s3:GetObjectVersion"
		}
		all = append(all, get)
	}
	for header, action := range map[string]string{
		"X-Amz-Tagging": "s3:PutObjectTagging", "X-Amz-Acl": "s3:PutObjectAcl",
	} {
		if x.in.Header.Get(header) != "" {
			all = append(all, need{action: action, resource: object})
		}
	}
	return all, nil
}

// listingFacts returns the values of the condition keys of a listing of objects.
func listingFacts(x *exchange) facts {
	f := facts{}
	for parameter, key := range map[string]string{
		"prefix": "s3:prefix", "delimiter": "s3:delimiter",
		"max-keys": "s3:max-keys",
	} {
		if x.query.Has(parameter) {
			f.with(key, x.query.Get(parameter))
		}
	}
	return f
}

// hideMissing hides from a caller without permission to list a bucket that an object does not exist, as the
// references of GetObject and HeadObject say.
func (s *s3Service) hideMissing(ctx context.Context, x *exchange, next forward) (*reply, error) {
	r, err := next(ctx)
	if err != nil || x.caller == nil || r.status != http.StatusNotFound {
		return r, err
	}
	if code := errorCode(r); x.in.Method != http.MethodHead && code != "NoSuchKey" {
		return r, nil
	}
	n := need{action: "s3:ListBucket", resource: x.globalARN("s3", "", x.bucket)}
	d, _, err := s.decide(ctx, x, &n)
	if err != nil || d.Allowed {
		return r, err
	}
	r.discard()
	return unauthorized(x, &n, d.Because()), nil
}
