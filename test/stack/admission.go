package stack

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// awaitAdmission waits until our admission policies are in force, which is seconds after they were applied: the API
// server learns of policies and of the schemas that they patch by polling, and until then either refuses our kinds
// (503) or lets them pass unmarked. A dry run shows it and leaves nothing.
func (s *Stack) awaitAdmission(ctx context.Context) error {
	probe := &unstructured.Unstructured{Object: object{
		"apiVersion": v1alpha1.GroupVersion.String(), "kind": "S3Bucket",
		"metadata": object{"generateName": "admission-probe-"},
		"spec":     object{"providerRef": object{"name": Provider}},
	}}
	err := s.awaitDryRun(ctx, v1alpha1.GroupVersion.WithResource("s3buckets"), metav1.NamespaceDefault, probe, func(made *unstructured.Unstructured, err error) (bool, error) {
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

// awaitRoutes waits until the policy on the hostnames of routes is in force: at first the API server lets all pass, and
// then refuses all until it has found the kind of the grants. The probe is what no grant allows.
func (s *Stack) awaitRoutes(ctx context.Context) error {
	var last error
	probe := &unstructured.Unstructured{Object: object{
		"apiVersion": gatewayv1.GroupVersion.String(), "kind": "HTTPRoute", "metadata": object{"generateName": "admission-probe-"},
		"spec": object{"hostnames": []any{"admission-probe.invalid"}},
	}}
	routes := schema.GroupVersion(gatewayv1.GroupVersion).WithResource("httproutes")
	err := s.awaitDryRun(ctx, routes, grantedNamespaces[0], probe, func(_ *unstructured.Unstructured, err error) (bool, error) {
		last = err
		return err != nil && strings.Contains(err.Error(), "does not allow admission-probe.invalid"), nil
	})
	if err != nil {
		return fmt.Errorf("wait until the hostnames of routes are judged: %w", errors.Join(err, last))
	}
	return nil
}

// awaitDryRun creates the probe, which leaves nothing, until the answer is as wanted.
func (s *Stack) awaitDryRun(ctx context.Context, resource schema.GroupVersionResource, namespace string,
	probe *unstructured.Unstructured, done func(*unstructured.Unstructured, error) (bool, error),
) error {
	client, err := dynamic.NewForConfig(s.Admin)
	if err != nil {
		return err
	}
	return wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, establishTimeout, true, func(ctx context.Context) (bool, error) {
		made, err := client.Resource(resource).Namespace(namespace).Create(ctx, probe, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return done(made, err)
	})
}
