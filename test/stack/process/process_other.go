//go:build !linux

package process

import (
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// attributes gives a child its own process group. There is no parent-death signal here; Reap ends children that are
// left behind.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}

// identify asks ps; ok is false for a process that has ended, zombies included.
func identify(pid int) (identity, bool) {
	ask := func(column string) string {
		out, err := exec.Command("ps", "-ww", "-p", strconv.Itoa(pid), "-o", column+"=").Output() //nolint:gosec,noctx // a number
		if err != nil {
			return ""
		}
		return strings.TrimSpace(string(out))
	}
	// The time is in whole seconds: the command line, which no process of the stack changes, distinguishes the rest.
	start, command := ask("lstart"), ask("command")
	id := identity{PID: pid, Start: start + " " + command, Command: command}
	return id, start != "" && !strings.HasPrefix(ask("stat"), "Z")
}

// awaitExit returns once the child has ended, without reaping it.
func awaitExit(pid int) {
	for {
		if _, ok := identify(pid); !ok {
			return
		}
		time.Sleep(500 * time.Millisecond)
	}
}
