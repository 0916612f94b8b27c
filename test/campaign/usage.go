package campaign

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// Usage is a process's resource usage since its start.
type Usage struct {
	Known bool
	Peak  float64       // resident memory, MB
	Busy  time.Duration // CPU time
}

// tick is the unit of CPU time in /proc: the same on every Linux that Go supports.
const tick = 10 * time.Millisecond

// Of reads a process's usage from /proc. On systems without it, Known is false.
func Of(pid int) Usage {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	status, err := os.ReadFile(filepath.Join(dir, "status"))
	if err != nil {
		return Usage{}
	}
	stat, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return Usage{}
	}
	u := Usage{Known: true}
	for line := range strings.Lines(string(status)) {
		if text, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kB, _ := strconv.ParseFloat(strings.Fields(text)[0], 64)
			u.Peak = kB * 1024 / 1e6
		}
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	for _, field := range fields[11:13] { // utime and stime, proc(5)
		n, _ := strconv.Atoi(field)
		u.Busy += time.Duration(n) * tick
	}
	return u
}

// Machine describes what the times depend on: the platform, its cores and its load.
func Machine() string {
	text := fmt.Sprintf("%s/%s, %d cores", runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		text += ", load average before it began " + strings.Fields(string(load))[0]
	}
	return text
}
