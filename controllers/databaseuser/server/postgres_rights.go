package server

import (
	"context"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// right is what a role has, and should have, on an object or on a kind of objects that somebody creates later.
type right struct {
	who      string
	on       string // as in GRANT … ON
	maker    string // who creates later objects; empty: an existing object
	has, ask []string
}

// objectRights are the rights to each kind of object, by access. None includes TRUNCATE, which leaves no trace of each
// row.
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

// differences returns the statements that change the rights from has to ask.
func differences(all []right) (statements []string) {
	for _, r := range all {
		grant, revoke := missing(r.ask, r.has), missing(r.has, r.ask)
		prefix := ""
		if r.maker != "" {
			prefix = "ALTER DEFAULT PRIVILEGES FOR ROLE " + identifier(r.maker) + " "
		}
		if len(revoke) > 0 {
			statements = append(statements, prefix+"REVOKE "+strings.Join(revoke, ", ")+" ON "+r.on+" FROM "+
				identifier(r.who))
		}
		if len(grant) > 0 {
			statements = append(statements, prefix+"GRANT "+strings.Join(grant, ", ")+" ON "+r.on+" TO "+
				identifier(r.who))
		}
	}
	return statements
}

// missing returns the elements of ask that are not in has.
func missing(ask, has []string) (all []string) {
	for _, one := range ask {
		if !slices.Contains(has, one) {
			all = append(all, one)
		}
	}
	return all
}

// ensurePresent changes the account's rights to existing objects to those of its access, page by page: applications
// create as many objects as they like.
func (p *postgresServer) ensurePresent(ctx context.Context, a Account) (done []string, err error) {
	for after := (place{}); ; {
		page, last, err := p.present(ctx, a, after)
		if err != nil {
			return done, err
		}
		statements := differences(page)
		if err := p.exec(ctx, statements...); err != nil {
			return done, err
		}
		if done = append(done, statements[:min(len(statements), mostListed)]...); len(page) < pageSize {
			return done, nil
		}
		after = last
	}
}

// place is the end of a page, in the order of kinds and names.
type place struct{ sort, name string }

// present returns a page of the objects on which the account's rights differ. It omits objects of owners whose roles
// the master user is not in, because it cannot grant rights to them, and the account's own objects, which need no
// grants. From PostgreSQL 15 on the schema public belongs to the owner of the database.
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
SELECT sort, name, has FROM (
	SELECT sort COLLATE "C" AS sort, name COLLATE "C" AS name, ARRAY(SELECT DISTINCT privilege_type::text FROM aclexplode(acl) x WHERE x.grantee = me.oid) AS has
	FROM objects, me WHERE owner <> me.oid AND pg_has_role(owner, 'USAGE')
) had JOIN unnest($5::text[], $6::text[]) AS asked(of, ask) ON of = sort
WHERE (sort, name) > ($3, $4) AND NOT (has @> string_to_array(ask, ',') AND has <@ string_to_array(ask, ',')) ORDER BY sort, name LIMIT $7`

func (p *postgresServer) present(ctx context.Context, a Account, after place) (all []right, last place, err error) {
	var sorts, asks []string
	for sort, byAccess := range objectRights {
		sorts, asks = append(sorts, sort), append(asks, strings.Join(byAccess[a.Access], ","))
	}
	rows, err := p.query(ctx, present, a.Name, markPrefix+"%", after.sort, after.name, sorts, asks, pageSize)
	if err != nil {
		return nil, last, p.failed("look at the user's rights", err)
	}
	var has []string
	_, err = pgx.ForEachRow(rows, []any{&last.sort, &last.name, &has}, func() error {
		word, _, _ := strings.Cut(last.sort, " ")
		all = append(all, right{
			who: a.Name, on: word + " " + last.name, has: slices.Clone(has),
			ask: objectRights[last.sort][a.Access],
		})
		return nil
	})
	return all, last, p.failed("look at the user's rights", err)
}

// later are the kinds of objects to which rights can be granted before they exist, with their letters in
// pg_default_acl.
var later = []struct{ letter, sort, plural string }{
	{"n", "SCHEMA of another account", "SCHEMAS"},
	{"r", "TABLE", "TABLES"},
	{"S", "SEQUENCE", "SEQUENCES"},
}

func (p *postgresServer) defaults(ctx context.Context, a Account, makers []string) (all []right, err error) {
	for _, maker := range makers {
		for _, of := range later {
			r := right{who: a.Name, on: of.plural, maker: maker, ask: objectRights[of.sort][a.Access]}
			err := p.one(
				ctx, `SELECT ARRAY(SELECT DISTINCT x.privilege_type::text FROM pg_default_acl d, aclexplode(d.defaclacl) x
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
