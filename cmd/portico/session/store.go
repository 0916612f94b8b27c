// Package session stores the logins at portals, signs users in, and provides their tokens for requests.
package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/gofrs/flock"
)

// lockAgain is the interval of attempts at a lock that another portico holds.
const lockAgain = 50 * time.Millisecond

// Store is a folder with one file of sessions, readable by its owner only.
type Store struct{ Dir string }

// Sessions are the content of the file.
type Sessions struct {
	Current string              `json:"current,omitempty"` // server of the last login
	Servers map[string]*Session `json:"servers,omitempty"` // by address
}

// Session is one login. Its tokens are secret.
type Session struct {
	Issuer       string    `json:"issuer"`
	ClientID     string    `json:"clientID"`
	Scopes       []string  `json:"scopes"`
	IDToken      string    `json:"idToken"`
	Expiry       time.Time `json:"expiry"`
	RefreshToken string    `json:"refreshToken,omitempty"`
	// Job is set for the login of a CI job, whose token comes from an exchange: it is renewed by another one.
	Job *StoredJob `json:"job,omitempty"`
}

// StoredJob is how a CI job logged in.
type StoredJob struct {
	Audience string `json:"audience"`
	Deployer string `json:"deployer,omitempty"` // that was named
	Name     string `json:"name"`               // of the deployer, as team/name
	Run      string `json:"run"`
}

func (s Store) path() string { return filepath.Join(s.Dir, "sessions.json") }

// Read returns the stored sessions. A missing file is no error.
func (s Store) Read() (Sessions, error) {
	var all Sessions
	if s.Dir == "" {
		return all, nil // the working directory may be anybody's
	}
	b, err := os.ReadFile(s.path())
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err == nil {
		err = s.private()
	}
	if err != nil {
		return all, fmt.Errorf("reading who is logged in: %w", err)
	}
	if err := json.Unmarshal(b, &all); err != nil {
		return all, fmt.Errorf("%s cannot be read: delete it and log in again", s.path()) // not err, which may quote it
	}
	return all, nil
}

// private refuses a file that others can read or change: they could act as the user, or redirect the user's tokens.
func (s Store) private() error {
	info, err := os.Stat(s.path())
	if err != nil {
		return err
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 && runtime.GOOS != "windows" { // which has no such modes
		return fmt.Errorf("other users of this machine can open %s (mode %04o), which holds your tokens: "+
			"run chmod 600 %[1]s, then portico logout and portico login if they could have read it", s.path(), mode)
	}
	return nil
}

// Change reads, changes and writes the file under a lock that excludes other portico processes.
func (s Store) Change(ctx context.Context, change func(*Sessions) error) (err error) {
	if s.Dir == "" {
		return errors.New("there is no folder to keep logins in: set HOME or PORTICO_CONFIG_DIR, or use PORTICO_TOKEN")
	}
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return fmt.Errorf("making the folder for logins: %w", err)
	}
	lock := flock.New(filepath.Join(s.Dir, "sessions.lock"), flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, lockAgain); err != nil {
		return fmt.Errorf("waiting for another portico that holds %s: %w", lock.Path(), err)
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	all, err := s.Read()
	if err != nil {
		return err
	}
	if all.Servers == nil {
		all.Servers = map[string]*Session{}
	}
	if err := change(&all); err != nil {
		return err
	}
	return s.write(all)
}

// write replaces the file atomically, so that nobody reads a part of it.
func (s Store) write(all Sessions) error {
	b, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(s.Dir, "sessions-*.tmp") // for its owner only
	if err != nil {
		return fmt.Errorf("writing who is logged in: %w", err)
	}
	_, err = f.Write(append(b, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), s.path())
	}
	if err != nil {
		return fmt.Errorf("writing who is logged in: %w", errors.Join(err, os.Remove(f.Name())))
	}
	return nil
}
