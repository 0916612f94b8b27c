package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// postgresServer is a connection to PostgreSQL. The master user of RDS is no superuser: it has CREATEROLE and CREATEDB,
// and from PostgreSQL 16 on CREATEROLE gives it rights only over roles that it created.
type postgresServer struct {
	conn   *pgx.Conn
	dialer Dialer
	target Target

	answers *answers
}

// Error codes of PostgreSQL.
const (
	pgInvalidAuthorization = "28000"
	pgInvalidPassword      = "28P01"
	pgNoDatabase           = "3D000"
	pgDependent            = "2BP01"
	pgUndefinedObject      = "42704"
	pgLocked               = "55P03"
	pgInternal             = "XX000" // "tuple concurrently updated" has no code of its own
)

// noTLS is part of the driver's error if the server offers no TLS.
const noTLS = "refused TLS"

// applicationName identifies Portico's connections in the server's list.
const applicationName = "portico"

func (d Dialer) connectPostgres(ctx context.Context, t Target) (Server, error) {
	verify, err := d.tls(t.Host)
	if err != nil {
		return nil, err
	}
	config, err := postgresConfig(t, verify)
	if err != nil {
		return nil, err
	}
	counter := &answers{}
	config.DialFunc = counter.counted(d.dial)
	ctx, cancel := context.WithTimeout(ctx, 2*dialTimeout)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, config)
	if err == nil {
		return &postgresServer{conn, d, t, counter}, nil
	}
	if refusal, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch refusal.Code {
		case pgInvalidAuthorization, pgInvalidPassword:
			return nil, ErrSignIn
		case pgNoDatabase:
			return nil, noDatabase(t.Database)
		}
	}
	return nil, explain(t, tooMuch(err))
}

// tooMuch returns errTooMuch if a message is longer than the driver accepts, and other errors unchanged.
func tooMuch(err error) error {
	if _, long := errors.AsType[*pgproto3.ExceededMaxBodyLenErr](err); long {
		return errTooMuch
	}
	return err
}

func noDatabase(name string) error {
	return engine.Blocked(v1alpha1.ReasonNoDatabase, "the instance has no database %q; make it as the master user, "+
		"or set dbName of a new RDSInstance", name)
}

// postgresConfig uses nothing from the environment, and does not retry without TLS. Names are resolved only in the
// system's schema: an application may have created functions and operators of any name, which would run as the master
// user.
func postgresConfig(t Target, verify *tls.Config) (*pgx.ConnConfig, error) {
	config, err := pgx.ParseConfig("host=database sslmode=disable passfile='' target_session_attrs=any")
	if err != nil {
		return nil, fmt.Errorf("prepare a connection: %w", err)
	}
	config.Host, config.Port, config.Database, config.User, config.Password = t.Host, uint16(t.Port), t.Database, t.Username, string(t.Password) //nolint:gosec // a port
	config.TLSConfig, config.Fallbacks, config.ConnectTimeout = verify, nil, 2*dialTimeout
	config.RuntimeParams = map[string]string{
		"application_name": applicationName, "search_path": "pg_catalog", "standard_conforming_strings": "on",
		"statement_timeout": strconv.Itoa(int(statementTimeout.Milliseconds())),
		"lock_timeout":      strconv.Itoa(int(lockTimeout.Milliseconds())),
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeExec
	config.OnNotice = func(*pgconn.PgConn, *pgconn.Notice) {}
	config.BuildFrontend = func(r io.Reader, w io.Writer) *pgproto3.Frontend {
		frontend := pgproto3.NewFrontend(r, w)
		frontend.SetMaxBodyLen(mostAnswered) // the driver allocates memory for a message before it arrives
		return frontend
	}
	return config, nil
}

// Close implements Server.
func (p *postgresServer) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), dialTimeout)
	defer cancel()
	_ = p.conn.Close(ctx)
}

// role is a role of the server.
type role struct {
	name, mark string
	login      bool
	acts       bool // it acts as the account's group, from its first statement on
	path       bool // its search path is set, and omits its own schema
	filled     bool // its settings are too long to be looked at
}

// roleQuery returns no settings: anyone who can sign in can set its own, to texts of any length. Those that are long as
// they are stored are not even unpacked: pg_column_size looks at the length alone.
const roleQuery = `SELECT rolname, left(COALESCE(shobj_description(r.oid, 'pg_authid'), ''), $3), rolcanlogin,
		EXISTS (SELECT FROM unnest(s.short) v WHERE v = 'role=' || $2),
		EXISTS (SELECT FROM unnest(s.short) v WHERE v LIKE 'search\_path=_%' AND strpos(v, '$user') = 0),
		COALESCE(s.size > $4, false)
	FROM pg_roles r LEFT JOIN LATERAL (
		SELECT pg_column_size(setconfig) AS size,
			CASE WHEN pg_column_size(setconfig) <= $4 THEN setconfig END AS short
		FROM pg_db_role_setting WHERE setrole = r.oid AND setdatabase = 0) s ON true
	WHERE rolname = ANY($1)`

// roles returns the roles with these names that exist; group is the role that the account's users act as.
func (p *postgresServer) roles(ctx context.Context, group string, names []string) (map[string]role, error) {
	rows, err := p.query(ctx, roleQuery, names, group, mostMarked, mostSettings)
	if err != nil {
		return nil, p.failed("look for the user", err)
	}
	all := map[string]role{}
	var r role
	_, err = pgx.ForEachRow(rows, []any{&r.name, &r.mark, &r.login, &r.acts, &r.path, &r.filled}, func() error {
		all[r.name] = r
		return nil
	})
	return all, p.failed("look for the user", err)
}

func (a Account) roles() []string { return append([]string{a.Name}, a.Logins()...) }

// comment returns the comment on the account's roles. Work on other accounts reads the access from it.
func (a Account) comment() string { return a.mark() + accessField + string(a.Access) }

const accessField = " access="

// Exists implements Server.
func (p *postgresServer) Exists(ctx context.Context, a Account) (bool, error) {
	found, err := p.roles(ctx, a.Name, a.names())
	return len(found) > 0, err
}

// SetPassword implements Server.
func (p *postgresServer) SetPassword(ctx context.Context, a Account, login string, password Password) error {
	verifier, err := scramVerifier(password)
	if err != nil {
		return err
	}
	if err := p.own(ctx, a); err != nil {
		return err
	}
	return p.insist(ctx, []string{login}, func() error {
		return p.secretly(ctx, "set the password of "+login, "ALTER ROLE "+identifier(login)+" LOGIN PASSWORD "+
			literal(verifier))
	})
}

// CanSignIn implements Server.
func (p *postgresServer) CanSignIn(ctx context.Context, _ Account, login string) (bool, error) {
	found, err := p.roles(ctx, "", []string{login})
	return found[login].login, err
}

// EndPassword implements Server. A connected user may set its own password, but cannot permit itself to sign in.
func (p *postgresServer) EndPassword(ctx context.Context, a Account, login string) error {
	if err := p.own(ctx, a); err != nil {
		return err
	}
	return p.insist(ctx, []string{login}, func() error {
		return p.exec(ctx, "ALTER ROLE "+identifier(login)+" NOLOGIN PASSWORD NULL")
	})
}

// own returns an error if one of the account's roles exists and is not ours.
func (p *postgresServer) own(ctx context.Context, a Account) error {
	found, err := p.roles(ctx, a.Name, a.names())
	if err != nil {
		return err
	}
	for _, name := range a.names() {
		if r, ok := found[name]; ok && !a.ours(r.mark) {
			return a.refuse(name, r.mark)
		}
	}
	return nil
}

func (p *postgresServer) exec(ctx context.Context, statements ...string) error {
	for _, s := range statements {
		if _, err := p.send(ctx, s); err != nil {
			return p.failed(s, err)
		}
	}
	return nil
}

// send executes a statement, query runs a query, and one runs a query that returns one row.
func (p *postgresServer) send(ctx context.Context, statement string) (pgconn.CommandTag, error) {
	p.answers.next()
	return p.conn.Exec(ctx, statement)
}

func (p *postgresServer) query(ctx context.Context, question string, args ...any) (pgx.Rows, error) {
	p.answers.next()
	return p.conn.Query(ctx, question, args...)
}

func (p *postgresServer) one(ctx context.Context, question string, args ...any) pgx.Row {
	p.answers.next()
	return p.conn.QueryRow(ctx, question, args...)
}

// secretly executes a secret statement: errors omit the server's text.
func (p *postgresServer) secretly(ctx context.Context, what, statement string) error {
	_, err := p.send(ctx, statement)
	if refusal, ok := errors.AsType[*pgconn.PgError](err); ok {
		return secretError(what, refusal.Code)
	}
	if err != nil {
		return explain(p.target, errLost)
	}
	return nil
}

// errLost is the error of a connection that ended before the response.
var errLost = fmt.Errorf("the connection was lost: %w", io.ErrUnexpectedEOF)

// failed returns an error with the statement and the server's message: neither holds a secret.
func (p *postgresServer) failed(what string, err error) error {
	if err == nil {
		return nil
	}
	if _, waits := engine.AsWait(err); waits {
		return err
	}
	if refusal, ok := errors.AsType[*pgconn.PgError](err); ok {
		return refusedStatement(what, refusal.Message, refusal.Code)
	}
	return explain(p.target, tooMuch(err))
}
