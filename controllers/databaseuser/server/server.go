// Package server manages users in PostgreSQL, MySQL and MariaDB, as the master user, with only the rights that it has
// in RDS.
package server

import (
	"context"
	"errors"
	"fmt"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// Target is a database and the credentials to sign in with.
type Target struct {
	Engine   string // as RDS calls it
	Host     string
	Port     int32
	Database string
	Username string
	Password Password
}

// Password is a password that formatted text never contains.
type Password string

// String returns a placeholder instead of the password.
func (Password) String() string { return "(secret)" }

// GoString does the same for %#v.
func (Password) GoString() string { return "(secret)" }

// Account is what one DatabaseUser has in a database: a name, and the users that applications sign in as, in turn.
type Account struct {
	Name   string
	Mark   string // the object that it belongs to; see Mark
	Access v1alpha1.BindingAccess
	IAM    bool
	// Known means that the names were checked before and did not exist, so that an existing user is ours: a server
	// without a place for a mark cannot say so.
	Known bool
}

// Logins returns the users that applications sign in as: two in turn, or one with IAM, which has no password to
// replace.
func (a Account) Logins() []string {
	if a.IAM {
		return a.both()[:1]
	}
	return a.both()
}

// both returns the names of users that an account can have, however it signs in, and names those of all its roles.
func (a Account) both() []string  { return []string{a.Name + "_a", a.Name + "_b"} }
func (a Account) names() []string { return append([]string{a.Name}, a.both()...) }

// Other returns the user that gets the next password; with IAM the only one.
func (a Account) Other(login string) string {
	if login == a.Name+"_a" && !a.IAM {
		return a.Name + "_b"
	}
	return a.Name + "_a"
}

// Server is a connection to a database as its master user. No method changes a user without the account's mark.
type Server interface {
	// Exists reports whether any user with these names exists, also one that somebody else created.
	Exists(ctx context.Context, a Account) (bool, error)
	// Ensure creates what is missing of the account, and changes its rights to those of its access. It returns the
	// changes, as text for people.
	Ensure(ctx context.Context, a Account) ([]string, error)
	// SetPassword sets the password of login and allows it to sign in. Connections are kept.
	SetPassword(ctx context.Context, a Account, login string, password Password) error
	// CanSignIn reports whether login may sign in, whatever its password.
	CanSignIn(ctx context.Context, a Account, login string) (bool, error)
	// EndPassword prevents login from signing in, even if it gives itself another password. Connections are kept.
	EndPassword(ctx context.Context, a Account, login string) error
	// Drop transfers what the account owns, ends its connections and drops it. It returns nil if the account does not
	// exist.
	Drop(ctx context.Context, a Account) error
	// Close ends the connection.
	Close()
}

// The engines, as RDS calls them.
const (
	postgres    = "postgres"
	mysqlEngine = "mysql"
	mariadb     = "mariadb"
)

// Connect signs in as the master user. The error says why that fails; ErrSignIn if the server refuses the user or its
// password.
func (d Dialer) Connect(ctx context.Context, t Target) (Server, error) {
	if t.Engine == postgres {
		return d.connectPostgres(ctx, t)
	}
	return d.connectMySQL(ctx, t)
}

// SignIn tests whether a user can sign in. It returns nil if so, and ErrSignIn if the server refuses it.
func (d Dialer) SignIn(ctx context.Context, t Target) error {
	s, err := d.Connect(ctx, t)
	if err != nil {
		return err
	}
	s.Close()
	return nil
}

// notOurs returns the error for a user without our mark, which is never changed.
func notOurs(name string) error {
	return engine.Blocked(v1alpha1.ReasonAlreadyExists, "the database has a user %s that Portico did not make for "+
		"this object, and nothing was changed; drop or rename it as the master user, or delete this object and "+
		"request one of another name", name)
}

// refusedError is the error of a statement that the server refused. Its text quotes the statement and the server's
// message, in which applications choose the names: what it means is in its code.
type refusedError struct {
	error
	code string // SQLSTATE of PostgreSQL, the number of MySQL and MariaDB
}

func (r refusedError) Unwrap() error { return r.error }

// refusedStatement returns the error of a statement that the server refused. Neither what nor message holds a secret.
func refusedStatement(what, message, code string) error {
	return refusedError{engine.Wait(v1alpha1.ReasonDatabaseRefused, refusedRetry, "the database refused %q: %s (%s)",
		what, quoted(message), code), code}
}

// hasCode reports whether the server refused a statement with this code.
func hasCode(err error, code string) bool {
	refusal, ok := errors.AsType[refusedError](err)
	return ok && refusal.code == code
}

// secretError returns the error of a statement with a password, without the server's text, which may quote it.
func secretError(what, code string) error {
	return refusedError{fmt.Errorf("%s: the database refused it with the error %s; its text is not shown, because it "+
		"may quote the password", what, code), code}
}
