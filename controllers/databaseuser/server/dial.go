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

// How long a server may take to answer at all, and for one statement. Locks of applications may hold a statement up.
const (
	dialTimeout      = 5 * time.Second
	statementTimeout = 15 * time.Second
	lockTimeout      = 5 * time.Second
	endPoll          = time.Second // of connections that are being ended
)

// Dialer connects to databases, by TLS only.
type Dialer struct {
	// CAFile has the certificates of the authorities that sign the databases' own: of RDS its bundle. It is read for every connection.
	CAFile string
	// Loopback lets connections go to this machine, where only a simulated database is.
	Loopback bool
}

// ErrSignIn says that the server refuses a user or its password.
var ErrSignIn = errors.New("the database refuses the user or its password")

var errAddress = errors.New("no database of AWS is at such an address")

// metadataV6 is where EC2's metadata and the Pod Identity agent answer by IPv6.
var metadataV6 = netip.MustParsePrefix("fd00:ec2::/32")

// allowed refuses addresses that no database has, but that something may have which trusts everybody who reaches it.
func (d Dialer) allowed(_ context.Context, _, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %s", errAddress, address)
	}
	ip := at.Addr().Unmap()
	if ip.IsLinkLocalUnicast() || ip.IsMulticast() || ip.IsUnspecified() || metadataV6.Contains(ip) || ip.IsLoopback() && !d.Loopback {
		return fmt.Errorf("%w: %s", errAddress, ip)
	}
	return nil
}

func (d Dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	return (&net.Dialer{Timeout: dialTimeout, ControlContext: d.allowed}).DialContext(ctx, network, address)
}

// tls returns how a server's certificate is verified: by the bundle, and by the name that AWS gave.
func (d Dialer) tls(host string) (*tls.Config, error) {
	if d.CAFile == "" {
		return nil, engine.Blocked(v1alpha1.ReasonCertificateNotTrusted, "the operator knows no authority that signs certificates of databases, and connects to none without; ask the people who run it to give it RDS's bundle by --database-ca-file")
	}
	bundle, err := os.ReadFile(filepath.Clean(d.CAFile))
	if err != nil {
		return nil, engine.Blocked(v1alpha1.ReasonCertificateNotTrusted, "the operator cannot read the file that its flag --database-ca-file names, and connects to no database without; ask the people who run it to put RDS's bundle there: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(bundle) {
		return nil, engine.Blocked(v1alpha1.ReasonCertificateNotTrusted, "the file that the operator's flag --database-ca-file names holds no certificate; ask the people who run it to put RDS's bundle there")
	}
	return &tls.Config{RootCAs: roots, ServerName: host, MinVersion: tls.VersionTLS12}, nil
}

// explain says why no connection came about, or why it ended.
func explain(t Target, err error) error {
	at := net.JoinHostPort(t.Host, fmt.Sprint(t.Port))
	verification, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	_, network := errors.AsType[net.Error](err)
	switch {
	case errors.Is(err, errAddress):
		return engine.Blocked(v1alpha1.ReasonAddressNotAllowed, "%s leads to an address at which no database of AWS is, and nothing was sent there; ask a platform admin what answers for AWS here", at)
	case untrusted:
		return engine.Blocked(v1alpha1.ReasonCertificateNotTrusted, "the certificate of %s is not trusted, and no password was sent: %w; ask the people who run the operator whether its --database-ca-file has RDS's bundle of today", at, verification.Err)
	case errors.Is(err, mysql.ErrNoTLS), strings.Contains(err.Error(), noTLS):
		return engine.Blocked(v1alpha1.ReasonCertificateNotTrusted, "%s offers no TLS, and no password was sent; switch it on in the database's parameter group", at)
	case errors.Is(err, errTooMuch):
		return engine.Blocked(v1alpha1.ReasonDatabaseRefused, "%s: %w, and the connection was ended; look as the master user for what fills the names, comments or settings of users and roles there", at, errTooMuch)
	case network, errors.Is(err, context.DeadlineExceeded), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		return engine.Blocked(v1alpha1.ReasonNoNetworkPath, "the operator does not reach %s: let its Pods in by the database's security group, and see that subnets, routes and network policies lead there. The answer was: %w", at, plainer(err))
	}
	return fmt.Errorf("connect to %s: %w", at, err)
}

// plainer returns the part of a network error that says something to people, and that does not differ from try to try.
func plainer(err error) error {
	if name, ok := errors.AsType[*net.DNSError](err); ok {
		return fmt.Errorf("the name %s is not known", name.Name)
	}
	for _, known := range []error{syscall.ECONNREFUSED, syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.ECONNRESET} {
		if errors.Is(err, known) {
			return known
		}
	}
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() || errors.Is(err, context.DeadlineExceeded) {
		return errors.New("none in time")
	}
	return errors.New("the connection was closed")
}
