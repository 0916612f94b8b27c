// Package portal measures the portal as a separate process, by what browsers and the API server observe: a real
// kube-apiserver full of objects, pages with live updates, continuous writes, and users who view pages all the while.
// It does not assert times; it fails if a request was not answered.
package portal

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/portico-platform/portico/test/campaign"
	"github.com/portico-platform/portico/test/stack"
	"github.com/portico-platform/portico/test/stack/process"
)

// size is the number of objects and streams, and the duration of each measurement.
type size struct {
	namespaces, objects int // objects are per namespace
	details             int // streams of single objects; each namespace also has two of its list
	admins              int // streams of the list of all teams
	look                time.Duration
	flood               time.Duration // of each kind of page
}

var (
	full  = size{namespaces: 200, objects: 50, details: 95, admins: 5, look: 60 * time.Second, flood: 10 * time.Second}
	small = size{namespaces: 20, objects: 50, details: 9, admins: 1, look: 10 * time.Second, flood: 3 * time.Second}
)

func (s size) streams() int { return 2*s.namespaces + s.details + s.admins }

const (
	writesASecond = 20
	viewsASecond  = 10
	// limit is the timeout of a run.
	limit = 20 * time.Minute
	// creators write at the same time.
	creators = 16
)

// Campaign returns the benchmark of the portal.
func Campaign() campaign.Campaign {
	var quick bool
	var profiles string
	return campaign.Campaign{
		Name: "bench-portal",
		Scenarios: []campaign.Scenario{{
			Does:  "How long pages and live updates take with 10,000 objects and 500 streams; bytes, memory, CPU",
			Takes: 4 * time.Minute,
		}},
		Flags: func(flags *flag.FlagSet) {
			flags.BoolVar(&quick, "small", false, "a tenth of everything; the goals are for all of it")
			flags.StringVar(&profiles, "profiles", "", "`folder` for profiles of the portal's CPU time and memory "+
				"under load; empty for none")
		},
		Run: func(ctx context.Context, r campaign.Run) error {
			s := full
			if quick {
				s = small
			}
			return run(ctx, r, s, profiles)
		},
	}
}

func run(ctx context.Context, r campaign.Run, s size, profiles string) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return r.In(ctx, stack.Options{Parts: stack.ControlPlane}, func(ctx context.Context, shared *campaign.World) error {
		w := &world{World: shared, size: s}
		if err := w.fill(ctx); err != nil {
			return err
		}
		if err := w.startPortal(ctx); err != nil {
			return err
		}
		t := &campaign.Results{Title: fmt.Sprintf(
			"%d objects in %d namespaces, %d streams, %d writes and %d views a second",
			s.namespaces*s.objects, s.namespaces, s.streams(), writesASecond, viewsASecond)}
		if err := w.measure(ctx, profiles, t); err != nil {
			return err
		}
		t.Print(r.Out)
		return nil
	})
}

// world is the control plane with its objects, and the portal.
type world struct {
	*campaign.World
	size    size
	portal  *campaign.Replica
	http    *http.Client
	filled  time.Duration // time from the portal's start until it was ready
	objects []object      // sorted by namespace
}

// startPortal starts the portal, and returns once it is ready.
func (w *world) startPortal(ctx context.Context) (err error) {
	w.http = campaign.Browser(&http.Transport{MaxIdleConnsPerHost: 100, DisableCompression: true})
	w.TokenOf("warm", "up") // makes the identity provider and its key, which is no part of a start
	began := time.Now()
	w.portal, err = w.StartPortal(ctx, process.Spec{Name: "portal", Args: []string{
		"--profiling", "--shutdown-delay-duration", "0s", "--api-rate", "0", // a few users send the requests of many
	}})
	w.filled = time.Since(began)
	return err
}

// get requests a page as a browser with this cookie.
func (w *world) get(ctx context.Context, path, cookie, encoding string) (campaign.Answer, error) {
	return campaign.Send(ctx, w.http, http.MethodGet, w.portal.URL+path, http.Header{
		"Cookie": {cookie}, "Accept": {"text/html"}, "Accept-Encoding": {encoding},
	}, nil)
}

// fill creates the teams and their objects, in the state in which the operator leaves them.
func (w *world) fill(ctx context.Context) error {
	w.Say("%d objects in %d namespaces are being made", w.size.namespaces*w.size.objects, w.size.namespaces)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(creators)
	for n := range w.size.namespaces {
		for i := range w.size.objects {
			w.objects = append(w.objects, newObject(team(n), i))
		}
		g.Go(func() error { return w.makeTeam(ctx, n) })
	}
	if err := g.Wait(); err != nil {
		return fmt.Errorf("fill the cluster: %w", err)
	}
	return nil
}

func team(n int) string { return fmt.Sprintf("team-%03d", n) }

func (w *world) makeTeam(ctx context.Context, n int) error {
	if err := w.MakeTeam(ctx, team(n), nil); err != nil {
		return err
	}
	for i := range w.size.objects {
		if err := w.makeObject(ctx, w.objects[n*w.size.objects+i]); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) makeObject(ctx context.Context, o object) error {
	if err := w.Kube.Create(ctx, o.Object); err != nil {
		return err
	}
	if err := w.writeStatus(ctx, o, ""); err != nil {
		return err
	}
	if e := o.event(); e != nil {
		return w.Kube.Create(ctx, e)
	}
	return nil
}
