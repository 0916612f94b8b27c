//go:build integration

package server

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// The server's logs contain every statement, and no password.
func TestLogsHoldNoPassword(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		user := w.user(w.account("app", v1alpha1.AccessRead))
		text, err := os.ReadFile(w.server.Log)
		if err != nil || !strings.Contains(string(text), user.Username) {
			t.Fatalf("the log does not have the statements: %v", err)
		}
		if strings.Contains(string(text), string(user.Password)) {
			t.Error("the password is in the log")
		}
	})
}

// A server that is not trusted or not reachable gets no password, and the condition says what is wrong.
func TestWhatIsNotConnectedTo(t *testing.T) {
	foreign, err := os.CreateTemp(t.TempDir(), "ca")
	if err != nil {
		t.Fatal(err)
	}
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := int32(closed.Addr().(*net.TCPAddr).Port)
	_ = closed.Close()
	each(t, func(w *world) {
		t := w.t
		stranger := newWorld(t, map[string]string{postgres: mariadb, mariadb: postgres}[w.target.Engine])
		for name, row := range map[string]struct {
			change func(*Dialer, *Target)
			want   string
		}{
			"no bundle":         {func(d *Dialer, _ *Target) { d.CAFile = "" }, v1alpha1.ReasonCertificateNotTrusted},
			"no such bundle":    {func(d *Dialer, _ *Target) { d.CAFile = filepath.Join(t.TempDir(), "none") }, v1alpha1.ReasonCertificateNotTrusted},
			"an empty bundle":   {func(d *Dialer, _ *Target) { d.CAFile = foreign.Name() }, v1alpha1.ReasonCertificateNotTrusted},
			"another authority": {func(d *Dialer, _ *Target) { d.CAFile = stranger.server.CAFile }, v1alpha1.ReasonCertificateNotTrusted},
			"another name":      {func(_ *Dialer, to *Target) { to.Host = "127.0.0.1" }, v1alpha1.ReasonCertificateNotTrusted},
			"loopback":          {func(d *Dialer, _ *Target) { d.Loopback = false }, v1alpha1.ReasonAddressNotAllowed},
			"metadata":          {func(_ *Dialer, to *Target) { to.Host = "169.254.169.254" }, v1alpha1.ReasonAddressNotAllowed},
			"metadata by IPv6":  {func(_ *Dialer, to *Target) { to.Host = "fd00:ec2::254" }, v1alpha1.ReasonAddressNotAllowed},
			"nobody there":      {func(_ *Dialer, to *Target) { to.Port = nobody }, v1alpha1.ReasonNoNetworkPath},
			"no such name":      {func(_ *Dialer, to *Target) { to.Host = "database.invalid" }, v1alpha1.ReasonNoNetworkPath},
			"no such database":  {func(_ *Dialer, to *Target) { to.Database = "none" }, v1alpha1.ReasonNoDatabase},
		} {
			d, to := w.dialer, w.target
			row.change(&d, &to)
			_, err := d.Connect(t.Context(), to)
			if wait, ok := engine.AsWait(err); !ok || wait.Reason != row.want ||
				strings.Contains(err.Error(), masterPassword) {
				t.Errorf("%s: %v", name, err)
			}
		}
		wrong := w.target
		wrong.Password = "wrong"
		if _, err := w.dialer.Connect(t.Context(), wrong); !errors.Is(err, ErrSignIn) {
			t.Errorf("a wrong password: %v", err)
		}
	})
}

// Members of rds_iam can sign in with tokens only, and so can indirect members: making the master user one would lock
// it out.
func TestIAMLocksOutNobody(t *testing.T) {
	w := newWorld(t, postgres)
	if version, err := w.server.Version(t.Context()); err != nil || version >= 160000 {
		t.Skipf("PostgreSQL %d, %v: from 16 on only RDS lets its master user give rds_iam without being in it", version,
			err)
	}
	a := w.account("app", v1alpha1.AccessReadWrite)
	a.IAM = true
	s := w.master()
	if _, err := s.Ensure(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	if n := w.count(w.target, "SELECT count(*) FROM pg_roles WHERE pg_has_role('"+a.Logins()[0]+
		"', oid, 'MEMBER') AND rolname = 'rds_iam'"); n != 1 {
		t.Error("it is not in rds_iam")
	}
	user := w.target
	user.Username, user.Password = a.Logins()[0], ""
	if err := w.dialer.SignIn(t.Context(), user); !errors.Is(err, ErrSignIn) {
		t.Errorf("without a token: %v", err)
	}
	a.Access = v1alpha1.AccessRead
	if _, err := s.Ensure(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	if err := w.dialer.SignIn(t.Context(), w.target); err != nil {
		t.Fatalf("the master user is locked out: %v", err)
	}
	if err := w.drop(a); err != nil {
		t.Fatal(err)
	}
	if err := w.dialer.SignIn(t.Context(), w.target); err != nil {
		t.Fatalf("the master user is locked out: %v", err)
	}
}

// If the server does not support IAM authentication, the condition says so.
func TestAServerWithoutIAM(t *testing.T) {
	w := newWorld(t, mariadb)
	a := w.account("app", v1alpha1.AccessRead)
	a.IAM = true
	_, err := w.master().Ensure(t.Context(), a)
	if wait, ok := engine.AsWait(err); !ok || wait.Reason != v1alpha1.ReasonIAMUnavailable {
		t.Error(err)
	}
}

// A user of MariaDB is locked instead of dropped while views or routines run as it.
func TestWhatRunsAsAUserKeepsIt(t *testing.T) {
	w := newWorld(t, mariadb)
	a := w.account("app", v1alpha1.AccessReadWrite)
	app := w.user(a)
	w.must(app, "CREATE TABLE made (id int)", "CREATE VIEW seen AS SELECT * FROM made")
	err := w.drop(a)
	if wait, ok := engine.AsWait(err); !ok || wait.Reason != v1alpha1.ReasonUserInUse ||
		!strings.Contains(err.Error(), "view "+w.target.Database+".seen") {
		t.Fatal(err)
	}
	if err := w.dialer.SignIn(t.Context(), app); !errors.Is(err, ErrSignIn) {
		t.Errorf("it can sign in: %v", err)
	}
	w.must(w.target, "SELECT * FROM seen", "CREATE OR REPLACE VIEW seen AS SELECT * FROM made")
	if err := w.drop(a); err != nil {
		t.Error(err)
	}
	w.must(w.target, "SELECT * FROM seen")
}

// Rights that somebody granted the account in another database do not block its deletion, and what it owns there stays.
func TestAnAccountThatOwnsThingsElsewhere(t *testing.T) {
	w, other := newWorld(t, postgres), newWorld(t, postgres)
	a := w.account("app", v1alpha1.AccessReadWrite)
	app := w.user(a)
	other.must(other.target, "GRANT CREATE ON SCHEMA public TO "+a.Name)
	app.Database = other.target.Database
	w.must(app, "CREATE TABLE elsewhere (id int)")
	if err := w.drop(a); err != nil {
		t.Fatal(err)
	}
	other.must(other.target, "DROP TABLE elsewhere")
}

// An application creates a function that matches one of our calls better than the system's own. If it were called, it
// would run as the master user.
func TestFunctionsOfApplicationsAreNotCalled(t *testing.T) {
	w := newWorld(t, postgres)
	a := w.account("app", v1alpha1.AccessReadWrite)
	app := w.user(a)
	w.must(app, "CREATE TABLE public.caught (who text)", "GRANT INSERT ON public.caught TO PUBLIC",
		`CREATE FUNCTION public.format(text, name) RETURNS text LANGUAGE plpgsql AS 'BEGIN INSERT INTO public.caught VALUES (current_user); RETURN $2; END'`,
		"SELECT format('%I', 'x'::name)") // it is called if that schema is in the search path
	if n := w.count(w.target, "SELECT count(*) FROM public.caught"); n != 1 {
		t.Fatalf("the trap does not work: %d", n)
	}
	a.Access = v1alpha1.AccessRead
	if _, err := w.master().Ensure(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	if err := w.drop(a); err != nil {
		t.Fatal(err)
	}
	if n := w.count(w.target, "SELECT count(*) FROM public.caught"); n != 1 {
		t.Errorf("the function of an application ran %d times as the master user", n-1)
	}
}

// A function that runs as its owner must not run as the master user after that has taken over an application's objects.
func TestFunctionsOfApplicationsDoNotBecomeTheMasters(t *testing.T) {
	for name, change := range map[string]func(*world, Account) error{
		"less access": func(w *world, a Account) error {
			a.Access = v1alpha1.AccessRead
			_, err := w.master().Ensure(w.t.Context(), a)
			return err
		},
		"dropped": func(w *world, a Account) error { return w.drop(a) },
	} {
		w := newWorld(t, postgres)
		a := w.account("app", v1alpha1.AccessReadWrite)
		other := w.user(w.account("other", v1alpha1.AccessRead))
		w.must(w.target, "CREATE FUNCTION masters() RETURNS name LANGUAGE sql SECURITY DEFINER AS 'SELECT "+
			"current_user'")
		w.must(
			w.user(a),
			`CREATE FUNCTION "odd name"(int, text) RETURNS name LANGUAGE sql SECURITY DEFINER AS 'SELECT current_user'`)
		if err := change(w, a); err != nil {
			t.Fatal(err)
		}
		for call, want := range map[string]string{
			`"odd name"(1, '')`: Name(postgres, "payments", w.target.Database+"-other"), "masters()": masterName,
		} {
			var as string
			if err := w.open(other).QueryRowContext(t.Context(), "SELECT "+call).Scan(&as); err != nil || as != want {
				t.Errorf("%s: %s runs as %s, %v", name, call, as, err)
			}
		}
	}
}

// A server that accepts a connection and then sends nothing times out, and counts as unreachable.
func TestASilentServerIsGivenUp(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	each(t, func(w *world) {
		to := w.target
		to.Port = int32(l.Addr().(*net.TCPAddr).Port)
		ctx, cancel := context.WithTimeout(w.t.Context(), 200*time.Millisecond)
		defer cancel()
		_, err := w.dialer.Connect(ctx, to)
		if wait, ok := engine.AsWait(err); !ok || wait.Reason != v1alpha1.ReasonNoNetworkPath {
			w.t.Error(err)
		}
	})
}

// A schema with the name of a user or an account, created by another application, is not in the user's search path.
func TestSchemasOfOthersAreNotLookedIn(t *testing.T) {
	w := newWorld(t, postgres)
	a := w.account("app", v1alpha1.AccessReadWrite)
	app, other := w.user(a), w.user(w.account("other", v1alpha1.AccessReadWrite))
	w.must(app, "CREATE TABLE made (id int)", "INSERT INTO made VALUES (1)")
	for _, name := range []string{app.Username, a.Name} {
		w.must(other, "CREATE SCHEMA "+name, "CREATE TABLE "+name+".made (id int)", "GRANT USAGE ON SCHEMA "+name+
			" TO PUBLIC", "GRANT ALL ON "+name+".made TO PUBLIC")
	}
	for name, change := range map[string][]string{
		"from the first": nil, "after a reset": {"ALTER ROLE " + app.Username + " RESET ALL"},
		"after a change": {"ALTER ROLE " + app.Username + ` SET search_path = "$user", public`},
	} {
		w.must(w.target, change...)
		if _, err := w.master().Ensure(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		if n := w.count(app, "SELECT count(*) FROM made"); n != 1 {
			t.Errorf("%s: it takes another application's table for its own", name)
		}
		if n := w.count(app, "SELECT count(*) FROM pg_roles WHERE rolname = current_user AND rolname = '"+a.Name+
			"'"); n != 1 {
			t.Errorf("%s: it does not act as its account", name)
		}
	}
}
