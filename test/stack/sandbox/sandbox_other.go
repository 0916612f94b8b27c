//go:build !linux

package sandbox

import (
	"errors"
	"fmt"
	"os"
)

// Missing returns what this machine lacks for a sandbox.
func Missing() error { return errors.New("a node needs Linux: namespaces, cgroups and a kubelet") }

// Main reports what is missing and returns an exit code for it.
func Main(string, func() int) int { return MainWith("", nil, nil) }

// Files returns nothing.
func Files() []*os.File { return nil }

// MainWith does the same as Main.
func MainWith(string, func() ([]*os.File, error), func() int) int {
	_, _ = fmt.Fprintln(os.Stderr, Missing())
	return 125
}
