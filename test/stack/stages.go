package stack

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// stagesFile, in bin, tells kwok how Nodes and Pods come up.
const stagesFile = "kwok-stages.yaml"

// moduleStages are kwok's own: a Node is ready at once and keeps its lease, a
// Pod runs at once, completes when it belongs to a Job, and goes when it is
// deleted.
var moduleStages = []string{
	"node/fast/node-initialize.yaml", "node/heartbeat-with-lease/node-heartbeat-with-lease.yaml",
	"pod/fast/pod-ready.yaml", "pod/fast/pod-complete.yaml", "pod/fast/pod-delete.yaml",
}

// ourStages are of Pods that fail, as the name of their image tells.
//
//go:embed stages/*.yaml
var ourStages embed.FS

// A kubelet reports that a container has started; the stage of kwok does not.
const (
	notStarted = "    ready: true\n        restartCount: 0\n        state:\n          running:"
	started    = "    ready: true\n        started: true\n        restartCount: 0\n        state:\n          running:"
)

// renderOurStages writes the logs of the Pods that exit into the stages, as the
// termination message that a kubelet takes from there.
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

// writeStages takes stages from kwok's own module, and adds ours.
func writeStages(ctx context.Context, root string, log io.Writer) error {
	var dir, all bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/kwok")
	cmd.Dir = filepath.Join(root, controlPlaneModule)
	cmd.Stdout, cmd.Stderr = &dir, log
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("find kwok's module: %w", err)
	}
	for _, stage := range moduleStages {
		data, err := os.ReadFile(filepath.Join(strings.TrimSpace(dir.String()), "kustomize", "stage", filepath.FromSlash(stage)))
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintf(&all, "---\n%s\n", data)
	}
	stages := strings.Replace(all.String(), notStarted, started, 1)
	if stages == all.String() {
		return fmt.Errorf("kwok's stage pod-ready is another than expected: it has no line %q", notStarted)
	}
	return os.WriteFile(filepath.Join(root, "bin", stagesFile), []byte(stages+renderOurStages()), 0o600)
}
