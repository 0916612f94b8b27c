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
	mostAnswered = 4 << 20 // bytes of an answer to one statement, or while we sign in
	mostMarked   = 500     // characters of a comment or an attribute that is compared with a mark
	mostQuoted   = 1000    // bytes of a server's own words, in an error
	mostListed   = 20      // statements that a pass tells people of
	pageSize     = 1000    // rows of one answer about what a database holds
)

var errTooMuch = errors.New("the database answered with more than 4 MiB")

// answers counts what a server answers on the connections of one sign-in.
type answers struct{ bytes atomic.Int64 }

// next begins the count of another statement.
func (a *answers) next() { a.bytes.Store(0) }

// over reports whether the statement's answer was too large, so that its connection ended.
func (a *answers) over() bool { return a.bytes.Load() > mostAnswered }

// counted returns dial with connections that end when an answer is too large.
func (a *answers) counted(dial func(ctx context.Context, network, address string) (net.Conn, error)) func(context.Context, string, string) (net.Conn, error) {
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

// quoted returns as much of a server's own words as an error holds.
func quoted(words string) string { return spoken.Cut(words, mostQuoted) }

// listed returns the first statements of all, and how many more there are.
func listed(all []string) []string {
	if len(all) <= mostListed {
		return all
	}
	return append(all[:mostListed:mostListed], "and more of the kind")
}
