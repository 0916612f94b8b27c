package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes gives a child its own process group, and SIGKILL when the thread that created it ends.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// identify reads /proc; ok is false for a process that has ended, zombies included.
func identify(pid int) (identity, bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return identity{}, false
	}
	// The command's name, in parentheses, may contain anything; the third field, the state, follows the last
	// parenthesis (proc(5)); the start time is the 22nd.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	const state, startTime = 0, 19
	if len(fields) <= startTime || fields[state] == "Z" || fields[state] == "X" {
		return identity{}, false
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return identity{}, false
	}
	command, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return identity{}, false
	}
	return identity{
		PID:     pid,
		Start:   strings.TrimSpace(string(boot)) + "/" + fields[startTime],
		Command: strings.TrimSpace(string(bytes.ReplaceAll(command, []byte{0}, []byte{' '}))),
	}, true
}

// awaitExit returns once the child has ended, without reaping it.
func awaitExit(pid int) {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}
