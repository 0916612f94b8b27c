// Package kubenode runs a Node of Kubernetes with everything that a real one has: containerd and runc, kubelet,
// kube-proxy, and kube-router, which enforces network policies. Each runs on a machine of a sandbox.
package kubenode

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/portico-platform/portico/test/stack/process"
	"github.com/portico-platform/portico/test/stack/sandbox"
)

// Manifests has dns.yaml: what a cluster needs whose Nodes are of this package. Its image is coredns:1 of a registry.
//
//go:embed dns.yaml
var Manifests embed.FS

// Options describe a Node.
type Options struct {
	Machine *sandbox.Machine
	// Address and Address6 are the machine's.
	Address, Address6 string
	// Pods and Pods6 are the networks of its Pods, Services those of the cluster's Services.
	Pods, Pods6 string
	Services    []string
	// ClusterPods is the network with the Pods of all Nodes.
	ClusterPods string
	// DNS is the address of the cluster's DNS Service.
	DNS string
	// Bin returns the path of a program.
	Bin func(name string) string
	// Files are the certificates and kubeconfigs of its parts.
	Files Files
	// Registries are the hosts in the names of images, and RegistryURL is where all are.
	Registries  []string
	RegistryURL string
	// Pause is the image that holds the namespaces of a Pod.
	Pause string
	// Ready returns nil once the API server has the Node as Ready.
	Ready func(context.Context) error
	// Run starts a process and waits until it is ready.
	Run func(context.Context, process.Spec) error
	// Died is called when a process ends by itself.
	Died func(*process.DiedError)
}

// Files are paths.
type Files struct {
	CA, ServingCert, ServingKey string
	// Kubeconfigs of a kubelet, of kube-proxy, and of kube-router.
	Kubelet, Proxy, Router string
}

// Node is a running one.
type Node struct {
	Name string
	o    Options
	dead atomic.Bool
}

// Start starts the parts of a Node, and waits until it is Ready.
func Start(ctx context.Context, o Options) (*Node, error) {
	n := &Node{Name: o.Machine.Name, o: o}
	if err := n.configure(); err != nil {
		return nil, err
	}
	for _, spec := range []process.Spec{n.containerd(), n.kubelet(), n.proxy(), n.router()} {
		if err := n.run(ctx, spec); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// Kill ends everything on the Node at once, as a power failure does.
func (n *Node) Kill() error {
	n.dead.Store(true)
	return n.o.Machine.Kill()
}

// run starts a program on the machine.
func (n *Node) run(ctx context.Context, spec process.Spec) error {
	spec.Path, spec.Args = n.o.Machine.Inside("env", append([]string{
		"PATH=" + filepath.Dir(n.o.Bin("containerd")) + ":" + os.Getenv("PATH"), spec.Path,
	}, spec.Args...)...)
	spec.Name = n.Name + "-" + spec.Name
	spec.Died = func(e *process.DiedError) {
		if !n.dead.Load() {
			n.o.Died(e)
		}
	}
	return n.o.Run(ctx, spec)
}

func (n *Node) path(name string) string { return filepath.Join(n.o.Machine.Folder, name) }

// configure writes the configuration of every part.
func (n *Node) configure() error {
	var errs []error
	for _, folder := range []string{"cni", "kubelet", "tools"} {
		errs = append(errs, os.MkdirAll(n.path(folder), 0o755))
	}
	for name, text := range map[string]string{
		"containerd.toml": n.containerdConfig(), "kubelet.yaml": n.kubeletConfig(), "proxy.yaml": n.proxyConfig(),
		"cni/10-pods.conflist": n.networkConfig(),
	} {
		errs = append(errs, os.WriteFile(n.path(name), []byte(text), 0o600))
	}
	for _, host := range n.o.Registries {
		folder := n.path(filepath.Join("certs.d", host))
		text := fmt.Sprintf("server = %q\n", n.o.RegistryURL)
		errs = append(errs, os.MkdirAll(folder, 0o755),
			os.WriteFile(filepath.Join(folder, "hosts.toml"), []byte(text), 0o600))
	}
	for name, script := range map[string]string{"ipset": saveNothing, "ip6tables-restore": prefixSets} {
		errs = append(errs, os.WriteFile(n.path("tools/"+name), []byte(script), 0o700))
	}
	return errors.Join(errs...)
}

const socket = "/run/containerd/containerd.sock"

func (n *Node) containerd() process.Spec {
	return process.Spec{
		Name: "containerd", Path: n.o.Bin("containerd"), Args: []string{"--config", n.path("containerd.toml")},
		Ready: func(ctx context.Context) error {
			path, args := n.o.Machine.Inside("test", "-S", socket)
			return sandbox.Command(ctx, path, args...)
		},
	}
}

func (n *Node) containerdConfig() string {
	return fmt.Sprintf(`version = 3
root = %[1]q
state = "/run/containerd"
oom_score = -900
[grpc]
  address = %[2]q
[plugins."io.containerd.cri.v1.images"]
  snapshotter = "overlayfs"
  [plugins."io.containerd.cri.v1.images".pinned_images]
    sandbox = %[3]q
  [plugins."io.containerd.cri.v1.images".registry]
    config_path = %[4]q
[plugins."io.containerd.cri.v1.runtime"]
  # A container may lack the right to lower it.
  restrict_oom_score_adj = true
  [plugins."io.containerd.cri.v1.runtime".containerd]
    default_runtime_name = "runc"
    [plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc.options]
        BinaryName = %[5]q
        SystemdCgroup = false
  [plugins."io.containerd.cri.v1.runtime".cni]
    bin_dirs = [%[6]q]
    conf_dir = %[7]q
`, n.path("containerd"), socket, n.o.Pause, n.path("certs.d"), n.o.Bin("runc"), filepath.Dir(n.o.Bin("ptp")),
		n.path("cni"))
}

// networkConfig connects each Pod to the machine alone, with an address of each family.
func (n *Node) networkConfig() string {
	return fmt.Sprintf(`{"cniVersion": "1.0.0", "name": "pods", "plugins": [{
  "type": "ptp", "ipMasq": false,
  "ipam": {"type": "host-local", "dataDir": "/run/cni",
    "ranges": [[{"subnet": %q}], [{"subnet": %q}]], "routes": [{"dst": "0.0.0.0/0"}, {"dst": "::/0"}]}
}]}`, n.o.Pods, n.o.Pods6)
}

func (n *Node) kubelet() process.Spec {
	return process.Spec{
		Name: "kubelet", Path: n.o.Bin("kubelet"),
		Args: []string{
			"--config=" + n.path("kubelet.yaml"), "--kubeconfig=" + n.o.Files.Kubelet, "--hostname-override=" + n.Name,
			"--node-ip=" + n.o.Address + "," + n.o.Address6, "--root-dir=" + n.path("kubelet"), "--v=2",
		},
		Ready: n.o.Ready, // kube-router ends if the Node has no addresses
	}
}

func (n *Node) kubeletConfig() string {
	return fmt.Sprintf(`apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
failCgroupV1: false
failSwapOn: false
cgroupRoot: /%s
cgroupDriver: cgroupfs
containerRuntimeEndpoint: unix://%s
clusterDNS: [%s]
clusterDomain: cluster.local
resolvConf: %s
authentication: {anonymous: {enabled: false}, webhook: {enabled: true}, x509: {clientCAFile: %s}}
authorization: {mode: Webhook}
tlsCertFile: %s
tlsPrivateKeyFile: %s
address: "::"
readOnlyPort: 0
# The disk is the whole machine's.
evictionHard: {memory.available: 100Mi, nodefs.available: 100Mi, imagefs.available: 100Mi, nodefs.inodesFree: 1%%}
maxPods: 60
serializeImagePulls: false
podLogsDir: /var/log/pods
# Less than the defaults of a minute, for tests that wait for Secrets that change and volumes that are full.
syncFrequency: 15s
volumeStatsAggPeriod: 5s
`, n.o.Machine.Cgroup, socket, n.o.DNS, sandbox.Resolver(), n.o.Files.CA,
		n.o.Files.ServingCert, n.o.Files.ServingKey)
}

func (n *Node) proxy() process.Spec {
	return process.Spec{
		Name: "kube-proxy", Path: n.o.Bin("kube-proxy"), Args: []string{"--config=" + n.path("proxy.yaml")},
	}
}

// proxyConfig sets no limits of connections: they are the whole machine's.
func (n *Node) proxyConfig() string {
	return fmt.Sprintf(`apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: iptables
clientConnection: {kubeconfig: %s}
clusterCIDR: %s
hostnameOverride: %s
conntrack: {maxPerCore: 0, min: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s}
`, n.o.Files.Proxy, n.o.ClusterPods, n.Name)
}

// What kube-router finds in front of its PATH, because version 2.1.0 mixes up the two families of addresses.
const (
	// saveNothing lets it restore the sets that it has just filled, not those of the other family as they were before.
	saveNothing = `#!/bin/sh
PATH="${PATH#*:}"
[ "$1" = save ] || exec ipset "$@"
`
	// prefixSets gives the sets in the rules for IPv6 the names that they have, and lets Pods find their neighbours:
	// without that they reach nobody.
	prefixSets = `#!/bin/sh
PATH="${PATH#*:}"
sed -E -e 's/--match-set KUBE-/--match-set inet6:KUBE-/g' -e 's/^-I (KUBE-POD-FW-[A-Z0-9]+) .*rule for stateful firewall.*$/'\
'&\n-I \1 1 -p ipv6-icmp --icmpv6-type neighbour-solicitation -j ACCEPT\n'\
'-I \1 1 -p ipv6-icmp --icmpv6-type neighbour-advertisement -j ACCEPT/' | ip6tables-restore "$@"
`
)

// router enforces network policies, and nothing else.
func (n *Node) router() process.Spec {
	return process.Spec{Name: "kube-router", Path: "env", Args: []string{
		`PATH=` + n.path("tools") + ":" + os.Getenv("PATH"), n.o.Bin("kube-router"),
		"--run-router=false", "--run-service-proxy=false", "--run-loadbalancer=false", "--run-firewall=true",
		"--enable-ipv4=true", "--enable-ipv6=true", "--kubeconfig=" + n.o.Files.Router, "--hostname-override=" + n.Name,
		"--service-cluster-ip-range=" + strings.Join(n.o.Services, ","),
	}}
}

// Inside returns the program and the arguments that run a program on the Node's machine.
func (n *Node) Inside(path string, args ...string) (string, []string) {
	return n.o.Machine.Inside(path, args...)
}

// Command runs a program on the Node's machine.
func (n *Node) Command(ctx context.Context, path string, args ...string) error {
	program, args := n.Inside(path, args...)
	return sandbox.Command(ctx, program, args...)
}
