package databases

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// FolderVariable names the environment variable for a folder with the programs of a PostgreSQL other than Debian's.
const FolderVariable = "PORTICO_TEST_POSTGRES"

// postgresFolder returns the folder with the programs of the newest PostgreSQL.
func postgresFolder() (string, error) {
	if folder := os.Getenv(FolderVariable); folder != "" {
		return folder, nil
	}
	all, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // the client package alone creates such a folder, too
	if err != nil || len(all) == 0 {
		return "", errors.New("PostgreSQL is missing: install it, for example with apt-get install postgresql")
	}
	return filepath.Dir(newest(all)), nil
}

// newest returns the path with the highest version, which is the name of a folder: 9.6 is older than 15.
func newest(paths []string) string {
	return slices.MaxFunc(paths, func(a, b string) int { return cmp.Compare(versionIn(a), versionIn(b)) })
}

func versionIn(path string) float64 {
	version, _ := strconv.ParseFloat(filepath.Base(filepath.Dir(filepath.Dir(path))), 64)
	return version
}

// superuser is RDS's own superuser, which no client gets.
const superuser = "rdsadmin"

// startPostgres starts a PostgreSQL server that accepts the superuser through a socket, and everybody else with TLS and
// a password. Members of rds_iam need an AWS token, which nobody has here.
func (s *Server) startPostgres(ctx context.Context) error {
	programs, err := postgresFolder()
	if err != nil {
		return err
	}
	data, err := s.data(ctx)
	if err != nil {
		return err
	}
	if err := s.setUp(ctx, filepath.Join(programs, "initdb"), "-D", data, "-U", superuser, "--auth=trust",
		"--encoding=UTF8", "--locale=C", "--no-sync"); err != nil {
		return err
	}
	rules := "local all " + superuser + " trust\nhostssl all +rds_iam all reject\nhostssl all,replication all " +
		"all scram-sha-256\n"
	if err := os.WriteFile(filepath.Join(data, "pg_hba.conf"), []byte(rules), 0o644); err != nil {
		return err
	}
	var settings []string
	for _, setting := range []string{
		"listen_addresses=" + s.place.IP, fmt.Sprintf("port=%d", s.Port), "unix_socket_directories=" + data, "ssl=on",
		"ssl_cert_file=" + s.path("server.pem"),
		"ssl_key_file=" + s.path("server.key"), "log_statement=all", "log_min_error_statement=info", "fsync=off",
		"max_connections=60",
	} {
		settings = append(settings, "-c", setting)
	}
	s.admin = &postgresAdmin{
		socket: fmt.Sprintf("host=%s port=%d user=%s sslmode=disable dbname=", data, s.Port, superuser),
	}
	s.ready = func(ctx context.Context) error { return s.Exec(ctx, "postgres", "SELECT 1") }
	s.command = append([]string{filepath.Join(programs, "postgres"), "-D", data}, settings...)
	if err := s.begin(ctx); err != nil || s.files != "" {
		return err
	}
	return s.Exec(ctx, "postgres",
		"CREATE ROLE rds_superuser NOLOGIN", "CREATE ROLE rds_iam NOLOGIN",
		"GRANT pg_monitor, pg_signal_backend TO rds_superuser WITH ADMIN OPTION")
}

type postgresAdmin struct{ socket string }

// master gives the user only what RDS gives it: CREATEROLE, CREATEDB and the privileges of rds_superuser. Before
// PostgreSQL 16, CREATEROLE gives privileges in every role that is not a superuser; since then only in roles that the
// user created.
func (a *postgresAdmin) master(ctx context.Context, name, password string) error {
	quoted, text := pgx.Identifier{name}.Sanitize(), "'"+strings.ReplaceAll(password, "'", "''")+"'"
	var there bool
	err := a.with(ctx, "postgres", func(c *pgx.Conn) error {
		return c.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1)", name).Scan(&there)
	})
	switch {
	case err != nil:
		return err
	case there:
		return a.exec(ctx, "postgres", "ALTER ROLE "+quoted+" PASSWORD "+text)
	}
	return a.exec(ctx, "postgres", "CREATE ROLE "+quoted+" LOGIN CREATEDB CREATEROLE IN ROLE rds_superuser PASSWORD "+
		text)
}

func (a *postgresAdmin) database(ctx context.Context, name, owner string) error {
	return a.exec(ctx, "postgres", "CREATE DATABASE "+pgx.Identifier{name}.Sanitize()+" OWNER "+pgx.Identifier{
		owner,
	}.Sanitize())
}

func (a *postgresAdmin) exec(ctx context.Context, database string, statements ...string) error {
	return a.with(ctx, database, func(c *pgx.Conn) error {
		for _, s := range statements {
			if _, err := c.Exec(ctx, s); err != nil {
				return fmt.Errorf("%s: %w", s, err)
			}
		}
		return nil
	})
}

func (a *postgresAdmin) with(ctx context.Context, database string, do func(*pgx.Conn) error) error {
	c, err := pgx.Connect(ctx, a.socket+database)
	if err != nil {
		return err
	}
	return errors.Join(do(c), c.Close(ctx))
}

// Version returns a PostgreSQL server's server_version_num, such as 150018.
func (s *Server) Version(ctx context.Context) (version int, err error) {
	a, ok := s.admin.(*postgresAdmin)
	if !ok {
		return 0, errors.New("only PostgreSQL is asked for its version")
	}
	err = a.with(ctx, "postgres", func(c *pgx.Conn) error {
		return c.QueryRow(ctx, "SELECT current_setting('server_version_num')::int").Scan(&version)
	})
	return version, err
}
