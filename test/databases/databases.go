// Package databases runs Debian's PostgreSQL and MariaDB servers for tests: on loopback, with TLS only, and with a
// master user that has the same permissions as in RDS and is not a superuser.
package databases

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// Host is the servers' host name, which their certificates contain.
const Host = "localhost"

// Server is a running database server.
type Server struct {
	Engine string // the engine's name in RDS
	Port   int
	CAFile string
	// Log is the path of the server's log, which has every statement.
	Log string

	dir    string
	admin  admin
	run    *exec.Cmd
	ended  chan struct{}
	waited error
}

// admin does the work of the server's superuser, which in RDS only AWS has.
type admin interface {
	master(ctx context.Context, name, password string) error
	database(ctx context.Context, name, owner string) error
	exec(ctx context.Context, database string, statements ...string) error
}

// Missing returns an error with the missing package of a server, or nil.
func Missing() error {
	var errs []error
	if _, err := postgresFolder(); err != nil {
		errs = append(errs, err)
	}
	if _, err := mariadbd(); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// Start starts a server of the engine in dir and waits until it is ready.
func Start(ctx context.Context, engine, dir string) (*Server, error) {
	s := &Server{
		Engine: engine, dir: dir, CAFile: filepath.Join(dir, "ca.pem"), Log: filepath.Join(dir, "server.log"),
		ended: make(chan struct{}),
	}
	if err := errors.Join(os.MkdirAll(dir, 0o755), os.Chmod(dir, 0o755), s.certificates()); err != nil {
		return nil, err
	}
	var err error
	if s.Port, err = freePort(ctx); err != nil {
		return nil, err
	}
	start := s.startPostgres
	if engine != "postgres" {
		start = s.startMariaDB
	}
	if err := start(ctx); err != nil {
		s.Stop()
		said, _ := os.ReadFile(s.Log)
		return nil, fmt.Errorf("%w\n%s", err, said[max(0, len(said)-2000):])
	}
	return s, nil
}

// Stop stops the server.
func (s *Server) Stop() {
	if s.run == nil {
		return
	}
	_ = s.run.Process.Signal(syscall.SIGINT) // PostgreSQL's fast shutdown
	if s.Engine != "postgres" {
		_ = s.run.Process.Signal(syscall.SIGTERM)
	}
	select {
	case <-s.ended:
	case <-time.After(10 * time.Second):
		_ = s.run.Process.Kill()
		<-s.ended
	}
	s.run = nil
}

// Master creates a master user as in RDS, or changes its password.
func (s *Server) Master(ctx context.Context, name, password string) error {
	return s.admin.master(ctx, name, password)
}

// Database creates a database that belongs to the master user.
func (s *Server) Database(ctx context.Context, name, owner string) error {
	return s.admin.database(ctx, name, owner)
}

// Exec executes statements as the superuser.
func (s *Server) Exec(ctx context.Context, database string, statements ...string) error {
	return s.admin.exec(ctx, database, statements...)
}

// begin starts the server's process, and calls ready until it succeeds.
func (s *Server) begin(ctx context.Context, ready func(context.Context) error, path string, args ...string) error {
	log, err := os.OpenFile(s.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	s.run = exec.Command(path, args...)
	s.run.Stdout, s.run.Stderr, s.run.Dir = log, log, s.dir
	if s.run.SysProcAttr, err = unprivileged(); err != nil {
		return err
	}
	if err := s.run.Start(); err != nil {
		s.run = nil
		return err
	}
	go func() { s.waited = s.run.Wait(); close(s.ended) }()
	deadline, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		if err = ready(deadline); err == nil {
			return nil
		}
		select {
		case <-s.ended:
			return fmt.Errorf("the server has ended: %w", s.waited)
		case <-deadline.Done():
			return fmt.Errorf("the server does not answer: %w", err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// setUp runs a program that creates the server's files.
func (s *Server) setUp(ctx context.Context, path string, args ...string) error {
	cmd := exec.CommandContext(ctx, path, args...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.Dir = &said, &said, s.dir
	var err error
	if cmd.SysProcAttr, err = unprivileged(); err != nil {
		return err
	}
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w: %s", filepath.Base(path), err, said.Bytes())
	}
	return nil
}

// unprivileged returns the attributes to run a process as nobody if the test runs as root, because PostgreSQL refuses
// to run as root.
func unprivileged() (*syscall.SysProcAttr, error) {
	attr := &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	uid, gid, err := serverUser()
	if err == nil && os.Getuid() == 0 {
		attr.Credential = &syscall.Credential{Uid: uid, Gid: gid}
	}
	return attr, err
}

func serverUser() (uid, gid uint32, err error) {
	nobody, err := user.Lookup("nobody")
	if err != nil {
		return 0, 0, err
	}
	u, errU := strconv.ParseUint(nobody.Uid, 10, 32)
	g, errG := strconv.ParseUint(nobody.Gid, 10, 32)
	return uint32(u), uint32(g), errors.Join(errU, errG)
}

// folder creates a folder that the server can write to.
func (s *Server) folder(name string) (string, error) {
	path := filepath.Join(s.dir, name)
	return path, errors.Join(os.MkdirAll(path, 0o700), give(path))
}

// give changes a file's owner to the server's user.
func give(path string) error {
	uid, gid, err := serverUser()
	if err != nil || os.Getuid() != 0 {
		return err
	}
	return os.Chown(path, int(uid), int(gid))
}

func freePort(ctx context.Context) (int, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	return l.Addr().(*net.TCPAddr).Port, l.Close()
}

// certificates creates a certificate authority, and the server's certificate signed by it.
func (s *Server) certificates() error {
	now := time.Now()
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Databases for tests"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	own := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: Host}, DNSNames: []string{Host},
		NotBefore: authority.NotBefore, NotAfter: authority.NotAfter,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	authorityKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	ownKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	ca, err := x509.CreateCertificate(rand.Reader, authority, authority, authorityKey.Public(), authorityKey)
	if err != nil {
		return err
	}
	certificate, err := x509.CreateCertificate(rand.Reader, own, authority, ownKey.Public(), authorityKey)
	if err != nil {
		return err
	}
	key, err := x509.MarshalPKCS8PrivateKey(ownKey)
	if err != nil {
		return err
	}
	return errors.Join(
		write(s.CAFile, "CERTIFICATE", ca, 0o644), write(s.path("server.pem"), "CERTIFICATE", certificate, 0o644),
		write(s.path("server.key"), "PRIVATE KEY", key, 0o600), give(s.path("server.key")),
	)
}

func (s *Server) path(name string) string { return filepath.Join(s.dir, name) }

func write(path, sort string, der []byte, mode os.FileMode) error {
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: sort, Bytes: der}), mode)
}
