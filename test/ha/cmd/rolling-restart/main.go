// Command rolling-restart restarts two portals, one after the other, behind a proxy that acts as a Service, while users
// open pages, send forms, write through the REST API and watch pages. It fails when a request or a form is lost, or
// when a stream does not resume.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	measure "github.com/portico-platform/portico/test/campaign"
)

func main() { measure.Main("rolling-restart", run) }

func run(ctx context.Context, args []string, out, progress io.Writer) (failed error) {
	flags := flag.NewFlagSet("rolling-restart", flag.ContinueOnError)
	root := flags.String("root", ".", "the repository")
	number := flags.Int("users", 50, "how many `users` there are")
	rounds := flags.Int("rounds", 2, "how `often` both portals are restarted")
	if err := flags.Parse(args); err != nil {
		return err
	}
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
	_, _ = fmt.Fprintf(out, "\n%s\n%d users, both portals restarted %d times, %.0f s\n", measure.Machine(), *number,
		*rounds, time.Since(began).Seconds())
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
			_, _ = fmt.Fprintf(w.progress, "%s ended after %.1f s, and was ready again after %.1f s\n", p.name,
				ended.Seconds(), time.Since(began).Seconds())
		}
	}
	if !pause(ctx, quiet) {
		return ctx.Err()
	}
	return nil
}

// pause waits for d, and reports whether it passed before ctx ended.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
