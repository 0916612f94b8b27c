//go:build integration

// Package integration runs the operator in this process against a real kube-apiserver and the AWS simulator behind its
// strict proxy.
package integration

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/portico-platform/portico/test/stack"
)

// forgetAWS removes the settings that the AWS SDK would read from the environment: profiles, keys, and a CA bundle,
// which it would parse for every session.
func forgetAWS() {
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "AWS_") {
			_ = os.Unsetenv(name) // it fails for invalid names only
		}
	}
}

// world is the one stack of this package; each test creates its own namespace and resources.
var world *stack.Stack

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	ctrl.SetLogger(logr.Discard())
	forgetAWS()
	var err error
	world, err = stack.Start(context.Background(), stack.Options{
		Root:     "../..",
		Parts:    stack.ControlPlane | stack.Scheduler | stack.Nodes | stack.AWS | stack.Dex | stack.Gateways,
		Progress: os.Stderr,
		AuditLog: true, TimeScale: quick,
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "start the stack:", err)
		return 1
	}
	defer func() {
		_ = world.Close()
		fmt.Fprintln(os.Stderr, world.CPU())
	}()
	world.Proxy.SetRoute53Rate(0)
	if err := shipEntries(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "write the catalog entries:", err)
		return 1
	}
	code := searched(m)
	if code != 0 {
		world.KeepLogs()
		fmt.Fprint(os.Stderr, world.MotoException())
	}
	return code
}
