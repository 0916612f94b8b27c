package server

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// Drop implements Server.
func (p *postgresServer) Drop(ctx context.Context, a Account) error {
	left, err := p.left(ctx, a)
	if err != nil || len(left) == 0 {
		return err
	}
	if err := p.shutOut(ctx, left); err != nil {
		return err
	}
	if err := p.inTransaction(ctx, func() error { return p.joinAll(ctx, a, left) }); err != nil {
		return err
	}
	databases, err := p.databases(ctx, left)
	if err != nil {
		return err
	}
	for _, name := range databases {
		if err := p.emptyIn(ctx, name, left); err != nil {
			return err
		}
	}
	return p.inTransaction(ctx, func() error { return p.dropRoles(ctx, left) })
}

// left returns the account's remaining roles, the users first. Roles that are not ours, or gone, are not included.
func (p *postgresServer) left(ctx context.Context, a Account) (left []string, err error) {
	found, err := p.roles(ctx, a.Name, a.names())
	for _, name := range append(a.both(), a.Name) {
		if r, there := found[name]; there && a.ours(r.mark) {
			left = append(left, name)
		}
	}
	return left, err
}

// joinAll makes the master user a member of the roles.
func (p *postgresServer) joinAll(ctx context.Context, a Account, roles []string) error {
	for _, name := range roles {
		before, _ := join(a, name)
		if err := p.exec(ctx, before...); err != nil {
			return err
		}
	}
	return nil
}

// databases returns those in which any of the roles owns something or has rights, the connected one first.
func (p *postgresServer) databases(ctx context.Context, roles []string) ([]string, error) {
	rows, err := p.query(ctx, `SELECT datname::text FROM pg_database WHERE datname = current_database() OR oid IN (
		SELECT d.dbid FROM pg_shdepend d JOIN pg_roles r ON r.oid = d.refobjid WHERE d.refclassid = 'pg_authid'::regclass AND r.rolname = ANY($1))
		ORDER BY datname <> current_database(), datname`, roles)
	if err != nil {
		return nil, p.failed("look where the user has anything", err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return all, p.failed("look where the user has anything", err)
}

// emptyIn transfers what the roles own in a database to leftRole, and only then executes DROP OWNED, which then finds
// only rights.
func (p *postgresServer) emptyIn(ctx context.Context, database string, roles []string) error {
	in := p
	if database != p.target.Database {
		t := p.target
		t.Database = database
		other, err := p.dialer.connectPostgres(ctx, t)
		if err != nil {
			return err
		}
		defer other.Close()
		in = other.(*postgresServer)
	}
	return in.inTransaction(ctx, func() error {
		if err := in.reassign(ctx, roles, roles); err != nil {
			return err
		}
		for _, name := range roles {
			if err := in.exec(ctx, "DROP OWNED BY "+identifier(name)); err != nil {
				return err
			}
		}
		return nil
	})
}

func (p *postgresServer) dropRoles(ctx context.Context, roles []string) error {
	for _, name := range roles {
		_, err := p.send(ctx, "DROP ROLE "+identifier(name))
		if refusal, ok := errors.AsType[*pgconn.PgError](err); ok && refusal.Code == pgDependent {
			return engine.Blocked(v1alpha1.ReasonUserInUse, "%s cannot be dropped yet: %s. Give that to another user "+
				"as the master user, or set deletionPolicy: Retain to leave the user in the database", name,
				quoted(refusal.Detail))
		}
		if err != nil {
			return p.failed("DROP ROLE "+name, err)
		}
	}
	return nil
}
