// Command rolling-restart restarts two portals, one after the other, behind a proxy that does as a Service does, while users
// open pages, send forms, write through the REST API and watch pages. It fails when a request or a form is lost, or a stream
// does not go on.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/portico-platform/portico/test/bench/measure"
)

func main() {
	ctx, restore := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, restore) // a second Ctrl-C ends everything at once
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "\nrolling-restart:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out, progress io.Writer) (failed error) {
	flags := flag.NewFlagSet("rolling-restart", flag.ContinueOnError)
	root := flags.String("root", ".", "the repository")
	number := flags.Int("users", 50, "how many `users` there are")
	rounds := flags.Int("rounds", 2, "how `often` both portals are restarted")
	if err := flags.Parse(args); err != nil {
		return err
	}
	ctrl.SetLogger(logr.Discard())
	w, err := begin(ctx, *root, progress)
	if err != nil {
		return err
	}
	defer func() { failed = errors.Join(failed, w.end()) }()
	load, err := w.users(ctx, *number)
	if err != nil {
		return err
	}
	began := time.Now()
	stop := load.start(ctx)
	err = w.roll(ctx, *rounds)
	stop()
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(out, "\n%s\n%d users, both portals restarted %d times, %.0f s\n", measure.Machine(), *number, *rounds, time.Since(began).Seconds())
	return load.verdict(ctx, out)
}

// roll restarts the portals one after the other.
func (w *world) roll(ctx context.Context, rounds int) error {
	const quiet = 3 * time.Second // of load between two restarts
	for range rounds {
		for _, p := range w.portals {
			if !pause(ctx, quiet) {
				return ctx.Err()
			}
			began := time.Now()
			if err := p.stop(); err != nil {
				return fmt.Errorf("%s: %w (its log is %s)", p.name, err, p.log)
			}
			ended := time.Since(began)
			if err := p.start(ctx); err != nil {
				return err
			}
			_, _ = fmt.Fprintf(w.progress, "%s ended after %.1f s, and was ready again after %.1f s\n", p.name, ended.Seconds(), time.Since(began).Seconds())
		}
	}
	if !pause(ctx, quiet) {
		return ctx.Err()
	}
	return nil
}

// pause waits; false means that ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
