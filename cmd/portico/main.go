// Command portico is Portico on the command line: it requests, shows, changes and deletes what the portal offers, over
// its REST API.
package main

import (
	"context"
	"io"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/cli/browser"
	"golang.org/x/term"
	"k8s.io/utils/clock"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	code := run(ctx, os.Args[1:], system())
	stop()
	os.Exit(code)
}

// world is the commands' environment.
type world struct {
	in       io.Reader
	out, err io.Writer
	env      func(string) string
	dir      string // folder of the stored logins
	// asks and shows report whether stdin and stdout are terminals.
	asks, shows bool
	clock       clock.Clock
	open        func(url string) error // shows a page in a browser; nil if there is none
	edit        func(ctx context.Context, editor, path string) error
	hidden      func() (string, error) // reads a line without echo; nil without a terminal
	find        func(program string) (path string, err error)
	dials       func(ctx context.Context, address string) error // whether the address accepts connections
	start       func(ctx context.Context, path string, args, env []string) error
}

func system() world {
	w := world{
		in: os.Stdin, out: os.Stdout, err: os.Stderr, env: os.Getenv, clock: clock.RealClock{},
		shows: term.IsTerminal(int(os.Stdout.Fd())), edit: edit, find: exec.LookPath, dials: dial, start: start,
	}
	w.asks = term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stderr.Fd()))
	if w.asks {
		w.hidden = func() (string, error) {
			line, err := term.ReadPassword(int(os.Stdin.Fd()))
			return string(line), err
		}
	}
	w.dir = os.Getenv("PORTICO_CONFIG_DIR")
	if base, err := os.UserConfigDir(); w.dir == "" && err == nil {
		w.dir = filepath.Join(base, "portico", jobFolder(os.Getenv))
	}
	if w.asks && hasBrowser(os.Getenv) {
		browser.Stdout, browser.Stderr = io.Discard, io.Discard
		w.open = browser.OpenURL
	}
	return w
}

// jobFolder returns the folder below that of a person's logins where those of a CI job are, "" outside of jobs: jobs of
// several teams can share a machine, and its user.
func jobFolder(env func(string) string) string {
	for _, id := range []string{env("CI_JOB_ID"), env("GITHUB_RUN_ID")} {
		if id != "" {
			parts := []string{id, env("GITHUB_RUN_ATTEMPT"), env("GITHUB_JOB"), env("RUNNER_NAME")}
			return filepath.Join("jobs", url.PathEscape(strings.Join(parts, "-")))
		}
	}
	return ""
}

// hasBrowser reports whether the user would see a browser opened here: not over SSH, and not without a display.
func hasBrowser(env func(string) string) bool {
	if env("SSH_CONNECTION") != "" {
		return false
	}
	return runtime.GOOS == "darwin" || runtime.GOOS == "windows" || env("DISPLAY") != "" || env("WAYLAND_DISPLAY") != ""
}

// edit runs the person's editor, which may be a command with arguments.
func edit(ctx context.Context, editor, path string) error {
	cmd := exec.CommandContext(ctx, "sh", "-c", editor+` "$1"`, "editor", path) //nolint:gosec // the person chose it
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return cmd.Run()
}
