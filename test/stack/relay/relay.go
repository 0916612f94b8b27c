// Package relay passes connections of a listener on to other servers.
package relay

import (
	"errors"
	"io"
	"net"
)

// Serve passes each connection of the listener to the one that dial returns, until the listener is closed. If dial
// returns nil, the connection ends like one to a port without a listener.
func Serve(l net.Listener, dial func() net.Conn) error {
	for {
		conn, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		go func() {
			to := dial()
			if to == nil {
				refuse(conn)
				return
			}
			defer func() { _ = conn.Close() }()
			join(conn, to)
		}()
	}
}

func refuse(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
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
