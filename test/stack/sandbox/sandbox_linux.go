package sandbox

import (
	"errors"
	"fmt"
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
	filesVariable  = "PORTICO_SANDBOX_FILES"
)

// The roles of the program's processes; the one outside has none.
const (
	roleFirst   = "first"   // the first process of the namespaces
	roleInside  = "inside"  // runs the program
	roleMachine = "machine" // the first process of a machine
	roleCleaner = "cleaner"
)

// failed is the exit code of a sandbox that could not be made.
const failed = 125

// Cgroup is the name of the cgroup in every hierarchy, inside.
var Cgroup = os.Getenv(cgroupVariable)

// Folder is a folder on disk, inside, which goes at the end.
var Folder = os.Getenv(folderVariable)

// endsWithin is how long a program that was told to end may take.
const endsWithin = 30 * time.Second

// Main runs the function in a sandbox and returns the program's exit code. It begins the names of cgroup and folder
// with the given one. The program must call Main before it starts anything.
func Main(name string, run func() int) int { return MainWith(name, nil, run) }

// MainWith does the same, and gives the function what open returns outside, such as listeners of the machine's own
// network: see Files.
func MainWith(name string, open func() ([]*os.File, error), run func() int) int {
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
	code, err := openAndRun(name, open)
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		return failed
	}
	return code
}

// firstFile is the descriptor of the first of the files that a process gets from the one that starts it.
const firstFile = 3

// Files returns, inside, the files that open returned outside, in the same order.
func Files() []*os.File {
	n, _ := strconv.Atoi(os.Getenv(filesVariable)) // 0 outside, and without files
	files := make([]*os.File, n)
	for i := range files {
		syscall.CloseOnExec(firstFile + i)
		files[i] = os.NewFile(uintptr(firstFile+i), "outside")
	}
	return files
}

func openAndRun(name string, open func() ([]*os.File, error)) (int, error) {
	if err := Missing(); err != nil {
		return 0, err
	}
	if open == nil {
		return outside(name, nil)
	}
	files, err := open()
	defer func() {
		for _, f := range files {
			_ = f.Close()
		}
	}()
	if err != nil {
		return 0, err
	}
	return outside(name, files)
}

// outside starts the cleaner and the first process, and returns the program's exit code.
func outside(name string, files []*os.File) (int, error) {
	if err := removeLeft(name); err != nil {
		return 0, err
	}
	folder, err := os.MkdirTemp(parent, name+"-")
	if err != nil {
		return 0, err
	}
	env := append(os.Environ(), cgroupVariable+"="+filepath.Base(folder), folderVariable+"="+folder,
		filesVariable+"="+strconv.Itoa(len(files)))
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
	cmd.ExtraFiles = files
	cmd.SysProcAttr = namespaces()
	cmd.SysProcAttr.Setpgid = true // Ctrl-C ends this process alone, and it the rest
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("make namespaces: %w", err)
	}
	go endWhenTold(cmd.Process)
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

// endWhenTold passes a signal to end on to a process. It kills the process after a while, or at a second signal.
func endWhenTold(process *os.Process) {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	<-stop
	_ = process.Signal(syscall.SIGTERM)
	select {
	case <-stop:
	case <-time.After(endsWithin):
	}
	_ = process.Kill()
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
	cmd.ExtraFiles = Files()
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM)
	if err := cmd.Start(); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "run inside:", err)
		return failed
	}
	go func() {
		<-end
		_ = cmd.Process.Signal(syscall.SIGTERM)
	}()
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
