package server

import (
	"context"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// right is what a role has to an object, or to a sort of objects that somebody makes later, and what it should have.
type right struct {
	who      string
	on       string // as in GRANT … ON
	maker    string // of what is made later; empty: an object that is there
	has, ask []string
}

// objectRights are those to each sort of object, by access. Nobody may truncate: that leaves no trace row by row.
var objectRights = map[string]map[v1alpha1.BindingAccess][]string{
	"DATABASE": {
		v1alpha1.AccessRead: {"CONNECT"}, v1alpha1.AccessWrite: {"CONNECT"}, v1alpha1.AccessReadWrite: {"CONNECT", "CREATE"},
	},
	"SCHEMA": {
		v1alpha1.AccessRead: {"USAGE"}, v1alpha1.AccessWrite: {"USAGE"}, v1alpha1.AccessReadWrite: {"USAGE", "CREATE"},
	},
	"SCHEMA of another account": {
		v1alpha1.AccessRead: {"USAGE"}, v1alpha1.AccessWrite: {"USAGE"}, v1alpha1.AccessReadWrite: {"USAGE"},
	},
	"TABLE": {
		v1alpha1.AccessRead: {"SELECT"}, v1alpha1.AccessWrite: {"INSERT", "UPDATE", "DELETE"},
		v1alpha1.AccessReadWrite: {"SELECT", "INSERT", "UPDATE", "DELETE", "REFERENCES"},
	},
	"SEQUENCE": {
		v1alpha1.AccessRead: {"SELECT"}, v1alpha1.AccessWrite: {"USAGE"}, v1alpha1.AccessReadWrite: {"USAGE", "SELECT", "UPDATE"},
	},
}

// differences returns the statements that bring what is had to what is asked.
func differences(all []right) (statements []string) {
	for _, r := range all {
		grant, revoke := missing(r.ask, r.has), missing(r.has, r.ask)
		prefix := ""
		if r.maker != "" {
			prefix = "ALTER DEFAULT PRIVILEGES FOR ROLE " + identifier(r.maker) + " "
		}
		if len(revoke) > 0 {
			statements = append(statements, prefix+"REVOKE "+strings.Join(revoke, ", ")+" ON "+r.on+" FROM "+identifier(r.who))
		}
		if len(grant) > 0 {
			statements = append(statements, prefix+"GRANT "+strings.Join(grant, ", ")+" ON "+r.on+" TO "+identifier(r.who))
		}
	}
	return statements
}

// missing returns what of ask is not in has.
func missing(ask, has []string) (all []string) {
	for _, one := range ask {
		if !slices.Contains(has, one) {
			all = append(all, one)
		}
	}
	return all
}

// rights returns what an account has and should have: to what is there, and to what the makers make later.
func (p *postgresServer) rights(ctx context.Context, a Account, makers []string) ([]right, error) {
	all, err := p.present(ctx, a)
	if err != nil {
		return nil, err
	}
	later, err := p.defaults(ctx, a, makers)
	return append(all, later...), err
}

// present: what is not the master user's, nor of a role that it is in, it cannot give rights to, and what is the account's own needs none. The
// schema public belongs to the owner of the database from PostgreSQL 15 on.
const present = `
WITH me AS (SELECT oid FROM pg_roles WHERE rolname = $1), objects AS (
	SELECT 'DATABASE' AS sort, format('%I', datname) AS name, datdba AS owner, datacl AS acl FROM pg_database WHERE datname = current_database()
	UNION ALL
	SELECT CASE WHEN shobj_description(nspowner, 'pg_authid') LIKE $2 THEN 'SCHEMA of another account' ELSE 'SCHEMA' END, format('%I', nspname), nspowner, nspacl
		FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'
	UNION ALL
	SELECT CASE WHEN c.relkind = 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, format('%I.%I', n.nspname, c.relname), c.relowner, c.relacl
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S') AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
)
SELECT sort, name, ARRAY(SELECT privilege_type::text FROM aclexplode(acl) x WHERE x.grantee = me.oid)
FROM objects, me WHERE owner <> me.oid AND pg_has_role(owner, 'USAGE') ORDER BY sort, name`

func (p *postgresServer) present(ctx context.Context, a Account) (all []right, err error) {
	rows, err := p.conn.Query(ctx, present, a.Name, markPrefix+"%")
	if err != nil {
		return nil, p.failed("look at the user's rights", err)
	}
	var sort, name string
	var has []string
	_, err = pgx.ForEachRow(rows, []any{&sort, &name, &has}, func() error {
		word, _, _ := strings.Cut(sort, " ")
		all = append(all, right{who: a.Name, on: word + " " + name, has: slices.Clone(has), ask: objectRights[sort][a.Access]})
		return nil
	})
	return all, p.failed("look at the user's rights", err)
}

// later are the sorts of objects that rights can be given to before they are there, with the letters of pg_default_acl.
var later = []struct{ letter, sort, plural string }{{"n", "SCHEMA of another account", "SCHEMAS"}, {"r", "TABLE", "TABLES"}, {"S", "SEQUENCE", "SEQUENCES"}}

func (p *postgresServer) defaults(ctx context.Context, a Account, makers []string) (all []right, err error) {
	for _, maker := range makers {
		for _, of := range later {
			r := right{who: a.Name, on: of.plural, maker: maker, ask: objectRights[of.sort][a.Access]}
			err := p.conn.QueryRow(ctx, `SELECT ARRAY(SELECT x.privilege_type::text FROM pg_default_acl d, aclexplode(d.defaclacl) x
				WHERE d.defaclrole = (SELECT oid FROM pg_roles WHERE rolname = $1) AND d.defaclnamespace = 0 AND d.defaclobjtype = $2::"char"
				AND x.grantee = (SELECT oid FROM pg_roles WHERE rolname = $3))`, maker, of.letter, a.Name).Scan(&r.has)
			if err != nil {
				return nil, p.failed("read the rights to what is created later", err)
			}
			all = append(all, r)
		}
	}
	return all, nil
}
