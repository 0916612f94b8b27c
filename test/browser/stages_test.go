//go:build browser

package browser

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/portico-platform/portico/test/stack"
)

// needPods are the tests of what happens in Pods. They run on both stages: simulated Nodes, and with NODE=real a Node
// that runs containers. docs/local-cluster.md says how the two differ.
var needPods = []string{
	"TestAnApplicationIsLookedAfter", "TestAnApplicationIsLookedAfterWithoutJavaScript",
	"TestValuesOfSecretsInTheBrowser",
}

// needContainers are the tests that run on the real Node alone.
var needContainers = []string{"TestTheNotesApplicationIsUsed"}

// realNode reports whether the tests run on a real Node.
func realNode() bool { return os.Getenv("NODE") == "real" }

// stage returns the options of the stack, and chooses the tests for it.
func stage() (stack.Options, error) {
	o := stack.Options{
		Root: root, Progress: os.Stderr,
		Parts: stack.ControlPlane | stack.Scheduler | stack.Nodes |
			stack.AWS | stack.Dex | stack.Operator | stack.Portal,
	}
	if !realNode() {
		return o, nil
	}
	o.Parts = stack.Everything &^ stack.Nodes
	o.RealNodes, o.Loopback, o.Built, o.WorkloadIdentity = 1, true, true, true
	flag.Parse()
	if chosen := flag.Lookup("test.run"); chosen.Value.String() == "" {
		return o, chosen.Value.Set("^(" + strings.Join(append(needContainers, needPods...), "|") + ")$")
	}
	return o, nil
}

// pushImages sends the images that the tests name to the registry of the real Node.
func pushImages(ctx context.Context) error {
	if !realNode() {
		return nil
	}
	var errs []error
	for path, mode := range map[string]string{
		"shop:1.0.0": "talks", "payments/shop:1.4.2": "talks", "broken-crash:2.0.0": "crash",
	} {
		img, err := stack.ProgramImage(filepath.Join(root, "bin", "node-app"),
			v1.Config{User: "65532", Env: []string{"MODE=" + mode}}, nil)
		if err == nil {
			err = world.Push(ctx, path, img)
		}
		errs = append(errs, err)
	}
	return errors.Join(append(errs, world.PushNotes(ctx))...)
}

// onlyWithContainers skips a test where Pods are simulated.
func onlyWithContainers(t *testing.T) {
	t.Helper()
	if !realNode() {
		t.Skip("Pods are simulated here: make test-browser-node runs it")
	}
}
