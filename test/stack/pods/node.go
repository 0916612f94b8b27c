package pods

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	coordination "k8s.io/client-go/applyconfigurations/coordination/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/portico-platform/portico/test/stack/process"
)

// Name is the name of the Node. No other Pods may run there, so it has a taint of the same name.
const Name = "portico"

// heartbeat is how often a kubelet renews its Node's Lease; the controllers tolerate some missing ones.
const heartbeat = 10 * time.Second

// Options of a node.
type Options struct {
	Clients kubernetes.Interface
	// Admin connects to the API server; processes get its address and CA.
	Admin *rest.Config
	// Dir is where folders of Pods are created.
	Dir string
	// Binary returns the path of the program that runs instead of an image.
	Binary func(image string) (string, error)
	// Unpack, if set, writes the files of an image into a folder, and returns the path of its program in it: Pods
	// then run as in a container, in their own root and as the user that they specify. That requires root.
	Unpack func(image, folder string) (program string, err error)
	// Address returns an address of this machine, in 127.245.0.0/16, that no other Pod has.
	Address func() (string, error)
	// IP and Port are where logs are served.
	IP   string
	Port int
	// Add adds a process, not yet started.
	Add func(process.Spec) *process.Process
	// Died is called when a container ended unexpectedly; it is restarted nevertheless.
	Died func(*process.DiedError)
	// Say is called with the reason why a container cannot be started yet.
	Say func(format string, args ...any)
}

// Node runs Pods.
type Node struct {
	options Options

	mu   sync.Mutex
	pods map[types.UID]*pod
	work sync.WaitGroup
}

// New returns a node without Pods.
func New(o Options) *Node { return &Node{options: o, pods: map[types.UID]*pod{}} }

// Register registers the Node in the cluster.
func (n *Node) Register(ctx context.Context) error {
	capacity := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("8"), corev1.ResourceMemory: resource.MustParse("32Gi"),
		corev1.ResourcePods: resource.MustParse("20"),
	}
	now := metav1.Now()
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: Name, Labels: map[string]string{corev1.LabelHostname: Name, corev1.LabelOSStable: "linux"}},
		Spec:       corev1.NodeSpec{Taints: []corev1.Taint{{Key: Name, Effect: corev1.TaintEffectNoSchedule}}},
		Status: corev1.NodeStatus{
			Capacity: capacity, Allocatable: capacity,
			Addresses:       []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: n.options.IP}},
			DaemonEndpoints: corev1.NodeDaemonEndpoints{KubeletEndpoint: corev1.DaemonEndpoint{Port: int32(n.options.Port)}},
			Conditions: []corev1.NodeCondition{{
				Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady",
				Message: "processes of this machine run in place of containers", LastHeartbeatTime: now,
				LastTransitionTime: now,
			}},
		},
	}
	if _, err := n.options.Clients.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("create the Node %s: %w", Name, err)
	}
	return n.beat(ctx)
}

// beat renews the Node's Lease: without it the Node's Pods are evicted after some minutes.
func (n *Node) beat(ctx context.Context) error {
	lease := coordination.Lease(Name, corev1.NamespaceNodeLease).WithSpec(coordination.LeaseSpec().
		WithHolderIdentity(Name).WithRenewTime(metav1.NowMicro()).WithLeaseDurationSeconds(
		int32(4 * heartbeat / time.Second)))
	leases := n.options.Clients.CoordinationV1().Leases(corev1.NamespaceNodeLease)
	_, err := leases.Apply(ctx, lease, metav1.ApplyOptions{FieldManager: "portico-node", Force: true})
	return err
}

// Run runs the Pods that are bound to the Node until ctx ends, and then stops them.
func (n *Node) Run(ctx context.Context) error {
	bound := informers.NewSharedInformerFactoryWithOptions(n.options.Clients, 0, informers.WithTweakListOptions(
		func(o *metav1.ListOptions) {
			o.FieldSelector = fields.OneTermEqualSelector("spec.nodeName", Name).String()
		}))
	informer := bound.Core().V1().Pods().Informer()
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { n.see(ctx, o) },
		UpdateFunc: func(_, o any) { n.see(ctx, o) },
		DeleteFunc: n.forget,
	})
	if err != nil {
		return err
	}
	bound.Start(ctx.Done())
	ticks := time.NewTicker(heartbeat)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			bound.Shutdown()
			n.work.Wait()
			return nil
		case <-ticks.C:
			if err := n.beat(ctx); err != nil && ctx.Err() == nil {
				n.options.Say("%-24s could not say that it is alive: %v", "the Node "+Name, err)
			}
		}
	}
}

// see starts a new Pod, and stops one that is being deleted.
func (n *Node) see(ctx context.Context, o any) {
	seen, ok := o.(*corev1.Pod)
	if !ok {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	p := n.pods[seen.UID]
	if p == nil {
		p = newPod(seen.DeepCopy(), n.options, filepath.Join(n.options.Dir, seen.Name))
		n.pods[seen.UID] = p
		n.work.Go(func() { p.run(ctx) })
	}
	if seen.DeletionTimestamp != nil {
		p.endWithin(*seen.DeletionGracePeriodSeconds)
	}
}

// forget stops a Pod that no longer exists.
func (n *Node) forget(o any) {
	if last, ok := o.(cache.DeletedFinalStateUnknown); ok {
		o = last.Obj
	}
	gone, ok := o.(*corev1.Pod)
	if !ok {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if p := n.pods[gone.UID]; p != nil {
		p.endWithin(0)
		delete(n.pods, gone.UID)
	}
}

// Ready returns the addresses, with the named port, of ready Pods that have these labels.
func (n *Node) Ready(labels map[string]string, port string) []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var all []string
	for _, p := range n.pods {
		if address := p.answering(labels, port); address != "" {
			all = append(all, address)
		}
	}
	slices.Sort(all)
	return all
}
