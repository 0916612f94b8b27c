// Package operatorapi serves what the operator remembers of its checks: more than the status of an object says, because
// it changes with every check. Nothing is written to an object for it.
package operatorapi

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/net/netutil"
	"k8s.io/apimachinery/pkg/types"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/portico-platform/portico/api/guard"
	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/fair"
)

// Options are what a deployment decides.
type Options struct {
	// Bind is the address to listen on; "" and "0" switch the server off.
	Bind string
	// Advertise is the address at which the portal reaches it: host and port, or a host alone for the port really
	// bound. "": 127.0.0.1 with that port.
	Advertise string
	// Namespace of the operator's Lease. Elected says that there is one, to announce the server on.
	Namespace string
	Elected   bool
}

// Source is what the server shows.
type Source struct {
	Records  Records
	ReadLive ReadLive // nil: nothing is read from AWS
	Offers   Offers   // nil: nothing is listed for requests
	Deleted  Deleted  // nil: nothing is listed of what was deleted
	// Features of the operator; nil: there are none to tell of.
	Features *Features
	// Metrics are those of the process; what the controllers do is told by them.
	Metrics prometheus.Gatherer
	// People does for people what they may do with Secrets; nil: nothing.
	People People
	Now    func() time.Time
	// TeamOf returns the team of a namespace: lists are read for teams in turn.
	TeamOf func(namespace string) string
}

// People is people.Handler.
type People interface{ Routes(mux *http.ServeMux) }

// Records is what engine.Records remembers.
type Records interface {
	Get(kind string, of types.NamespacedName) (engine.Record, bool)
	All(filter func(engine.Record) bool) []engine.Record
}

// Disabled reports whether the server is switched off.
func (o Options) Disabled() bool { return o.Bind == "" || o.Bind == "0" }

const (
	headerTimeout = 5 * time.Second
	// answerTimeout is enough for two reviews, which have five seconds together, and a second of looking at AWS.
	answerTimeout = 10 * time.Second
	idleTimeout   = time.Minute
	maxHeader     = 32 << 10        // tokens of people are longer than those of accounts
	maxAtOnce     = 64              // requests of the admitted being answered
	maxOpen       = 256             // connections; further ones wait in the system's queue, and then are refused
	drain         = 2 * time.Second // the next leader waits for it
	// maintainInterval is how often the announcement and the certificate are looked after.
	maintainInterval = 10 * time.Second
)

// Server is a manager.Runnable of the leader: others remember nothing.
type Server struct {
	options     Options
	handler     http.Handler
	announcer   announcer
	now         func() time.Time
	certificate atomic.Pointer[certificate]
}

// New prepares a server; it listens once it is started.
func New(cfg *rest.Config, o Options, s Source) (*Server, error) {
	callers, err := guard.For(cfg, operatorapi.Audience, s.Now)
	if err != nil {
		return nil, err
	}
	leases, err := coordinationclient.NewForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("prepare the Lease: %w", err)
	}
	return newServer(callers, announcer{leases.Leases(o.Namespace)}, o, s), nil
}

func newServer(g *guard.Guard, a announcer, o Options, s Source) *Server {
	v := handlers{
		records: s.Records, live: newLiveCache(s.ReadLive, s.Now), features: s.Features, metrics: s.Metrics, people: s.People, since: s.Now(),
		offers: s.Offers, offerLooks: newOfferLooks(s.Now), listSlots: fair.NewSlots(mostLists, s.Now), teamOf: s.TeamOf, deleted: s.Deleted, deletedLooks: newDeletedLooks(s.Now),
	}
	return &Server{options: o, now: s.Now, announcer: a, handler: g.Over(limitRequests(maxAtOnce, v.routes()))}
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (s *Server) NeedLeaderElection() bool { return true }

// Start implements manager.Runnable: it serves until ctx ends.
func (s *Server) Start(ctx context.Context) error {
	logger := log.FromContext(ctx).WithName("operatorapi")
	if err := s.renewCertificate(); err != nil {
		return err
	}
	l := s.listen(ctx, logger)
	if l == nil {
		return nil
	}
	url := "https://" + s.advertisedAddress(l.Addr())
	logger.Info("serving", "address", l.Addr().String(), "url", url)
	server := s.server(ctx, logger)
	done := make(chan error, 1)
	go func() { done <- server.ServeTLS(netutil.LimitListener(l, maxOpen), "", "") }()
	ended, cancel := context.WithCancel(ctx)
	kept := make(chan struct{})
	go func() {
		defer close(kept)
		s.maintain(ended, logger, url)
	}()
	var err error
	select {
	case <-ctx.Done():
		err = shutdown(ctx, server, done)
	case err = <-done:
	}
	cancel()
	<-kept
	if err != nil && !errors.Is(err, http.ErrServerClosed) {
		logger.Error(err, "the portal is not shown any more what checks found, until the operator is started again")
	}
	return nil // a view of the work must not stop the work
}

// listen takes the port, or tries until ctx ends, and then it is nil: a view of the work must not stop the work.
func (s *Server) listen(ctx context.Context, logger logr.Logger) net.Listener {
	again := time.NewTicker(maintainInterval)
	defer again.Stop()
	for {
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.options.Bind)
		if err == nil {
			return l
		}
		logger.Error(err, "the portal cannot be shown what checks found; choose another --inspect-bind-address, or 0 to switch it off. Trying again", "after", maintainInterval.String())
		select {
		case <-ctx.Done():
			return nil
		case <-again.C:
		}
	}
}

// server speaks HTTP/1.1 alone: one client with few requests gains nothing from more.
func (s *Server) server(ctx context.Context, logger logr.Logger) *http.Server {
	only := &http.Protocols{}
	only.SetHTTP1(true)
	base := log.IntoContext(context.WithoutCancel(ctx), logger)
	return &http.Server{
		Handler: s.handler, Protocols: only,
		ReadHeaderTimeout: headerTimeout, ReadTimeout: headerTimeout, WriteTimeout: answerTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		BaseContext: func(net.Listener) context.Context { return base },
		// Handshakes that fail are somebody else's trouble, and an old certificate's after its renewal.
		ErrorLog: slog.NewLogLogger(logr.ToSlogHandler(logger.V(1)), slog.LevelDebug),
		TLSConfig: &tls.Config{
			MinVersion: tls.VersionTLS13, NextProtos: []string{"http/1.1"},
			GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return s.certificate.Load().tls, nil },
		},
	}
}

func shutdown(ctx context.Context, server *http.Server, done <-chan error) error {
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
	defer cancel()
	if err := server.Shutdown(grace); err != nil {
		_ = server.Close() // what is left did not end in time
	}
	return <-done
}

// advertisedAddress returns where others find what is bound to addr.
func (s *Server) advertisedAddress(addr net.Addr) string {
	_, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return addr.String() // cannot be: it is of a TCP listener
	}
	if s.options.Advertise == "" {
		return net.JoinHostPort("127.0.0.1", port)
	}
	if _, _, err := net.SplitHostPort(s.options.Advertise); err == nil {
		return s.options.Advertise
	}
	return net.JoinHostPort(s.options.Advertise, port)
}

// renewCertificate makes a certificate if there is none, or none that lasts.
func (s *Server) renewCertificate() error {
	if c := s.certificate.Load(); c != nil && !c.needsRenewal(s.now()) {
		return nil
	}
	c, err := newCertificate(s.now())
	if err != nil {
		return err
	}
	s.certificate.Store(c)
	return nil
}

// maintain announces the server, again if the announcement vanished, and renews the certificate, until ctx ends. The
// portal looks for a new announcement when the certificate is not the one it knows.
func (s *Server) maintain(ctx context.Context, logger logr.Logger, url string) {
	if !s.options.Elected {
		logger.Info("leader election is off, so there is no Lease to announce this on: the portal will not find it")
	}
	again := time.NewTicker(maintainInterval)
	defer again.Stop()
	for {
		if err := s.renewCertificate(); err != nil {
			logger.Error(err, "renew the certificate")
		}
		if s.options.Elected {
			s.announce(ctx, logger, url)
		}
		select {
		case <-ctx.Done():
			return
		case <-again.C:
		}
	}
}

func (s *Server) announce(ctx context.Context, logger logr.Logger, url string) {
	changed, err := s.announcer.announce(ctx, url, s.certificate.Load().pem)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		logger.Error(err, "announce the server; trying again", "after", maintainInterval.String())
	case changed:
		logger.Info("announced on the Lease", "url", url)
	}
}
