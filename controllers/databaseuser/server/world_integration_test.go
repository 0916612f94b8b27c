//go:build integration

package server

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/databases"
)

// engines are those with a server for tests; MySQL's statements that MariaDB does not know are compared as text.
var engines = []string{postgres, mariadb}

const (
	masterName     = "ledger_admin"
	masterPassword = `it's "quoted" \ and $strange`
)

// servers are started once, by the first test that needs one.
var servers struct {
	sync.Mutex
	dir     string
	started map[string]*databases.Server
	made    int
}

func TestMain(m *testing.M) {
	var err error
	if servers.dir, err = os.MkdirTemp("", "databases"); err == nil {
		err = os.Chmod(servers.dir, 0o755)
	}
	if err != nil {
		panic(err)
	}
	servers.started = map[string]*databases.Server{}
	code := m.Run()
	for _, s := range servers.started {
		s.Stop()
	}
	_ = os.RemoveAll(servers.dir)
	os.Exit(code)
}

// world is a separate database on a server that the tests share.
type world struct {
	t      *testing.T
	server *databases.Server
	dialer Dialer
	target Target
}

func newWorld(t *testing.T, engineName string) *world {
	t.Helper()
	servers.Lock()
	defer servers.Unlock()
	s := servers.started[engineName]
	if s == nil {
		var err error
		if s, err = databases.Start(t.Context(), engineName, servers.dir+"/"+engineName); err != nil {
			t.Fatal(err)
		}
		servers.started[engineName] = s
		if err := s.Master(t.Context(), masterName, masterPassword); err != nil {
			t.Fatal(err)
		}
	}
	servers.made++
	name := fmt.Sprintf("shop_%d", servers.made)
	if err := s.Database(t.Context(), name, masterName); err != nil {
		t.Fatal(err)
	}
	return &world{t, s, Dialer{CAFile: s.CAFile, Loopback: true}, Target{
		Engine: engineName, Host: databases.Host, Port: int32(s.Port), Database: name, Username: masterName,
		Password: masterPassword,
	}}
}

// account returns an account of this database for an object with this name.
func (w *world) account(name string, access v1alpha1.BindingAccess) Account {
	name = w.target.Database + "-" + name
	return Account{
		Name: Name(w.target.Engine, "payments", name), Mark: Mark("payments", name), Access: access,
		Known: true,
	}
}

func (w *world) master() Server {
	w.t.Helper()
	s, err := w.dialer.Connect(w.t.Context(), w.target)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(s.Close)
	return s
}

// user creates an account and returns the credentials of its first user.
func (w *world) user(a Account) Target {
	w.t.Helper()
	s := w.master()
	if _, err := s.Ensure(w.t.Context(), a); err != nil {
		w.t.Fatal(err)
	}
	return w.signIn(s, a, a.Logins()[0])
}

// signIn gives a user a password and returns its credentials.
func (w *world) signIn(s Server, a Account, login string) Target {
	w.t.Helper()
	password, err := NewPassword()
	if err == nil {
		err = s.SetPassword(w.t.Context(), a, login, password)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	t := w.target
	t.Username, t.Password = login, password
	return t
}

// open returns a connection pool of an application.
func (w *world) open(t Target) *sql.DB {
	w.t.Helper()
	db, err := databases.Open(databases.Login{
		Engine: t.Engine, Host: t.Host, Port: int(t.Port), Database: t.Database, Username: t.Username,
		Password: string(t.Password), CAFile: w.dialer.CAFile,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = db.Close() })
	return db
}

// run executes statements as the user of t.
func (w *world) run(t Target, statements ...string) error {
	w.t.Helper()
	db := w.open(t)
	defer func() { _ = db.Close() }()
	for _, s := range statements {
		if _, err := db.ExecContext(w.t.Context(), s); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	return nil
}

// must fails the test if a statement fails.
func (w *world) must(t Target, statements ...string) {
	w.t.Helper()
	if err := w.run(t, statements...); err != nil {
		w.t.Fatal(err)
	}
}

// denied reports whether an error says that a permission is missing, and nothing else.
func denied(err error) bool {
	if refusal, ok := errors.AsType[*mysql.MySQLError](err); ok {
		return strings.Contains(refusal.Message, "denied")
	}
	return err != nil && strings.Contains(err.Error(), "(SQLSTATE 42501)")
}

// count returns the number that a query returns.
func (w *world) count(t Target, query string) (n int) {
	w.t.Helper()
	if err := w.open(t).QueryRowContext(w.t.Context(), query).Scan(&n); err != nil {
		w.t.Fatalf("%s: %v", query, err)
	}
	return n
}

func each(t *testing.T, test func(*world)) {
	t.Helper()
	for _, name := range engines {
		t.Run(name, func(t *testing.T) { test(newWorld(t, name)) })
	}
}
