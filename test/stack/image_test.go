//go:build image

package stack_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/portico-platform/portico/test/stack"
)

// TestImagesRunConfined runs the programs from the layers of their images, each in a read-only root with nothing else
// in it, as the user of its Pod: this shows whether a program needs another file, or writes to a folder.
func TestImagesRunConfined(t *testing.T) {
	if os.Getuid() != 0 {
		t.Fatal("this test mounts and changes roots: run it as root, for example in a container with CAP_SYS_ADMIN " +
			"and CAP_SYS_CHROOT")
	}
	s, err := stack.Start(t.Context(), stack.Options{
		Root: root, Parts: stack.Everything &^ stack.Gateways, Images: filepath.Join(root, "dist", "images"),
		Progress: os.Stderr,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			s.KeepLogs()
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if left, err := os.ReadFile("/proc/self/mounts"); err != nil || strings.Contains(string(left), s.Dir) {
			t.Errorf("mounts are left behind, %v", err)
		}
	})
	for _, name := range []string{"operator", "portal"} {
		confined(t, s, name)
		restarted(t, s, name)
		confined(t, s, name)
	}
	token, err := s.Token(t.Context(), "payments-dev")
	if err != nil {
		t.Fatal(err)
	}
	if got := listBuckets(t, s.PortalURL, token); got != 200 {
		t.Errorf("the portal answers %d", got)
	}
}

// restarted kills a process, and waits for the next one of its Pod, which gets a new root, unpacked and mounted
// again.
func restarted(t *testing.T, s *stack.Stack, name string) {
	t.Helper()
	first := s.Part(name).PID()
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, 2*time.Minute, true,
		func(context.Context) (bool, error) {
			now := s.Part(name).PID()
			return now != 0 && now != first && s.AddressOf(name, "metrics") != "", nil
		})
	if err != nil {
		t.Fatalf("%s does not come again: %v", name, err)
	}
}

// confined checks the process itself.
func confined(t *testing.T, s *stack.Stack, name string) {
	t.Helper()
	proc := filepath.Join("/proc", strconv.Itoa(s.Part(name).PID()))
	root, err := os.Readlink(filepath.Join(proc, "root"))
	if err != nil || !strings.HasPrefix(root, s.Dir) {
		t.Fatalf("%s has the root %s, %v", name, root, err)
	}
	status, err := os.ReadFile(filepath.Join(proc, "status"))
	if err != nil || !strings.Contains(string(status), "Uid:\t65532\t65532\t65532\t65532") ||
		!strings.Contains(string(status), "Gid:\t65532\t65532\t65532\t65532") {
		t.Errorf("%s runs as somebody else, %v:\n%s", name, err, status)
	}
	if err := os.WriteFile(filepath.Join(root, "written"), nil, 0o600); err == nil {
		t.Errorf("the root of %s can be written", name)
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	var held []string
	for _, e := range entries {
		held = append(held, e.Name())
	}
	if got := strings.Join(held, " "); strings.Trim(strings.NewReplacer("etc", "", "var", "", name, "").Replace(got),
		" ") != "" {
		t.Errorf("the root of %s holds %s", name, got)
	}
}
