package databases

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/portico-platform/portico/test/awsproxy"
)

// Fleet is one server of each engine, behind the simulated RDS instances.
type Fleet struct {
	// CAFile is the path of the certificates of all servers' authorities.
	CAFile string

	dir     string
	mu      sync.Mutex
	servers map[string]*Server
	made    map[string]bool
}

// StartFleet starts a server of each engine.
func StartFleet(ctx context.Context) (*Fleet, error) {
	dir, err := os.MkdirTemp("", "databases")
	if err != nil {
		return nil, err
	}
	f := &Fleet{
		CAFile: filepath.Join(dir, "bundle.pem"), dir: dir, servers: map[string]*Server{},
		made: map[string]bool{},
	}
	if err := errors.Join(os.Chmod(dir, 0o755), f.start(ctx)); err != nil { // the servers run as another user
		f.Stop()
		return nil, err
	}
	return f, nil
}

func (f *Fleet) start(ctx context.Context) error {
	var bundle []byte
	for _, engine := range []string{"postgres", "mariadb"} {
		s, err := Start(ctx, engine, filepath.Join(f.dir, engine))
		if err != nil {
			return err
		}
		f.servers[engine] = s
		authority, err := os.ReadFile(s.CAFile)
		if err != nil {
			return err
		}
		bundle = append(bundle, authority...)
	}
	return os.WriteFile(f.CAFile, bundle, 0o644)
}

// Stop stops all servers and removes their files.
func (f *Fleet) Stop() {
	for _, s := range f.servers {
		s.Stop()
	}
	_ = os.RemoveAll(f.dir)
}

// Server returns the server of an engine.
func (f *Fleet) Server(engine string) *Server { return f.servers[engine] }

// Address implements awsproxy.DatabaseServers.
func (f *Fleet) Address(engine string) (host string, port int) {
	if s := f.servers[engine]; s != nil {
		return Host, s.Port
	}
	return "", 0
}

// Serve implements awsproxy.DatabaseServers. Like RDS, it creates the database together with the instance.
func (f *Fleet) Serve(ctx context.Context, i awsproxy.DatabaseInstance) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.servers[i.Engine]
	if s == nil || strings.ContainsAny(i.Username+i.Database, "'`\"\\") {
		return errors.New("no such instance is served here")
	}
	if err := s.Master(ctx, i.Username, i.Password); err != nil {
		return err
	}
	if name := i.Engine + "/" + i.Database; i.Database != "" && !f.made[name] {
		f.made[name] = true
		return s.Database(ctx, i.Database, i.Username)
	}
	return nil
}
