package stack

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/portico-platform/portico/test/stack/process"
)

const nodeCount = 2

// simulated is the label of the Nodes that kwok simulates.
const simulated = "portico.dev/simulated"

// startNodes starts kwok, which simulates the kubelets, and creates the Nodes.
func (s *Stack) startNodes(ctx context.Context) error {
	if !s.opts.Parts.has(Nodes) {
		return nil
	}
	clients, err := kubernetes.NewForConfig(s.Admin)
	if err != nil {
		return err
	}
	for i := range nodeCount {
		node := simulatedNode(fmt.Sprintf("node-%d", i+1))
		if _, err := clients.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("create %s: %w", node.Name, err)
		}
	}
	logs, err := s.startPodLogs(ctx)
	if err != nil {
		return err
	}
	stages, err := s.writeStages()
	if err != nil {
		return err
	}
	if err := s.startPodEvents(ctx, clients); err != nil {
		return err
	}
	if err := s.startKubelet(ctx, clients); err != nil {
		return err
	}
	return s.run(ctx, process.Spec{
		Name: "kwok", Path: s.opts.bin("kwok"),
		Args: []string{
			"--kubeconfig=" + s.AdminKubeconfig,
			"--config=" + stages, "--config=" + logs,
			"--manage-all-nodes=false", "--manage-nodes-with-label-selector=" + simulated,
			"--node-lease-duration-seconds=40", "--cidr=" + podCIDR,
			"--node-ip=127.0.0.1", fmt.Sprintf("--node-port=%d", s.ports.kubelet),
			"--server-address=" + s.address(s.ports.kwok),
		},
		Ready: func(ctx context.Context) error { return nodesReady(ctx, clients) },
	})
}

// simulatedNode returns a Node with room for all 1000 Pods of a load test.
func simulatedNode(name string) *corev1.Node {
	capacity := corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse("128"),
		corev1.ResourceMemory: resource.MustParse("512Gi"),
		corev1.ResourcePods:   resource.MustParse("1000"),
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			corev1.LabelHostname: name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64",
			simulated: "true",
		}},
		Status: corev1.NodeStatus{Capacity: capacity, Allocatable: capacity},
	}
}

func nodesReady(ctx context.Context, clients kubernetes.Interface) error {
	nodes, err := clients.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range nodes.Items {
		if !nodeReady(&nodes.Items[i]) {
			return fmt.Errorf("%s is not ready", nodes.Items[i].Name)
		}
	}
	return nil
}

func nodeReady(node *corev1.Node) bool {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}
