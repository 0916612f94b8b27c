//go:build browser

// Package browser uses the portal as people do: in Chromium, against the whole stack. Each test has a browser context
// of its own, and fails when the page logs an error or breaks the content security policy.
package browser

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/portico-platform/portico/test/stack"
	"github.com/portico-platform/portico/test/stack/chromium"
	"github.com/portico-platform/portico/test/stack/sandbox"
)

const root = "../.."

var (
	world   *stack.Stack
	browser context.Context // of the one Chromium
	axe     string          // axe-core's source
)

func TestMain(m *testing.M) {
	if realNode() {
		os.Exit(sandbox.Main("portico-browser", func() int { return run(m) }))
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	source, err := os.ReadFile(filepath.Join(root, "web/node_modules/axe-core/axe.min.js"))
	if err != nil {
		fmt.Fprintln(os.Stderr, "axe-core is missing, run npm ci --prefix web:", err)
		return 1
	}
	axe = string(source)
	began := time.Now()
	options, err := stage()
	if err == nil {
		world, err = stack.Start(context.Background(), options)
	}
	if err == nil {
		err = pushImages(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "start the stack:", err)
		return 1
	}
	fmt.Fprintf(os.Stderr, "the stack serves after %.1f s\n", time.Since(began).Seconds())
	var stop func()
	if browser, stop, err = chromium.Start(chromium.Shell); err != nil {
		fmt.Fprintln(os.Stderr, "start Chromium:", err)
		_ = world.Close()
		return 1
	}
	code, err := searched(m.Run)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if never, err := neverLookedAt(); whole() && (err != nil || len(never) > 0) {
		fmt.Fprintln(os.Stderr, "no test calls every() on these pages:", never, err)
		code = max(code, 1)
	}
	if code != 0 {
		world.KeepLogs()
		fmt.Fprint(os.Stderr, world.MotoException())
	}
	if err := world.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Fprintln(os.Stderr, world.CPU())
	return code
}

// whole reports whether all tests run, not only some.
func whole() bool {
	chosen := flag.Lookup("test.run").Value.String() + flag.Lookup("test.skip").Value.String()
	return !testing.Short() && chosen == ""
}
