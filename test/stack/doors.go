package stack

import (
	"context"
	"errors"
	"net"
	"os"
	"slices"
	"time"

	"github.com/portico-platform/portico/test/stack/relay"
)

const doorTimeout = 5 * time.Second

// inPods reports whether Portico itself runs in Pods of real Nodes, and not as processes of this machine.
func (s *Stack) inPods() bool { return s.opts.RealNodes > 0 && !s.opts.Loopback }

// OpenDoors listens on loopback at each port that people use, and sets the ports that were 0 to free ones. It returns
// the listeners as files, which a sandbox can be given: see Doors.
func (p *Ports) OpenDoors() (doors []*os.File, err error) {
	var free ports
	for _, one := range p.all() {
		if *one.port, err = free.pick(one.part, one.variable, *one.port); err != nil {
			return doors, err
		}
		l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", loopback(*one.port))
		if err != nil {
			return doors, err
		}
		file, err := l.(*net.TCPListener).File()
		if err := errors.Join(err, l.Close()); err != nil {
			return doors, err
		}
		doors = append(doors, file)
	}
	return doors, nil
}

// Doors returns the listeners of OpenDoors, and sets the ports to theirs.
func (p *Ports) Doors(files []*os.File) ([]net.Listener, error) {
	all := p.all()
	if len(files) != len(all) {
		return nil, errors.New("the doors of the sandbox are not open")
	}
	doors := make([]net.Listener, len(files))
	for i, f := range files {
		l, err := net.FileListener(f)
		if err := errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
		doors[i], *all[i].port = l, portOf(l)
	}
	return doors, nil
}

func portOf(l net.Listener) int { return l.Addr().(*net.TCPAddr).Port }

// door is a port that people use, and its names.
type door struct {
	port           *int
	part, variable string
}

// databaseDoors is how many databases people can reach from outside of the sandbox.
const databaseDoors = 16

func (p *Ports) all() []door {
	if len(p.Databases) == 0 {
		p.Databases = make([]int, databaseDoors)
	}
	doors := []door{
		{&p.Portal, "the portal", "PORTAL_PORT"},
		{&p.Dex, "Dex", "DEX_PORT"},
		{&p.APIServer, "kube-apiserver", "APISERVER_PORT"},
		{&p.AWS, "the AWS endpoint", "AWS_PORT"},
		{&p.LoadBalancers, "the load balancers", "HOSTNAMES_PORT"},
		{&p.Registry, "the registry", "REGISTRY_PORT"},
	}
	for i := range p.Databases {
		doors = append(doors, door{&p.Databases[i], "a database", ""})
	}
	return doors
}

// openDoors connects the doors, and the ports of loopback inside the sandbox, with the stack's servers.
func (s *Stack) openDoors(ctx context.Context) error {
	if !s.opts.Loopback {
		return nil
	}
	listeners := slices.Clone(s.opts.Doors)
	p := s.ports
	for _, port := range append([]int{
		p.portal, p.dex, p.apiserver, p.awsOutside, p.loadBalancers, p.registry,
	}, s.opts.Ports.Databases...) {
		if port == 0 {
			continue
		}
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", loopback(port))
		if err != nil {
			return err
		}
		listeners = append(listeners, l)
	}
	for _, l := range listeners {
		s.background(ctx, func(ctx context.Context) error { return s.lead(ctx, l) })
	}
	return nil
}

// lead passes what comes to a listener on to the stack's server of the same port, until ctx ends.
func (s *Stack) lead(ctx context.Context, l net.Listener) error {
	defer context.AfterFunc(ctx, func() { _ = l.Close() })()
	to := s.address(portOf(l))
	return relay.Serve(l, func() net.Conn {
		conn, err := (&net.Dialer{Timeout: doorTimeout}).DialContext(ctx, "tcp", to)
		if err != nil {
			return nil
		}
		return conn
	})
}
