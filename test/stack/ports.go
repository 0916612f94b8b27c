package stack

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
)

// PortTakenError reports that a requested port is not free.
type PortTakenError struct {
	Part     string // the part that needs it
	Port     int
	Variable string // variable of make run for another port
	Holder   string // the process that has it, or how to find it
}

func (e *PortTakenError) Error() string {
	return fmt.Sprintf("port %d, which %s needs, is taken by %s: end that, or choose another port with %s=%d",
		e.Port, e.Part, e.Holder, e.Variable, e.Port+1)
}

// Free ports are chosen below the range of ephemeral ports for outgoing connections (from 32768 on Linux, 49152
// elsewhere); otherwise one of those connections could take a port between the choice and the start of its server.
const lowPort, highPort = 20000, 32768

// ports allocates loopback ports, no port twice. Stacks start in parallel, and a server binds its port seconds after
// it was chosen: until release the UDP port of the same number, which no part uses, stays bound as a reservation. The
// system frees it however the process ends.
type ports struct {
	taken map[int]bool
	mu    sync.Mutex
	held  []net.PacketConn
}

// pick returns want if it is free, or any free port for 0.
func (p *ports) pick(part, variable string, want int) (int, error) {
	if want != 0 {
		if !p.free(want) {
			return 0, &PortTakenError{Part: part, Port: want, Variable: variable, Holder: holder(want)}
		}
		return want, nil
	}
	for range 1000 {
		if port := lowPort + rand.IntN(highPort-lowPort); p.hold(port) && p.free(port) {
			return port, nil
		}
	}
	return 0, errors.New("no free port on 127.0.0.1")
}

func (p *ports) free(port int) bool {
	if p.taken[port] {
		return false
	}
	l, err := net.Listen("tcp", loopback(port))
	if err != nil {
		return false
	}
	_ = l.Close()
	if p.taken == nil {
		p.taken = map[int]bool{}
	}
	p.taken[port] = true
	return true
}

func (p *ports) hold(port int) bool {
	claim, err := net.ListenPacket("udp", loopback(port))
	if err == nil {
		p.held = append(p.held, claim)
	}
	return err == nil
}

func (p *ports) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, claim := range p.held {
		_ = claim.Close()
	}
	p.held = nil
}

// loopback returns an address of this machine, in 127.245.0.0/16, that no other Pod of any stack has. A UDP port of
// the address stays bound until release.
func (p *ports) loopback() (string, error) {
	for range 1000 {
		ip := fmt.Sprintf("127.245.%d.%d", rand.IntN(256), 1+rand.IntN(254))
		claim, err := net.ListenPacket("udp", net.JoinHostPort(ip, strconv.Itoa(lowPort)))
		if err != nil {
			continue
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.held = append(p.held, claim)
		return ip, nil
	}
	return "", errors.New("no free address in 127.245.0.0/16")
}

// loopback returns a port of this machine alone.
func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// ip returns the address at which the stack's servers listen.
func (o *Options) ip() string {
	if o.RealNodes > 0 {
		return gatewayIP
	}
	return "127.0.0.1"
}

// address returns the address of a port of the stack's servers.
func (s *Stack) address(port int) string { return net.JoinHostPort(s.opts.ip(), strconv.Itoa(port)) }

// forPeople returns the address at which people reach the same port.
func (s *Stack) forPeople(port int) string {
	if s.opts.Loopback {
		return loopback(port)
	}
	return s.address(port)
}

// allPorts are the ports of every part that can be started.
type allPorts struct {
	etcd, apiserver, scheduler, kwok, kubelet, metrics, moto, awsOperator, awsOutside, dex, portal, registry int
	loadBalancers, workload, podWebhook                                                                      int
}

func (p *ports) choose(o *Options) (allPorts, error) {
	var (
		chosen allPorts
		first  error
	)
	pick := func(dst *int, parts Parts, part, variable string, want int) {
		if first == nil && o.Parts.has(parts) {
			*dst, first = p.pick(part, variable, want)
		}
	}
	ours, moto := o.ExternalKubeconfig == "", o.AWSEndpoint == ""
	pick(&chosen.portal, Portal|Dex, "the portal", "PORTAL_PORT", o.Ports.Portal)
	pick(&chosen.dex, Dex, "Dex", "DEX_PORT", o.Ports.Dex)
	if ours {
		pick(&chosen.apiserver, ControlPlane, "kube-apiserver", "APISERVER_PORT", o.Ports.APIServer)
		pick(&chosen.etcd, ControlPlane, "etcd", "", 0)
	}
	if moto {
		pick(&chosen.awsOutside, AWS, "the AWS endpoint", "AWS_PORT", o.Ports.AWS)
		pick(&chosen.awsOperator, AWS, "the operator's AWS endpoint", "", 0)
		pick(&chosen.moto, AWS, "moto", "", 0)
	}
	pick(&chosen.loadBalancers, Traffic, "the load balancers", "HOSTNAMES_PORT", o.Ports.LoadBalancers)
	pick(&chosen.scheduler, Scheduler, "kube-scheduler", "", 0)
	pick(&chosen.kwok, Nodes, "kwok", "", 0)
	pick(&chosen.kubelet, Nodes|Operator|Portal, "the kubelets' endpoint", "", 0)
	if ours {
		pick(&chosen.metrics, Nodes, "the metrics API", "", 0)
	}
	if o.RealNodes > 0 {
		pick(&chosen.metrics, ControlPlane, "metrics-server", "", 0)
		pick(&chosen.registry, ControlPlane, "the registry", "REGISTRY_PORT", o.Ports.Registry)
		pick(&chosen.workload, AWS, "the AWS endpoint of Pods", "", 0)
		pick(&chosen.podWebhook, AWS, "the Pod Identity webhook", "", 0)
	}
	return chosen, first
}
