//go:build integration

package server

import (
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// hold executes statements on a connection of its own, which stays open.
func (w *world) hold(t Target, statements ...string) *sql.Conn {
	w.t.Helper()
	conn, err := w.open(t).Conn(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	for _, s := range statements {
		if _, err := conn.ExecContext(w.t.Context(), s); err != nil {
			w.t.Fatalf("%s: %v", s, err)
		}
	}
	return conn
}

// Anyone who can sign in can hold every advisory lock, so none may block others.
func TestNoLockOfApplicationsHoldsUpOthers(t *testing.T) {
	w := newWorld(t, postgres)
	app := w.user(w.account("app", v1alpha1.AccessRead))
	w.hold(app, "SELECT pg_advisory_lock(8102376528475632239)") // the letters of portico, which Portico once used
	if _, err := w.master().Ensure(t.Context(), w.account("other", v1alpha1.AccessRead)); err != nil {
		t.Error(err)
	}
}

// An application that locks its own table does not keep its rights that way, and can sign in afterwards.
func TestALockDoesNotKeepRights(t *testing.T) {
	w := newWorld(t, postgres)
	a := w.account("app", v1alpha1.AccessReadWrite)
	app := w.user(a)
	w.must(app, "CREATE TABLE made (id int)")
	held := w.hold(app, "BEGIN", "LOCK TABLE made")
	a.Access = v1alpha1.AccessRead
	if _, err := w.master().Ensure(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	if _, err := held.ExecContext(t.Context(), "SELECT 1"); err == nil {
		t.Error("who has the lock is still connected")
	}
	if err := w.run(app, "DROP TABLE made"); !denied(err) {
		t.Errorf("it keeps what it owned: %v", err)
	}
	w.must(app, "SELECT * FROM made")
}

// A user that changes its own password and does not commit locks its own role: its password can still be replaced and
// ended, and the account can still be dropped.
func TestALockOfItsOwnRoleHoldsUpNothing(t *testing.T) {
	w := newWorld(t, postgres)
	a := w.account("app", v1alpha1.AccessRead)
	app := w.user(a)
	lock := func(t Target) {
		w.hold(t, "SET ROLE NONE", "BEGIN", "ALTER ROLE "+app.Username+" PASSWORD 'its-Own-choice-1'")
	}
	lock(app)
	app = w.signIn(w.master(), a, app.Username)
	lock(app)
	if err := w.master().EndPassword(t.Context(), a, app.Username); err != nil {
		t.Error(err)
	}
	if err := w.dialer.SignIn(t.Context(), app); !errors.Is(err, ErrSignIn) {
		t.Errorf("after the end: %v", err)
	}
	lock(w.signIn(w.master(), a, app.Username))
	if err := w.drop(a); err != nil {
		t.Error(err)
	}
}

// Accounts that are created at the same time do not make each other fail.
func TestAccountsAreMadeAtOnce(t *testing.T) {
	w := newWorld(t, postgres)
	w.must(w.target, "CREATE TABLE made (id int)")
	var all sync.WaitGroup
	for n := range 6 {
		s, a := w.master(), w.account(fmt.Sprint("app", n), v1alpha1.AccessReadWrite)
		all.Go(func() {
			if _, err := s.Ensure(t.Context(), a); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}
