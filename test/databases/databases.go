// Package databases runs Debian's PostgreSQL and MariaDB servers for tests: on loopback, with TLS only, and with a
// master user that has the same permissions as in RDS and is not a superuser.
package databases

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// Host is the servers' host name, which their certificates contain, unless a fleet has another.
const Host = "localhost"

// Place is where servers listen.
type Place struct {
	// Host is the name in their certificates, and IP its address.
	Host, IP string
	// Ports are the ones to use first; afterwards any free one.
	Ports []int
}

// Loopback returns the place that only this machine reaches.
func Loopback() Place { return Place{Host: Host, IP: "127.0.0.1"} }

// Server is a running database server.
type Server struct {
	Engine string // the engine's name in RDS
	Port   int
	CAFile string
	// Log is the path of the server's log, which has every statement.
	Log string

	place   Place
	dir     string
	files   string // a folder of files to begin with: of another server; "" for new ones
	admin   admin
	command []string // the program and its arguments
	ready   func(context.Context) error
	run     *exec.Cmd
	ended   chan struct{}
	waited  error
}

// admin does the work of the server's superuser, which in RDS only AWS has.
type admin interface {
	master(ctx context.Context, name, password string) error
	database(ctx context.Context, name, owner string) error
	exec(ctx context.Context, database string, statements ...string) error
}

// Has reports whether there are servers of the engine: MySQL and the commercial ones are not in Debian.
func Has(engine string) bool { return engine == "postgres" || engine == "mariadb" }

// Installed reports whether a server of the engine can be started on this machine.
func Installed(engine string) bool { return Missing(engine) == nil }

// Missing returns an error with the missing package of each of the engines, or nil.
func Missing(engines ...string) error {
	var errs []error
	for _, engine := range engines {
		var err error
		switch engine {
		case "postgres":
			_, err = postgresFolder()
		case "mariadb":
			_, err = mariadbd()
		default:
			err = fmt.Errorf("there is no server of %s", engine)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// Start starts a server of the engine in dir, with an authority of its own, and waits until it is ready.
func Start(ctx context.Context, engine, dir string) (*Server, error) {
	by, err := newAuthority()
	if err != nil {
		return nil, err
	}
	s := newServer(engine, dir, Loopback())
	return s, s.start(ctx, by)
}

func newServer(engine, dir string, at Place) *Server {
	return &Server{
		Engine: engine, place: at, dir: dir,
		CAFile: filepath.Join(dir, "ca.pem"), Log: filepath.Join(dir, "server.log"),
	}
}

// start makes the server's files, starts it, and waits until it is ready.
func (s *Server) start(ctx context.Context, by *authority) error {
	if err := errors.Join(os.MkdirAll(s.dir, 0o755), os.Chmod(s.dir, 0o755), s.certificates(by)); err != nil {
		return err
	}
	var err error
	if s.Port, err = s.place.freePort(ctx); err != nil {
		return err
	}
	start := s.startPostgres
	if s.Engine != "postgres" {
		start = s.startMariaDB
	}
	if err := start(ctx); err != nil {
		s.Stop()
		said, _ := os.ReadFile(s.Log)
		return fmt.Errorf("%w\n%s", err, said[max(0, len(said)-2000):])
	}
	return nil
}

// copyTo copies the server's files into a folder, while it is stopped, and starts it again.
func (s *Server) copyTo(ctx context.Context, folder string) error {
	s.Stop()
	return errors.Join(copyFiles(ctx, s.path("data"), folder), s.begin(ctx))
}

// copyFiles copies a folder with the owners of its files.
func copyFiles(ctx context.Context, from, to string) error {
	if out, err := exec.CommandContext(ctx, "cp", "-a", from, to).CombinedOutput(); err != nil {
		return fmt.Errorf("copy %s: %w: %s", from, err, out)
	}
	return nil
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

// begin starts the server's process, and waits until it is ready.
func (s *Server) begin(ctx context.Context) error {
	log, err := os.OpenFile(s.path("server.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	s.ended = make(chan struct{})
	s.run = exec.Command(s.command[0], s.command[1:]...)
	s.run.Stdout, s.run.Stderr, s.run.Dir = log, log, s.dir
	if s.run.SysProcAttr, err = unprivileged(); err != nil {
		return err
	}
	if err := s.run.Start(); err != nil {
		s.run = nil
		return err
	}
	run, ended := s.run, s.ended
	go func() { s.waited = run.Wait(); close(ended) }()
	deadline, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		if err = s.ready(deadline); err == nil {
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

// data returns the folder of the server's files, and makes it of s.files. Without any, the caller fills it.
func (s *Server) data(ctx context.Context) (folder string, err error) {
	if s.files == "" {
		return s.folder("data")
	}
	return s.path("data"), copyFiles(ctx, s.files, s.path("data"))
}

// setUp runs a program that creates the server's files, if it begins with new ones.
func (s *Server) setUp(ctx context.Context, path string, args ...string) error {
	if s.files != "" {
		return nil
	}
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
	attr := attributes()
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

// freePort returns the first of the ports that nobody has, or any.
func (p Place) freePort(ctx context.Context) (int, error) {
	var err error
	for _, port := range append(slices.Clone(p.Ports), 0) {
		var l net.Listener
		l, err = (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(p.IP, strconv.Itoa(port)))
		if err == nil {
			return l.Addr().(*net.TCPAddr).Port, l.Close()
		}
	}
	return 0, err
}

func (s *Server) path(name string) string { return filepath.Join(s.dir, name) }
