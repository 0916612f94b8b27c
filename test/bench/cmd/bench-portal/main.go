// Command bench-portal measures the portal as a separate process, by what browsers and the API server observe: a real
// kube-apiserver full of objects, pages with live updates, continuous writes, and users who view pages all the while.
// It does not assert times; it fails if a request was not answered.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	"github.com/portico-platform/portico/test/bench/measure"
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
)

func main() { measure.Main("bench-portal", run) }

func run(ctx context.Context, args []string, out, progress io.Writer) error {
	flags := flag.NewFlagSet("bench-portal", flag.ContinueOnError)
	root := flags.String("root", ".", "the repository")
	quick := flags.Bool("small", false, "a tenth of everything; the budgets are for all of it")
	profiles := flags.String("profiles", "", "`folder` for profiles of the portal's CPU time and memory under load; "+
		"empty for none")
	if err := flags.Parse(args); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	s := full
	if *quick {
		s = small
	}
	t := &table{machine: measure.Machine(), size: s}
	w, err := begin(ctx, *root, s, progress)
	if err != nil {
		return err
	}
	if err := w.measure(ctx, *profiles, t); err != nil {
		w.stack.KeepLogs()
		return errors.Join(fmt.Errorf("%w (logs are in %s)", err, w.stack.Dir), w.end())
	}
	t.print(out)
	return w.end()
}
