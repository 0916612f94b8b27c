package stack

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Parts says what to start. Dependencies are not implied: a portal without a
// control plane is refused.
type Parts uint

const (
	// ControlPlane is etcd, kube-apiserver and kube-controller-manager, with
	// our CRDs, RBAC, policies and the sample world applied.
	ControlPlane Parts = 1 << iota
	// Scheduler is kube-scheduler.
	Scheduler
	// Nodes is kwok and two Nodes, so that Pods become Ready.
	Nodes
	// AWS is moto behind the proxy of test/awsproxy.
	AWS
	// Dex is the identity provider with the sample users.
	Dex
	// Operator is bin/operator in place of its image, in the Pod of its Deployment.
	Operator
	// Portal is bin/portal in place of its image, in the Pod of its Deployment, at a Service.
	Portal
	// Gateways is Gateway API with a simulator of the AWS Load Balancer
	// Controller (see albsim), and hosted zones with the grants to use them. It
	// needs ControlPlane and AWS. A cluster of others brings its own.
	Gateways

	// Everything is what make run starts.
	Everything = ControlPlane | Scheduler | Nodes | AWS | Dex | Operator | Portal | Gateways
)

func (p Parts) has(q Parts) bool { return p&q != 0 }

// Options of a stack. Only Root and Parts are needed.
type Options struct {
	// Root is the repository.
	Root  string
	Parts Parts
	// Dir is the run directory: logs, certificates, kubeconfigs, etcd's data.
	// What an earlier run left there is removed at the start, and the logs stay
	// after Close. Empty means a fresh one under Root/.run that Close removes.
	Dir string
	// Ports fixes ports; those left 0 are chosen among the free ones.
	Ports Ports
	// AWSEndpoint is an AWS-compatible endpoint to use in place of moto and the
	// proxy, which are then not started. AWSCredentials are those for it.
	AWSEndpoint    string
	AWSCredentials Credentials
	// ExternalKubeconfig is the kubeconfig of a cluster to use in place of ours,
	// with the rights of a platform admin in its current context. There are
	// no users' certificates then: UserConfig and the users' contexts are absent.
	ExternalKubeconfig string
	// Bare leaves the cluster empty: neither CRDs nor anything else is applied, and there are no Gateways. Operator and
	// Portal are then room for them, for somebody who installs them later.
	Bare bool
	// Install installs the platform in place of what an installation without Helm applies, before the samples.
	Install func(context.Context, *Stack) error
	// Images is a folder of image layouts by name, as make image writes it: operator and portal run out of their
	// layers, confined. Empty means from bin.
	Images string
	// Versions are folders of binaries by the tag of images: what runs in place of images of ours with such a tag.
	// Those with any other run from bin.
	Versions map[string]string
	// AuditLog has kube-apiserver write to AuditLogPath what the portal asks of it.
	AuditLog bool
	// TimeScale stretches how long AWS takes, as awsproxy.Options says; 0 means that everything is at once.
	TimeScale float64
	// WorkloadIdentity has the sample AWSProvider give Pods rights, by EKS Pod Identity: AWS then knows the cluster as
	// ClusterName.
	WorkloadIdentity bool
	// Seed of the lots that AWS draws; 0 means 1.
	Seed uint64
	// PortalSettings are flags of the portal by name, without dashes.
	PortalSettings map[string]string
	// Progress is told, line by line, what is built and started. Nil is silent.
	Progress io.Writer
}

// Ports of what people and their tools talk to. Each has a variable of make run
// by the name given here.
type Ports struct {
	APIServer int // APISERVER_PORT
	Dex       int // DEX_PORT
	AWS       int // AWS_PORT: the listener for everyone but the operator
	Portal    int // PORTAL_PORT
}

// FriendlyPorts are those of make run.
var FriendlyPorts = Ports{APIServer: 6443, Dex: 5556, AWS: 4566, Portal: 8080}

// Credentials are static AWS credentials. The zero value means test/test, which
// simulators take.
type Credentials struct{ AccessKeyID, SecretAccessKey string }

// Region is the sample AWSProvider's.
const Region = "eu-west-1"

// SecretAccessKey is the one of the simulator's account in the operator's hands; the simulator takes any. Tests look
// for it where no secret may be.
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
		o.Parts &^= Scheduler | Nodes | Gateways
	}
	if o.Bare {
		o.Parts &^= Gateways
	}
	return nil
}

// root returns the repository's files.
func (s *Stack) root() fs.FS { return os.DirFS(s.opts.Root) }

func (o *Options) bin(name string) string { return filepath.Join(o.Root, "bin", name) }
