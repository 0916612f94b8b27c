package stack

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// awaitAdmission waits until Portico's admission policies are in force, which is seconds after they were applied: the
// API server learns of policies and of the schemas that they patch by polling, and until then either refuses
// Portico's kinds (503) or admits them without the policies' patches. The probe is a dry run and leaves nothing.
func (s *Stack) awaitAdmission(ctx context.Context) error {
	probe := &unstructured.Unstructured{Object: object{
		"apiVersion": v1alpha1.GroupVersion.String(), "kind": "S3Bucket",
		"metadata": object{"generateName": "admission-probe-"},
		"spec":     object{"providerRef": object{"name": Provider}},
	}}
	err := s.awaitDryRun(ctx, s.Admin, bucketResource, metav1.NamespaceDefault, probe,
		func(made *unstructured.Unstructured, err error) (bool, error) {
			if apierrors.IsServiceUnavailable(err) {
				return false, nil
			}
			return err == nil && made.GetAnnotations()[v1alpha1.AnnotationRequestedBy] != "", err
		})
	if err != nil {
		return fmt.Errorf("wait until the admission policies are in force: %w", err)
	}
	operator, err := s.ServiceAccountConfig(ctx, Namespace, "portico-operator")
	if err != nil {
		return err
	}
	for _, p := range []struct {
		as        *rest.Config
		resource  schema.GroupVersionResource
		namespace string
		probe     object
		says      string
	}{
		{s.Admin, bucketResource, metav1.NamespaceSystem, probe.Object, "nothing can be requested in kube-system"},
		{operator, corev1.SchemeGroupVersion.WithResource("serviceaccounts"), metav1.NamespaceSystem, accountProbe, "a namespace of the system"},
		{operator, appsv1.SchemeGroupVersion.WithResource("deployments"), metav1.NamespaceDefault, podProbe, "no token of it"},
	} {
		if err := s.awaitRefusal(ctx, p.as, p.resource, p.namespace, &unstructured.Unstructured{Object: p.probe},
			p.says); err != nil {
			return err
		}
	}
	return nil
}

var bucketResource = v1alpha1.GroupVersion.WithResource("s3buckets")

// Probes that the policies on the operator refuse, each for a field that only one policy checks.
var (
	accountProbe = object{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": object{"name": "admission-probe"}}
	podProbe     = object{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": object{
			"name": "admission-probe", "labels": object{"app.kubernetes.io/managed-by": "portico"},
			"ownerReferences": []any{object{
				"apiVersion": v1alpha1.GroupVersion.String(), "kind": "WebApp", "name": "admission-probe",
				"uid": "admission-probe", "controller": true,
			}},
		},
		"spec": object{
			"selector": object{"matchLabels": object{"a": "b"}},
			"template": object{"metadata": object{"labels": object{"a": "b"}}, "spec": object{"containers": []any{object{"name": "app", "image": "app"}}}},
		},
	}
)

// awaitRefusal creates the probe, as a dry run, until a policy refuses it with the given message.
func (s *Stack) awaitRefusal(ctx context.Context, as *rest.Config, resource schema.GroupVersionResource,
	namespace string,
	probe *unstructured.Unstructured, says string,
) error {
	var last error
	err := s.awaitDryRun(ctx, as, resource, namespace, probe, func(_ *unstructured.Unstructured, err error) (
		bool, error,
	) {
		last = err
		return err != nil && strings.Contains(err.Error(), says), nil
	})
	if err != nil {
		return fmt.Errorf("wait until a policy says %q: %w", says, errors.Join(err, last))
	}
	return nil
}

// awaitRoutes waits until the policy on the hostnames of routes is in force: at first the API server admits all
// routes, and then refuses all until it has found the kind of the grants. The probe is a route that no grant allows.
func (s *Stack) awaitRoutes(ctx context.Context) error {
	probe := &unstructured.Unstructured{Object: object{
		"apiVersion": gatewayv1.GroupVersion.String(), "kind": "HTTPRoute",
		"metadata": object{"generateName": "admission-probe-"},
		"spec":     object{"hostnames": []any{"admission-probe.invalid"}},
	}}
	routes := schema.GroupVersion(gatewayv1.GroupVersion).WithResource("httproutes")
	return s.awaitRefusal(ctx, s.Admin, routes, grantedNamespaces[0], probe, "does not allow admission-probe.invalid")
}

// awaitDryRun creates the probe, as a dry run, until the result is as wanted.
func (s *Stack) awaitDryRun(ctx context.Context, as *rest.Config, resource schema.GroupVersionResource,
	namespace string,
	probe *unstructured.Unstructured, done func(*unstructured.Unstructured, error) (bool, error),
) error {
	client, err := dynamic.NewForConfig(as)
	if err != nil {
		return err
	}
	return wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, establishTimeout, true,
		func(ctx context.Context) (bool, error) {
			made, err := client.Resource(resource).Namespace(namespace).Create(
				ctx, probe, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			return done(made, err)
		})
}
