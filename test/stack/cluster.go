package stack

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/portico-platform/portico/test/stack/process"
)

// startCluster starts the control plane, or connects to the given cluster, and applies the objects.
func (s *Stack) startCluster(ctx context.Context) error {
	if !s.opts.Parts.has(ControlPlane) {
		return nil
	}
	if err := s.startAPI(ctx); err != nil {
		return err
	}
	if err := s.newNode(); err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return s.startControllers(ctx) })
	g.Go(func() error { return s.startScheduler(ctx) })
	g.Go(func() error { return s.startNodes(ctx) })
	g.Go(func() error { return s.startRealNodes(ctx) })
	g.Go(func() error { return s.startMetrics(ctx) })
	if !s.opts.Bare {
		g.Go(func() error { return s.applyWorld(ctx) })
	}
	return g.Wait()
}

func (s *Stack) startAPI(ctx context.Context) (err error) {
	if external := s.opts.ExternalKubeconfig; external != "" {
		s.AdminKubeconfig, s.Kubeconfig = external, external
		if s.Admin, err = clientcmd.BuildConfigFromFlags("", external); err != nil {
			return err
		}
		s.Admin.QPS = -1 // no client-side rate limit: it would only slow down the start
		clients, err := kubernetes.NewForConfig(s.Admin)
		if err != nil {
			return err
		}
		if _, err := clients.Discovery().ServerVersion(); err != nil {
			return fmt.Errorf("the cluster of %s does not answer: %w", external, err)
		}
		return nil
	}
	client, err := s.pki.httpClient()
	if err != nil {
		return err
	}
	if err := s.writeKubeconfigs(); err != nil {
		return err
	}
	// In parallel: kube-apiserver itself waits for etcd.
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return s.run(ctx, s.etcd(client)) })
	g.Go(func() error {
		spec := s.apiserver(client)
		if s.opts.AuditLog {
			flags, err := s.auditFlags()
			if err != nil {
				return err
			}
			spec.Args = append(spec.Args, flags...)
		}
		return s.run(ctx, spec)
	})
	return g.Wait()
}

func (s *Stack) etcd(client *http.Client) process.Spec {
	url := "https://" + s.address(s.ports.etcd)
	return process.Spec{
		Name: "etcd", Path: s.opts.bin("etcd"),
		Args: []string{
			"--name=portico", "--data-dir=" + filepath.Join(s.Dir, "etcd"),
			"--listen-client-urls=" + url, "--advertise-client-urls=" + url,
			// A member without peers can use any free port.
			"--listen-peer-urls=http://127.0.0.1:0",
			"--cert-file=" + s.pki.ServingCert, "--key-file=" + s.pki.ServingKey,
			"--client-cert-auth", "--trusted-ca-file=" + s.pki.CAFile,
			// The data need not survive a crash of the machine.
			"--unsafe-no-fsync", "--log-level=warn",
		},
		Ready: answers(client, url+"/health"),
	}
}

// ServiceAccountIssuer is the issuer of ServiceAccount tokens. It is also the audience of the API server itself.
const ServiceAccountIssuer = "https://kubernetes.default.svc"

// Ranges of addresses that are large enough for a load test, and do not overlap.
const serviceCIDR, podCIDR = "10.96.0.0/16", "10.244.0.0/16"

func (s *Stack) apiserver(client *http.Client) process.Spec {
	return process.Spec{
		Name: "kube-apiserver", Path: s.opts.bin("kube-apiserver"),
		Args: append(append(s.pki.aggregation(), s.nodeFlags()...),
			"--bind-address="+s.opts.ip(), "--advertise-address="+s.opts.ip(),
			fmt.Sprintf("--secure-port=%d", s.ports.apiserver),
			"--tls-cert-file="+s.pki.ServingCert, "--tls-private-key-file="+s.pki.ServingKey,
			"--client-ca-file="+s.pki.CAFile,
			"--etcd-servers=https://"+s.address(s.ports.etcd), "--etcd-cafile="+s.pki.CAFile,
			"--etcd-certfile="+s.pki.AdminCert, "--etcd-keyfile="+s.pki.AdminKey,
			"--service-account-issuer="+ServiceAccountIssuer, "--api-audiences="+ServiceAccountIssuer,
			"--service-account-key-file="+s.pki.ServiceAccountKey,
			"--service-account-signing-key-file="+s.pki.ServiceAccountKey,
			// The Nodes' names cannot be resolved.
			"--kubelet-preferred-address-types=InternalIP", "--kubelet-certificate-authority="+s.pki.CAFile,
			"--allow-privileged=true", "--profiling=false",
		),
		// By default, garbage collection uses a fifth of its CPU time: there is enough memory to do half as much of
		// it, or as little as the environment says.
		Env:   []string{"GOGC=" + cmp.Or(os.Getenv("GOGC"), "200")},
		Ready: answers(client, "https://"+s.address(s.ports.apiserver)+"/readyz"),
	}
}

// nodeFlags returns the API server's flags that depend on whether there are real Nodes. They have the default admission
// plugins: ServiceAccount, both admission policies.
func (s *Stack) nodeFlags() []string {
	if s.opts.RealNodes == 0 {
		return []string{
			"--service-cluster-ip-range=" + serviceCIDR, "--authorization-mode=RBAC",
			// A loopback address cannot be an endpoint of the Service "kubernetes".
			"--endpoint-reconciler-type=none",
		}
	}
	return []string{
		"--service-cluster-ip-range=" + serviceCIDR + "," + serviceCIDR6,
		"--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction",
		"--kubelet-client-certificate=" + s.pki.AdminCert, "--kubelet-client-key=" + s.pki.AdminKey,
		// A minute less until the Pods of a dead Node are replaced.
		"--default-not-ready-toleration-seconds=20", "--default-unreachable-toleration-seconds=20",
	}
}

// aggregation returns the API server's flags for authenticating to the servers of aggregated APIs and passing on the
// user.
func (p *pki) aggregation() []string {
	return []string{
		"--requestheader-client-ca-file=" + p.frontProxy.CAFile, "--requestheader-allowed-names=" + frontProxyName,
		"--requestheader-username-headers=X-Remote-User", "--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file=" + p.FrontProxyCert, "--proxy-client-key-file=" + p.FrontProxyKey,
	}
}

func (s *Stack) startControllers(ctx context.Context) error {
	if s.opts.ExternalKubeconfig != "" {
		return nil
	}
	clients, err := kubernetes.NewForConfig(s.Admin)
	if err != nil {
		return err
	}
	return s.run(ctx, process.Spec{
		Name: "kube-controller-manager", Path: s.opts.bin("kube-controller-manager"),
		Args: []string{
			"--kubeconfig=" + s.AdminKubeconfig, "--leader-elect=false", "--secure-port=0",
			"--service-account-private-key-file=" + s.pki.ServiceAccountKey, "--root-ca-file=" + s.pki.CAFile,
			"--kube-api-qps=200", "--kube-api-burst=400",
			// Shortens the wait of tests that delete a namespace.
			"--concurrent-namespace-syncs=20",
			// A quota that is older than the discovery of its kinds, as on a new cluster, is counted only at the next
			// sync.
			"--resource-quota-sync-period=10s",
			// Half of the default, for tests in which a Node dies.
			"--node-monitor-grace-period=25s",
		},
		// It serves nothing, so the probe checks its effect, which Pods need.
		Ready: func(ctx context.Context) error {
			_, err := clients.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{})
			return err
		},
	})
}

func (s *Stack) startScheduler(ctx context.Context) error {
	if !s.opts.Parts.has(Scheduler) {
		return nil
	}
	client, err := s.pki.httpClient()
	if err != nil {
		return err
	}
	return s.run(ctx, process.Spec{
		Name: "kube-scheduler", Path: s.opts.bin("kube-scheduler"),
		Args: []string{
			"--kubeconfig=" + s.AdminKubeconfig, "--leader-elect=false",
			"--bind-address=" + s.opts.ip(), fmt.Sprintf("--secure-port=%d", s.ports.scheduler),
			"--tls-cert-file=" + s.pki.ServingCert, "--tls-private-key-file=" + s.pki.ServingKey,
			"--authentication-skip-lookup",
		},
		Ready: answers(client, "https://"+s.address(s.ports.scheduler)+"/readyz"),
	})
}
