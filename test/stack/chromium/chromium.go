// Package chromium starts the browser that tests use the portal with.
package chromium

import (
	"context"
	"os"
	"os/exec"

	"github.com/chromedp/chromedp"
)

// Start starts a Chromium with an empty profile that connects only to the pages, with the given additional options.
// Open tabs in the context that it returns; stop ends the browser.
func Start(more ...chromedp.ExecAllocatorOption) (browser context.Context, stop func(), err error) {
	path, err := find()
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
func find() (string, error) {
	var err error
	for _, name := range []string{
		os.Getenv("CHROMIUM"), "chromium", "chromium-browser", "google-chrome",
		"google-chrome-stable",
	} {
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
