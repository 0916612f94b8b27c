package sandbox

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/portico-platform/portico/test/stack/lock"
)

// cleanTimeout is how long cgroups may take until they are empty: the kernel kills hundreds of processes first.
const cleanTimeout = time.Minute

// finish lets the cleaner begin, and waits for its end.
func finish(alive *cleaner, code int) error {
	_, err := fmt.Fprintln(alive.in, code)
	return errors.Join(err, alive.Close(), alive.cmd.Wait())
}

// cleaner is the process that removes what is left.
type cleaner struct {
	in  io.WriteCloser
	cmd *exec.Cmd
}

func (c *cleaner) Close() error {
	if err := c.in.Close(); !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}

// startCleaner starts the cleaner in a session of its own, so that no signal to this one ends it. It sees by its
// standard input that this process has ended.
func startCleaner(env []string) (*cleaner, error) {
	cmd := again(roleCleaner, env)
	cmd.Args = []string{"cleaner of a sandbox"} // who ends this program by its command line spares the cleaner
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the cleaner: %w", err)
	}
	return &cleaner{in, cmd}, nil
}

// clean waits for the end of the process outside, and removes the cgroups and the folder. After a failure the logs
// stay.
func clean() int {
	lock, err := lock.Claim(Folder)
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = lock.Close() }()
	code := failed
	if line, err := bufio.NewReader(os.Stdin).ReadString('\n'); err == nil {
		code, _ = strconv.Atoi(line[:len(line)-1])
	}
	// The first process got SIGKILL with its parent; the cgroups are empty once all its children have ended.
	err = removeCgroups(Cgroup, time.Now().Add(cleanTimeout))
	if code == 0 || !hasLogs() {
		err = errors.Join(err, os.RemoveAll(Folder))
	} else {
		err = errors.Join(err, keepLogs())
	}
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "left behind:", err)
		return 1
	}
	return 0
}

// removeLeft removes what sandboxes of the name left whose cleaner was killed, too. A cleaner holds the lock of its
// folder as long as the sandbox is there.
func removeLeft(name string) error {
	return lock.RemoveLeft(filepath.Join(parent, name+"-*"), func(folder string) error {
		return errors.Join(removeCgroups(filepath.Base(folder), time.Now().Add(cleanTimeout)), os.RemoveAll(folder))
	})
}

// parent has the folders of sandboxes. It is on disk: a folder in memory counts as memory of a Pod.
const parent = "/var/tmp"

// LogFolder is the folder of the logs inside Folder, which stays when the program fails.
const LogFolder = "logs"

func hasLogs() bool {
	entries, err := os.ReadDir(filepath.Join(Folder, LogFolder))
	return err == nil && len(entries) > 0
}

// keepLogs removes everything but the logs.
func keepLogs() error {
	entries, err := os.ReadDir(Folder)
	if err != nil {
		return err
	}
	var errs []error
	for _, entry := range entries {
		if entry.Name() != LogFolder {
			errs = append(errs, os.RemoveAll(filepath.Join(Folder, entry.Name())))
		}
	}
	_, _ = fmt.Fprintln(os.Stderr, "the logs are in", filepath.Join(Folder, LogFolder))
	return errors.Join(errs...)
}
