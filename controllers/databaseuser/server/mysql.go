package server

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// mysqlServer is a connection to MySQL or MariaDB. The master user of RDS has no SUPER: it can create users and grant
// rights that it has itself.
type mysqlServer struct {
	pool    *sql.DB
	conn    *sql.Conn
	target  Target
	dialect dialect
	answers *answers
}

// dialect holds the differences between servers.
type dialect struct {
	mariadb    bool
	attributes bool // users have an attribute for the mark
}

// Error numbers of MySQL and MariaDB.
const (
	myAccessDenied        = 1045
	myDatabaseDenied      = 1044
	myNoDatabase          = 1049
	myNoPasswordDenied    = 1698
	myLocked              = 3118
	myLockedMariaDB       = 4151
	myNoSuchThread        = 1094 // it has already ended
	myPluginMissing       = 1524
	firstMySQLWithComment = 8_00_21
)

func (d Dialer) connectMySQL(ctx context.Context, t Target) (Server, error) {
	if t.Database == "" {
		return nil, engine.Blocked(v1alpha1.ReasonNoDatabase, "the instance was created without a database, and in "+
			"MySQL and MariaDB rights are those to a database; request an RDSInstance with dbName")
	}
	verify, err := d.tls(t.Host)
	if err != nil {
		return nil, err
	}
	config := mysql.NewConfig()
	config.User, config.Passwd, config.DBName = t.Username, string(t.Password), t.Database
	config.Net, config.Addr, config.TLS = "tcp", net.JoinHostPort(t.Host, strconv.Itoa(int(t.Port))), verify
	counter := &answers{}
	config.DialFunc, config.Logger = counter.counted(d.dial), &mysql.NopLogger{}
	config.Timeout, config.ReadTimeout, config.WriteTimeout = dialTimeout, statementTimeout, statementTimeout
	config.ConnectionAttributes = "program_name:" + applicationName
	config.Params = map[string]string{"sql_mode": "'TRADITIONAL'", "lock_wait_timeout": strconv.Itoa(
		int(lockTimeout.Seconds()))}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, fmt.Errorf("prepare a connection to %s: %w", t.Host, err)
	}
	return openMySQL(ctx, t, connector, counter)
}

func openMySQL(ctx context.Context, t Target, connector driver.Connector, counter *answers) (Server, error) {
	s := &mysqlServer{pool: sql.OpenDB(connector), target: t, answers: counter}
	dial, cancel := context.WithTimeout(ctx, 2*dialTimeout)
	defer cancel()
	var err error
	if s.conn, err = s.pool.Conn(dial); err == nil {
		var version string
		if err = s.conn.QueryRowContext(dial, "SELECT LEFT(VERSION(), 100)").Scan(&version); err == nil {
			s.dialect = dialectOf(version)
			return s, nil
		}
	}
	s.Close()
	if refusal, ok := errors.AsType[*mysql.MySQLError](err); ok {
		switch refusal.Number {
		case myAccessDenied, myNoPasswordDenied, myLocked, myLockedMariaDB:
			return nil, ErrSignIn
		case myNoDatabase, myDatabaseDenied:
			return nil, noDatabase(t.Database)
		}
	}
	return nil, explain(t, s.lost(err))
}

// dialectOf parses the result of VERSION(), such as 8.0.43 or 10.11.14-MariaDB-log.
func dialectOf(version string) dialect {
	if strings.Contains(strings.ToLower(version), "mariadb") {
		return dialect{mariadb: true}
	}
	var major, minor, patch int
	_, err := fmt.Sscanf(version, "%d.%d.%d", &major, &minor, &patch)
	return dialect{attributes: err == nil && major*1_00_00+minor*1_00+patch >= firstMySQLWithComment}
}

// lost returns an error that says that a connection ended, or why: the driver's error does not.
func (m *mysqlServer) lost(err error) error {
	if err != nil && m.answers.over() {
		return errTooMuch
	}
	if errors.Is(err, driver.ErrBadConn) || errors.Is(err, mysql.ErrInvalidConn) {
		return errLost
	}
	return err
}

// Close implements Server.
func (m *mysqlServer) Close() {
	if m.conn != nil {
		_ = m.conn.Close()
	}
	_ = m.pool.Close()
}

// account quotes a user with any host: the network decides which hosts can connect.
func account(login string) string { return mysqlLiteral(login) + "@'%'" }

// grantee returns the user as the information schema writes it.
func grantee(login string) string { return "'" + login + "'@'%'" }

func (m *mysqlServer) exec(ctx context.Context, statements ...string) error {
	for _, s := range statements {
		m.answers.next()
		if _, err := m.conn.ExecContext(ctx, s); err != nil {
			return m.failed(s, err)
		}
	}
	return nil
}

// secretly executes a secret statement: errors omit the server's text, because it quotes refused statements.
func (m *mysqlServer) secretly(ctx context.Context, what, statement string) error {
	m.answers.next()
	_, err := m.conn.ExecContext(ctx, statement)
	if refusal, ok := errors.AsType[*mysql.MySQLError](err); ok {
		return secretError(what, strconv.Itoa(int(refusal.Number)))
	}
	if err != nil {
		return explain(m.target, m.lost(driver.ErrBadConn))
	}
	return nil
}

// failed returns an error with the statement and the server's message: neither holds a secret.
func (m *mysqlServer) failed(what string, err error) error {
	if err == nil {
		return nil
	}
	if refusal, ok := errors.AsType[*mysql.MySQLError](err); ok {
		return refusedStatement(what, refusal.Message, strconv.Itoa(int(refusal.Number)))
	}
	return explain(m.target, m.lost(err))
}

// texts returns the first column of a query.
func (m *mysqlServer) texts(ctx context.Context, what, query string, args ...any) (all []string, err error) {
	m.answers.next()
	rows, err := m.conn.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, m.failed(what, err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var one string
		if err := rows.Scan(&one); err != nil {
			return nil, m.failed(what, err)
		}
		all = append(all, one)
	}
	return all, m.failed(what, rows.Err())
}
