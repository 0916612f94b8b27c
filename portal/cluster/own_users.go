package cluster

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/api/rds"
	"github.com/portico-platform/portico/api/v1alpha1"
)

// OwnUsers reports whether an application can have its own user in a database, and if not, why; zero values while the
// operator does not answer.
func (o *operatorPart) OwnUsers(ctx context.Context, database *unstructured.Unstructured) (
	can bool, why string, err error,
) {
	features := o.operator.Features(ctx)
	if !features.Known {
		return false, "", nil
	}
	if !slices.ContainsFunc(features.Items, func(f operatorapi.Feature) bool {
		return f.Name == operatorapi.FeatureDatabases && f.On
	}) {
		return false, "your platform team has to switch users of databases on", nil
	}
	db := &v1alpha1.RDSInstance{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(database.Object, db); err != nil {
		return false, "", fmt.Errorf("read the database: %w", err)
	}
	why = rds.NoOwnUsers(&db.Spec)
	return why == "", why, nil
}
