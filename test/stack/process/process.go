// Package process runs the processes of the local stack: each in its own process group, with its output in a log
// file, and individually restartable. None is left behind: if a process outlives its parent nevertheless (the parent
// was killed with SIGKILL on a system without parent-death signals), the next start finds it by the parent's record
// and ends it; see Reap.
package process

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"
)

const (
	// readyTimeout is how long a process may take until its probe succeeds. A warm start takes seconds; the rest is
	// for busy machines.
	readyTimeout = 2 * time.Minute
	readyPoll    = 50 * time.Millisecond
	// stopGrace is how long Stop waits after SIGTERM before it sends SIGKILL.
	stopGrace = 5 * time.Second
)

// Spec describes one process.
type Spec struct {
	Name string   // also the name of its log file
	Path string   // the executable
	Args []string // without the executable's name
	Env  []string // KEY=value, added to the environment of this process
	// Confined, if set, is where it runs and as which user: then Path is below Root.
	Confined *Confined
	// OnlyEnv leaves out the environment of this process.
	OnlyEnv bool
	// Grace is how long Stop waits after SIGTERM before it sends SIGKILL; 0 means some seconds.
	Grace time.Duration
	// Died is called instead of the group's function when the process ends unexpectedly.
	Died func(*DiedError)
	// Ready returns nil once the process serves. It is called repeatedly until then. Nil means ready as soon as it
	// runs.
	Ready func(ctx context.Context) error
}

// Confined is the process's own root folder, and its user.
type Confined struct {
	Root        string
	User, Group uint32
}

// Process is one process of a Group. Its methods can be called from any goroutine.
type Process struct {
	spec  Spec
	group *Group
	log   string

	mu    sync.Mutex
	run   *run // nil while stopped
	begun bool // it has been started at least once
	more  []string
	cpu   time.Duration // of the runs that have ended
	exit  error         // of the last run that has ended
}

// run is one run of a process, from start to end.
type run struct {
	cmd      *exec.Cmd
	done     chan struct{} // closed once it has ended and has been reaped
	err      error         // why it ended; read after done is closed
	expected bool          // guarded by Process.mu: the group ended it
}

// Name returns the name given in the Spec.
func (p *Process) Name() string { return p.spec.Name }

// LogFile returns the path of the file with the output of all runs of the process.
func (p *Process) LogFile() string { return p.log }

// PID returns the process ID, or 0 while the process does not run.
func (p *Process) PID() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.run == nil {
		return 0
	}
	return p.run.cmd.Process.Pid
}

// Ended reports whether the process was started and no longer runs.
func (p *Process) Ended() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.begun && p.run == nil
}

// Exit returns how the last run ended that has ended: nil after exit code 0.
func (p *Process) Exit() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.exit
}

// CPU returns the processor time of the runs that have ended.
func (p *Process) CPU() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cpu
}

// Start spawns the process and returns once it is ready. Starting a running one
// is an error.
func (p *Process) Start(ctx context.Context) error {
	r, err := p.spawn()
	if err != nil {
		return fmt.Errorf("start %s: %w", p.spec.Name, err)
	}
	if err := p.waitReady(ctx, r); err != nil {
		_ = p.Kill()
		return err
	}
	return nil
}

// Stop sends SIGTERM to the process and kills it when it does not end within a few seconds. Stopping a stopped one
// does nothing.
func (p *Process) Stop() error { return p.end(syscall.SIGTERM) }

// Kill ends the process at once (SIGKILL).
func (p *Process) Kill() error { return p.end(syscall.SIGKILL) }

// Restart stops the process and starts it again, with the same arguments.
func (p *Process) Restart(ctx context.Context) error {
	if err := p.Stop(); err != nil {
		return err
	}
	return p.Start(ctx)
}

// With puts arguments after those of the Spec, from the next start on; without arguments it restores those of the
// Spec.
func (p *Process) With(args ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.more = args
}

func (p *Process) spawn() (*run, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.run != nil {
		return nil, errors.New("it runs already")
	}
	p.begun = true
	log, err := os.OpenFile(filepath.Clean(p.log), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()

	cmd := exec.Command(p.spec.Path, slices.Concat(p.spec.Args, p.more)...)
	cmd.Dir = p.group.dir
	if !p.spec.OnlyEnv {
		cmd.Env = os.Environ()
	}
	cmd.Env = append(cmd.Env, p.spec.Env...)
	if len(cmd.Env) == 0 {
		cmd.Env = []string{""} // nil would mean this process's own
	}
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = attributes()
	if c := p.spec.Confined; c != nil {
		cmd.Dir = "/"
		cmd.SysProcAttr.Chroot = c.Root
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: c.User, Gid: c.Group}
	}
	if err := p.group.spawn(p.spec.Name, cmd); err != nil {
		return nil, err
	}
	p.run = &run{cmd: cmd, done: make(chan struct{})}
	go p.wait(p.run)
	return p.run, nil
}

// wait returns when the process has ended. It reaps the process under the lock, after it has killed the rest of its
// process group, while the process ID is still its own.
func (p *Process) wait(r *run) {
	awaitExit(r.cmd.Process.Pid)
	p.mu.Lock()
	_ = syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL)
	r.err = r.cmd.Wait()
	p.exit = r.err
	p.cpu += r.cmd.ProcessState.UserTime() + r.cmd.ProcessState.SystemTime()
	expected := r.expected
	p.run = nil
	p.mu.Unlock()
	p.group.forget(p.spec.Name)
	close(r.done)
	if !expected {
		p.group.died(p, r.err)
	}
}

func (p *Process) waitReady(ctx context.Context, r *run) error {
	if p.spec.Ready == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	tick := time.NewTicker(readyPoll)
	defer tick.Stop()
	for {
		err := p.spec.Ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-r.done:
			if p.asked(r) {
				return fmt.Errorf("%s was ended before it answered", p.spec.Name)
			}
			return &DiedError{Name: p.spec.Name, Err: r.err, Log: p.log, Tail: p.Tail(tailLines)}
		case <-ctx.Done():
			return fmt.Errorf("%s does not answer (%w); its log is %s: %w", p.spec.Name, context.Cause(ctx), p.log, err)
		case <-tick.C:
		}
	}
}

// asked reports whether the process was ended on request and therefore has not died.
func (p *Process) asked(r *run) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return r.expected
}

func (p *Process) end(sig syscall.Signal) error {
	p.mu.Lock()
	r := p.run
	if r == nil {
		p.mu.Unlock()
		return nil
	}
	r.expected = true
	// Under the lock the process has not been reaped: its process ID is its own.
	err := syscall.Kill(-r.cmd.Process.Pid, sig)
	p.mu.Unlock()
	if err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("end %s: %w", p.spec.Name, err)
	}
	select {
	case <-r.done:
		return nil
	case <-time.After(cmp.Or(p.spec.Grace, stopGrace)):
	}
	if sig == syscall.SIGKILL {
		return fmt.Errorf("%s (process %d) survives SIGKILL", p.spec.Name, r.cmd.Process.Pid)
	}
	return p.end(syscall.SIGKILL)
}
