package server

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// mysqlRights are the rights to the database, by access. Tables in MySQL have no owner: a user that can create tables
// can alter and drop all of them.
var mysqlRights = map[v1alpha1.BindingAccess][]string{
	v1alpha1.AccessRead:  {"SELECT", "SHOW VIEW"},
	v1alpha1.AccessWrite: {"INSERT", "UPDATE", "DELETE"},
	v1alpha1.AccessReadWrite: {
		"SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "ALTER", "DROP", "INDEX", "REFERENCES", "CREATE VIEW",
		"SHOW VIEW", "TRIGGER",
		"CREATE ROUTINE", "ALTER ROUTINE", "EXECUTE", "EVENT", "LOCK TABLES", "CREATE TEMPORARY TABLES",
	},
}

// Exists implements Server.
func (m *mysqlServer) Exists(ctx context.Context, a Account) (bool, error) {
	found, err := m.users(ctx, a)
	return len(found) > 0, err
}

// users returns the account's existing users, of any host, with their marks.
func (m *mysqlServer) users(ctx context.Context, a Account) (map[string]string, error) {
	found := map[string]string{}
	for _, login := range a.both() {
		hosts, err := m.texts(ctx, "look for the user", "SELECT Host FROM mysql.user WHERE User = ? LIMIT 2", login)
		if err != nil {
			return nil, err
		}
		if len(hosts) == 0 {
			continue
		}
		found[login] = ""
		if !slices.Equal(hosts, []string{"%"}) {
			found[login] = "of another host"
		}
		if !m.dialect.attributes || found[login] != "" {
			continue
		}
		marks, err := m.texts(ctx, "look for the user's mark", "SELECT LEFT(COALESCE(ATTRIBUTE->>'$.portico', ''), "+
			"?) FROM INFORMATION_SCHEMA.USER_ATTRIBUTES WHERE USER = ? AND HOST = '%'", mostMarked, login)
		if err != nil {
			return nil, err
		}
		found[login] = strings.Join(marks, " ")
	}
	return found, nil
}

// own returns the account's existing users, and an error if one of them is not ours. On a server without a place for a
// mark, a user is ours if it did not exist before.
func (m *mysqlServer) own(ctx context.Context, a Account) (map[string]string, error) {
	found, err := m.users(ctx, a)
	if err != nil {
		return nil, err
	}
	for _, login := range a.both() {
		if mark, there := found[login]; there && !m.ours(a, mark) {
			return nil, a.refuse(login, mark)
		}
	}
	return found, nil
}

func (m *mysqlServer) ours(a Account, mark string) bool {
	if m.dialect.attributes {
		return a.ours(mark)
	}
	return mark == "" && a.Known
}

// Ensure implements Server.
func (m *mysqlServer) Ensure(ctx context.Context, a Account) (done []string, err error) {
	found, err := m.own(ctx, a)
	if err != nil {
		return nil, err
	}
	for _, login := range a.Logins() {
		if _, there := found[login]; !there {
			if err := m.create(ctx, a, login); err != nil {
				return nil, err
			}
			done = append(done, "made "+login)
		}
		statements, err := m.differences(ctx, a, login)
		if err != nil {
			return nil, err
		}
		if err := m.exec(ctx, statements...); err != nil {
			return nil, err
		}
		done = append(done, statements...)
	}
	return done, nil
}

// create creates a user: a locked one with a random password, or with IAM one without a password.
func (m *mysqlServer) create(ctx context.Context, a Account, login string) error {
	if a.IAM {
		return explainPlugin(m.exec(ctx, createIAM(m.dialect, a, login)))
	}
	password, err := NewPassword()
	if err != nil {
		return err
	}
	return m.secretly(ctx, "make the user "+login, "CREATE USER "+account(login)+identified(m.dialect, password)+
		" ACCOUNT LOCK"+attribute(m.dialect, a))
}

// createIAM returns the statement from RDS's documentation, with AWS's plug-in.
func createIAM(d dialect, a Account, login string) string {
	return "CREATE USER " + account(login) + " IDENTIFIED WITH AWSAuthenticationPlugin AS 'RDS'" + attribute(d, a)
}

// explainPlugin explains the error of a server that does not support IAM tokens.
func explainPlugin(err error) error {
	if hasCode(err, strconv.Itoa(myPluginMissing)) {
		return engine.Blocked(v1alpha1.ReasonIAMUnavailable, "the database does not know AWSAuthenticationPlugin, so "+
			"that nobody can sign in by IAM; request a user with a password")
	}
	return err
}

// identified returns the clause that sets a password. MariaDB gets the hash that it stores, so that its logs never hold
// more. MySQL gets the password itself, over TLS, and logs no more than the hash that it stores; the kind of hash
// depends on its settings.
func identified(d dialect, password Password) string {
	if d.mariadb {
		return " IDENTIFIED VIA mysql_native_password USING " + mysqlLiteral(nativeHash(password))
	}
	return " IDENTIFIED BY " + mysqlLiteral(string(password))
}

func attribute(d dialect, a Account) string {
	if !d.attributes {
		return ""
	}
	return " ATTRIBUTE " + mysqlLiteral(`{"portico": "`+a.mark()+`"}`)
}

// SetPassword implements Server.
func (m *mysqlServer) SetPassword(ctx context.Context, a Account, login string, password Password) error {
	if _, err := m.own(ctx, a); err != nil {
		return err
	}
	return m.secretly(ctx, "set the password of "+login, "ALTER USER "+account(login)+identified(m.dialect, password)+
		" ACCOUNT UNLOCK")
}

// CanSignIn implements Server.
func (m *mysqlServer) CanSignIn(ctx context.Context, _ Account, login string) (bool, error) {
	open, err := m.texts(ctx, "look whether the user is locked", unlocked(m.dialect), login)
	return len(open) > 0, err
}

// unlocked returns a query that finds the user if it is not locked. In MariaDB mysql.user has no such column.
func unlocked(d dialect) string {
	if d.mariadb {
		return "SELECT User FROM mysql.global_priv WHERE User = ? AND Host = '%' AND COALESCE(JSON_VALUE(Priv, " +
			"'$.account_locked'), '0') NOT IN ('1', 'true')"
	}
	return "SELECT User FROM mysql.user WHERE User = ? AND Host = '%' AND account_locked = 'N'"
}

// EndPassword implements Server.
func (m *mysqlServer) EndPassword(ctx context.Context, a Account, login string) error {
	if _, err := m.own(ctx, a); err != nil {
		return err
	}
	return m.exec(ctx, "ALTER USER "+account(login)+" ACCOUNT LOCK")
}

// differences returns the statements that change the rights of a user to those of the account's access.
func (m *mysqlServer) differences(ctx context.Context, a Account, login string) ([]string, error) {
	on := strings.Trim(pattern(m.target.Database), "`")
	has, err := m.texts(ctx, "look at the user's rights",
		"SELECT PRIVILEGE_TYPE FROM INFORMATION_SCHEMA.SCHEMA_PRIVILEGES WHERE GRANTEE = ? AND TABLE_SCHEMA = ?",
		grantee(login), on)
	if err != nil {
		return nil, err
	}
	return mysqlDifferences(m.target.Database, login, mysqlRights[a.Access], has), nil
}

func mysqlDifferences(database, login string, ask, has []string) (statements []string) {
	grant, revoke := missing(ask, has), missing(has, append(slices.Clone(ask), "USAGE"))
	if len(revoke) > 0 {
		statements = append(statements, "REVOKE "+strings.Join(revoke, ", ")+" ON "+pattern(database)+".* FROM "+
			account(login))
	}
	if len(grant) > 0 {
		statements = append(statements, "GRANT "+strings.Join(grant, ", ")+" ON "+pattern(database)+".* TO "+
			account(login))
	}
	return statements
}

// definers are queries for objects that run with the rights of their creator, and would not run without that user.
var definers = []string{
	"SELECT CONCAT('view ', TABLE_SCHEMA, '.', TABLE_NAME) FROM INFORMATION_SCHEMA.VIEWS WHERE DEFINER = ?",
	"SELECT CONCAT(LOWER(ROUTINE_TYPE), ' ', ROUTINE_SCHEMA, '.', ROUTINE_NAME) FROM INFORMATION_SCHEMA.ROUTINES " +
		"WHERE DEFINER = ?",
	"SELECT CONCAT('trigger ', TRIGGER_SCHEMA, '.', TRIGGER_NAME) FROM INFORMATION_SCHEMA.TRIGGERS WHERE DEFINER = ?",
	"SELECT CONCAT('event ', EVENT_SCHEMA, '.', EVENT_NAME) FROM INFORMATION_SCHEMA.EVENTS WHERE DEFINER = ?",
}

// mostNamed is the maximum number of objects in an error.
const mostNamed = 5

// Drop implements Server. Tables in MySQL have no owner. Views, routines, triggers and events run as their creator:
// while there are any, that user is kept, and cannot sign in.
func (m *mysqlServer) Drop(ctx context.Context, a Account) error {
	found, err := m.users(ctx, a)
	if err != nil {
		return err
	}
	var errs []error
	for _, login := range a.both() {
		if mark, there := found[login]; there && m.ours(a, mark) {
			errs = append(errs, m.drop(ctx, login))
		}
	}
	return cmp.Or(errs...)
}

func (m *mysqlServer) drop(ctx context.Context, login string) error {
	if err := m.exec(ctx, "ALTER USER "+account(login)+" ACCOUNT LOCK"); err != nil {
		return err
	}
	connections, err := m.texts(ctx, "look for the user's connections",
		"SELECT ID FROM INFORMATION_SCHEMA.PROCESSLIST WHERE USER = ? LIMIT "+strconv.Itoa(pageSize), login)
	if err != nil {
		return err
	}
	for _, id := range connections {
		if err := m.exec(ctx, "CALL mysql.rds_kill("+id+")"); err != nil &&
			!hasCode(err, strconv.Itoa(myNoSuchThread)) {
			return err
		}
	}
	if len(connections) > 0 {
		return engine.Wait(v1alpha1.ReasonDeleting, endPoll, "the database is ending connections of the user: %d "+
			"were asked to end", len(connections))
	}
	var named []string
	for _, query := range definers {
		more, err := m.texts(ctx, "look for what runs as the user", query+" LIMIT "+strconv.Itoa(mostNamed+1),
			login+"@%")
		if err != nil {
			return err
		}
		named = append(named, more...)
	}
	if len(named) > 0 {
		return engine.Blocked(v1alpha1.ReasonUserInUse, "nobody can sign in as %s any more, and it cannot be dropped "+
			"yet, because things in the database run as it: %s. Create them again as another user, or set "+
			"deletionPolicy: Retain to leave the user in the database",
			login, firstOf(named))
	}
	return m.exec(ctx, "DROP USER "+account(login))
}

// firstOf joins the first mostNamed elements, and says if there are more.
func firstOf(all []string) string {
	if len(all) > mostNamed {
		return strings.Join(all[:mostNamed], ", ") + " and more"
	}
	return strings.Join(all, ", ")
}
