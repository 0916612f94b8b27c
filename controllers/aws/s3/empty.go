package s3

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/engine"
)

// batches is the number of batches of 1,000 that one pass removes before it reports its progress.
const batches = 10

// version is an object, an older version of one, or a delete marker.
type version struct{ key, id string }

// empty removes objects, versions and delete markers, as many as one pass may. Only those that are no longer listed
// count as removed: S3 reports success for a key that does not exist, too.
func (b bucket) empty(ctx context.Context, obj *v1alpha1.S3Bucket, t target) error {
	left, err := t.versions(ctx)
	if err != nil {
		return err
	}
	if len(left) == 0 { // S3 may need a moment
		return engine.Wait(v1alpha1.ReasonEmptying, 10*time.Second, "S3 says that the bucket %s is not empty, and "+
			"lists nothing in it: %d objects, versions and delete markers were removed. That often passes; if it "+
			"stays, see what the server keeps beside them, or set spec.deletionPolicy to Retain or Orphan to keep "+
			"the bucket",
			*t.bucket, obj.Status.RemovedObjects)
	}
	for n := 0; n < batches && len(left) > 0; n++ {
		refused := t.remove(ctx, left)
		next, err := t.versions(ctx)
		if err != nil {
			return err
		}
		gone := missing(left, next)
		obj.Status.RemovedObjects += int64(gone)
		if refused != nil {
			return refused
		}
		if gone == 0 {
			return engine.Blocked(v1alpha1.ReasonObjectsKept, "S3 answers that %d objects are deleted, and lists "+
				"them all the same, the first under the key %s. Delete them by hand, or set spec.deletionPolicy to "+
				"Retain or Orphan to keep the bucket", len(left), quoted(left[0].key))
		}
		left = next
	}
	return engine.Wait(v1alpha1.ReasonEmptying, 0, "emptying the bucket %s: %d objects, versions and delete markers "+
		"removed so far", *t.bucket, obj.Status.RemovedObjects)
}

// missing counts the elements of all that are not in left.
func missing(all, left []version) int {
	there, n := make(map[version]bool, len(left)), 0
	for _, v := range left {
		there[v] = true
	}
	for _, v := range all {
		if !there[v] {
			n++
		}
	}
	return n
}

// versions lists the first 1,000 at most. Keys are encoded, because they may contain characters that XML cannot
// represent.
func (t target) versions(ctx context.Context) ([]version, error) {
	page, err := t.api.ListObjectVersions(ctx, &s3.ListObjectVersionsInput{
		Bucket: t.bucket, ExpectedBucketOwner: t.account, EncodingType: s3types.EncodingTypeUrl,
	})
	if err != nil {
		return nil, cloud.Explain(err)
	}
	all := make([]version, 0, len(page.Versions)+len(page.DeleteMarkers))
	for _, v := range page.Versions {
		all = append(all, version{aws.ToString(v.Key), aws.ToString(v.VersionId)})
	}
	for _, m := range page.DeleteMarkers {
		all = append(all, version{aws.ToString(m.Key), aws.ToString(m.VersionId)})
	}
	if page.EncodingType != s3types.EncodingTypeUrl {
		return all, nil // a server that does not know the encoding
	}
	for i := range all {
		if all[i].key, err = url.QueryUnescape(all[i].key); err != nil {
			return nil, fmt.Errorf("read the listing of %s: %w", *t.bucket, err)
		}
	}
	return all, nil
}

// remove deletes the versions: those with keys that XML can represent in one call, and the others one by one, up to the
// first that is refused.
func (t target) remove(ctx context.Context, all []version) error {
	var ids []s3types.ObjectIdentifier
	var refused []s3types.Error
	for _, v := range all {
		if isValidXML(v.key) {
			ids = append(ids, s3types.ObjectIdentifier{Key: aws.String(v.key), VersionId: aws.String(v.id)})
			continue
		}
		if len(refused) > 0 {
			continue
		}
		err := t.removeOne(ctx, v)
		if api, ok := errors.AsType[smithy.APIError](err); ok && isKept(cloud.Code(err)) {
			refused = append(refused, s3types.Error{
				Key: &v.key, VersionId: &v.id, Code: aws.String(cloud.Code(err)),
				Message: aws.String(api.ErrorMessage()),
			})
		} else if err != nil {
			return cloud.Explain(err)
		}
	}
	if len(ids) > 0 {
		out, err := t.api.DeleteObjects(ctx, &s3.DeleteObjectsInput{
			Bucket: t.bucket, ExpectedBucketOwner: t.account,
			Delete: &s3types.Delete{Objects: ids, Quiet: aws.Bool(true)},
		})
		if err != nil {
			return cloud.Explain(err)
		}
		refused = append(refused, out.Errors...)
	}
	return deleteErrors(refused)
}

func (t target) removeOne(ctx context.Context, v version) error {
	_, err := t.api.DeleteObject(ctx, &s3.DeleteObjectInput{
		Bucket: t.bucket, ExpectedBucketOwner: t.account, Key: aws.String(v.key), VersionId: aws.String(v.id),
	})
	return err
}

// isValidXML reports whether XML 1.0 can represent all of key's characters.
func isValidXML(key string) bool {
	for _, c := range key {
		switch {
		case c == '\t', c == '\n', c == '\r', c >= 0x20 && c <= 0xD7FF, c >= 0xE000 && c <= 0xFFFD, c >= 0x10000:
		default:
			return false
		}
	}
	return utf8.ValidString(key)
}
