package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// Timeouts for a connection, for one statement and for its locks: applications' locks may block a statement.
const (
	dialTimeout      = 5 * time.Second
	statementTimeout = 15 * time.Second
	lockTimeout      = 5 * time.Second
	endPoll          = time.Second // while connections are being ended
)

// Dialer connects to databases, with TLS only.
type Dialer struct {
	// CAFile is the file with the CA certificates for the servers' certificates, such as RDS's bundle. It is read for
	// every connection.
	CAFile string
	// Loopback allows connections to this machine, where only a simulated database can be.
	Loopback bool
}

// ErrSignIn says that the server refuses a user or its password.
var ErrSignIn = errors.New("the database refuses the user or its password")

var errAddress = errors.New("no database of AWS is at such an address")

// metadataV6 contains the IPv6 addresses of EC2's metadata service and of the Pod Identity agent.
var metadataV6 = netip.MustParsePrefix("fd00:ec2::/32")

// allowed refuses addresses that no database has, but that may belong to services that trust every client.
func (d Dialer) allowed(_ context.Context, _, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %s", errAddress, address)
	}
	ip := at.Addr().Unmap()
	if ip.IsLinkLocalUnicast() || ip.IsMulticast() || ip.IsUnspecified() || metadataV6.Contains(ip) ||
		ip.IsLoopback() && !d.Loopback {
		return fmt.Errorf("%w: %s", errAddress, ip)
	}
	return nil
}

func (d Dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	return (&net.Dialer{Timeout: dialTimeout, ControlContext: d.allowed}).DialContext(ctx, network, address)
}

// tls returns the TLS configuration, which verifies the server's certificate with the CA bundle and AWS's name of the
// host.
func (d Dialer) tls(host string) (*tls.Config, error) {
	if d.CAFile == "" {
		return nil, engine.Blocked(v1alpha1.ReasonCertificateNotTrusted, "Portico makes no users in databases here "+
			"yet: your platform team has to give it RDS's certificates (in the chart operator.databases.caConfigMap, "+
			"else the operator's --database-ca-file)")
	}
	bundle, err := os.ReadFile(filepath.Clean(d.CAFile))
	if err != nil {
		return nil, engine.Blocked(v1alpha1.ReasonCertificateNotTrusted,
			"your platform team has to put RDS's certificates where Portico looks for them (in the chart "+
				"operator.databases.caConfigMap, else the operator's --database-ca-file): %w", plainFile(err))
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(bundle) {
		return nil, engine.Blocked(v1alpha1.ReasonCertificateNotTrusted,
			"your platform team has to put RDS's certificates where Portico looks for them (in the chart "+
				"operator.databases.caConfigMap, else the operator's --database-ca-file): there is none in that file")
	}
	return &tls.Config{RootCAs: roots, ServerName: host, MinVersion: tls.VersionTLS12}, nil
}

// explain returns why a connection failed or ended.
func explain(t Target, err error) error {
	at := net.JoinHostPort(t.Host, fmt.Sprint(t.Port))
	verification, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	_, network := errors.AsType[net.Error](err)
	switch {
	case errors.Is(err, errAddress):
		return engine.Blocked(v1alpha1.ReasonAddressNotAllowed, "%s leads to an address at which no database of AWS "+
			"is, and nothing was sent there; your platform team has to see what answers for AWS here", at)
	case untrusted:
		return engine.Blocked(v1alpha1.ReasonCertificateNotTrusted, "the certificate of %s is not trusted, and no "+
			"password was sent: %w; your platform team has to see whether Portico has RDS's certificates of today "+
			"(in the chart operator.databases.caConfigMap, else the operator's --database-ca-file)", at,
			verification.Err)
	case errors.Is(err, mysql.ErrNoTLS), strings.Contains(err.Error(), noTLS):
		return engine.Blocked(v1alpha1.ReasonCertificateNotTrusted, "%s offers no TLS, and no password was sent; "+
			"switch it on in the database's parameter group", at)
	case errors.Is(err, errTooMuch):
		return engine.Blocked(v1alpha1.ReasonDatabaseRefused, "%s: %w, and the connection was ended; look as the "+
			"master user for what fills the names, comments or settings of users and roles there", at, errTooMuch)
	case network, errors.Is(err, context.DeadlineExceeded), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, syscall.ECONNRESET):
		return engine.Blocked(v1alpha1.ReasonNoNetworkPath, "Portico does not reach %s: your platform team has to "+
			"let the operator's Pods in, by the database's security group, and see that subnets, routes and network "+
			"policies lead there. The answer was: %w", at, plainer(err))
	}
	return fmt.Errorf("connect to %s: %w", at, err)
}

// plainFile returns why a file cannot be read, without its path, which only concerns the operator.
func plainFile(err error) error {
	if path, ok := errors.AsType[*os.PathError](err); ok {
		return path.Err
	}
	return err
}

// plainer returns the part of a network error that is useful to people and stable over retries.
func plainer(err error) error {
	if name, ok := errors.AsType[*net.DNSError](err); ok {
		return fmt.Errorf("the name %s is not known", name.Name)
	}
	for _, known := range []error{syscall.ECONNREFUSED, syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.ECONNRESET} {
		if errors.Is(err, known) {
			return known
		}
	}
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() ||
		errors.Is(err, context.DeadlineExceeded) {
		return errors.New("none in time")
	}
	return errors.New("the connection was closed")
}
