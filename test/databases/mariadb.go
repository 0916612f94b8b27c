package databases

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// mariadbd returns the path of MariaDB's server, which Debian installs where only root's PATH finds it.
func mariadbd() (string, error) {
	for _, name := range []string{"mariadbd", "/usr/sbin/mariadbd"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("mariadbd is missing: install it, for example with apt-get install mariadb-server")
}

// startMariaDB starts a MariaDB server that accepts the superuser through a socket, and everybody else with TLS.
func (s *Server) startMariaDB(ctx context.Context) error {
	program, err := mariadbd()
	if err != nil {
		return err
	}
	data, err := s.data(ctx)
	if err != nil {
		return err
	}
	if err := s.setUp(ctx, "mariadb-install-db", "--no-defaults", "--datadir="+data,
		"--auth-root-authentication-method=normal", "--skip-test-db"); err != nil {
		return err
	}
	socket := s.path("data/mariadb.sock")
	s.admin = &mariaDBAdmin{socket}
	s.ready = func(ctx context.Context) error { return s.Exec(ctx, "mysql", "SELECT 1") }
	s.command = []string{
		program, "--no-defaults", "--datadir=" + data, "--socket=" + socket,
		"--bind-address=" + s.place.IP, fmt.Sprintf("--port=%d", s.Port),
		"--ssl-cert=" + s.path("server.pem"), "--ssl-key=" + s.path("server.key"), "--require-secure-transport=ON",
		"--general-log=1",
		"--general-log-file=" + s.path("data/general.log"), "--skip-name-resolve", "--innodb-flush-log-at-trx-commit=0",
		"--performance-schema=OFF",
	}
	if err := s.begin(ctx); err != nil {
		return err
	}
	s.Log = s.path("data/general.log")
	if s.files != "" {
		return nil
	}
	return s.Exec(ctx, "mysql", "CREATE PROCEDURE rds_kill(IN thread BIGINT) SQL SECURITY DEFINER BEGIN KILL "+
		"thread; END")
}

type mariaDBAdmin struct{ socket string }

// masterRights are the privileges of RDS's master user, from its documentation. They do not include SUPER.
const masterRights = "SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, RELOAD, PROCESS, REFERENCES, INDEX, ALTER, SHOW " +
	"DATABASES, CREATE TEMPORARY TABLES, LOCK TABLES, EXECUTE, CREATE VIEW, SHOW VIEW, CREATE ROUTINE, ALTER " +
	"ROUTINE, CREATE USER, EVENT, TRIGGER"

func (a *mariaDBAdmin) master(ctx context.Context, name, password string) error {
	user := fmt.Sprintf("'%s'@'%%'", name)
	text := strings.NewReplacer(`\`, `\\`, `'`, `''`).Replace(password)
	return a.exec(ctx, "mysql", "CREATE OR REPLACE USER "+user+" IDENTIFIED BY '"+text+"'", "GRANT "+masterRights+
		" ON *.* TO "+user+" WITH GRANT OPTION")
}

func (a *mariaDBAdmin) database(ctx context.Context, name, _ string) error {
	return a.exec(ctx, "mysql", "CREATE DATABASE `"+name+"`")
}

func (a *mariaDBAdmin) exec(ctx context.Context, database string, statements ...string) (err error) {
	config := mysql.NewConfig()
	config.User, config.Net, config.Addr, config.DBName, config.Logger = "root", "unix", a.socket, database,
		&mysql.NopLogger{}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return err
	}
	db := sql.OpenDB(connector)
	defer func() { err = errors.Join(err, db.Close()) }()
	for _, s := range statements {
		if _, err := db.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	return nil
}
