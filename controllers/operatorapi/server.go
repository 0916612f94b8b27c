// Package operatorapi serves the operator's records of its reconciliations. They have more than an object's status,
// because they change with every pass and are never written to the object.
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

	"github.com/portico-platform/portico/api/authz"
	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/controllers/engine"
)

// Options are the settings of a deployment.
type Options struct {
	// Bind is the address to listen on; "" and "0" disable the server.
	Bind string
	// Advertise is the address at which the portal reaches the server: host and port, or a host alone for the port
	// actually bound. "": 127.0.0.1 with that port.
	Advertise string
	// Namespace is that of the operator's Lease. Elected is true if there is a Lease, on which the server is announced.
	Namespace string
	Elected   bool
}

// Source has the data that the server shows.
type Source struct {
	Records  Records
	ReadLive ReadLive // nil: nothing is read from AWS
	Offers   Offers   // nil: no values are listed for requests
	Deleted  Deleted  // nil: deleted objects are not listed
	// Features are the operator's features; nil: there are none to report.
	Features *Features
	// Metrics are those of the process, from which the activity of controllers is read.
	Metrics prometheus.Gatherer
	// People serves requests that people make through the portal, Deployers those of CI jobs; nil: they are rejected.
	People, Deployers Routes
	Now               func() time.Time
	// TeamOf returns the team of a namespace; teams take turns at lists.
	TeamOf func(namespace string) string
	// NamespaceUID returns the UID of a namespace, "" if there is none: a namespace of the same name that is created
	// later can be another team's. nil: namespaces have none.
	NamespaceUID func(ctx context.Context, namespace string) (types.UID, error)
}

// Routes serves routes of others; people.Handler and deploy.Exchange implement it.
type Routes interface{ Routes(mux *http.ServeMux) }

// Records returns the engine's records; engine.Records implements it.
type Records interface {
	Get(kind string, of types.NamespacedName) (engine.Record, bool)
	All(filter func(engine.Record) bool) []engine.Record
}

// Disabled reports whether the server is disabled.
func (o Options) Disabled() bool { return o.Bind == "" || o.Bind == "0" }

const (
	headerTimeout = 5 * time.Second
	// answerTimeout is enough for two reviews, five seconds together, and one second for AWS.
	answerTimeout = 10 * time.Second
	idleTimeout   = time.Minute
	maxHeader     = 32 << 10        // tokens of people are longer than those of service accounts
	maxAtOnce     = 64              // authorised requests at the same time
	maxOpen       = 256             // connections; more wait in the system's queue, and then are refused
	drain         = 2 * time.Second // the next leader waits for this
	// maintainInterval is how often the announcement and the certificate are checked.
	maintainInterval = 10 * time.Second
)

// Server is a manager.Runnable that runs on the leader only: other replicas have no records.
type Server struct {
	options     Options
	handler     http.Handler
	announcer   announcer
	now         func() time.Time
	certificate atomic.Pointer[certificate]
}

// New returns a server, which listens once it is started.
func New(cfg *rest.Config, o Options, s Source) (*Server, error) {
	callers, err := authz.For(cfg, operatorapi.Audience, s.Now)
	if err != nil {
		return nil, err
	}
	leases, err := coordinationclient.NewForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("prepare the Lease: %w", err)
	}
	return newServer(callers, announcer{leases.Leases(o.Namespace)}, o, s), nil
}

func newServer(g *authz.Filter, a announcer, o Options, s Source) *Server {
	return &Server{
		options: o, now: s.Now, announcer: a, handler: g.Over(limitRequests(maxAtOnce, newHandlers(s).routes())),
	}
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
	return nil // a failure of this server must not stop the controllers
}

// listen opens the port, and retries until ctx ends; then it returns nil. It returns no error, because a failure of
// this server must not stop the controllers.
func (s *Server) listen(ctx context.Context, logger logr.Logger) net.Listener {
	again := time.NewTicker(maintainInterval)
	defer again.Stop()
	for {
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.options.Bind)
		if err == nil {
			return l
		}
		logger.Error(err, "the portal cannot be shown what checks found; choose another --inspect-bind-address, or 0 "+
			"to switch it off. Trying again", "after", maintainInterval.String())
		select {
		case <-ctx.Done():
			return nil
		case <-again.C:
		}
	}
}

// server returns an HTTP server for HTTP/1.1 only: for one client with few requests HTTP/2 has no advantage.
func (s *Server) server(ctx context.Context, logger logr.Logger) *http.Server {
	only := &http.Protocols{}
	only.SetHTTP1(true)
	base := log.IntoContext(context.WithoutCancel(ctx), logger)
	return &http.Server{
		Handler: s.handler, Protocols: only,
		ReadHeaderTimeout: headerTimeout, ReadTimeout: headerTimeout, WriteTimeout: answerTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		BaseContext: func(net.Listener) context.Context { return base },
		// Failed handshakes are caused by strangers, or by clients with an old certificate after its renewal.
		ErrorLog: slog.NewLogLogger(logr.ToSlogHandler(logger.V(1)), slog.LevelDebug),
		TLSConfig: &tls.Config{
			MinVersion: tls.VersionTLS13, NextProtos: []string{"http/1.1"},
			GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
				return s.certificate.Load().tls, nil
			},
		},
	}
}

func shutdown(ctx context.Context, server *http.Server, done <-chan error) error {
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
	defer cancel()
	if err := server.Shutdown(grace); err != nil {
		_ = server.Close() // closes requests that did not end in time
	}
	return <-done
}

// advertisedAddress returns the address at which others reach a server bound to addr.
func (s *Server) advertisedAddress(addr net.Addr) string {
	_, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return addr.String() // cannot happen: it is a TCP listener's address
	}
	if s.options.Advertise == "" {
		return net.JoinHostPort("127.0.0.1", port)
	}
	if _, _, err := net.SplitHostPort(s.options.Advertise); err == nil {
		return s.options.Advertise
	}
	return net.JoinHostPort(s.options.Advertise, port)
}

// renewCertificate creates a certificate if there is none, or it must be renewed.
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

// maintain announces the server, repeats that if the announcement is lost, and renews the certificate, until ctx ends.
// The portal reads the announcement again when the certificate is not the one it knows.
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
