package stack

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// holder returns the process that listens on a port, or how to find it.
func holder(port int) string {
	unknown := fmt.Sprintf("another program (to see which: ss -ltnp 'sport = :%d')", port)
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		for _, inode := range listeners(table, port) {
			if name, ok := socketOwner(inode); ok {
				return name
			}
		}
	}
	return unknown
}

// listeners returns the inodes of the listening sockets on a port; for the format see proc(5).
func listeners(table string, port int) []string {
	f, err := os.Open(filepath.Clean(table))
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	var inodes []string
	const local, state, inode, listening = 1, 3, 9, "0A"
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) > inode && fields[state] == listening &&
			strings.HasSuffix(fields[local], fmt.Sprintf(":%04X", port)) {
			inodes = append(inodes, fields[inode])
		}
	}
	return inodes
}

func socketOwner(inode string) (string, bool) {
	links, err := filepath.Glob("/proc/[0-9]*/fd/*")
	if err != nil {
		return "", false
	}
	for _, link := range links {
		if target, err := os.Readlink(link); err != nil || target != "socket:["+inode+"]" {
			continue
		}
		process := filepath.Dir(filepath.Dir(link))
		name, err := os.ReadFile(filepath.Clean(filepath.Join(process, "comm")))
		if err != nil {
			return "", false
		}
		return fmt.Sprintf("process %s (%s)", filepath.Base(process), strings.TrimSpace(string(name))), true
	}
	return "", false
}
