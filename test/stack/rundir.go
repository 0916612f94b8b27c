package stack

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/portico-platform/portico/test/stack/process"
)

const (
	runFolder  = ".run"
	testPrefix = "test-" // of run directories that Close removes

	// keepFor is how long the run directories of failed or killed tests stay.
	keepFor = 24 * time.Hour
)

// prepareDir ends what killed runs left behind and creates an empty run directory.
func prepareDir(o *Options) (string, error) {
	base := filepath.Join(o.Root, runFolder)
	if err := os.MkdirAll(base, 0o700); err != nil {
		return "", err
	}
	if err := reapAll(o, base); err != nil {
		return "", err
	}
	if o.Dir == "" {
		return os.MkdirTemp(base, testPrefix)
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return "", err
	}
	if _, err := process.Reap(dir); err != nil {
		return "", err
	}
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	return dir, os.MkdirAll(dir, 0o700)
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
		n, err := process.Reap(dir)
		if inUse := (*process.InUseError)(nil); errors.As(err, &inUse) {
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
