package pods

import (
	"net"
	"strconv"
	"sync/atomic"

	"github.com/portico-platform/portico/test/stack/relay"
)

// Forward simulates a Service: it passes each connection of l to one of the ready Pods with the labels, in turn, to
// their named port, until l is closed.
func (n *Node) Forward(l net.Listener, labels map[string]string, port string) error {
	var turn atomic.Uint64
	return relay.Serve(l, func() net.Conn { return n.dial(labels, port, &turn) })
}

// dial connects to the Pod whose turn it is, or to the next one that accepts; nil if none does.
func (n *Node) dial(labels map[string]string, port string, turn *atomic.Uint64) net.Conn {
	ready := n.Ready(labels, port)
	for range ready {
		if conn, err := net.Dial("tcp", ready[turn.Add(1)%uint64(len(ready))]); err == nil {
			return conn
		}
	}
	return nil
}

// answering returns host and port of the Pod if it has the labels and is ready, or "".
func (p *pod) answering(labels map[string]string, port string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, value := range labels {
		if p.spec.Labels[key] != value {
			return ""
		}
	}
	number := p.port(port)
	if !p.ready || number == 0 {
		return ""
	}
	return net.JoinHostPort(p.ip, strconv.Itoa(int(number)))
}

func (p *pod) port(name string) int32 {
	for _, at := range p.container().Ports {
		if at.Name == name {
			return at.ContainerPort
		}
	}
	return 0
}
