//go:build node && linux

// Package node_test runs Portico on real Nodes: what only a kubelet, a container runtime and enforced network policies
// show. The tests run as root in a sandbox of test/stack/sandbox, which ends with them.
package node_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	crlog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/portico-platform/portico/test/stack"
	"github.com/portico-platform/portico/test/stack/sandbox"
)

const root = "../.."

func TestMain(m *testing.M) {
	os.Exit(sandbox.Main("portico-node", func() int {
		ctx, cancel := context.WithTimeout(context.Background(), 14*time.Minute)
		defer cancel()
		code, err := run(ctx, m)
		if err != nil {
			_, _ = fmt.Fprintln(os.Stderr, err)
		}
		return code
	}))
}

// world is the platform that all tests share: two Nodes, with Portico installed by Helm.
var world struct {
	*stack.Stack
	client client.Client // as admin
	began  time.Time
}

func run(ctx context.Context, m *testing.M) (int, error) {
	crlog.SetLogger(crlog.Log.WithSink(nil))
	log.SetFlags(0)
	world.began = time.Now()
	s, err := stack.Start(ctx, stack.Options{
		Root: root, Dir: filepath.Join(sandbox.Folder, sandbox.LogFolder), Built: true,
		Parts:     stack.ControlPlane | stack.Scheduler | stack.AWS | stack.Dex,
		RealNodes: 2, PortalURL: portalURL, Images: filepath.Join(root, ".cache", "images", "images"),
		Install: install, Progress: os.Stderr,
	})
	if err != nil {
		return 1, err
	}
	world.Stack = s
	if world.client, err = newClient(s.Admin); err != nil {
		return 1, err
	}
	if err := makeWorld(ctx); err != nil {
		return 1, err
	}
	took("teams Ready")
	code := m.Run()
	took("tests")
	hold(code, s)
	if err := s.Err(); err != nil {
		return 1, err
	}
	return code, nil // nothing is stopped: everything ends with the sandbox
}

// hold keeps the Nodes of tests that failed for as long as HOLD says, such as 10m.
func hold(code int, s *stack.Stack) {
	long, err := time.ParseDuration(os.Getenv("HOLD"))
	if code == 0 || err != nil {
		return
	}
	_, _ = fmt.Fprintf(
		os.Stderr,
		"the Nodes stay for %s: nsenter -t $(pgrep -n kube-apiserver) -n -m -p kubectl --kubeconfig %s get pods -A\n",
		long,
		s.AdminKubeconfig,
	)
	time.Sleep(long)
}

// took prints how long it took until something.
func took(what string) {
	_, _ = fmt.Fprintf(os.Stderr, "%s after %.0f s\n", what, time.Since(world.began).Seconds())
}
