//go:build integration

package server

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// Each access has its rights and no others, on tables that the master user created before and after.
func TestAnAccountHasItsRightsAndNoOthers(t *testing.T) {
	const read, write, both = v1alpha1.AccessRead, v1alpha1.AccessWrite, v1alpha1.AccessReadWrite
	rows := []struct {
		statement string
		only      string // the engine; empty: all
		may       []v1alpha1.BindingAccess
	}{
		{"SELECT * FROM old", "", []v1alpha1.BindingAccess{read, both}},
		{"SELECT * FROM fresh", "", []v1alpha1.BindingAccess{read, both}},
		{"INSERT INTO old VALUES (2)", "", []v1alpha1.BindingAccess{write, both}},
		{"INSERT INTO fresh VALUES (2)", "", []v1alpha1.BindingAccess{write, both}},
		{"UPDATE fresh SET id = 3", "", []v1alpha1.BindingAccess{write, both}},
		{"DELETE FROM fresh", "", []v1alpha1.BindingAccess{write, both}},
		{"CREATE TABLE own (id int)", "", []v1alpha1.BindingAccess{both}},
		{"ALTER TABLE own ADD name varchar(9)", "", []v1alpha1.BindingAccess{both}},
		{"DROP TABLE own", "", []v1alpha1.BindingAccess{both}},
		{"CREATE SCHEMA own", postgres, []v1alpha1.BindingAccess{both}},
		{"SELECT * FROM more.rows", postgres, []v1alpha1.BindingAccess{read, both}},
		{"SELECT nextval('numbers')", postgres, []v1alpha1.BindingAccess{write, both}},
		{"ALTER TABLE old ADD name varchar(9)", postgres, nil},
		{"DROP TABLE old", postgres, nil},
		{"TRUNCATE fresh", postgres, nil},
		{"CREATE ROLE thief LOGIN", postgres, nil},
		{"COPY old TO '/tmp/none'", postgres, nil},
		{"SELECT * FROM pg_authid", postgres, nil},
		{"SELECT * FROM mysql.user", mariadb, nil},
		{"CREATE USER thief", mariadb, nil},
		{"CREATE DATABASE thief", "", nil},
	}
	each(t, func(w *world) {
		t := w.t
		w.must(w.target, "CREATE TABLE old (id int)")
		if w.target.Engine == postgres {
			w.must(w.target, "CREATE SCHEMA more", "CREATE TABLE more.rows (id int)", "CREATE SEQUENCE numbers")
		}
		users := map[v1alpha1.BindingAccess]Target{}
		for _, access := range []v1alpha1.BindingAccess{read, write, both} {
			users[access] = w.user(w.account(strings.ToLower(string(access)), access))
		}
		w.must(w.target, "CREATE TABLE fresh (id int)")
		for access, user := range users {
			for _, row := range rows {
				if row.only != "" && row.only != w.target.Engine {
					continue
				}
				err := w.run(user, row.statement)
				switch may := slices.Contains(row.may, access); {
				case may && err != nil:
					t.Errorf("%s with %s: error = %v, want none", row.statement, access, err)
				case !may && err == nil:
					t.Errorf("%s with %s: it is done, want it denied", row.statement, access)
				case !may && !denied(err) && !strings.Contains(row.statement, "own"):
					t.Errorf("%s with %s: error = %v, want it denied", row.statement, access, err)
				}
			}
		}
	})
}

// Others can use what one account creates, according to their access: existing objects and later ones.
func TestWhatOneMakesIsForTheOthers(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		early := w.user(w.account("early", v1alpha1.AccessRead))
		app := w.user(w.account("app", v1alpha1.AccessReadWrite))
		w.must(app, "CREATE TABLE made (id int)", "INSERT INTO made VALUES (1)")
		late := w.user(w.account("late", v1alpha1.AccessRead))
		for _, reader := range []Target{early, late, w.target} {
			if n := w.count(reader, "SELECT count(*) FROM made"); n != 1 {
				t.Errorf("%s sees %d rows", reader.Username, n)
			}
		}
		if err := w.run(early, "DELETE FROM made"); !denied(err) {
			t.Errorf("a reader deletes: %v", err)
		}
		if w.target.Engine == postgres { // both users of an account act as one owner
			a := w.account("app", v1alpha1.AccessReadWrite)
			w.must(w.signIn(w.master(), a, a.Logins()[1]), "ALTER TABLE made ADD name text")
		}
	})
}

// Reducing the access withdraws rights to existing objects, and the account no longer owns its tables.
func TestAccessThatBecomesLess(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		a := w.account("app", v1alpha1.AccessReadWrite)
		app := w.user(a)
		w.must(app, "CREATE TABLE made (id int)")
		a.Access = v1alpha1.AccessRead
		changed, err := w.master().Ensure(t.Context(), a)
		if err != nil || len(changed) == 0 {
			t.Fatalf("%q, %v", changed, err)
		}
		if err := w.run(app, "INSERT INTO made VALUES (1)"); !denied(err) {
			t.Errorf("it still writes: %v", err)
		}
		w.must(app, "SELECT * FROM made")
		if changed, err := w.master().Ensure(t.Context(), a); err != nil || len(changed) > 0 {
			t.Errorf("a second time: %q, %v", changed, err)
		}
	})
}

// While the password moves to the other user and back, an application that reads it now and then loses no statement, on
// connections that it holds and on new ones.
func TestRotationLosesNoStatement(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		a := w.account("app", v1alpha1.AccessReadWrite)
		var published atomic.Pointer[Target]
		first := w.user(a)
		published.Store(&first)
		held := w.open(first)
		held.SetMaxOpenConns(1)
		if _, err := held.ExecContext(t.Context(), "CREATE TABLE orders (id int)"); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		failed, statements := make(chan error, 1), atomic.Int64{}
		go func() {
			defer close(failed)
			for ctx.Err() == nil {
				fresh := w.open(*published.Load())
				_, err := fresh.ExecContext(t.Context(), "INSERT INTO orders VALUES (1)")
				if err == nil {
					_, err = held.ExecContext(t.Context(), "INSERT INTO orders VALUES (2)")
				}
				_ = fresh.Close()
				statements.Add(2)
				if err != nil {
					failed <- err
					return
				}
			}
		}()
		s, login := w.master(), first.Username
		for turn := range 6 {
			login = a.Other(login)
			next := w.signIn(s, a, login)
			published.Store(&next)
			for done := statements.Load(); statements.Load() < done+6 && len(failed) == 0; {
				time.Sleep(time.Millisecond)
			}
			if turn == 0 { // the first password is valid while the second is the newest
				if err := w.dialer.SignIn(t.Context(), first); err != nil {
					t.Errorf("the password before: %v", err)
				}
			}
		}
		stop()
		if err := <-failed; err != nil {
			t.Errorf("after %d statements: %v", statements.Load(), err)
		}
		if n := w.count(w.target, "SELECT count(*) FROM orders"); int64(n) != statements.Load() {
			t.Errorf("%d rows of %d statements", n, statements.Load())
		}
		if err := w.dialer.SignIn(t.Context(), first); !errors.Is(err, ErrSignIn) {
			t.Errorf("the first password after six rotations: %v", err)
		}
		if err := s.EndPassword(t.Context(), a, a.Other(login)); err != nil {
			t.Error(err)
		}
	})
}

func TestAPasswordEnds(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		a := w.account("app", v1alpha1.AccessRead)
		user := w.user(a)
		held := w.open(user)
		held.SetMaxOpenConns(1)
		if err := held.PingContext(t.Context()); err != nil {
			t.Fatal(err)
		}
		s := w.master()
		if err := s.EndPassword(t.Context(), a, user.Username); err != nil {
			t.Fatal(err)
		}
		if err := w.dialer.SignIn(t.Context(), user); !errors.Is(err, ErrSignIn) {
			t.Errorf("a password that has ended: %v", err)
		}
		if _, err := held.ExecContext(t.Context(), "SELECT 1"); err != nil {
			t.Errorf("who is connected is cut off: %v", err)
		}
		if err := w.dialer.SignIn(t.Context(), w.signIn(s, a, user.Username)); err != nil {
			t.Errorf("a new password: %v", err)
		}
	})
}

// drop drops an account as the operator does, in as many passes as needed.
func (w *world) drop(a Account) error {
	w.t.Helper()
	s := w.master()
	for range 200 {
		err := s.Drop(w.t.Context(), a)
		if wait, ok := engine.AsWait(err); !ok || wait.Stalled {
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
	return errors.New("it takes too long")
}

// A dropped account leaves its tables to the master user, loses its connections and no longer exists. Dropping it again
// succeeds.
func TestADroppedAccountLeavesItsTables(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		a := w.account("app", v1alpha1.AccessReadWrite)
		reader := w.user(w.account("reader", v1alpha1.AccessRead))
		app := w.user(a)
		w.must(app, "CREATE TABLE made (id int)", "INSERT INTO made VALUES (1)")
		if app.Engine == postgres { // also objects that a user created without its group, and in another schema
			w.must(app, "CREATE SCHEMA own", "CREATE TABLE own.more (id int)")
			conn, err := w.open(app).Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range []string{"RESET ROLE", "SET ROLE NONE", "CREATE TABLE aside (id int)"} {
				if _, err := conn.ExecContext(t.Context(), s); err != nil {
					t.Logf("%s: %v", s, err)
				}
			}
			_ = conn.Close()
		}
		held := w.open(app)
		held.SetMaxOpenConns(1)
		if err := held.PingContext(t.Context()); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := w.drop(a); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.dialer.SignIn(t.Context(), app); !errors.Is(err, ErrSignIn) {
			t.Errorf("it can sign in: %v", err)
		}
		held.SetMaxIdleConns(1)
		if _, err := held.ExecContext(t.Context(), "INSERT INTO made VALUES (2)"); err == nil {
			t.Error("who was connected still writes")
		}
		w.must(w.target, "INSERT INTO made VALUES (3)", "ALTER TABLE made ADD name varchar(9)")
		if n := w.count(reader, "SELECT count(*) FROM made"); n != 2 {
			t.Errorf("%d rows are left", n)
		}
		if there, err := w.master().Exists(t.Context(), a); err != nil || there {
			t.Errorf("it is there: %v, %v", there, err)
		}
		if w.target.Engine == postgres {
			w.must(w.target, "SELECT * FROM own.more", "DROP SCHEMA own CASCADE")
		}
	})
}

// An existing user of the same name without our mark is neither adopted nor dropped.
func TestSomebodyElsesUserIsNotTouched(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		a := w.account("app", v1alpha1.AccessReadWrite)
		a.Known = false
		login := a.Logins()[0]
		create := "CREATE USER " + login + "@'%' IDENTIFIED BY 'somebody-Elses1'"
		if w.target.Engine == postgres {
			create = "CREATE ROLE " + login + " LOGIN PASSWORD 'somebody-Elses1'"
		}
		w.must(w.target, create)
		s, theirs := w.master(), w.target
		theirs.Username, theirs.Password = login, "somebody-Elses1"
		if w.target.Engine == mariadb {
			w.must(w.target, "GRANT SELECT ON `"+w.target.Database+"`.* TO "+login)
		}
		if there, err := s.Exists(t.Context(), a); err != nil || !there {
			t.Errorf("it is not seen: %v, %v", there, err)
		}
		_, err := s.Ensure(t.Context(), a)
		for name, err := range map[string]error{
			"ensure": err, "password": s.SetPassword(t.Context(), a, login, "Aa-2345678"),
			"end": s.EndPassword(t.Context(), a, login),
		} {
			if wait, ok := engine.AsWait(err); !ok || wait.Reason != v1alpha1.ReasonAlreadyExists ||
				!strings.Contains(err.Error(), login) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := s.Drop(t.Context(), a); err != nil {
			t.Error(err)
		}
		if err := w.dialer.SignIn(t.Context(), theirs); err != nil {
			t.Errorf("it was touched: %v", err)
		}
	})
}

// Interrupted work is completed: a response may have been lost after any statement.
func TestWhatWasBegunIsFinished(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		a := w.account("app", v1alpha1.AccessReadWrite)
		w.must(w.target, "CREATE TABLE made (id int)")
		app := w.user(a)
		begun := []string{"DROP USER " + a.Logins()[1], "REVOKE INSERT ON `" +
			strings.ReplaceAll(w.target.Database, "_", `\_`) + "`.* FROM " + app.Username}
		if w.target.Engine == postgres {
			begun = []string{"DROP ROLE " + a.Logins()[1], "REVOKE INSERT ON ALL TABLES IN SCHEMA public FROM " +
				a.Name, "COMMENT ON ROLE " + app.Username + " IS '" + a.mark() + "'"}
		}
		w.must(w.target, begun...)
		if _, err := w.master().Ensure(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		w.must(app, "INSERT INTO made VALUES (1)")
		w.must(w.signIn(w.master(), a, a.Logins()[1]), "INSERT INTO made VALUES (1)")
		if changed, err := w.master().Ensure(t.Context(), a); err != nil || len(changed) > 0 {
			t.Errorf("then: %q, %v", changed, err)
		}
	})
}

// Databases of one server are separate, even if their names differ only in a wildcard of MySQL.
func TestDatabasesOfOneServerAreApart(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		other := newWorld(t, w.target.Engine)
		alike := *w
		alike.target.Database = strings.ReplaceAll(w.target.Database, "_", "x")
		if err := w.server.Database(t.Context(), alike.target.Database, masterName); err != nil {
			t.Fatal(err)
		}
		user := w.user(w.account("app", v1alpha1.AccessReadWrite))
		for _, apart := range []*world{other, &alike} {
			apart.must(apart.target, "CREATE TABLE secret (id int)")
			user.Database = apart.target.Database
			if err := w.run(user, "SELECT * FROM secret"); !denied(err) {
				t.Errorf("%s reads in %s: %v", user.Username, user.Database, err)
			}
		}
	})
}

// An ended password stays ended: a user that is still connected may set another one, and cannot sign in with it.
func TestAnEndedPasswordCannotBeSetByItself(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		a := w.account("app", v1alpha1.AccessRead)
		user, s := w.user(a), w.master()
		for login, want := range map[string]bool{user.Username: true, a.Other(user.Username): false} {
			if can, err := s.CanSignIn(t.Context(), a, login); err != nil || can != want {
				t.Errorf("%s: %v, %v", login, can, err)
			}
		}
		held := w.hold(user, "SELECT 1")
		if err := s.EndPassword(t.Context(), a, user.Username); err != nil {
			t.Fatal(err)
		}
		user.Password = "its-Own-choice-1"
		statements := []string{"SET PASSWORD = PASSWORD('its-Own-choice-1')"}
		if user.Engine == postgres {
			statements = []string{"SET ROLE NONE", "ALTER ROLE " + user.Username + " PASSWORD 'its-Own-choice-1'"}
		}
		for _, statement := range statements {
			if _, err := held.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.dialer.SignIn(t.Context(), user); !errors.Is(err, ErrSignIn) {
			t.Errorf("it is in again: %v", err)
		}
		if can, err := s.CanSignIn(t.Context(), a, user.Username); err != nil || can {
			t.Errorf("after the end: %v, %v", can, err)
		}
	})
}

// A request for a retained account with the other authentication is refused, and the account stays unchanged with both
// of its users.
func TestTheOtherAuthenticationIsRefused(t *testing.T) {
	w := newWorld(t, postgres)
	a := w.account("app", v1alpha1.AccessRead)
	user := w.user(a)
	again := a
	again.IAM = true
	for _, gone := range []string{"", a.Name + "_a"} {
		if gone != "" {
			w.must(w.target, "DROP ROLE "+gone)
		}
		_, err := w.master().Ensure(t.Context(), again)
		if wait, ok := engine.AsWait(err); !ok || wait.Reason != v1alpha1.ReasonAlreadyExists ||
			!strings.Contains(err.Error(), "authentication: Password instead of IAM") {
			t.Errorf("without %q: %v", gone, err)
		}
		if gone == "" {
			if err := w.dialer.SignIn(t.Context(), user); err != nil {
				t.Errorf("it was touched: %v", err)
			}
		}
	}
	if err := w.drop(again); err != nil {
		t.Error(err)
	}
	if n := w.count(w.target, "SELECT count(*) FROM pg_roles WHERE rolname IN ('"+a.Name+"', '"+a.Name+"_b')"); n != 2 {
		t.Errorf("%d of what is another's are left", n)
	}
}
