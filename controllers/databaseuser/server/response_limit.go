package server

import (
	"context"
	"errors"
	"net"
	"sync/atomic"

	"github.com/portico-platform/portico/api/spoken"
)

// Limits for data that users of a database control: queries truncate text, and a connection that receives more than
// this is closed.
const (
	mostAnswered = 4 << 20 // bytes of a response to one statement, or during sign-in
	mostMarked   = 500     // characters of a comment or an attribute that is compared with a mark
	mostSettings = 8000    // bytes of a role's settings, as they are stored, that are looked at
	mostQuoted   = 1000    // bytes of a server's message in an error
	mostListed   = 20      // statements that a pass reports to people
	pageSize     = 1000    // rows of one page of what a database contains
)

var errTooMuch = errors.New("the database answered with more than 4 MiB")

// answers counts the bytes that a server sends on the connections of one sign-in.
type answers struct{ bytes atomic.Int64 }

// next starts counting for another statement.
func (a *answers) next() { a.bytes.Store(0) }

// over reports whether the response to the statement was too large, so that its connection was closed.
func (a *answers) over() bool { return a.bytes.Load() > mostAnswered }

// counted returns dial with connections that close when a response is too large.
func (a *answers) counted(dial func(ctx context.Context, network, address string) (net.Conn, error)) func(
	context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &countedConn{conn, a}, nil
	}
}

type countedConn struct {
	net.Conn
	answers *answers
}

// Read implements net.Conn.
func (c *countedConn) Read(into []byte) (int, error) {
	n, err := c.Conn.Read(into)
	if c.answers.bytes.Add(int64(n)) > mostAnswered {
		_ = c.Close()
		return 0, errTooMuch
	}
	return n, err
}

// quoted shortens a server's message to the size that an error may have.
func quoted(words string) string { return spoken.Cut(words, mostQuoted) }

// listed returns the first mostListed statements, and says if there are more.
func listed(all []string) []string {
	if len(all) <= mostListed {
		return all
	}
	return append(all[:mostListed:mostListed], "and more of the kind")
}
