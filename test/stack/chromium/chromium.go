// Package chromium starts the browser that tests use the portal with.
package chromium

import (
	"context"
	"os"
	"os/exec"

	"github.com/chromedp/chromedp"
)

// Kind is a build of Chromium.
type Kind int

const (
	// Shell is chromium-headless-shell, which draws no window: tests take a third less processor time. Without it,
	// Full is started.
	Shell Kind = iota
	// Full is the browser that people use. It alone has the back/forward cache.
	Full
)

// names returns the programs to look for, the best first.
func (k Kind) names() []string {
	full := []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"}
	if k == Full {
		return full
	}
	return append([]string{"chromium-headless-shell"}, full...)
}

// Start starts a Chromium with an empty profile that connects only to the pages, with the given additional options.
// Open tabs in the context that it returns; stop ends the browser.
func Start(kind Kind, more ...chromedp.ExecAllocatorOption) (browser context.Context, stop func(), err error) {
	path, err := find(kind)
	if err != nil {
		return nil, nil, err
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
	allocator, stopAllocator := chromedp.NewExecAllocator(context.Background(), append(opts, more...)...)
	browser, cancel := chromedp.NewContext(allocator)
	if err := chromedp.Do(browser); err != nil {
		cancel()
		stopAllocator()
		return nil, nil, err
	}
	return browser, func() {
		_ = chromedp.Cancel(browser)
		cancel()
		stopAllocator()
	}, nil
}

// find returns the path of the Chromium in the variable CHROMIUM, or of one on the PATH.
func find(kind Kind) (string, error) {
	names := kind.names()
	if named := os.Getenv("CHROMIUM"); named != "" {
		names = []string{named}
	}
	var err error
	for _, name := range names {
		var path string
		if path, err = exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", err
}
