package build

const nodeModules = "test/node"

// The parts of a real Node, and what a cluster of them needs.
var (
	kubelet   = kubernetes("kubelet", "k8s.io/kubernetes/cmd/kubelet", nil)
	kubeProxy = kubernetes("kube-proxy", "k8s.io/kubernetes/cmd/kube-proxy", nil)
	// Without the drivers of file systems that are not used. Its module has the network plugins, too.
	containerd     = ofContainerd("containerd", "github.com/containerd/containerd/v2/cmd/containerd")
	containerdShim = ofContainerd(
		"containerd-shim-runc-v2",
		"github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2",
	)
	cniPair      = ofContainerd("ptp", "github.com/containernetworking/plugins/plugins/main/ptp")
	cniLoopback  = ofContainerd("loopback", "github.com/containernetworking/plugins/plugins/main/loopback")
	cniAddresses = ofContainerd("host-local", "github.com/containernetworking/plugins/plugins/ipam/host-local")
	runc         = withC(external("runc", program{
		module: nodeModules + "/runc", pkg: "github.com/opencontainers/runc", tags: "seccomp",
	}))
	kubeRouter = external("kube-router", program{
		module: nodeModules + "/kube-router", pkg: "github.com/cloudnativelabs/kube-router/v2/cmd/kube-router",
	})
	metricsServer = external("metrics-server", program{
		module: nodeModules + "/metrics-server", pkg: "sigs.k8s.io/metrics-server/cmd/metrics-server",
	})
	coreDNS = withInputs(
		external("coredns", program{
			module: nodeModules + "/coredns", pkg: "github.com/portico-platform/portico/test/node/coredns",
		}),
		nodeModules+"/coredns/main.go",
	)
	nodeApp = own("node-app", "./test/node/app")
	notes   = own("notes", "./examples/notes")
)

func ofContainerd(name, pkg string) Target {
	return external(name, program{
		module: nodeModules + "/containerd", pkg: pkg, tags: "no_btrfs,no_devmapper,no_zfs",
		ldflags: plainStamps + " -X github.com/containerd/containerd/v2/version.Version=v2.4.2",
	})
}

// withC lets a program have parts in C.
func withC(t Target) Target {
	t.program.cgo = true
	t.needs = append(t.needs, needsC, needsSeccomp)
	return t
}

func withInputs(t Target, files ...string) Target {
	t.inputs = append(t.inputs, files...)
	return t
}

func nodeTargets() []Target {
	return []Target{
		Etcd,
		APIServer,
		ControllerManager,
		Scheduler,
		Kubectl,
		Dex,
		AWS,
		CLI,
		helm,
		kubelet,
		kubeProxy,
		containerd,
		containerdShim,
		cniPair,
		cniLoopback,
		cniAddresses,
		runc,
		kubeRouter,
		metricsServer,
		coreDNS,
		nodeApp,
		notes,
	}
}
