package stack

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/portico-platform/portico/test/stack/build"
)

// ourStages are the stages of Pods that fail, selected by the name of their image.
//
//go:embed stages/*.yaml
var ourStages embed.FS

// A kubelet reports that a container has started; kwok's own stage does not.
const (
	notStarted = "    ready: true\n        restartCount: 0\n        state:\n          running:"
	started    = "    ready: true\n        started: true\n        restartCount: 0\n        state:\n          running:"
)

// writeStages writes the stages of Nodes and Pods for kwok: its own, and Portico's.
func (s *Stack) writeStages() (path string, err error) {
	data, err := os.ReadFile(filepath.Join(s.opts.Root, filepath.FromSlash(build.Stages)))
	if err != nil {
		return "", err
	}
	if !bytes.Contains(data, []byte(notStarted)) {
		return "", fmt.Errorf("kwok's stage pod-ready is another than expected: it has no line %q", notStarted)
	}
	stages := strings.Replace(string(data), notStarted, started, 1)
	path = filepath.Join(s.Dir, "kwok-stages.yaml")
	return path, os.WriteFile(path, []byte(stages+renderOurStages()), 0o600)
}

// renderOurStages writes the logs of the Pods that exit into the stages, as the termination message that a kubelet
// reads from the log.
func renderOurStages() string {
	var all strings.Builder
	files, _ := fs.Glob(ourStages, "stages/*.yaml") // only a bad pattern fails
	for _, file := range files {
		data, _ := ourStages.ReadFile(file) // embedded, so it is there
		_, _ = fmt.Fprintf(&all, "---\n%s\n", data)
	}
	return strings.NewReplacer(
		"LOG_OF_CRASH", fmt.Sprintf("%q", podLog("crash")),
		"LOG_OF_MEMORY", fmt.Sprintf("%q", podLog("memory")),
		"LOG_OF_STARTUP", fmt.Sprintf("%q", podLog("startup")),
	).Replace(all.String())
}
