package pods

import (
	"errors"
	"io"
	"net"
	"strconv"
)

// Forward simulates a Service: it passes each connection of l to one of the ready Pods with the labels, in turn, to
// their named port, until l is closed.
func (n *Node) Forward(l net.Listener, labels map[string]string, port string) error {
	var turn uint64
	for {
		conn, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		to := n.dial(labels, port, &turn)
		if to == nil {
			refuse(conn)
			continue
		}
		go func() {
			defer func() { _ = conn.Close() }()
			join(conn, to)
		}()
	}
}

// refuse ends a connection like one to a port without a listener.
func refuse(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// dial connects to the Pod whose turn it is, or to the next one that accepts; nil if none does.
func (n *Node) dial(labels map[string]string, port string, turn *uint64) net.Conn {
	ready := n.Ready(labels, port)
	for range ready {
		*turn++
		if conn, err := net.Dial("tcp", ready[*turn%uint64(len(ready))]); err == nil {
			return conn
		}
	}
	return nil
}

// join copies in both directions until both sides have finished, or one fails.
func join(a, b net.Conn) {
	defer func() { _ = b.Close() }()
	done := make(chan struct{})
	go func() {
		defer close(done)
		pass(b, a)
	}()
	pass(a, b)
	<-done
}

func pass(to, from net.Conn) {
	_, err := io.Copy(to, from)
	if half, ok := to.(*net.TCPConn); ok && err == nil {
		_ = half.CloseWrite()
		return
	}
	_ = to.Close()
	_ = from.Close()
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
