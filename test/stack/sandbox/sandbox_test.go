//go:build node && linux

package sandbox

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/portico-platform/portico/test/stack/lock"
)

const testName = "portico-sandbox-test"

// TestMain runs the tests, or as the program in the sandbox makes a machine and waits.
func TestMain(m *testing.M) {
	if os.Getenv("SANDBOX_TEST") == "" && os.Getenv(roleVariable) == "" {
		os.Exit(m.Run())
	}
	if os.Getenv("SANDBOX_TEST") == "door" {
		os.Exit(MainWith(testName, door, behindDoor))
	}
	os.Exit(Main(testName, func() int {
		ctx := context.Background()
		err := Shell(ctx, "ip link add between type bridge", "ip link set between up")
		if err == nil {
			_, err = NewMachine(ctx, "one", Link{Bridge: "between", Addresses: []string{"10.200.0.11/24"}})
		}
		if err != nil {
			_, _ = fmt.Println(err)
			return 1
		}
		_, _ = fmt.Println("ready")
		select {}
	}))
}

// door listens outside.
func door() ([]*os.File, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	file, err := l.(*net.TCPListener).File()
	return []*os.File{file}, err
}

// behindDoor answers connections of the door from inside, until SIGTERM.
func behindDoor() int {
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM)
	l, err := net.FileListener(Files()[0])
	if err != nil {
		return 1
	}
	go func() {
		for conn, err := l.Accept(); err == nil; conn, err = l.Accept() {
			_, _ = conn.Write([]byte("inside"))
			_ = conn.Close()
		}
	}()
	_, _ = fmt.Println("ready", l.Addr())
	<-end
	return 7
}

// TestADoorLeadsInside: the program inside answers at a listener that was opened outside, and SIGTERM lets it end by
// itself.
func TestADoorLeadsInside(t *testing.T) {
	cmd, at := begin(t, "door")
	conn, err := net.Dial("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(conn); string(got) != "inside" {
		t.Errorf("%q, %v", got, err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if _ = cmd.Wait(); cmd.ProcessState.ExitCode() != 7 {
		t.Errorf("it ended with %s", cmd.ProcessState)
	}
	awaitNothing(t)
}

// begin starts a sandbox, and returns once its program is ready, with what it says then.
func begin(t *testing.T, program string) (cmd *exec.Cmd, said string) {
	t.Helper()
	cmd = exec.CommandContext(t.Context(), "/proc/self/exe")
	cmd.Env = append(os.Environ(), "SANDBOX_TEST="+program)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	said, ready := strings.CutPrefix(line, "ready")
	if err != nil || !ready {
		t.Fatalf("the sandbox said %q, %v", line, err)
	}
	return cmd, strings.TrimSpace(said)
}

// left returns what sandboxes left on the machine.
func left(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, pattern := range []string{
		filepath.Join(parent, testName+"-*"),
		"/sys/fs/cgroup/" + testName + "-*", "/sys/fs/cgroup/*/" + testName + "-*",
	} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, found...)
	}
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(mounts)) {
		if strings.Contains(line, testName) {
			all = append(all, line)
		}
	}
	return all
}

// TestNothingStaysBehind kills the program outside with SIGKILL; then also its cleaner, so that the next start cleans.
func TestNothingStaysBehind(t *testing.T) {
	cmd, _ := begin(t, "machine")
	if len(left(t)) == 0 {
		t.Fatal("a sandbox that runs has no folder and no cgroup")
	}
	kill(t, cmd.Process.Pid)
	_ = cmd.Wait()
	awaitNothing(t)

	cmd, _ = begin(t, "machine")
	folders, err := filepath.Glob(filepath.Join(parent, testName+"-*"))
	if err != nil || len(folders) != 1 {
		t.Fatal(folders, err)
	}
	for _, pid := range cleaners(t, folders[0]) {
		kill(t, pid)
	}
	kill(t, cmd.Process.Pid)
	_ = cmd.Wait()
	cmd, _ = begin(t, "machine")
	if _, err := os.Stat(folders[0]); !os.IsNotExist(err) {
		t.Errorf("the next start leaves %s: %v", folders[0], err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	awaitNothing(t)
}

func kill(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

func awaitNothing(t *testing.T) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for len(left(t)) > 0 {
		if time.Now().After(deadline) {
			t.Fatalf("left behind: %v", left(t))
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// cleaners returns the processes that hold the lock of a sandbox's folder.
func cleaners(t *testing.T, folder string) (pids []int) {
	t.Helper()
	links, err := filepath.Glob("/proc/[0-9]*/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range links {
		var pid int
		if target, err := os.Readlink(link); err == nil && target == filepath.Join(folder, lock.File) {
			if _, err := fmt.Sscanf(link, "/proc/%d/", &pid); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	if len(pids) == 0 {
		t.Fatal("nobody holds the lock")
	}
	return pids
}
