package sandbox

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// hierarchy is where a hierarchy of cgroups is mounted.
type hierarchy struct {
	folder  string
	unified bool // version 2
	cpuset  bool
}

// hierarchies returns those of version 1, and the one of version 2. Beside version 1 that has no controllers, but a
// container runtime may use it.
func hierarchies() (first, second []hierarchy, err error) {
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = f.Close() }()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		// The mount point is the fifth field; the type of the file system and its options follow a dash (proc(5)).
		mount, system, ok := strings.Cut(lines.Text(), " - ")
		fields, kinds := strings.Fields(mount), strings.Fields(system)
		if !ok || len(fields) < 5 || len(kinds) < 3 {
			continue
		}
		switch h := (hierarchy{folder: fields[4]}); kinds[0] {
		case "cgroup":
			h.cpuset = slices.Contains(strings.Split(kinds[2], ","), "cpuset")
			first = append(first, h)
		case "cgroup2":
			h.unified = true
			second = append(second, h)
		}
	}
	if len(first)+len(second) == 0 {
		return nil, nil, errors.New("no cgroups are mounted")
	}
	return first, second, nil
}

// makeCgroups makes a cgroup with the name in every hierarchy, ready for children with limits.
func makeCgroups(name string) error {
	all, second, err := hierarchies()
	if err != nil {
		return err
	}
	if len(all) == 0 {
		all = second[:1]
	}
	for _, h := range all {
		folder := filepath.Join(h.folder, name)
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return fmt.Errorf("make a cgroup: %w", err)
		}
		switch {
		case h.unified:
			err = errors.Join(delegate(h.folder), delegate(folder))
		case h.cpuset: // a child of an empty set can have no processes
			err = errors.Join(inherit(h.folder, folder, "cpuset.cpus"), inherit(h.folder, folder, "cpuset.mems"))
		}
		if err != nil {
			return fmt.Errorf("set up the cgroup %s: %w", folder, err)
		}
	}
	return nil
}

// delegate lets the children of a cgroup of version 2 have limits.
func delegate(folder string) error {
	has, err := os.ReadFile(filepath.Join(folder, "cgroup.controllers"))
	if err != nil {
		return err
	}
	for controller := range strings.FieldsSeq(string(has)) {
		if err := write(filepath.Join(folder, "cgroup.subtree_control"), "+"+controller); err != nil {
			return err
		}
	}
	return nil
}

func inherit(from, to, file string) error {
	value, err := os.ReadFile(filepath.Join(from, file))
	if err != nil {
		return err
	}
	return write(filepath.Join(to, file), string(value))
}

// write writes a file of the kernel's, which exists.
func write(file, value string) error {
	f, err := os.OpenFile(filepath.Clean(file), os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	return errors.Join(err, f.Close())
}

// removeCgroups removes the cgroups and their children. The kernel refuses that while a process in them ends, so it is
// tried again until the deadline.
func removeCgroups(name string, until time.Time) error {
	first, second, err := hierarchies()
	if err != nil {
		return err
	}
	for {
		var left []error
		for _, h := range slices.Concat(first, second) {
			if err := removeTree(filepath.Join(h.folder, name)); err != nil {
				left = append(left, err)
			}
		}
		if len(left) == 0 || time.Now().After(until) {
			return errors.Join(left...)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// removeTree removes the folders of a cgroup, the innermost first. Its files go with them.
func removeTree(folder string) error {
	var folders []string
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			folders = append(folders, path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, path := range slices.Backward(folders) {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
