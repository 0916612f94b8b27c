package restart

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/portico-platform/portico/test/campaign"
)

// proxy acts as a Service with a readiness probe: it distributes new connections among the ready replicas in turn.
// Existing connections stay open even if their replica is no longer ready.
type proxy struct {
	listener net.Listener
	replicas []*replica
	turn     atomic.Uint64
}

// replica is a replica behind the proxy.
type replica struct {
	url    string
	ready  atomic.Bool
	served atomic.Int64 // number of connections
}

// probeEvery is the interval of the readiness probe. A single result changes the readiness.
const probeEvery = 500 * time.Millisecond

func newProxy(ctx context.Context) (*proxy, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	return &proxy{listener: l}, err
}

func (p *proxy) url() string { return "http://" + p.listener.Addr().String() }

// run serves until ctx ends.
func (p *proxy) run(ctx context.Context) {
	for _, r := range p.replicas {
		go r.probe(ctx)
	}
	context.AfterFunc(ctx, func() { _ = p.listener.Close() })
	for {
		c, err := p.listener.Accept()
		if err != nil {
			return
		}
		go p.pass(c)
	}
}

// probe keeps r.ready up to date.
func (r *replica) probe(ctx context.Context) {
	client := &http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	for {
		resp, err := client.Get(r.url + "/readyz")
		if err == nil {
			_ = resp.Body.Close()
		}
		r.ready.Store(err == nil && resp.StatusCode == http.StatusOK)
		if campaign.Pause(ctx, probeEvery) != nil {
			return
		}
	}
}

// next returns the next ready replica, in turn.
func (p *proxy) next() (*replica, error) {
	for range p.replicas {
		r := p.replicas[p.turn.Add(1)%uint64(len(p.replicas))]
		if r.ready.Load() {
			return r, nil
		}
	}
	return nil, errors.New("no replica is ready")
}

// pass forwards one connection to a replica, until both directions are closed.
func (p *proxy) pass(from net.Conn) {
	defer func() { _ = from.Close() }()
	r, err := p.next()
	if err != nil {
		return
	}
	to, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		return
	}
	defer func() { _ = to.Close() }()
	r.served.Add(1)
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{to, from}, {from, to}} {
		both.Go(func() {
			_, _ = io.Copy(way[0], way[1])
			_ = way[0].(*net.TCPConn).CloseWrite()
		})
	}
	both.Wait()
}
