package s3

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/deleted"
)

// Deleted finds buckets that were kept.
var Deleted = deleted.Kind{Types: []string{"s3"}, Describe: describeDeleted}

func describeDeleted(ctx context.Context, s *cloud.Session, found []deleted.Found) (
	all []operatorapi.Deleted, err error,
) {
	listed, err := Buckets(ctx, s)
	if err != nil {
		return nil, err
	}
	for _, f := range deleted.There(found, listed) {
		bucket := f.LastPart(":")
		item := f.Item(bucket)
		obj := &metav1.ObjectMeta{Namespace: f.Namespace, Name: f.Name}
		if !slices.Contains([]string{
			s.Identity.GeneratedBucketName(obj, longest),
			s.Identity.GeneratedName(obj, longest),
		}, bucket) {
			item.Fields["bucketName"] = bucket
		}
		all = append(all, item)
	}
	return all, nil
}
