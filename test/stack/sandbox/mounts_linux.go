package sandbox

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// mount is one call of mount(2).
type mount struct {
	source, target, kind string
	flags                uintptr
	data                 string
}

func (m mount) do() error {
	if err := unix.Mount(m.source, m.target, m.kind, m.flags, m.data); err != nil {
		return fmt.Errorf("mount %s: %w", m.target, err)
	}
	return nil
}

func doAll(all []mount) error {
	for _, m := range all {
		if err := m.do(); err != nil {
			return err
		}
	}
	return nil
}

// ownMounts gives the process mounts of its own: nothing that it mounts shows outside, /proc has the processes of its
// PID namespace, and /sys the interfaces of its network namespace, with the cgroups of the whole machine.
func ownMounts() error {
	keep := filepath.Join(Folder, fmt.Sprintf("cgroups-%d", os.Getppid()))
	if err := os.MkdirAll(keep, 0o700); err != nil {
		return err
	}
	return doAll([]mount{
		{target: "/", flags: unix.MS_REC | unix.MS_PRIVATE},
		{source: "proc", target: "/proc", kind: "proc"},
		{source: "/sys/fs/cgroup", target: keep, flags: unix.MS_BIND | unix.MS_REC},
		{source: "sysfs", target: "/sys", kind: "sysfs"},
		{source: keep, target: "/sys/fs/cgroup", flags: unix.MS_BIND | unix.MS_REC},
	})
}

// useResolver makes the programs in the sandbox ask a name server of its own.
func useResolver() error {
	if err := os.WriteFile(Resolver(), []byte("nameserver "+NameServer+"\n"), 0o644); err != nil {
		return err
	}
	file, err := filepath.EvalSymlinks("/etc/resolv.conf")
	if err != nil {
		return err
	}
	return mount{source: Resolver(), target: file, flags: unix.MS_BIND}.do()
}

// kernelSettings are the settings of the whole machine that a kubelet would change. It finds them as it wants them.
var kernelSettings = map[string]string{
	"vm/overcommit_memory": "1", "vm/panic_on_oom": "0", "kernel/panic": "10", "kernel/panic_on_oops": "1",
	"kernel/keys/root_maxbytes": "25000000", "kernel/keys/root_maxkeys": "1000000",
}

// machineMounts gives a machine empty folders for what a container runtime, a kubelet and iptables keep, and settings
// of the kernel that it may write.
func machineMounts() error {
	own := filepath.Join(Folder, "machines", machineName())
	for _, folder := range []string{"kernel", "lib", "work"} {
		if err := os.MkdirAll(filepath.Join(own, folder), 0o755); err != nil {
			return err
		}
	}
	all := []mount{
		{source: "tmpfs", target: "/run", kind: "tmpfs"},
		{source: "tmpfs", target: "/var/log", kind: "tmpfs"},
		// Of /var/lib only what changes is the machine's own: the project may be there.
		{
			source: "overlay",
			target: "/var/lib",
			kind:   "overlay",
			data: fmt.Sprintf("lowerdir=/var/lib,upperdir=%s,workdir=%s",
				filepath.Join(own, "lib"), filepath.Join(own, "work")),
		},
	}
	for name, value := range kernelSettings {
		file := filepath.Join(own, "kernel", filepath.Base(name))
		if err := os.WriteFile(file, []byte(value+"\n"), 0o644); err != nil {
			return err
		}
		all = append(all, mount{source: file, target: filepath.Join("/proc/sys", name), flags: unix.MS_BIND})
	}
	all = append(all, mount{target: "/", flags: unix.MS_REC | unix.MS_SHARED}) // a kubelet propagates mounts
	return doAll(all)
}
