package databases

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/portico-platform/portico/test/awsproxy"
	"github.com/portico-platform/portico/test/stack/lock"
)

// Fleet is a server for each simulated RDS instance, with its own port, files and users. A snapshot is a copy of a
// server's files.
type Fleet struct {
	// CAFile is the path of the certificate of the authority that all servers share.
	CAFile string

	place     Place
	dir       string
	held      *os.File // the lock of dir
	authority *authority
	mu        sync.Mutex // guards the servers
	servers   map[string]*Server
	last      map[string]*Server // of each engine

	changing  sync.Mutex // one change at a time; guards the fields below
	made      int        // folders
	snapshots map[string]snapshot
	// templates are folders with the files of a new server, by engine: copying them is faster than making them.
	templates map[string]string
}

// snapshot is what a snapshot has: files of an engine.
type snapshot struct{ engine, folder string }

// StartFleet returns a fleet without servers, on loopback.
func StartFleet(context.Context) (*Fleet, error) { return StartFleetAt(Loopback()) }

// StartFleetAt returns a fleet without servers, which will listen at a place.
func StartFleetAt(at Place) (*Fleet, error) {
	const name = "portico-databases-"
	if err := lock.RemoveLeft(filepath.Join(os.TempDir(), name+"*"), os.RemoveAll); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", name)
	if err != nil {
		return nil, err
	}
	held, err := lock.Claim(dir)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	f := &Fleet{
		CAFile: filepath.Join(dir, "bundle.pem"), place: at, dir: dir, held: held,
		servers: map[string]*Server{}, last: map[string]*Server{},
		snapshots: map[string]snapshot{}, templates: map[string]string{},
	}
	err = os.Chmod(dir, 0o755) // the servers run as another user
	if err == nil {
		f.authority, err = newAuthority()
	}
	if err == nil {
		err = os.WriteFile(f.CAFile, f.authority.pem, 0o644)
	}
	if err != nil {
		f.Stop()
		return nil, err
	}
	return f, nil
}

// Stop stops all servers and removes their files.
func (f *Fleet) Stop() {
	f.changing.Lock()
	defer f.changing.Unlock()
	for _, s := range f.servers {
		s.Stop()
	}
	_ = os.RemoveAll(f.dir)
	_ = f.held.Close()
}

// of returns the server of an instance, or nil.
func (f *Fleet) of(instance string) *Server {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.servers[instance]
}

// Server returns the server of the instance of an engine that was made last.
func (f *Fleet) Server(engine string) *Server {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last[engine]
}

// Address implements awsproxy.DatabaseServers.
func (f *Fleet) Address(instance, _ string) (host string, port int) {
	if s := f.of(instance); s != nil {
		return f.place.Host, s.Port
	}
	return "", 0
}

// Serve implements awsproxy.DatabaseServers. Like RDS, it creates the database together with the instance.
func (f *Fleet) Serve(ctx context.Context, i awsproxy.DatabaseInstance) error {
	if strings.ContainsAny(i.Username+i.Database, "'`\"\\") {
		return errors.New("such a name is not served here")
	}
	f.changing.Lock()
	defer f.changing.Unlock()
	if s := f.of(i.ID); s != nil {
		return s.Master(ctx, i.Username, i.Password)
	}
	if !Has(i.Engine) {
		return nil
	}
	s, err := f.add(ctx, i.ID, i.Engine, f.templates[i.Engine])
	if err != nil {
		return err
	}
	if err := s.Master(ctx, i.Username, i.Password); err != nil || i.Database == "" {
		return err
	}
	return s.Database(ctx, i.Database, i.Username)
}

// add starts the server of an instance, with a copy of the files in a folder; "" for new ones. The caller holds
// f.changing.
func (f *Fleet) add(ctx context.Context, instance, engine, files string) (*Server, error) {
	s := newServer(engine, f.folder(engine), f.place)
	s.files = files
	if err := s.start(ctx, f.authority); err != nil {
		return nil, err
	}
	if f.templates[engine] == "" && files == "" {
		// Of a server that has just been made, for the next one.
		template := f.folder("new-" + engine)
		if err := s.copyTo(ctx, template); err != nil {
			s.Stop()
			return nil, err
		}
		f.templates[engine] = template
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.servers[instance], f.last[engine] = s, s
	return s, nil
}

func (f *Fleet) folder(name string) string {
	f.made++
	return filepath.Join(f.dir, name+"-"+strconv.Itoa(f.made))
}

// Remove implements awsproxy.DatabaseServers.
func (f *Fleet) Remove(instance string) {
	f.changing.Lock()
	defer f.changing.Unlock()
	if s := f.of(instance); s != nil {
		s.Stop()
		_ = os.RemoveAll(s.dir) // what is left goes with the fleet
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.servers, instance)
	}
}

// Snapshot implements awsproxy.DatabaseServers. It stops the server for a moment, as RDS suspends its input and output.
func (f *Fleet) Snapshot(ctx context.Context, instance, name string) error {
	f.changing.Lock()
	defer f.changing.Unlock()
	s := f.of(instance)
	if s == nil {
		return nil
	}
	folder := f.folder("snapshot")
	if err := s.copyTo(ctx, folder); err != nil {
		return fmt.Errorf("copy the files of %s: %w", instance, err)
	}
	f.snapshots[name] = snapshot{s.Engine, folder}
	return nil
}

// Restore implements awsproxy.DatabaseServers.
func (f *Fleet) Restore(ctx context.Context, name, instance string) error {
	f.changing.Lock()
	defer f.changing.Unlock()
	from, ok := f.snapshots[name]
	if !ok {
		return nil
	}
	_, err := f.add(ctx, instance, from.engine, from.folder)
	return err
}

// Forget implements awsproxy.DatabaseServers.
func (f *Fleet) Forget(name string) {
	f.changing.Lock()
	defer f.changing.Unlock()
	_ = os.RemoveAll(f.snapshots[name].folder) // what is left goes with the fleet
	delete(f.snapshots, name)
}
