package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// usage is what a process has taken since it began.
type usage struct {
	known bool
	peak  float64       // resident, MB
	busy  time.Duration // of a core
}

// tick is the unit in which /proc counts CPU time: the same on every Linux that Go runs on.
const tick = 10 * time.Millisecond

// usageOf reads /proc, so only Linux tells.
func usageOf(pid int) usage {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	status, err := os.ReadFile(filepath.Join(dir, "status"))
	if err != nil {
		return usage{}
	}
	stat, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return usage{}
	}
	u := usage{known: true}
	for line := range strings.Lines(string(status)) {
		if text, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kB, _ := strconv.ParseFloat(strings.Fields(text)[0], 64)
			u.peak = kB * 1024 / 1e6
		}
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	for _, field := range fields[11:13] { // utime and stime, proc(5)
		n, _ := strconv.Atoi(field)
		u.busy += time.Duration(n) * tick
	}
	return u
}

func (o *operator) usage() usage { return usageOf(o.PID()) }

// busy is the CPU time of everything that takes part, by name.
func (w *world) busy() map[string]time.Duration {
	self := "bench and AWS fake"
	if w.aws == nil {
		self = "bench, AWS proxy and load balancer controller"
	}
	all := map[string]time.Duration{"operator": w.operator.usage().busy, self: usageOf(os.Getpid()).busy}
	for _, name := range []string{"kube-apiserver", "etcd", "kube-controller-manager", "moto"} {
		if part := w.stack.Part(name); part != nil {
			all[name] = usageOf(part.PID()).busy
		}
	}
	return all
}

// machine is what the times depend on.
func machine() string {
	text := fmt.Sprintf("%s/%s, %d cores", runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		text += ", load average before it began " + strings.Fields(string(load))[0]
	}
	return text
}
