package stack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/registry"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/portico-platform/portico/test/stack/kubenode"
	"github.com/portico-platform/portico/test/stack/process"
	"github.com/portico-platform/portico/test/stack/sandbox"
)

// startNetwork makes the bridge of the real Nodes, with a DNS server for the Hosts and a registry.
func (s *Stack) startNetwork(ctx context.Context) error {
	if s.opts.RealNodes == 0 {
		return nil
	}
	if sandbox.Folder == "" {
		return fmt.Errorf("real Nodes run in a sandbox: %w", sandbox.Missing())
	}
	if err := sandbox.Shell(ctx,
		"ip link set lo up", "ip link add "+bridge+" type bridge", "ip link set "+bridge+" up",
		"ip address add "+gatewayIP+"/24 dev "+bridge, "ip address add "+gatewayIP6+"/64 dev "+bridge+" nodad",
		"sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1",
	); err != nil {
		return err
	}
	if err := s.openDoors(ctx); err != nil {
		return err
	}
	images := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	if _, err := s.serve(ctx, "the registry", s.ports.registry, images, nil); err != nil {
		return err
	}
	return errors.Join(s.pushNodeImages(ctx), s.startDNS(ctx))
}

// startDNS starts a server for the Hosts.
func (s *Stack) startDNS(ctx context.Context) error {
	config := filepath.Join(s.Dir, "Corefile")
	text := fmt.Sprintf(`. {
  bind %[1]s
  errors
  health 127.0.0.53:8080
  hosts {
    %[1]s %[2]s
    %[3]s %[4]s
    fallthrough
  }
  template IN ANY {
    rcode NXDOMAIN
  }
}
`, gatewayIP, strings.Join([]string{RegistryHost, LoginHost, AWSHost, DatabaseHost}, " "), nodeIP(1), PortalHost)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return err
	}
	return s.run(ctx, process.Spec{
		Name: "dns", Path: s.opts.bin("coredns"), Args: []string{"-conf", config},
		Ready: answers(plain, "http://127.0.0.53:8080/health"),
	})
}

// startRealNodes starts the Nodes and what they need.
func (s *Stack) startRealNodes(ctx context.Context) error {
	if s.opts.RealNodes == 0 {
		return nil
	}
	clients, err := kubernetes.NewForConfig(s.Admin)
	if err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	for i := range s.opts.RealNodes {
		g.Go(func() error { return s.startRealNode(ctx, clients, i+1) })
	}
	g.Go(func() error {
		objects, err := ReadObjects(kubenode.Manifests, "dns.yaml")
		if err != nil {
			return err
		}
		return ApplyObjects(ctx, s.Admin, objects...)
	})
	g.Go(func() error { return s.startUsage(ctx) })
	g.Go(func() error { return s.applyPodIdentity(ctx) })
	if s.node != nil { // its Pods are processes, of which kubectl logs shows the output, too
		g.Go(func() error { return s.startKubelet(ctx, clients) })
	}
	return g.Wait()
}

func (s *Stack) startRealNode(ctx context.Context, clients kubernetes.Interface, number int) error {
	name := NodeName(number)
	machine, err := sandbox.NewMachine(ctx, name, sandbox.Link{
		Bridge:    bridge,
		Addresses: []string{nodeIP(number) + "/24", nodeIP6(number) + "/64"},
		Gateways:  []string{gatewayIP, gatewayIP6},
	})
	if err != nil {
		return err
	}
	if err := s.route(ctx, machine, number); err != nil {
		return err
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.NodeSpec{
		PodCIDR: podsOn(number), PodCIDRs: []string{podsOn(number), podsOn6(number)},
	}}
	if _, err := clients.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("create %s: %w", name, err)
	}
	files, err := s.nodeFiles(name)
	if err != nil {
		return err
	}
	started, err := kubenode.Start(ctx, kubenode.Options{
		Machine: machine, Address: nodeIP(number), Address6: nodeIP6(number),
		Pods: podsOn(number), Pods6: podsOn6(number), ClusterPods: podCIDR + "," + podCIDR6,
		Services: []string{serviceCIDR, serviceCIDR6}, DNS: clusterDNS,
		Bin: s.opts.bin, Files: files, Registries: []string{RegistryHost, ExampleRegistry},
		RegistryURL: "http://" + s.address(s.ports.registry),
		Ready: func(ctx context.Context) error {
			got, err := clients.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
			if err == nil && !nodeReady(got) {
				err = fmt.Errorf("%s is not ready", name)
			}
			return err
		},
		Pause: PauseImage, Run: s.run, Died: func(e *process.DiedError) { s.fail(e) },
	})
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.RealNodes = append(s.RealNodes, started)
	s.mu.Unlock()
	return nil
}

// route sends the traffic for the Pods of each Node there, from the stack and from the other Nodes, and from the stack
// that for Services to the first Node.
func (s *Stack) route(ctx context.Context, machine *sandbox.Machine, number int) error {
	commands := []string{
		"ip route add " + podsOn(number) + " via " + nodeIP(number),
		"ip route add " + podsOn6(number) + " via " + nodeIP6(number),
	}
	if number == 1 {
		commands = append(
			commands,
			"ip route add "+serviceCIDR+" via "+nodeIP(1),
			"ip route add "+serviceCIDR6+" via "+nodeIP6(1),
		)
	}
	if err := sandbox.Shell(ctx, commands...); err != nil {
		return err
	}
	for other := range s.opts.RealNodes {
		if other+1 == number {
			continue
		}
		there := other + 1
		for network, via := range map[string]string{podsOn(there): nodeIP(there), podsOn6(there): nodeIP6(there)} {
			path, args := machine.Inside("ip", "route", "add", network, "via", via)
			if err := sandbox.Command(ctx, path, args...); err != nil {
				return err
			}
		}
	}
	return nil
}

// nodeFiles writes the kubeconfigs of a Node.
func (s *Stack) nodeFiles(name string) (kubenode.Files, error) {
	files := kubenode.Files{CA: s.pki.CAFile, ServingCert: s.pki.ServingCert, ServingKey: s.pki.ServingKey}
	for _, user := range []struct {
		name, group string
		file        *string
	}{
		{"system:node:" + name, "system:nodes", &files.Kubelet},
		{"system:kube-proxy", "", &files.Proxy},
		{"portico-local-kube-router", "system:masters", &files.Router},
	} {
		var groups []string
		if user.group != "" {
			groups = append(groups, user.group)
		}
		cert, key, err := s.pki.client(user.name, groups...)
		if err != nil {
			return files, err
		}
		*user.file = filepath.Join(s.Dir, "pki", name+"-"+strings.ReplaceAll(user.name, ":", "-")+".kubeconfig")
		config := s.kubeconfig(
			user.name,
			"default",
			&clientcmdapi.AuthInfo{ClientCertificateData: cert, ClientKeyData: key},
		)
		if err := clientcmd.WriteToFile(*config, *user.file); err != nil {
			return files, err
		}
	}
	return files, nil
}

// startUsage starts metrics-server.
func (s *Stack) startUsage(ctx context.Context) error {
	if err := ApplyObjects(ctx, s.Admin, s.MetricsObjects()...); err != nil {
		return err
	}
	return s.run(ctx, process.Spec{
		Name: "metrics-server", Path: s.opts.bin("metrics-server"),
		Args: []string{
			fmt.Sprintf("--secure-port=%d", s.ports.metrics), "--bind-address=" + s.opts.ip(),
			"--kubeconfig=" + s.AdminKubeconfig, "--authentication-kubeconfig=" + s.AdminKubeconfig,
			"--authorization-kubeconfig=" + s.AdminKubeconfig, "--kubelet-certificate-authority=" + s.pki.CAFile,
			"--kubelet-preferred-address-types=InternalIP", "--metric-resolution=15s",
			"--tls-cert-file=" + s.pki.ServingCert, "--tls-private-key-file=" + s.pki.ServingKey,
		},
		Ready: answers(s.client, "https://"+s.address(s.ports.metrics)+"/livez"),
	})
}

// NewServingPair returns another certificate for the stack's servers, and its key.
func (s *Stack) NewServingPair() (cert, key []byte, err error) {
	t := template("portico-local", nil)
	t.DNSNames, t.IPAddresses = s.opts.servingNames()
	return s.pki.issue(t)
}
