package process

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

const (
	tailLines = 15
	// tailBytes limits what Tail reads; log lines of Kubernetes are long.
	tailBytes = 64 << 10
)

// DiedError reports that a process ended by itself.
type DiedError struct {
	Name string
	Err  error  // the result of waiting for it; nil when it ended with status 0
	Log  string // path
	Tail string // the last lines of the log
}

func (e *DiedError) Error() string {
	how := "status 0"
	if e.Err != nil {
		how = e.Err.Error()
	}
	return fmt.Sprintf("%s ended by itself (%s); the end of %s:\n%s", e.Name, how, e.Log, e.Tail)
}

func (e *DiedError) Unwrap() error { return e.Err }

// Tail returns the last n lines of the log, indented, or a remark why there are none.
func (p *Process) Tail(n int) string {
	f, err := os.Open(filepath.Clean(p.log))
	if err != nil {
		return "  (" + err.Error() + ")"
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err == nil && info.Size() > tailBytes {
		_, _ = f.Seek(-tailBytes, io.SeekEnd)
	}
	data, _ := io.ReadAll(f)
	lines := strings.Split(string(bytes.TrimSpace(data)), "\n")
	if len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	return "  " + strings.Join(lines, "\n  ")
}
