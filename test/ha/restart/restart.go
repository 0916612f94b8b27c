// Package restart restarts two portals, one after the other, behind a proxy that acts as a Service, while users open
// pages, send forms, write through the REST API and watch pages. It fails when a request or a form is lost, or when a
// stream does not resume.
package restart

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"time"

	"github.com/portico-platform/portico/test/campaign"
	"github.com/portico-platform/portico/test/stack"
	"github.com/portico-platform/portico/test/stack/process"
)

const (
	team = "rolling"
	// endsWithin is how long a portal can take to end: its Pod's grace period.
	endsWithin = 30 * time.Second
	// quiet is the time of load between two restarts.
	quiet = 3 * time.Second
)

// Campaign returns the restart of all portals under load.
func Campaign() campaign.Campaign {
	var users, rounds int
	return campaign.Campaign{
		Name: "rolling-restart",
		Scenarios: []campaign.Scenario{{
			Does:  "Nothing is lost while two portals restart one after the other under the load of 50 users",
			Takes: 2 * time.Minute,
		}},
		Flags: func(flags *flag.FlagSet) {
			flags.IntVar(&users, "users", 50, "how many `users` there are")
			flags.IntVar(&rounds, "rounds", 2, "how `often` both portals are restarted")
		},
		Run: func(ctx context.Context, r campaign.Run) error {
			return r.In(ctx, stack.Options{Parts: stack.ControlPlane},
				func(ctx context.Context, shared *campaign.World) error {
					w := &world{World: shared}
					return w.run(ctx, r, users, rounds)
				})
		},
	}
}

// world is the control plane, two portals and the proxy in front of them.
type world struct {
	*campaign.World
	proxy   *proxy
	portals []*campaign.Replica
}

func (w *world) run(ctx context.Context, r campaign.Run, users, rounds int) error {
	if err := w.MakeTeam(ctx, team, nil); err != nil {
		return err
	}
	serving, stop := context.WithCancel(ctx)
	defer stop()
	if err := w.serve(serving); err != nil {
		return err
	}
	load, err := w.users(ctx, users)
	if err != nil {
		return err
	}
	began := time.Now()
	end := load.start(ctx)
	err = w.roll(ctx, rounds)
	end()
	if err != nil {
		return err
	}
	results := &campaign.Results{Title: fmt.Sprintf("%d users, both portals restarted %d times, %.0f s", users, rounds,
		time.Since(began).Seconds())}
	defer results.Print(r.Out)
	return load.verdict(ctx, results)
}

// serve starts the portals, and the proxy until ctx ends.
func (w *world) serve(ctx context.Context) (err error) {
	if w.proxy, err = newProxy(ctx); err != nil {
		return err
	}
	for i := range 2 {
		p, err := w.StartPortal(ctx, process.Spec{
			Name: fmt.Sprintf("portal-%d", i), Args: []string{"--public-url", w.proxy.url()}, Grace: endsWithin,
		})
		if err != nil {
			return err
		}
		w.portals = append(w.portals, p)
		w.proxy.replicas = append(w.proxy.replicas, &replica{url: p.URL})
	}
	go w.proxy.run(ctx)
	return w.balanced(ctx)
}

// balanced waits until the proxy has found every portal ready.
func (w *world) balanced(ctx context.Context) error {
	return w.Until(ctx, 100*time.Millisecond, "the portals to be ready", func() error {
		for _, r := range w.proxy.replicas {
			if !r.ready.Load() {
				return errors.New(r.url + " is not")
			}
		}
		return nil
	})
}

// roll restarts the portals one after the other.
func (w *world) roll(ctx context.Context, rounds int) error {
	for range rounds {
		for i, p := range w.portals {
			if err := campaign.Pause(ctx, quiet); err != nil {
				return err
			}
			if err := w.restart(ctx, p, w.proxy.replicas[i]); err != nil {
				return err
			}
		}
	}
	return campaign.Pause(ctx, quiet)
}

// restart ends a portal with SIGTERM and starts it again. The portal has to end by itself, without an error.
func (w *world) restart(ctx context.Context, p *campaign.Replica, behind *replica) error {
	began := time.Now()
	if err := errors.Join(p.Stop(), p.Exit()); err != nil {
		return fmt.Errorf("%s did not end within %s and without an error: %w", p.Name(), endsWithin, err)
	}
	behind.ready.Store(false)
	ended := time.Since(began)
	if err := p.Start(ctx); err != nil {
		return err
	}
	if err := w.balanced(ctx); err != nil {
		return err
	}
	w.Say("%s ended after %.1f s, and was ready again after %.1f s", p.Name(), ended.Seconds(),
		time.Since(began).Seconds())
	return nil
}
