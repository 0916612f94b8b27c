package stack

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Target is something that is built from source or downloaded: a file in bin,
// or .venv.
type Target struct {
	Name string
	// about is how long it takes the first time, on two cores; empty for our own
	// binaries, which are brought up to date at every start.
	about string
	// inputs, relative to the root, and key decide whether it is up to date.
	// Without inputs it is made every time; it knows by itself what to do then.
	inputs []string
	key    string
	output string // relative to the root; made again when it is missing
	needs  []prerequisite
	make   func(ctx context.Context, root string, log io.Writer) error
}

// buildWord is how often something slow says that it is still at it.
const buildWord = 20 * time.Second

// Build makes the targets that are out of date, one after the other, for each
// uses every core. It tells progress what it makes and how long that takes. Two
// builds of the same root wait for each other.
func Build(ctx context.Context, root string, targets []Target, progress io.Writer) error {
	root, err := filepath.Abs(root) // tools run in other folders
	if err != nil {
		return err
	}
	unlock, err := lockBuild(root)
	if err != nil {
		return err
	}
	defer unlock()
	stale, err := outOfDate(root, targets)
	if err != nil {
		return err
	}
	if err := checkPrerequisites(ctx, stale); err != nil {
		return err
	}
	for _, t := range stale {
		if err := t.build(ctx, root, progress); err != nil {
			return err
		}
	}
	return nil
}

func (t Target) build(ctx context.Context, root string, progress io.Writer) error {
	sum, err := t.sum(root)
	if err != nil {
		return err
	}
	stamp := t.stamp(root)
	logPath := filepath.Join(root, runFolder, "build", t.Name+".log")
	if err := errors.Join(os.MkdirAll(filepath.Dir(stamp), 0o750), os.MkdirAll(filepath.Dir(logPath), 0o750)); err != nil {
		return err
	}
	log, err := os.Create(filepath.Clean(logPath))
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	done := t.announce(progress)
	err = t.make(ctx, root, log)
	done(err)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return &BuildError{Target: t.Name, Err: err, Log: logPath, LastLine: lastLine(logPath)}
	}
	return os.WriteFile(stamp, []byte(sum), 0o600)
}

// BuildError says what could not be built or downloaded.
type BuildError struct {
	Target   string
	Err      error
	Log      string // the path of everything it said
	LastLine string // of that
}

func (e *BuildError) Error() string {
	return fmt.Sprintf("%s could not be made (%v): %s (all of its output: %s)", e.Target, e.Err, e.LastLine, e.Log)
}

func (e *BuildError) Unwrap() error { return e.Err }

// announce says what begins, that it goes on, and (done) how it ended; of our own
// binaries only what takes long.
func (t Target) announce(progress io.Writer) (done func(error)) {
	began := time.Now()
	if t.about != "" {
		say(progress, "%-24s building (%s the first time)", t.Name, t.about)
	}
	ticker, stop := time.NewTicker(buildWord), make(chan struct{})
	go func() {
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				say(progress, "%-24s still building, %.0f s so far", t.Name, time.Since(began).Seconds())
			case <-stop:
				return
			}
		}
	}()
	return func(err error) {
		close(stop)
		if err == nil && (t.about != "" || time.Since(began) > buildWord) {
			say(progress, "%-24s built in %.1f s", t.Name, time.Since(began).Seconds())
		}
	}
}

// stamp is the file that says from what the target was made.
func (t Target) stamp(root string) string { return filepath.Join(root, ".cache", "built", t.Name) }

func outOfDate(root string, targets []Target) ([]Target, error) {
	var stale []Target
	for _, t := range targets {
		sum, err := t.sum(root)
		if err != nil {
			return nil, err
		}
		_, missing := os.Stat(filepath.Join(root, t.output))
		built, unknown := os.ReadFile(filepath.Clean(t.stamp(root)))
		if len(t.inputs) == 0 || missing != nil || unknown != nil || string(built) != sum {
			stale = append(stale, t)
		}
	}
	return stale, nil
}

// sum is of everything that the target depends on.
func (t Target) sum(root string) (string, error) {
	h := sha256.New()
	_, _ = fmt.Fprintln(h, t.key, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	for _, input := range t.inputs {
		data, err := os.ReadFile(filepath.Clean(filepath.Join(root, input)))
		if err != nil {
			return "", err
		}
		_, _ = fmt.Fprintf(h, "%s %d\n%s\n", input, len(data), data)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// lockBuild waits for other builds of this root; the lock ends with the process.
func lockBuild(root string) (unlock func(), err error) {
	path := filepath.Join(root, ".cache", "build.lock")
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Clean(path), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() { _ = f.Close() }, nil
}

func lastLine(path string) string {
	data, err := os.ReadFile(filepath.Clean(path))
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
