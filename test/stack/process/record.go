package process

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

const recordFile = "processes.json"

// identity distinguishes a process from all others, earlier and later, with the same process ID.
type identity struct {
	PID     int    `json:"pid"`
	Start   string `json:"start"`   // unique for the process ID: start time and boot
	Command string `json:"command"` // for people: an exec changes it
}

func (id identity) alive() bool {
	now, ok := identify(id.PID)
	return ok && now.PID == id.PID && now.Start == id.Start
}

// record is the file that a group leaves in its directory.
type record struct {
	Owner     identity            `json:"owner"`
	Processes map[string]identity `json:"processes"`
}

func (r record) write(dir string) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	path := filepath.Join(dir, recordFile)
	if err := os.WriteFile(path+".new", data, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

func removeRecord(dir string) error {
	if err := os.Remove(filepath.Join(dir, recordFile)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// InUseError reports that a run directory belongs to a running process.
type InUseError struct {
	Dir string
	PID int
}

func (e *InUseError) Error() string {
	return fmt.Sprintf("process %d already runs a stack in %s: end it first (Ctrl-C in its terminal, or kill %d)",
		e.PID, e.Dir, e.PID)
}

// Reap ends what a killed owner left running in dir, and returns the number of those processes. It ends only
// processes whose ID and start time match the record. A directory whose owner is running is an InUseError; one
// without a record has nothing to reap.
func Reap(dir string) (int, error) {
	data, err := os.ReadFile(filepath.Join(filepath.Clean(dir), recordFile))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	var r record
	if err := json.Unmarshal(data, &r); err != nil {
		return 0, fmt.Errorf("read %s: %w", filepath.Join(dir, recordFile), err)
	}
	if r.Owner.alive() {
		return 0, &InUseError{Dir: dir, PID: r.Owner.PID}
	}
	n := 0
	for name, id := range r.Processes {
		if !id.alive() {
			continue
		}
		if err := endLeftover(id); err != nil {
			return n, fmt.Errorf("end %s left by an earlier run: %w", name, err)
		}
		n++
	}
	return n, removeRecord(dir)
}

func endLeftover(id identity) error {
	if err := syscall.Kill(-id.PID, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	for range 100 {
		if !id.alive() {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return fmt.Errorf("process %d survives SIGKILL", id.PID)
}
