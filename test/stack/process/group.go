package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
)

// Group is the processes of one run directory. It keeps a record of them there
// for Reap.
type Group struct {
	dir    string
	onDied func(*DiedError)

	jobs chan func() // to the goroutine that starts processes
	end  sync.Once

	mu        sync.Mutex
	closed    bool
	processes []*Process
	record    record
}

// NewGroup returns a group whose logs and record are in dir, an existing folder that no other running group uses.
// onDied, which may be nil, is called when a process ends unexpectedly.
func NewGroup(dir string, onDied func(*DiedError)) (*Group, error) {
	self, ok := identify(os.Getpid())
	if !ok {
		return nil, errors.New("cannot read this process's own identity")
	}
	g := &Group{
		dir: dir, onDied: onDied, jobs: make(chan func()),
		record: record{Owner: self, Processes: map[string]identity{}},
	}
	if err := g.record.write(dir); err != nil {
		return nil, err
	}
	go g.spawner()
	return g, nil
}

// spawner starts every process of the group from one thread that exists as long as the group: Linux sends the
// parent-death signal when the *thread* that created the child ends, and Go ends threads at any time. The thread
// stays locked, so it ends with this goroutine, after the processes have ended.
func (g *Group) spawner() {
	runtime.LockOSThread()
	for job := range g.jobs {
		job()
	}
}

// Add adds a process to the group, not yet started.
func (g *Group) Add(spec Spec) *Process {
	p := &Process{spec: spec, group: g, log: filepath.Join(g.dir, spec.Name+".log")}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.processes = append(g.processes, p)
	return p
}

// Close ends every process at once, removes the record, and makes the group
// unusable. It may be called more than once.
func (g *Group) Close() error {
	g.mu.Lock()
	g.closed = true
	processes := g.processes
	g.mu.Unlock()

	errs := make([]error, len(processes))
	var wg sync.WaitGroup
	for i, p := range processes {
		wg.Go(func() { errs[i] = p.Kill() })
	}
	wg.Wait()
	g.end.Do(func() { close(g.jobs) })
	if err := errors.Join(errs...); err != nil {
		return err // the record stays, for the next start
	}
	return removeRecord(g.dir)
}

// spawn starts cmd on the group's thread and records it.
func (g *Group) spawn(name string, cmd *exec.Cmd) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return errors.New("the stack is closed")
	}
	done := make(chan error)
	g.jobs <- func() { done <- cmd.Start() }
	if err := <-done; err != nil {
		return err
	}
	id, ok := identify(cmd.Process.Pid)
	if !ok {
		return nil // it has ended already; wait reports it
	}
	g.record.Processes[name] = id
	if err := g.record.write(g.dir); err != nil {
		return fmt.Errorf("record process %d: %w", id.PID, err)
	}
	return nil
}

func (g *Group) forget(name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.record.Processes, name)
	if !g.closed {
		_ = g.record.write(g.dir) // a stale entry is harmless: its identity matches nothing
	}
}

func (g *Group) died(p *Process, err error) {
	tell := g.onDied
	if p.spec.Died != nil {
		tell = p.spec.Died
	}
	if tell != nil {
		tell(&DiedError{Name: p.spec.Name, Err: err, Log: p.log, Tail: p.Tail(tailLines)})
	}
}
