// Package lock keeps folders of running processes from others, and finds those that killed processes left. A lock ends
// with its process, in whatever namespaces that is.
package lock

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// File is the name of the lock in a folder that a process has claimed.
const File = "lock"

// ErrHeld says that another process holds a lock.
var ErrHeld = errors.New("another process holds it")

// Hold locks a file, and makes it if need be. It returns ErrHeld if another process holds the lock, which ends when the
// file is closed.
func Hold(file string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Clean(file), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, errors.Join(ErrHeld, f.Close())
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", file, err), f.Close())
	}
	return f, nil
}

// Claim locks a folder. The lock gets its name when it is held, so that nobody finds it free.
func Claim(folder string) (*os.File, error) {
	file := filepath.Join(folder, File)
	held, err := Hold(file + ".new")
	if err != nil {
		return nil, err
	}
	if err := os.Rename(file+".new", file); err != nil {
		return nil, errors.Join(err, held.Close())
	}
	return held, nil
}

// RemoveLeft calls remove for each folder of a pattern that was claimed by a process which has ended.
func RemoveLeft(pattern string, remove func(folder string) error) error {
	locks, err := filepath.Glob(filepath.Join(pattern, File))
	if err != nil {
		return err
	}
	for _, file := range locks {
		held, err := Hold(file)
		if errors.Is(err, ErrHeld) || errors.Is(err, fs.ErrPermission) { // it is in use, or another user's
			continue
		}
		if err != nil {
			return err
		}
		if err := errors.Join(remove(filepath.Dir(file)), held.Close()); err != nil {
			return fmt.Errorf("remove what an earlier run left: %w", err)
		}
	}
	return nil
}
