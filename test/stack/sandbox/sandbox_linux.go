package sandbox

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// The environment of the program's further processes.
const (
	roleVariable   = "PORTICO_SANDBOX_ROLE"
	cgroupVariable = "PORTICO_SANDBOX_CGROUP"
	folderVariable = "PORTICO_SANDBOX_FOLDER"
)

// The roles of the program's processes; the one outside has none.
const (
	roleFirst   = "first"   // the first process of the namespaces
	roleInside  = "inside"  // runs the program
	roleMachine = "machine" // the first process of the namespaces of New
	roleCleaner = "cleaner"
)

// failed is the exit code of a sandbox that could not be made.
const failed = 125

// Cgroup is the name of the cgroup in every hierarchy, inside.
var Cgroup = os.Getenv(cgroupVariable)

// Folder is a folder on disk, inside, which goes at the end.
var Folder = os.Getenv(folderVariable)

// cleanTimeout is how long cgroups may take until they are empty: the kernel kills hundreds of processes first.
const cleanTimeout = time.Minute

// Main runs the function in a sandbox and returns the program's exit code. It begins the names of cgroup and folder
// with the given one. The program must call Main before it starts anything.
func Main(name string, run func() int) int {
	switch os.Getenv(roleVariable) {
	case roleFirst:
		return first()
	case roleInside:
		return run()
	case roleMachine:
		return machine()
	case roleCleaner:
		return clean()
	}
	code, err := outside(name)
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		return failed
	}
	return code
}

// outside starts the cleaner and the first process, and returns the program's exit code.
func outside(name string) (int, error) {
	if err := Missing(); err != nil {
		return 0, err
	}
	folder, err := os.MkdirTemp(parent, name+"-")
	if err != nil {
		return 0, err
	}
	if err := removeLeft(name); err != nil {
		return 0, err
	}
	env := append(os.Environ(), cgroupVariable+"="+filepath.Base(folder), folderVariable+"="+folder)
	alive, err := startCleaner(env)
	if err != nil {
		return 0, errors.Join(err, os.RemoveAll(folder))
	}
	defer func() { _ = alive.Close() }()
	if err := makeCgroups(filepath.Base(folder)); err != nil {
		return 0, err
	}
	// A child ends with the thread that started it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := again(roleFirst, env)
	cmd.Stdin = nil
	cmd.SysProcAttr = namespaces()
	cmd.SysProcAttr.Setpgid = true // Ctrl-C ends this process alone, and it the rest
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("make namespaces: %w", err)
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-stop
		_ = cmd.Process.Kill()
	}()
	err = cmd.Wait()
	code := cmd.ProcessState.ExitCode()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		err = nil
	}
	if code != 0 {
		code = max(code, 1) // -1 after a signal
	}
	return code, errors.Join(err, finish(alive, code))
}

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
	lock, err := hold(Folder)
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

// lockFile is held by the cleaner as long as the sandbox is there.
const lockFile = "lock"

// hold locks a sandbox's folder; an error is of another process that holds it.
func hold(folder string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(folder, lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", folder, err), f.Close())
	}
	return f, nil
}

// removeLeft removes what sandboxes of the name left whose cleaner was killed, too.
func removeLeft(name string) error {
	locks, err := filepath.Glob(filepath.Join(parent, name+"-*", lockFile))
	if err != nil {
		return err
	}
	for _, lock := range locks {
		folder := filepath.Dir(lock)
		held, err := hold(folder)
		if err != nil {
			continue // it is in use
		}
		err = errors.Join(
			removeCgroups(filepath.Base(folder), time.Now().Add(cleanTimeout)),
			os.RemoveAll(folder),
			held.Close(),
		)
		if err != nil {
			return fmt.Errorf("remove what an earlier run left: %w", err)
		}
	}
	return nil
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

// again returns a command that starts this program once more, in a role.
func again(role string, env []string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
	cmd.Args[0] = os.Args[0]
	cmd.Env = append(slices.Clone(env), roleVariable+"="+role)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd
}

// namespaces makes a process the first of new ones, which ends with the thread that starts it.
func namespaces() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Cloneflags: unix.CLONE_NEWNS | unix.CLONE_NEWNET | unix.CLONE_NEWPID, Pdeathsig: syscall.SIGKILL,
	}
}

// first sets the namespaces up and runs the program in a child, since the first process has to reap orphans.
func first() int {
	if err := errors.Join(ownMounts(), useResolver()); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "set up the namespaces:", err)
		return failed
	}
	cmd := again(roleInside, os.Environ())
	if err := cmd.Start(); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "run inside:", err)
		return failed
	}
	return reap(cmd.Process.Pid)
}

// machine sets up the namespaces of a machine, says so with an empty line, and waits.
func machine() int {
	if err := errors.Join(ownMounts(), machineMounts()); err != nil {
		_, _ = fmt.Fprintln(os.Stdout, err)
		return failed
	}
	_, _ = fmt.Fprintln(os.Stdout)
	signal.Ignore(os.Interrupt, syscall.SIGTERM)
	for {
		reap(0)
		time.Sleep(time.Second)
	}
}

// reap waits for every child, and returns the exit code of the one with the ID once that has ended.
func reap(of int) int {
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return failed
		case pid == of && status.Signaled():
			return 128 + int(status.Signal())
		case pid == of:
			return status.ExitStatus()
		}
	}
}
