package build

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
)

// Target is built from source or downloaded: a file in bin, or a folder such as .venv.
type Target struct {
	Name string
	// inputs, relative to the root, and key decide whether it is up to date. Without inputs it is built every time:
	// the go command itself decides what to do then.
	inputs []string
	key    string
	output string // relative to the root; built again when it is missing
	needs  []prerequisite
	// One of these builds it.
	program *program
	make    func(ctx context.Context, root string, log io.Writer) error
}

// stamp returns the path of the file that records what the target was built from.
func (t *Target) stamp(root string) string { return filepath.Join(root, ".cache", "built", t.Name) }

// outOfDate returns the targets to build, without duplicates.
func outOfDate(root string, targets []Target) ([]Target, error) {
	var stale []Target
	seen := map[string]bool{}
	for _, t := range targets {
		sum, err := t.sum(root)
		if err != nil {
			return nil, err
		}
		if !seen[t.Name] && !t.upToDate(root, sum) {
			stale = append(stale, t)
		}
		seen[t.Name] = true
	}
	return stale, nil
}

func (t *Target) upToDate(root, sum string) bool {
	_, missing := os.Stat(filepath.Join(root, t.output))
	built, unknown := os.ReadFile(filepath.Clean(t.stamp(root)))
	return len(t.inputs) > 0 && missing == nil && unknown == nil && string(built) == sum
}

// sum returns a hash of everything that the target depends on.
func (t *Target) sum(root string) (string, error) {
	h := sha256.New()
	_, _ = fmt.Fprintln(h, t.key, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	for _, input := range t.inputs {
		data, err := os.ReadFile(filepath.Clean(filepath.Join(root, input)))
		if err != nil {
			return "", err
		}
		_, _ = fmt.Fprintf(h, "%s %d\n%s\n", input, len(data), data)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func (t *Target) markMade(root string) error {
	sum, err := t.sum(root)
	if err != nil {
		return err
	}
	stamp := t.stamp(root)
	if err := os.MkdirAll(filepath.Dir(stamp), 0o750); err != nil {
		return err
	}
	return os.WriteFile(stamp, []byte(sum), 0o600)
}
