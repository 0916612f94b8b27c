package server

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// leftRole owns what accounts left. What an application has written into a view, a rule or the function of an index
// runs with the rights of its owner, also when autovacuum runs ANALYZE: so that owner has no rights. The master user is
// a member of it, and it is a member of nothing.
const (
	leftRole = "portico_left"
	leftMark = "portico.dev/left: what DatabaseUsers have left. Look at it before you give it to somebody: it may " +
		"act with its owner's rights"
)

// ensureLeft creates the role, and makes the master user a member of it.
func (p *postgresServer) ensureLeft(ctx context.Context) error {
	found, err := p.roles(ctx, "", []string{leftRole})
	if err != nil {
		return err
	}
	r, there := found[leftRole]
	if there && r.mark != leftMark {
		return notOurs(leftRole)
	}
	if !there {
		return p.exec(ctx, "CREATE ROLE "+leftRole+" NOLOGIN", "COMMENT ON ROLE "+leftRole+" IS "+literal(leftMark),
			"GRANT "+leftRole+" TO CURRENT_USER")
	}
	var member bool
	if err := p.one(ctx, "SELECT pg_has_role($1, 'USAGE')", leftRole).Scan(&member); err != nil || member {
		return p.failed("look at the role "+leftRole, err)
	}
	return p.exec(ctx, "GRANT "+leftRole+" TO CURRENT_USER")
}

// A role needs CREATE in their schema at the moment when it becomes the owner of functions, operators or similar
// objects, and CREATE in the database for publications. leftNeeds finds where leftRole lacks it, and leftOwnsSchema is
// checked afterwards, before it is revoked.
const (
	leftNeeds = `SELECT DISTINCT CASE WHEN d.classid = 'pg_publication'::regclass THEN 'DATABASE ' || (SELECT quote_ident(current_database()::text)) ELSE 'SCHEMA ' || s.schema END
		FROM pg_shdepend d CROSS JOIN LATERAL pg_identify_object(d.classid, d.objid, d.objsubid) s
		WHERE d.refclassid = 'pg_authid'::regclass AND d.deptype = 'o' AND pg_get_userbyid(d.refobjid) = $1 AND d.dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
		AND CASE WHEN d.classid = 'pg_publication'::regclass THEN NOT has_database_privilege($2, current_database(), 'CREATE')
			WHEN s.schema IS NULL THEN false ELSE NOT has_schema_privilege($2, (SELECT oid FROM pg_namespace WHERE quote_ident(nspname) = s.schema), 'CREATE') END`
	leftOwnsSchema = `SELECT EXISTS (SELECT FROM pg_namespace WHERE 'SCHEMA ' || quote_ident(nspname) = $1 AND pg_get_userbyid(nspowner) = $2)`
)

// reassign transfers what the owners have to leftRole, and revokes the rights to it that the account's roles have;
// roles include the owners. DROP OWNED has to wait until all owners are processed: it revokes from a role its rights to
// another role's table, and leaves those that it granted to others.
func (p *postgresServer) reassign(ctx context.Context, owners, roles []string) error {
	if len(owners) == 0 {
		return nil
	}
	if err := p.ensureLeft(ctx); err != nil {
		return err
	}
	for _, owner := range owners {
		if err := p.reassignOne(ctx, owner); err != nil {
			return err
		}
	}
	return p.defuse(ctx, roles)
}

func (p *postgresServer) reassignOne(ctx context.Context, owner string) error {
	needs, err := p.texts(ctx, "look where the user owns anything", leftNeeds, owner, leftRole)
	if err != nil {
		return err
	}
	for _, on := range needs {
		if err := p.exec(ctx, "GRANT CREATE ON "+on+" TO "+leftRole); err != nil {
			return err
		}
	}
	if err := p.exec(ctx, "REASSIGN OWNED BY "+identifier(owner)+" TO "+leftRole); err != nil {
		return err
	}
	for _, on := range needs {
		var owns bool // it keeps CREATE in a schema that it owns
		if err := p.one(ctx, leftOwnsSchema, on, leftRole).Scan(&owns); err != nil {
			return p.failed("look at the owner of "+on, err)
		}
		if !owns {
			if err := p.exec(ctx, "REVOKE CREATE ON "+on+" FROM "+leftRole); err != nil {
				return err
			}
		}
	}
	return nil
}

// Queries for what this transaction has transferred to leftRole, and not for what is created meanwhile. defused makes a
// function that ran as its owner run as its caller. takenBack revokes rights that the application granted to PUBLIC or
// to its own users, and those that they granted to others: the access alone says what the account may do from now on.
// PUBLIC keeps EXECUTE on functions, which is PostgreSQL's default.
const (
	defused = `SELECT 'ALTER ROUTINE ' || oid::regprocedure::text || ' SECURITY INVOKER' FROM pg_proc
		WHERE prosecdef AND pg_get_userbyid(proowner) = $1 AND xmin::text::bigint = txid_current() % 4294967296`
	takenBack = `WITH given AS (
			SELECT oid, CASE relkind WHEN 'S' THEN 'SEQUENCE ' ELSE 'TABLE ' END || oid::regclass::text AS what, relacl AS acl FROM pg_class
				WHERE relkind IN ('r', 'p', 'v', 'm', 'f', 'S') AND pg_get_userbyid(relowner) = $1 AND xmin::text::bigint = txid_current() % 4294967296
			UNION ALL
			SELECT 0, 'SCHEMA ' || quote_ident(nspname), nspacl FROM pg_namespace
				WHERE pg_get_userbyid(nspowner) = $1 AND xmin::text::bigint = txid_current() % 4294967296
		), granted AS (
			SELECT what, (aclexplode(acl)).grantee FROM given
			UNION
			SELECT what, (aclexplode(attacl)).grantee FROM given JOIN pg_attribute ON attrelid = given.oid
		)
		SELECT 'REVOKE ALL ON ' || what || ' FROM ' || CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)::text) END || ' CASCADE'
		FROM granted WHERE grantee = 0 OR pg_get_userbyid(grantee) = ANY($2)`
)

func (p *postgresServer) defuse(ctx context.Context, roles []string) error {
	functions, err := p.texts(ctx, "look at what the user has left", defused, leftRole)
	if err != nil {
		return err
	}
	rights, err := p.texts(ctx, "look whom the user gave rights", takenBack, leftRole, roles)
	if err != nil {
		return err
	}
	return p.exec(ctx, append(functions, rights...)...)
}

// texts returns the values of a query's only column.
func (p *postgresServer) texts(ctx context.Context, what, query string, args ...any) ([]string, error) {
	rows, err := p.query(ctx, query, args...)
	if err != nil {
		return nil, p.failed(what, err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return all, p.failed(what, err)
}
