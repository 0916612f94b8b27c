// Package server manages users in PostgreSQL, MySQL and MariaDB, as the master user, with only the rights that it has
// in RDS.
package server

import (
	"context"
	"fmt"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// Target is a database, and who signs in there.
type Target struct {
	Engine   string // as RDS calls it
	Host     string
	Port     int32
	Database string
	Username string
	Password Password
}

// Password is kept out of every text.
type Password string

// String keeps the password out of every text.
func (Password) String() string { return "(secret)" }

// GoString does the same for %#v.
func (Password) GoString() string { return "(secret)" }

// Account is what one DatabaseUser has in a database: a name, and the users that applications sign in as, in turn.
type Account struct {
	Name   string
	Mark   string // whose it is; see Mark
	Access v1alpha1.BindingAccess
	IAM    bool
	// Known means that the names were checked before and did not exist, so that an existing user is ours: a server
	// without a place for a mark cannot tell.
	Known bool
}

// Logins returns the users that applications sign in as. With IAM there is no password that would be replaced, and so
// only one.
func (a Account) Logins() []string {
	if a.IAM {
		return a.both()[:1]
	}
	return a.both()
}

// both returns the names of users that an account may have had, however it signs in, and names those of all its roles.
func (a Account) both() []string  { return []string{a.Name + "_a", a.Name + "_b"} }
func (a Account) names() []string { return append([]string{a.Name}, a.both()...) }

// Other returns the user whose turn it is after login.
func (a Account) Other(login string) string {
	if login == a.Name+"_a" && !a.IAM {
		return a.Name + "_b"
	}
	return a.Name + "_a"
}

// Server is a connection to a database as its master user. No method changes a user without the account's mark.
type Server interface {
	// Exists reports whether any user of these names is there, whoever made it.
	Exists(ctx context.Context, a Account) (bool, error)
	// Ensure makes what is missing of the account, and brings its rights to what its access says. It returns what it
	// changed, for people.
	Ensure(ctx context.Context, a Account) ([]string, error)
	// SetPassword lets login sign in with this password only. Connections are kept.
	SetPassword(ctx context.Context, a Account, login string, password Password) error
	// CanSignIn reports whether login may sign in, whatever its password.
	CanSignIn(ctx context.Context, a Account, login string) (bool, error)
	// EndPassword forbids login to sign in, even if it gives itself another password. Connections are kept.
	EndPassword(ctx context.Context, a Account, login string) error
	// Drop gives away what the account owns, ends its connections and drops it. It returns nil if the account does not
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

// Connect signs in as the master user. The error says why that does not work: ErrSignIn, if the server refuses the
// password.
func (d Dialer) Connect(ctx context.Context, t Target) (Server, error) {
	if t.Engine == postgres {
		return d.connectPostgres(ctx, t)
	}
	return d.connectMySQL(ctx, t)
}

// SignIn tries whether a user can sign in: nil if so, ErrSignIn if the server refuses it.
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
	return engine.Blocked(v1alpha1.ReasonAlreadyExists, "the database has a user %s that Portico did not make for this object, and nothing was changed; drop or rename it as the master user, or delete this object and request one of another name", name)
}

// secretError says that a statement with a password failed, without the server's text, which may quote it.
func secretError(what, code string) error {
	return fmt.Errorf("%s: the database refused it with the error %s; its text is not shown, because it may quote the password", what, code)
}
