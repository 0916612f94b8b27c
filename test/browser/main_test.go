//go:build browser

// Package browser uses the portal as people do: in Chromium, against the whole stack. Each test has a browser context
// of its own, and fails when the page logs an error or breaks the content security policy.
package browser

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/portico-platform/portico/test/stack"
)

const root = "../.."

var (
	world   *stack.Stack
	browser context.Context // of the one Chromium
	axe     string          // axe-core's source
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	source, err := os.ReadFile(filepath.Join(root, "web/node_modules/axe-core/axe.min.js"))
	if err != nil {
		fmt.Fprintln(os.Stderr, "axe-core is missing, run npm ci --prefix web:", err)
		return 1
	}
	axe = string(source)
	began := time.Now()
	world, err = stack.Start(context.Background(), stack.Options{
		Root: root, Progress: os.Stderr,
		Parts: stack.ControlPlane | stack.Scheduler | stack.Nodes | stack.AWS | stack.Dex | stack.Operator | stack.Portal,
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "start the stack:", err)
		return 1
	}
	fmt.Fprintf(os.Stderr, "the stack serves after %.1f s\n", time.Since(began).Seconds())
	stop, err := startChromium()
	if err != nil {
		fmt.Fprintln(os.Stderr, "start Chromium:", err)
		_ = world.Close()
		return 1
	}
	code := m.Run()
	stop()
	if never, err := neverLookedAt(); whole() && (err != nil || len(never) > 0) {
		fmt.Fprintln(os.Stderr, "no test calls every() on these pages:", never, err)
		code = max(code, 1)
	}
	if code != 0 {
		world.KeepLogs()
	}
	if err := world.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// whole says that all tests run, not some of them.
func whole() bool {
	return flag.Lookup("test.run").Value.String() == "" && flag.Lookup("test.skip").Value.String() == ""
}

// startChromium starts one with an empty profile, which speaks to nobody but the pages.
func startChromium() (func(), error) {
	path, err := chromiumPath()
	if err != nil {
		return nil, err
	}
	opts := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(path), chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck, chromedp.WindowSize(1280, 900),
	}
	for _, flag := range []string{
		"disable-quic", "disable-background-networking", "disable-component-update", "disable-sync",
		"disable-default-apps", "disable-extensions", "hide-scrollbars",
	} {
		opts = append(opts, chromedp.Flag(flag, true))
	}
	allocator, stopAllocator := chromedp.NewExecAllocator(context.Background(), opts...)
	var stop context.CancelFunc
	browser, stop = chromedp.NewContext(allocator)
	if err := chromedp.Do(browser); err != nil {
		stop()
		stopAllocator()
		return nil, err
	}
	return func() {
		_ = chromedp.Cancel(browser)
		stop()
		stopAllocator()
	}, nil
}

func chromiumPath() (string, error) {
	var err error
	for _, name := range []string{os.Getenv("CHROMIUM"), "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if name == "" {
			continue
		}
		var path string
		if path, err = exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", err
}
