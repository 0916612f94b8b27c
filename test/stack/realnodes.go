package stack

import (
	"fmt"
	"net"

	"github.com/portico-platform/portico/test/stack/sandbox"
)

// The network of a stack with real Nodes: it listens at gatewayIP, on a bridge to which the Nodes are connected.
const (
	bridge                = "nodes"
	gatewayIP, gatewayIP6 = sandbox.NameServer, "fd00:200::1"

	serviceCIDR6, podCIDR6 = "fd00:96::/112", "fd00:244::/32"
	// clusterDNS is the address of the Service of the DNS server in the cluster.
	clusterDNS = "10.96.0.10"
)

// nodeIP and nodeIP6 return the addresses of a real Node; the first is number 1.
func nodeIP(number int) string  { return fmt.Sprintf("10.200.0.%d", 10+number) }
func nodeIP6(number int) string { return fmt.Sprintf("fd00:200::%d", 10+number) }

// podsOn and podsOn6 return the networks of a real Node's Pods.
func podsOn(number int) string  { return fmt.Sprintf("10.244.%d.0/24", number) }
func podsOn6(number int) string { return fmt.Sprintf("fd00:244:%d::/64", number) }

// NodeName returns the name of a real Node; the first is number 1.
func NodeName(number int) string { return fmt.Sprintf("node-%d", number) }

// PauseImage holds the namespaces of a Pod of a real Node.
const PauseImage = RegistryHost + "/pause:1"

// Hosts are the names that the DNS servers of a stack with real Nodes know; every other name does not exist.
const (
	RegistryHost = "registry.portico.test"
	// ExampleRegistry is the registry of the documentation's examples; it is the same one.
	ExampleRegistry = "registry.example.com"
	LoginHost       = "login.portico.test"
	AWSHost         = "aws.portico.test"
	// PortalHost is the first Node, where the portal's Service has a port.
	PortalHost = "portal.portico.test"
	// DatabaseHost is where databases are. Outside of the sandbox, it is loopback.
	DatabaseHost = "databases." + Domain
)

// servingNames returns the names and addresses in the certificate of all servers.
func (o *Options) servingNames() (names []string, ips []net.IP) {
	names = []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", metricsHost}
	ips = []net.IP{net.IPv4(127, 0, 0, 1)}
	if o.RealNodes == 0 {
		return names, ips
	}
	names = append(names, RegistryHost, LoginHost, AWSHost, PortalHost)
	all := []string{gatewayIP, gatewayIP6, "10.96.0.1", "fd00:96::1"}
	for i := range o.RealNodes {
		names = append(names, NodeName(i+1))
		all = append(all, nodeIP(i+1), nodeIP6(i+1))
	}
	for _, ip := range all {
		ips = append(ips, net.ParseIP(ip))
	}
	return names, ips
}
