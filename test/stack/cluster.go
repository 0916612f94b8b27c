package stack

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/portico-platform/portico/test/stack/process"
)

// startCluster brings up the control plane, or connects to the one given, and
// fills it.
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
	// Together: kube-apiserver waits for etcd by itself.
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
	url := "https://" + address(s.ports.etcd)
	return process.Spec{
		Name: "etcd", Path: s.opts.bin("etcd"),
		Args: []string{
			"--name=portico", "--data-dir=" + filepath.Join(s.Dir, "etcd"),
			"--listen-client-urls=" + url, "--advertise-client-urls=" + url,
			// A member without peers: any free port.
			"--listen-peer-urls=http://127.0.0.1:0",
			"--cert-file=" + s.pki.ServingCert, "--key-file=" + s.pki.ServingKey,
			"--client-cert-auth", "--trusted-ca-file=" + s.pki.CAFile,
			// Nothing here outlives the machine.
			"--unsafe-no-fsync", "--log-level=warn",
		},
		Ready: answers(client, url+"/health"),
	}
}

// ServiceAccountIssuer issues the tokens of ServiceAccounts. It is also the audience of the API server itself.
const ServiceAccountIssuer = "https://kubernetes.default.svc"

// Ranges of addresses that suffice for a load test, and that do not overlap.
const serviceCIDR, podCIDR = "10.96.0.0/16", "10.244.0.0/16"

func (s *Stack) apiserver(client *http.Client) process.Spec {
	return process.Spec{
		Name: "kube-apiserver", Path: s.opts.bin("kube-apiserver"),
		Args: append(s.pki.aggregation(),
			"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", s.ports.apiserver),
			// Loopback is no endpoint for the Service "kubernetes".
			"--advertise-address=127.0.0.1", "--endpoint-reconciler-type=none",
			"--tls-cert-file="+s.pki.ServingCert, "--tls-private-key-file="+s.pki.ServingKey,
			"--client-ca-file="+s.pki.CAFile,
			"--etcd-servers=https://"+address(s.ports.etcd), "--etcd-cafile="+s.pki.CAFile,
			"--etcd-certfile="+s.pki.AdminCert, "--etcd-keyfile="+s.pki.AdminKey,
			"--service-account-issuer="+ServiceAccountIssuer, "--api-audiences="+ServiceAccountIssuer,
			"--service-account-key-file="+s.pki.ServiceAccountKey,
			"--service-account-signing-key-file="+s.pki.ServiceAccountKey,
			"--service-cluster-ip-range="+serviceCIDR,
			// The Nodes' names resolve to nothing.
			"--kubelet-preferred-address-types=InternalIP", "--kubelet-certificate-authority="+s.pki.CAFile,
			// Admission is the default's: ServiceAccount, both admission policies.
			"--authorization-mode=RBAC", "--allow-privileged=true", "--profiling=false",
		),
		// Garbage collection is a fifth of what its processors do by default: there is memory for half as much of it.
		Env:   []string{"GOGC=200"},
		Ready: answers(client, "https://"+address(s.ports.apiserver)+"/readyz"),
	}
}

// aggregation returns the flags by which the API server tells the servers of aggregated APIs that it asks, and for
// whom.
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
			// The lag of a test that deletes a namespace, most of all.
			"--concurrent-namespace-syncs=20",
			// A quota that is older than what the controller has discovered, as on a new cluster, is counted only then.
			"--resource-quota-sync-period=10s",
		},
		// It serves nothing, so what it does is the proof: Pods need this.
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
			"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", s.ports.scheduler),
			"--tls-cert-file=" + s.pki.ServingCert, "--tls-private-key-file=" + s.pki.ServingKey,
			"--authentication-skip-lookup",
		},
		Ready: answers(client, "https://"+address(s.ports.scheduler)+"/readyz"),
	})
}
