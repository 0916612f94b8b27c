package s3

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/portico-platform/portico/test/awsproxy/permit"
	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// objectActions are the actions of operations on objects, by S3's page "Required permissions for Amazon S3 API
// operations"; the actions on a version have other names.
var objectActions = map[string]struct{ action, version string }{
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
func objectNeeds(x *wire.Exchange, object string) ([]permit.Need, error) {
	of, known := objectActions[x.Call.Operation]
	if !known {
		return nil, permit.UnknownOperation(x)
	}
	action := of.action
	if of.version != "" && x.Query.Get("versionId") != "" {
		action = of.version
	}
	all := permit.Plain("s3:"+action, object)
	if x.Call.Operation == "GetObjectAttributes" {
		all = append(all, permit.Need{Action: strings.Replace(all[0].Action, "Attributes", "", 1), Resource: object})
	}
	if of.action != "PutObject" {
		return all, nil
	}
	if from := x.In.Header.Get("X-Amz-Copy-Source"); from != "" {
		source, version, _ := strings.Cut(strings.TrimPrefix(from, "/"), "?versionId=")
		if plain, err := url.PathUnescape(source); err == nil {
			source = plain
		}
		get := permit.Need{Action: "s3:GetObject", Resource: x.GlobalARN("s3", "", source)}
		if version != "" {
			get.Action = "s3:GetObjectVersion"
		}
		all = append(all, get)
	}
	for header, action := range map[string]string{
		"X-Amz-Tagging": "s3:PutObjectTagging", "X-Amz-Acl": "s3:PutObjectAcl",
	} {
		if x.In.Header.Get(header) != "" {
			all = append(all, permit.Need{Action: action, Resource: object})
		}
	}
	return all, nil
}

// listingFacts returns the values of the condition keys of a listing of objects.
func listingFacts(x *wire.Exchange) permit.Facts {
	f := permit.Facts{}
	for parameter, key := range map[string]string{
		"prefix": "s3:prefix", "delimiter": "s3:delimiter",
		"max-keys": "s3:max-keys",
	} {
		if x.Query.Has(parameter) {
			f.With(key, x.Query.Get(parameter))
		}
	}
	return f
}

// hideMissing hides from a caller without permission to list a bucket that an object does not exist, as the
// references of GetObject and HeadObject say.
func (s *Service) hideMissing(ctx context.Context, x *wire.Exchange, next wire.Forward) (*wire.Reply, error) {
	r, err := next(ctx)
	if err != nil || x.Caller == nil || r.Status != http.StatusNotFound {
		return r, err
	}
	if code := wire.ErrorCode(r); x.In.Method != http.MethodHead && code != "NoSuchKey" {
		return r, nil
	}
	n := permit.Need{Action: "s3:ListBucket", Resource: x.GlobalARN("s3", "", x.Bucket)}
	d, _, err := s.decide(ctx, x, &n)
	if err != nil || d.Allowed {
		return r, err
	}
	r.Discard()
	return permit.Unauthorized(x, &n, d.Because()), nil
}
