//go:build integration

package server

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// longSetting gives a PostgreSQL user a setting of 20 MB, with a short statement that any user can execute.
const longSetting = `DO $$ BEGIN SET ROLE NONE; EXECUTE format('ALTER ROLE %I SET search_path = %L', session_user, repeat('a', 20000000)); END $$`

// allocated returns how many bytes of memory are allocated while work runs.
func allocated(work func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	work()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// few is the maximum number of bytes that work on one user may allocate, whatever fills the database.
const few = 16 << 20

func (w *world) sparing(what string, work func() error) {
	w.t.Helper()
	var err error
	if bytes := allocated(func() { err = work() }); err != nil || bytes > few {
		w.t.Errorf("%s: %d kB of memory, %v", what, bytes>>10, err)
	}
}

func TestAUserWhoFillsItsSettingsTakesNoMemory(t *testing.T) {
	w := newWorld(t, postgres)
	a := w.account("greedy", v1alpha1.AccessRead)
	login := w.user(a)
	w.must(login, longSetting)
	s, ctx := w.master(), t.Context()
	w.sparing("Exists", func() error { _, err := s.Exists(ctx, a); return err })
	w.sparing("Ensure", func() error { _, err := s.Ensure(ctx, a); return err })
	if n := w.count(w.target, `SELECT count(*) FROM pg_db_role_setting WHERE pg_column_size(setconfig) > 1000`); n != 0 {
		t.Errorf("%d roles have long settings", n)
	}
	if done, err := s.Ensure(ctx, a); len(done) > 0 || err != nil {
		t.Errorf("again: %q, %v", done, err)
	}
	w.sparing("SignIn", func() error { return w.dialer.SignIn(ctx, login) })
	w.sparing("EndPassword", func() error { return s.EndPassword(ctx, a, a.Logins()[1]) })
	w.sparing("Drop", func() error { return s.Drop(ctx, a) })
	if there, err := s.Exists(ctx, a); there || err != nil {
		t.Errorf("it is still there: %v, %v", there, err)
	}
}

func TestCommentsAndNamesThatFillADatabaseTakeNoMemory(t *testing.T) {
	w := newWorld(t, postgres)
	a := w.account("app", v1alpha1.AccessRead)
	master := w.target
	w.must(
		master,
		`DO $$ BEGIN FOR n IN 1..2500 LOOP EXECUTE format('CREATE TABLE %I (n int)', 'many' || n); END LOOP; END $$`)
	var done []string
	s, ctx := w.master(), t.Context()
	w.sparing("Ensure", func() (err error) { done, err = s.Ensure(ctx, a); return err })
	w.must(master,
		`DO $$ BEGIN EXECUTE format('COMMENT ON ROLE "`+a.Logins()[1]+`" IS %L', '`+a.comment()+
			` ' || repeat('x', 20000000)); END $$`,
		`CREATE ROLE impostor`, `DO $$ BEGIN EXECUTE format('COMMENT ON ROLE impostor IS %L', '`+markPrefix+
			`x/y' || repeat('x', 20000000) || ' access=Read'); END $$`)
	if len(done) > mostListed+4 || len(done) < mostListed {
		t.Errorf("%d things are reported as done", len(done))
	}
	if n := w.count(master, `SELECT count(*) FROM pg_class WHERE relname ~ '^many' AND has_table_privilege('`+a.Name+
		`', oid, 'SELECT')`); n != 2500 {
		t.Errorf("it may read %d of 2500 tables", n)
	}
	if done, err := s.Ensure(ctx, a); len(done) > 0 || err != nil {
		t.Errorf("again: %q, %v", done, err)
	}
	w.sparing("Drop", func() error { return s.Drop(ctx, a) })
	w.must(master, `DROP ROLE impostor`)
}

func TestAnAnswerThatIsTooLargeEndsTheConnection(t *testing.T) {
	long := map[string][]string{
		postgres: {"SELECT repeat('x', 200000000)", "SELECT repeat('x', 1000) FROM generate_series(1, 200000)"},
		mariadb:  {"SELECT REPEAT('x', 15000000)", "SELECT REPEAT('x', 1000) FROM seq_1_to_200000"},
	}
	each(t, func(w *world) {
		for _, question := range long[w.target.Engine] {
			s := w.master()
			ask := func() error {
				if p, ok := s.(*postgresServer); ok {
					_, err := p.texts(w.t.Context(), "look for the user", question)
					return err
				}
				_, err := s.(*mysqlServer).texts(w.t.Context(), "look for the user", question)
				return err
			}
			var err error
			bytes := allocated(func() { err = ask() })
			wait, ok := engine.AsWait(err)
			if !ok || wait.Reason != v1alpha1.ReasonDatabaseRefused {
				w.t.Fatalf("%s: error = %v, want %s", question, err, v1alpha1.ReasonDatabaseRefused)
			}
			if !strings.Contains(err.Error(), errTooMuch.Error()) {
				w.t.Errorf("%s: error = %v, want %v", question, err, errTooMuch)
			}
			if bytes > 4*few {
				w.t.Errorf("%s: %d kB of memory, want at most %d", question, bytes>>10, 4*few>>10)
			}
			if _, err := w.dialer.Connect(w.t.Context(), w.target); err != nil {
				w.t.Errorf("the next connection: %v", err)
			}
		}
	})
}

func TestThingsThatRunAsAUserAreNotAllRead(t *testing.T) {
	w := newWorld(t, mariadb)
	a := w.account("viewer", v1alpha1.AccessReadWrite)
	login := w.user(a)
	views := make([]string, 0, 300)
	for n := range 300 {
		views = append(views, fmt.Sprintf("CREATE VIEW v%d%s AS SELECT 1", n, strings.Repeat("x", 50)))
	}
	w.must(login, views...)
	s := w.master()
	var err error
	w.sparing("Drop", func() error { // the first call ends connections
		for range endPolls {
			if err = s.Drop(context.WithoutCancel(t.Context()), a); !ending(err) {
				return nil
			}
		}
		return err
	})
	if err == nil || len(err.Error()) > 1500 || !strings.Contains(err.Error(), "and more") {
		t.Errorf("%v", err)
	}
}

func TestHostsOfAUserAreNotAllRead(t *testing.T) {
	w := newWorld(t, mariadb)
	a := w.account("hosts", v1alpha1.AccessRead)
	w.user(a)
	var more []string
	for n := range 200 {
		more = append(more, fmt.Sprintf("CREATE USER '%s'@'10.0.0.%d'", a.Logins()[0], n))
	}
	w.must(w.target, more...)
	s := w.master()
	if _, err := s.Ensure(t.Context(), a); err == nil || len(err.Error()) > 1500 {
		t.Errorf("%v", err)
	}
}

func TestWhatAServerSaysIsCut(t *testing.T) {
	w := newWorld(t, postgres)
	s := w.master().(*postgresServer)
	err := s.exec(t.Context(), "DO $$ BEGIN RAISE EXCEPTION '%', repeat('x', 1000000); END $$")
	if err == nil || len(err.Error()) > 2*mostQuoted {
		t.Errorf("%d bytes", len(fmt.Sprint(err)))
	}
}

func TestThereIsAnEndToAccountsInADatabase(t *testing.T) {
	w := newWorld(t, postgres)
	each := func(statement string) string {
		return fmt.Sprintf("DO $$ BEGIN FOR n IN 1..%d LOOP EXECUTE format('%s', 'portico_of_%s_' || n); END "+
			"LOOP; END $$", mostAccounts+1, statement, w.target.Database)
	}
	w.must(w.target, each("CREATE ROLE %1$I NOLOGIN"), each("GRANT %1$I TO CURRENT_USER"),
		each("COMMENT ON ROLE %1$I IS ''"+markPrefix+"a/b authentication=Password access=Read''"))
	defer w.must(w.target, each("DROP ROLE %1$I"))
	_, err := w.master().Ensure(t.Context(), w.account("one-more", v1alpha1.AccessRead))
	if wait, ok := engine.AsWait(err); !ok || wait.Reason != v1alpha1.ReasonDatabaseRefused ||
		!strings.Contains(err.Error(), "500 users") {
		t.Error(err)
	}
}
