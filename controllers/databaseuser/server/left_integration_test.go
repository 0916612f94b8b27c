//go:build integration

package server

import (
	"testing"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// leaving are the operations that take an account's objects away from it.
var leaving = map[string]func(*world, Account) error{
	"less access": func(w *world, a Account) error {
		a.Access = v1alpha1.AccessWrite
		_, err := w.master().Ensure(w.t.Context(), a)
		return err
	},
	"dropped": func(w *world, a Account) error { return w.drop(a) },
}

// ANALYZE, also as part of autovacuum, evaluates the expressions of indexes as the table's owner: a function that an
// application put there must not run as the master user. PostgreSQL checks a function's volatility when the index is
// created, and not when the function is replaced.
func TestIndexesOfApplicationsDoNotRunAsTheMaster(t *testing.T) {
	for name, leave := range leaving {
		w := newWorld(t, postgres)
		a := w.account("app", v1alpha1.AccessReadWrite)
		w.must(w.user(a), `CREATE SCHEMA "odd name"`, "CREATE TABLE caught (who text)", "CREATE TABLE trap (id int)",
			"INSERT INTO trap VALUES (1), (2)",
			`CREATE FUNCTION "odd name".same(int) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT $1'`,
			`CREATE INDEX ON trap ("odd name".same(id))`,
			"CREATE FUNCTION public.other(int) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT $1'",
			"CREATE TYPE mood AS ENUM ('good')", "CREATE PUBLICATION news FOR TABLE trap",
			`CREATE OR REPLACE FUNCTION "odd name".same(int) RETURNS int LANGUAGE plpgsql AS 'BEGIN INSERT INTO public.caught VALUES (current_user); RETURN $1; END'`)
		if err := leave(w, a); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := w.server.Exec(t.Context(), w.target.Database, "ANALYZE trap"); err != nil {
			t.Fatal(err)
		}
		if n := w.count(w.target, "SELECT count(*) FROM caught WHERE who = '"+leftRole+"'"); n == 0 {
			t.Errorf("%s: the trap does not work", name)
		}
		if n := w.count(w.target, "SELECT count(*) FROM caught WHERE who <> '"+leftRole+"'"); n > 0 {
			t.Errorf("%s: it runs as somebody who may do something", name)
		}
		w.must(w.target, "SELECT * FROM trap", `SELECT "odd name".same(1)`, "REASSIGN OWNED BY "+leftRole+
			" TO CURRENT_USER")
	}
}

// A view reads with its owner's rights: a view that an account left does not read the master user's tables for anybody.
func TestViewsOfApplicationsDoNotReadAsTheMaster(t *testing.T) {
	for name, leave := range leaving {
		w := newWorld(t, postgres)
		w.must(w.target, "CREATE TABLE masters (id int)", "CREATE TABLE kept (id int)")
		a := w.account("app", v1alpha1.AccessReadWrite)
		writer := w.user(w.account("writer", v1alpha1.AccessWrite))
		w.must(w.user(a), "CREATE TABLE made (id int)", "CREATE VIEW seen AS SELECT * FROM masters",
			"GRANT SELECT ON seen TO PUBLIC",
			"CREATE RULE more AS ON INSERT TO made DO ALSO DELETE FROM kept")
		if err := leave(w, a); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, statement := range []string{"SELECT * FROM seen", "INSERT INTO made VALUES (1)"} {
			if err := w.run(writer, statement); !denied(err) {
				t.Errorf("%s: %s: %v", name, statement, err)
			}
		}
		w.must(w.target, "SELECT * FROM made")
	}
}

// The role that owns what accounts left has no rights, and the master user is its only member.
func TestTheRoleOfWhatIsLeftMayDoNothing(t *testing.T) {
	w := newWorld(t, postgres)
	a := w.account("app", v1alpha1.AccessReadWrite)
	w.must(w.user(a), "CREATE FUNCTION mine() RETURNS int LANGUAGE sql AS 'SELECT 1'")
	if err := w.drop(a); err != nil {
		t.Fatal(err)
	}
	for what, query := range map[string]string{
		"it is in a role": "SELECT count(*) FROM pg_auth_members WHERE member = 'portico_left'::regrole",
		"somebody is in it": "SELECT count(*) FROM pg_auth_members WHERE roleid = 'portico_left'::regrole AND " +
			"member <> CURRENT_USER::regrole",
		"it can sign in": "SELECT count(*) FROM pg_roles WHERE rolname = 'portico_left' AND (rolcanlogin OR " +
			"rolcreaterole OR rolcreatedb)",
		"it has rights here": "SELECT count(*) FROM pg_namespace n, aclexplode(nspacl) x WHERE x.grantee = " +
			"'portico_left'::regrole AND nspowner <> x.grantee",
		"it may use a database": "SELECT count(*) FROM pg_database d, aclexplode(datacl) x WHERE x.grantee = " +
			"'portico_left'::regrole",
		"it has nothing of ours": "SELECT 1 - count(*) FROM pg_proc WHERE proname = 'mine' AND proowner = " +
			"'portico_left'::regrole",
	} {
		if n := w.count(w.target, query); n != 0 {
			t.Error(what)
		}
	}
}

// Rights that an application granted to its users, to PUBLIC or to its account end when the account's access is
// reduced.
func TestRightsThatApplicationsGaveEnd(t *testing.T) {
	w := newWorld(t, postgres)
	a := w.account("app", v1alpha1.AccessReadWrite)
	app := w.user(a)
	login := app.Username
	w.must(app, "CREATE TABLE made (id int, name text)", "CREATE TABLE taken (id int)", "CREATE SCHEMA own",
		"CREATE SEQUENCE counter",
		"GRANT INSERT ON made TO "+login+" WITH GRANT OPTION", "GRANT DELETE, UPDATE (name) ON made TO PUBLIC",
		"GRANT UPDATE (id) ON made TO "+login,
		"GRANT CREATE, USAGE ON SCHEMA own TO PUBLIC, "+login, "GRANT UPDATE ON counter TO PUBLIC",
		"GRANT INSERT ON taken TO "+login,
		"ALTER DEFAULT PRIVILEGES GRANT INSERT ON TABLES TO "+login)
	w.hold(app, "SET ROLE NONE", "GRANT INSERT ON made TO PUBLIC", "CREATE TABLE aside (id int)",
		"GRANT UPDATE (id) ON aside TO "+a.Name)
	w.must(w.target, "ALTER TABLE taken OWNER TO CURRENT_USER")
	second := w.signIn(w.master(), a, a.Logins()[1])
	w.hold(second, "SET ROLE NONE", "CREATE TABLE asides (id int)",
		"GRANT INSERT ON asides TO "+login+" WITH GRANT OPTION")
	w.hold(app, "SET ROLE NONE", "GRANT INSERT ON asides TO PUBLIC")
	a.Access = v1alpha1.AccessRead
	if _, err := w.master().Ensure(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		"INSERT INTO made VALUES (1)", "DELETE FROM made", "UPDATE made SET name = ''", "UPDATE made SET id = 1",
		"CREATE TABLE own.more (id int)", "SELECT nextval('counter')",
		"INSERT INTO taken VALUES (1)", "UPDATE aside SET id = 1", "INSERT INTO asides VALUES (1)",
	} {
		if err := w.run(app, statement); !denied(err) {
			t.Errorf("%s: %v", statement, err)
		}
		if _, err := w.hold(app, "SET ROLE NONE").ExecContext(t.Context(), statement); !denied(err) {
			t.Errorf("%s, as its user: %v", statement, err)
		}
	}
	w.must(app, "SELECT * FROM made", "SELECT * FROM aside", "SELECT * FROM taken")
	if changed, err := w.master().Ensure(t.Context(), a); err != nil || len(changed) > 0 {
		t.Errorf("a second time: %q, %v", changed, err)
	}
}

// Rights to the account's table that one of its users granted to others do not block a drop.
func TestRightsThatWereGivenOnHoldUpNoDrop(t *testing.T) {
	w := newWorld(t, postgres)
	a := w.account("app", v1alpha1.AccessReadWrite)
	app := w.user(a)
	w.must(app, "CREATE TABLE made (id int)", "GRANT INSERT ON made TO "+app.Username+" WITH GRANT OPTION")
	w.hold(app, "SET ROLE NONE", "GRANT INSERT ON made TO PUBLIC")
	if err := w.drop(a); err != nil {
		t.Fatal(err)
	}
	const everybodys = "SELECT count(*) FROM pg_class, aclexplode(relacl) x WHERE relname = 'made' AND x.grantee = 0"
	if n := w.count(w.target, everybodys); n != 0 {
		t.Errorf("everybody has %d rights to what is left", n)
	}
}
