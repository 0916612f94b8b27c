// Package build builds and downloads what the stack and the tests run, if it is out of date: programs of Go modules,
// the AWS simulator, packages of npm. It imports only the standard library, because it is the first that a new clone
// compiles, before anything shows progress.
package build

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Build builds the targets that are out of date: the programs of one module together, one module after the other, and
// everything else in parallel. It writes to out what it builds, the progress and the remaining time. Two builds of
// the same root wait for each other.
func Build(ctx context.Context, root string, targets []Target, out io.Writer) error {
	root, err := filepath.Abs(root) // tools run in other folders
	if err != nil {
		return err
	}
	unlock, err := lock(root, out)
	if err != nil {
		return err
	}
	defer unlock()
	began := time.Now()
	targets = preferInstalled(ctx, root, targets, out)
	stale, err := outOfDate(root, targets)
	if err != nil || len(stale) == 0 {
		return err
	}
	if err := checkPrerequisites(ctx, stale); err != nil {
		return err
	}
	b := &builder{root: root, progress: newProgress(out, root)}
	err = b.make(ctx, stale)
	b.progress.end(err)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err == nil && time.Since(began) > worthSaying {
		_, _ = fmt.Fprintf(out, "Built everything in %s min.\n", strings.TrimSpace(clock(time.Since(began))))
	}
	return err
}

// worthSaying is how long something must take to be reported.
const worthSaying = 5 * time.Second

type builder struct {
	root     string
	progress *progress
}

func (b *builder) make(ctx context.Context, stale []Target) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var programs, others []Target
	for _, t := range stale {
		if t.program != nil {
			programs = append(programs, t)
		} else {
			others = append(others, t)
		}
	}
	var wait sync.WaitGroup
	errs := make([]error, 2)
	for i, work := range []func() error{
		func() error { return b.compile(ctx, programs) },
		func() error { return b.makeOthers(ctx, others) },
	} {
		wait.Go(func() {
			if errs[i] = work(); errs[i] != nil {
				cancel() // cancel the other part of the build
			}
		})
	}
	wait.Wait()
	if errs[0] != nil && errors.Is(errs[1], context.Canceled) {
		return errs[0]
	}
	if errs[1] != nil && errors.Is(errs[0], context.Canceled) {
		return errs[1]
	}
	return errors.Join(errs...)
}

func (b *builder) makeOthers(ctx context.Context, targets []Target) error {
	for _, t := range targets {
		b.progress.beside(t.Name)
		err := b.logged(ctx, t.Name, t.Name, func(log io.Writer) error { return t.make(ctx, b.root, log) })
		if err != nil {
			return err
		}
		if err := t.markMade(b.root); err != nil {
			return err
		}
	}
	b.progress.beside("")
	return nil
}

// logged runs work with its own log, and reports the log's path if it fails.
func (b *builder) logged(ctx context.Context, name, what string, work func(log io.Writer) error) error {
	path := filepath.Join(b.root, ".run", "build", name+".log")
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return err
	}
	log, err := os.Create(filepath.Clean(path))
	if err != nil {
		return err
	}
	err = errors.Join(work(log), log.Close())
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return &Error{Target: what, Err: err, Log: path, LastLine: lastLine(path)}
	}
	return nil
}

// Error describes what could not be built or downloaded.
type Error struct {
	Target   string
	Err      error
	Log      string // path of the complete output
	LastLine string // of the log
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s could not be made (%v): %s (all of its output: %s)", e.Target, e.Err, e.LastLine, e.Log)
}

func (e *Error) Unwrap() error { return e.Err }

func lastLine(path string) string {
	data, err := os.ReadFile(filepath.Clean(path))
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

// lock waits for other builds of this root; the lock ends with the process.
func lock(root string, out io.Writer) (unlock func(), err error) {
	path := filepath.Join(root, ".cache", "build.lock")
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Clean(path), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		_, _ = fmt.Fprintln(out, "Waiting for another build in this folder ...")
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() { _ = f.Close() }, nil
}
