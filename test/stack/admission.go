package stack

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// awaitAdmission waits until our admission policies are in force, which is seconds after they were applied: the API
// server learns of policies and of the schemas that they patch by polling, and until then either refuses our kinds
// (503) or lets them pass unmarked. A dry run shows it and leaves nothing.
func (s *Stack) awaitAdmission(ctx context.Context) error {
	client, err := dynamic.NewForConfig(s.Admin)
	if err != nil {
		return err
	}
	probe := &unstructured.Unstructured{Object: object{
		"apiVersion": v1alpha1.GroupVersion.String(), "kind": "S3Bucket",
		"metadata": object{"generateName": "admission-probe-"},
		"spec":     object{"providerRef": object{"name": Provider}},
	}}
	buckets := client.Resource(v1alpha1.GroupVersion.WithResource("s3buckets")).Namespace(metav1.NamespaceDefault)
	err = wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, establishTimeout, true, func(ctx context.Context) (bool, error) {
		made, err := buckets.Create(ctx, probe, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if apierrors.IsServiceUnavailable(err) {
			return false, nil
		}
		return err == nil && made.GetAnnotations()[v1alpha1.AnnotationRequestedBy] != "", err
	})
	if err != nil {
		return fmt.Errorf("wait until the admission policies are in force: %w", err)
	}
	return nil
}
