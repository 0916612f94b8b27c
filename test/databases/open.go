package databases

import (
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"net"
	"os"
	"strconv"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// Login holds an application's credentials.
type Login struct {
	Engine, Host                 string
	Port                         int
	Database, Username, Password string
	CAFile                       string
}

// Open returns a pool of an application's connections with TLS. It does not connect yet.
func Open(l Login) (*sql.DB, error) {
	bundle, err := os.ReadFile(l.CAFile)
	if err != nil {
		return nil, err
	}
	verify := &tls.Config{RootCAs: x509.NewCertPool(), ServerName: l.Host, MinVersion: tls.VersionTLS12}
	verify.RootCAs.AppendCertsFromPEM(bundle)
	if l.Engine == "postgres" {
		config, err := pgx.ParseConfig("host=database sslmode=disable")
		if err != nil {
			return nil, err
		}
		config.Host, config.Port, config.Database, config.User, config.Password = l.Host, uint16(l.Port), l.Database,
			l.Username, l.Password
		config.TLSConfig, config.Fallbacks = verify, nil
		return stdlib.OpenDB(*config), nil
	}
	config := mysql.NewConfig()
	config.User, config.Passwd, config.DBName, config.TLS = l.Username, l.Password, l.Database, verify
	config.Net, config.Addr, config.Logger = "tcp", net.JoinHostPort(l.Host, strconv.Itoa(l.Port)), &mysql.NopLogger{}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

// Logged returns the content of the server's log, or the error of reading it.
func (s *Server) Logged() string {
	text, err := os.ReadFile(s.Log)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
