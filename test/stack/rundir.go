package stack

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/portico-platform/portico/test/stack/lock"
	"github.com/portico-platform/portico/test/stack/process"
)

const (
	runFolder  = ".run"
	testPrefix = "test-" // of run directories that Close removes
	lockEnd    = ".lock" // of the name of the lock of a directory that was chosen, beside it

	// keepFor is how long the run directories of failed or killed tests stay.
	keepFor = 24 * time.Hour
)

// prepareDir ends what killed runs left behind and creates an empty run directory. A directory that was chosen is held
// as long as the file is open.
func prepareDir(o *Options) (dir string, held *os.File, err error) {
	base := filepath.Join(o.Root, runFolder)
	if err := os.MkdirAll(base, 0o700); err != nil {
		return "", nil, err
	}
	if o.Dir == "" {
		if err := reapAll(o, base); err != nil {
			return "", nil, err
		}
		dir, err = os.MkdirTemp(base, testPrefix)
		return dir, nil, err
	}
	if dir, err = filepath.Abs(o.Dir); err != nil {
		return "", nil, err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return "", nil, err
	}
	held, err = lock.Hold(dir + lockEnd)
	if errors.Is(err, lock.ErrHeld) {
		return "", nil, fmt.Errorf("a stack runs in %s already: end it first, with Ctrl-C in its terminal", dir)
	}
	if err != nil {
		return "", nil, err
	}
	_, err = process.Reap(dir)
	if err == nil {
		err = errors.Join(reapAll(o, base), os.RemoveAll(dir), os.MkdirAll(dir, 0o700))
	}
	if err != nil {
		return "", nil, errors.Join(err, held.Close())
	}
	return dir, held, nil
}

// inUse reports whether a stack holds a directory, perhaps in a sandbox, where its processes have other IDs.
func inUse(dir string) bool {
	if _, err := os.Stat(dir + lockEnd); err != nil {
		return false
	}
	held, err := lock.Hold(dir + lockEnd)
	if err == nil {
		_ = held.Close()
	}
	return errors.Is(err, lock.ErrHeld)
}

func reapAll(o *Options, base string) error {
	entries, err := os.ReadDir(base)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if !entry.IsDir() {
			continue
		}
		dir := filepath.Join(base, entry.Name())
		if inUse(dir) {
			continue
		}
		n, err := process.Reap(dir)
		if other := (*process.InUseError)(nil); errors.As(err, &other) {
			continue // in use by another process
		}
		if err != nil {
			return err
		}
		if n > 0 {
			say(o.Progress, "ended %d processes left by an earlier run", n)
		}
		if info, err := entry.Info(); err == nil && strings.HasPrefix(entry.Name(), testPrefix) &&
			time.Since(info.ModTime()) > keepFor {
			_ = os.RemoveAll(dir)
		}
	}
	return nil
}
