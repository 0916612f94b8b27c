package stack

import (
	"context"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
)

// Parts are the parts to start. Dependencies are not implied: a portal without a control plane is refused.
type Parts uint

const (
	// ControlPlane is etcd, kube-apiserver and kube-controller-manager, with Portico's CRDs, RBAC and policies, and
	// the sample objects.
	ControlPlane Parts = 1 << iota
	// Scheduler is kube-scheduler.
	Scheduler
	// Nodes is kwok and two Nodes, so that Pods become Ready.
	Nodes
	// AWS is moto behind the proxy of test/awsproxy.
	AWS
	// Dex is the identity provider with the sample users.
	Dex
	// Operator is bin/operator instead of its image, in the Pod of its Deployment.
	Operator
	// Portal is bin/portal instead of its image, in the Pod of its Deployment, behind a Service.
	Portal
	// Gateways is Gateway API with a simulator of the AWS Load Balancer Controller (see albsim), and hosted zones
	// with the grants to use them. It needs ControlPlane and AWS. An external cluster has its own.
	Gateways
	// Traffic answers requests to hostnames: load balancers listen at a port of this machine, which the URLs of
	// hostnames have. It needs Gateways and the AWS simulator.
	Traffic
	// Databases are PostgreSQL and MariaDB servers behind the simulated RDS instances, where they are installed. It
	// needs the AWS simulator.
	Databases

	// Everything is what make run starts.
	Everything = ControlPlane | Scheduler | Nodes | AWS | Dex | Operator | Portal | Gateways | Traffic |
		Databases
)

func (p Parts) has(q Parts) bool { return p&q != 0 }

// Options of a stack. Only Root and Parts are required.
type Options struct {
	// Root is the repository's root.
	Root  string
	Parts Parts
	// Dir is the run directory: logs, certificates, kubeconfigs, etcd's data. Start removes what an earlier run left
	// there, and the logs stay after Close. Empty means a new one under Root/.run that Close removes.
	Dir string
	// Ports sets ports; those left 0 are chosen among the free ones.
	Ports Ports
	// AWSEndpoint is an AWS-compatible endpoint to use instead of moto and the proxy, which are then not started.
	// AWSCredentials are the credentials for it.
	AWSEndpoint    string
	AWSCredentials Credentials
	// ExternalKubeconfig is the kubeconfig of a cluster to use instead of the stack's own, with platform
	// administrator permissions in its current context. There are no users' certificates then: UserConfig and the
	// users' contexts are absent.
	ExternalKubeconfig string
	// Bare leaves the cluster empty: neither CRDs nor anything else is applied, and there are no Gateways. The parts
	// Operator and Portal then only prepare the Node and the Service, for a test that installs them later.
	Bare bool
	// Install installs the platform instead of the manifests for an installation without Helm, before the samples.
	Install func(context.Context, *Stack) error
	// RealNodes is how many real Nodes to start in place of the simulated ones: kubelets that run containers, on
	// machines of a sandbox, in which the stack must run. Then it listens on gatewayIP.
	RealNodes int
	// Loopback makes a stack with real Nodes answer people on loopback, too, as one without does: operator and portal
	// are processes. Otherwise Dex serves HTTPS, for a portal in Pods of the Nodes, which Options may Install.
	Loopback bool
	// Doors are listeners outside of the sandbox, for the same ports: see OpenDoors.
	Doors []net.Listener
	// PortalURL is where a portal is that Install installs; empty means PORTAL_PORT.
	PortalURL string
	// Built says that everything is built.
	Built bool
	// Images is a folder of image layouts by name, as make image writes it: operator and portal run from their
	// layers, confined. Empty means from bin.
	Images string
	// Versions are folders of programs by image tag: Portico's images with such a tag run the programs in the folder.
	// Those with any other tag run from bin.
	Versions map[string]string
	// AuditLog makes kube-apiserver record the portal's requests in AuditLogPath.
	AuditLog bool
	// TimeScale scales AWS's delays, see awsproxy.Options; 0 means that everything happens at once.
	TimeScale float64
	// WorkloadIdentity makes the sample AWSProvider give Pods permissions, with EKS Pod Identity: AWS then knows the
	// cluster as ClusterName.
	WorkloadIdentity bool
	// Seed seeds the random choices of the AWS proxy; 0 means 1.
	Seed uint64
	// PortalSettings are flags of the portal by name, without dashes.
	PortalSettings map[string]string
	// Progress receives, line by line, what is built and started. Nil is silent.
	Progress io.Writer
}

// Ports are the ports that people and their tools use. Each has a variable of make run, named here.
type Ports struct {
	APIServer int // APISERVER_PORT
	Dex       int // DEX_PORT
	AWS       int // AWS_PORT: the listener for everyone except the operator
	Portal    int // PORTAL_PORT
	// LoadBalancers is the port at which hostnames answer: HOSTNAMES_PORT.
	LoadBalancers int
	// Databases are ports for databases of a stack with real Nodes.
	Databases []int
	// Registry is the port of the registry of images that real Nodes pull: REGISTRY_PORT.
	Registry int
}

// FriendlyPorts are the ports of make run.
var FriendlyPorts = Ports{APIServer: 6443, Dex: 5556, AWS: 4566, Portal: 8080, LoadBalancers: 8443, Registry: 5000}

// Credentials are static AWS credentials. The zero value means test/test, which simulators accept.
type Credentials struct{ AccessKeyID, SecretAccessKey string }

// Region is the region of the sample AWSProvider.
const Region = "eu-west-1"

// SecretAccessKey is the operator's key for the simulator's account; the simulator accepts any. Tests search for it
// where no secret may appear.
const SecretAccessKey = "planted-41bd-secret-access-key"

func (o *Options) setDefaults() error {
	root, err := filepath.Abs(o.Root)
	if err != nil {
		return err
	}
	o.Root = root
	if o.Progress == nil {
		o.Progress = io.Discard
	}
	if o.AWSCredentials == (Credentials{}) {
		o.AWSCredentials = Credentials{AccessKeyID: "test", SecretAccessKey: SecretAccessKey}
	}
	if o.ExternalKubeconfig != "" {
		o.Parts &^= Scheduler | Nodes | Gateways | Traffic
	}
	if o.Bare {
		o.Parts &^= Gateways | Traffic
	}
	if o.AWSEndpoint != "" {
		o.Parts &^= Traffic | Databases
	}
	return nil
}

// root returns the repository's files.
func (s *Stack) root() fs.FS { return os.DirFS(s.opts.Root) }

func (o *Options) bin(name string) string { return filepath.Join(o.Root, "bin", name) }
