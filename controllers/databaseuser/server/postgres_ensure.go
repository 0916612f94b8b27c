package server

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// refusedRetry is how soon a refused statement is retried: an application's lock is temporary.
const refusedRetry = time.Minute

// iamRole is a role of RDS: its members sign in with tokens only. Indirect members count too, so the master user must
// never become a member of a user of ours that is in it.
const iamRole = "rds_iam"

// Ensure implements Server.
func (p *postgresServer) Ensure(ctx context.Context, a Account) (done []string, err error) {
	ensure := func() error {
		if err := p.own(ctx, a); err != nil {
			return err
		}
		made, err := p.ensureRoles(ctx, a)
		if err != nil {
			return err
		}
		rights, err := p.ensureRights(ctx, a)
		done = slices.Concat(made, rights)
		return err
	}
	if err = p.inTransaction(ctx, ensure); locked(err) && a.Access != v1alpha1.AccessReadWrite {
		err = p.alone(ctx, a, ensure) // a lock must not preserve withdrawn rights
	}
	return done, err
}

// createGroup returns the statements that create the account's group, which has the rights and owns what applications
// create. The master user becomes a member, so that it can grant rights to those objects and take them over.
func createGroup(a Account) []string {
	group := identifier(a.Name)
	return []string{"CREATE ROLE " + group + " NOLOGIN", "GRANT " + group + " TO CURRENT_USER"}
}

// createLogin returns the statements that create a user. Nobody can sign in as it until it has a password, except with
// IAM. It acts as the group from its first statement on.
func createLogin(a Account, login string) []string {
	user := identifier(login)
	all := []string{"CREATE ROLE " + user + " NOLOGIN", actAs(a, user)}
	if a.IAM {
		all = append(all, "GRANT "+iamRole+" TO "+user, letIn(user))
	}
	return all
}

// settings returns the statements that make a user act as the group and resolve names in the schema public. By
// PostgreSQL's default it would search a schema of its own name first, which anyone who can create schemas can create.
// Another search path is kept, unless the user filled the server with it.
func settings(a Account, r role, login string) (statements []string) {
	if r.filled {
		statements = append(statements, "ALTER ROLE "+identifier(login)+" RESET ALL")
	}
	if !r.acts {
		statements = append(statements, "ALTER ROLE "+identifier(login)+" SET role = "+literal(a.Name))
	}
	if !r.path {
		statements = append(statements, "ALTER ROLE "+identifier(login)+" SET search_path = public")
	}
	return statements
}

func letIn(user string) string { return "ALTER ROLE " + user + " LOGIN" }

func (p *postgresServer) ensureRoles(ctx context.Context, a Account) (done []string, err error) {
	found, err := p.roles(ctx, a.Name, a.roles())
	if err != nil {
		return nil, err
	}
	for _, name := range a.roles() {
		r, there := found[name]
		var statements []string
		switch {
		case !there && name == a.Name:
			statements = createGroup(a)
		case !there:
			statements = createLogin(a, name)
		case a.IAM && name != a.Name && !r.login: // alone shut it out, and was interrupted
			statements = []string{letIn(identifier(name))}
		}
		if name != a.Name {
			statements = append(statements, settings(a, r, name)...)
		}
		if r.mark != a.comment() {
			statements = append(statements, "COMMENT ON ROLE "+identifier(name)+" IS "+literal(a.comment()))
		}
		if err := p.exec(ctx, statements...); err != nil {
			return nil, explainIAM(err, a)
		}
		if !there {
			done = append(done, "made "+name)
		}
	}
	return done, nil
}

// explainIAM explains the error of a server that does not support IAM tokens.
func explainIAM(err error, a Account) error {
	if a.IAM && hasCode(err, pgUndefinedObject) {
		return engine.Blocked(v1alpha1.ReasonIAMUnavailable, "the database has no role %s, so that nobody can sign "+
			"in by IAM: make it in RDS, or request a user with a password", iamRole)
	}
	return err
}

// ensureRights changes the rights of the account to those of its access, including rights to what others create later.
func (p *postgresServer) ensureRights(ctx context.Context, a Account) ([]string, error) {
	if a.Access != v1alpha1.AccessReadWrite {
		if err := p.disown(ctx, a); err != nil {
			return nil, err
		}
	}
	others, err := p.accounts(ctx, a)
	if err != nil {
		return nil, err
	}
	makers := []string{p.target.Username}
	for _, o := range others {
		makers = append(makers, o.Name)
	}
	done, err := p.ensurePresent(ctx, a)
	if err != nil {
		return done, err
	}
	have, err := p.defaults(ctx, a, makers)
	if err != nil {
		return nil, err
	}
	for _, o := range others { // the others get rights to what this account creates
		of, err := p.defaults(ctx, o, []string{a.Name})
		if err != nil {
			return nil, err
		}
		have = append(have, of...)
	}
	statements := differences(have)
	return listed(append(done, statements...)), p.exec(ctx, statements...)
}

// mostAccounts is the maximum number of accounts in one database: each has rights to what the others create.
const mostAccounts = 500

// accounts returns the other accounts that Portico created. More than mostAccounts are an error.
func (p *postgresServer) accounts(ctx context.Context, a Account) (all []Account, err error) {
	rows, err := p.query(ctx, `SELECT rolname, left(shobj_description(oid, 'pg_authid'), $3) FROM pg_roles
		WHERE NOT rolcanlogin AND rolname <> $1 AND shobj_description(oid, 'pg_authid') LIKE $2 AND pg_has_role(oid, 'USAGE') ORDER BY rolname LIMIT $4`,
		a.Name, markPrefix+"%", mostMarked, mostAccounts+1)
	if err != nil {
		return nil, p.failed("look for other users", err)
	}
	var name, comment string
	_, err = pgx.ForEachRow(rows, []any{&name, &comment}, func() error {
		if _, access, ok := strings.Cut(comment, accessField); ok {
			all = append(all, Account{Name: name, Access: v1alpha1.BindingAccess(access)})
		}
		return nil
	})
	if len(all) > mostAccounts {
		return nil, engine.Blocked(v1alpha1.ReasonDatabaseRefused, "the instance has more than %d users that Portico "+
			"keeps in this database, which is the most; delete DatabaseUsers, or request another RDSInstance",
			mostAccounts)
	}
	return all, p.failed("look for other users", err)
}

// holders are the account's roles that own something, and its users that were granted something directly. Users act as
// the account and get all their rights from it, so a direct grant is an application's own doing.
const holders = `SELECT DISTINCT r.rolname::text FROM pg_shdepend d JOIN pg_roles r ON r.oid = d.refobjid
	WHERE d.refclassid = 'pg_authid'::regclass AND r.rolname = ANY($1) AND d.dbid IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
	AND (d.deptype = 'o' OR d.deptype = 'a' AND r.rolname <> $2 AND d.classid <> 'pg_auth_members'::regclass) ORDER BY 1`

// disown transfers what the account owns to leftRole, and withdraws what its users were granted directly. The master
// user has to be a member of each role that owns something; of one in rds_iam only after it has left that.
func (p *postgresServer) disown(ctx context.Context, a Account) error {
	roles, err := p.texts(ctx, "look for what the user owns", holders, a.roles(), a.Name)
	if err != nil {
		return err
	}
	var rest []string
	for _, name := range roles {
		before, after := join(a, name)
		if err := p.exec(ctx, before...); err != nil {
			return err
		}
		if name != a.Name { // it no longer owns anything: only rights are dropped, perhaps its membership too
			rest = append(rest, "DROP OWNED BY "+identifier(name), actAs(a, identifier(name)))
		}
		rest = append(rest, after...)
	}
	if err := p.reassign(ctx, roles, a.roles()); err != nil {
		return err
	}
	return p.exec(ctx, rest...)
}

func actAs(a Account, user string) string { return "GRANT " + identifier(a.Name) + " TO " + user }

// join returns the statements that make the master user a member of a role of the account, and those that undo it.
func join(a Account, name string) (before, after []string) {
	if name == a.Name {
		return nil, nil // it is a member from the start
	}
	user := identifier(name)
	before, after = []string{"GRANT " + user + " TO CURRENT_USER"}, []string{"REVOKE " + user + " FROM CURRENT_USER"}
	if a.IAM {
		before = append([]string{"REVOKE " + iamRole + " FROM " + user}, before...)
		after = append(after, "GRANT "+iamRole+" TO "+user)
	}
	return before, after
}
