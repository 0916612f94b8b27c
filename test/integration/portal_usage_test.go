//go:build integration

package integration

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/portal/cluster/pods"
	"github.com/portico-platform/portico/test/stack"
)

// TestWhoSeesWhatPodsUse reads the usage of Pods with the portal's client, which acts as the user.
func TestWhoSeesWhatPodsUse(t *testing.T) {
	c, _ := newCluster(t, slog.New(slog.DiscardHandler))
	name := unique("measured")
	pod := podOfApp(t, name, true)
	app := shopNamed(name)
	var running []*corev1.Pod
	var usage map[string]pods.Usage
	await(t, "the Pod's usage", func() (bool, string) {
		var err error
		if running, err = c.Pods.List(t.Context(), payer, app); err == nil {
			usage, err = c.Pods.Usage(t.Context(), payer, app, running)
		}
		return err == nil && len(usage) == 1, fmt.Sprintf("%d Pods, %v, %v", len(running), usage, err)
	})
	if u := usage[pod.Name]; u.CPU.MilliValue() <= 0 || u.Memory.Value() < 1<<20 {
		t.Errorf("it uses %+v", u)
	}
	if _, err := c.Pods.Usage(t.Context(), searcher, app, running); !isForbidden(err) ||
		!strings.Contains(err.Error(), "pods.metrics.k8s.io") {
		t.Errorf("another team sees it: %v", err)
	}
}

// TestAClusterWithoutMetricsServer checks that a missing metrics API is reported as ErrNoMetrics.
func TestAClusterWithoutMetricsServer(t *testing.T) {
	c, _ := newCluster(t, slog.New(slog.DiscardHandler))
	name := unique("unmeasured")
	podOfApp(t, name, true)
	app := shopNamed(name)
	service := world.MetricsObjects()[1]
	kube := admin(t)
	if err := kube.Delete(t.Context(), service.DeepCopy()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // the test's own context is cancelled
		if err := stack.ApplyObjects(context.Background(), world.Admin, service); err != nil {
			t.Error(err)
		}
		list := &unstructured.UnstructuredList{
			Object: map[string]any{"apiVersion": "metrics.k8s.io/v1beta1", "kind": "PodMetricsList"},
		}
		await(t, "the metrics API to be served again", func() (bool, string) {
			err := kube.List(context.Background(), list, client.InNamespace("payments"))
			return err == nil, fmt.Sprint(err)
		})
	})
	await(t, "the API server to know of it", func() (bool, string) {
		running, err := c.Pods.List(t.Context(), payer, app)
		if err == nil {
			_, err = c.Pods.Usage(t.Context(), payer, app, running)
		}
		return errors.Is(err, pods.ErrNoMetrics), fmt.Sprintf("%d Pods, %v", len(running), err)
	})
}
