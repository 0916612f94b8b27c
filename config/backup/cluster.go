package backup

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

type object = unstructured.Unstructured

// Cluster is the one that is saved, or restored into.
type Cluster struct {
	objects dynamic.Interface
	system  string // the namespace of operator and portal
}

// New prepares a Cluster; it sends nothing yet.
func New(cfg *rest.Config, systemNamespace string) (*Cluster, error) {
	own := rest.CopyConfig(cfg)
	own.QPS = -1 // the API server has fair queues
	objects, err := dynamic.NewForConfig(own)
	if err != nil {
		return nil, fmt.Errorf("prepare access to the cluster: %w", err)
	}
	return &Cluster{objects: objects, system: cmp.Or(systemNamespace, "portico-system")}, nil
}

const operator = "portico-operator"

var (
	namespaces  = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
)

// deployment returns the operator's Deployment; nil if there is none.
func (c *Cluster) deployment(ctx context.Context) (*object, error) {
	found, err := c.objects.Resource(deployments).Namespace(c.system).Get(ctx, operator, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // there is none
	}
	if err != nil {
		return nil, fmt.Errorf("read the Deployment %s/%s: %w", c.system, operator, err)
	}
	return found, nil
}

// id returns the cluster's ID in ownership tags: the operator's --cluster-id, else the UID of kube-system.
func (c *Cluster) id(ctx context.Context) (string, error) {
	found, err := c.deployment(ctx)
	if err != nil {
		return "", err
	}
	if found != nil {
		containers, _, _ := unstructured.NestedSlice(found.Object, "spec", "template", "spec", "containers")
		for _, one := range containers {
			container, _ := one.(map[string]any)
			args, _, _ := unstructured.NestedStringSlice(container, "args")
			for _, arg := range args {
				if id, ok := strings.CutPrefix(strings.TrimLeft(arg, "-"), "cluster-id="); ok && id != "" {
					return id, nil
				}
			}
		}
	}
	system, err := c.objects.Resource(namespaces).Get(ctx, metav1.NamespaceSystem, metav1.GetOptions{})
	if err != nil {
		return "", fmt.Errorf("read the cluster ID, which is the UID of the namespace %s: %w", metav1.NamespaceSystem,
			err)
	}
	return string(system.GetUID()), nil
}
