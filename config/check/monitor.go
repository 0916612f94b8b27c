package check

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/portico-platform/portico/api/identity"
)

const (
	// Every is how often a cluster that lacks nothing is looked at unless a deployment says otherwise, and soon one
	// that does, so that a mend shows soon.
	Every = time.Minute
	soon  = 10 * time.Second
	// checkTimeout bounds one check: that of the identity provider sends two requests.
	checkTimeout = 2*identity.Timeout + 5*time.Second
)

// Check is one thing that can be wrong with an installation.
type Check struct {
	Name string // in one word; also a label of the metric
	Run  func(context.Context) ([]Problem, error)
	// Public says that everybody may read its problems, who cannot sign in either.
	Public bool
	// Warns says that its problems are reported, and make no replica unready.
	Warns bool
	// First is the pause after the first failure. It doubles with each, up to Every; 0 is soon, always.
	First time.Duration
}

// pause returns the time until the next look, after so many failures in a row.
func (c Check) pause(failures int, every time.Duration) time.Duration {
	pause := soon
	switch {
	case failures == 0:
		pause = every
	case c.First > 0:
		pause = Every
		if doubled := c.First << min(failures-1, maxDoubled); doubled < Every {
			pause = doubled
		}
	}
	pause = min(pause, every)
	return pause + time.Duration((rand.Float64()-0.5)*0.2*float64(pause)) //nolint:gosec // spreads replicas, and is no secret
}

// maxDoubled bounds how often the pause after a failure doubles: more could overflow.
const maxDoubled = 10

// Once returns a check that is passed for good once it has passed: of something that many replicas lose at the same
// time, and without which those that have begun go on working.
func Once(c Check) Check {
	run, passed := c.Run, false
	c.Run = func(ctx context.Context) ([]Problem, error) {
		if passed {
			return nil, nil
		}
		problems, err := run(ctx)
		passed = err == nil && len(problems) == 0
		return problems, err
	}
	return c
}

// Result is what a check found last.
type Result struct {
	Name          string
	Public, Warns bool // as the check's
	// Problems are the known problems. They stay while the cluster cannot be reached, because an error says nothing
	// about them.
	Problems []Problem
	// Err is why the last look failed, nil if it did not; Known says that one before succeeded.
	Err   error
	Known bool
}

// Failure returns why the checks are not known to pass; nil if they pass.
func (r Result) Failure() error {
	switch {
	case len(r.Problems) > 0:
		said := make([]string, 0, len(r.Problems))
		for _, p := range r.Problems {
			said = append(said, p.String())
		}
		return errors.New(strings.Join(said, "; "))
	case r.Known:
		return nil
	case r.Err != nil:
		return fmt.Errorf("not checked yet: %w", r.Err)
	}
	return errors.New("not checked yet")
}

// Monitor repeats checks, and keeps their results. Use NewMonitor. It is safe for concurrent use, and a Runnable of
// controller-runtime's manager.
type Monitor struct {
	// Every is how often is looked.
	Every  time.Duration
	checks []Check
	log    *slog.Logger

	mu      sync.Mutex
	results []Result
}

// NewMonitor prepares a Monitor; Start runs it.
func NewMonitor(log *slog.Logger, checks ...Check) *Monitor {
	m := &Monitor{Every: Every, checks: checks, log: log}
	for _, c := range checks {
		m.results = append(m.results, Result{Name: c.Name, Public: c.Public, Warns: c.Warns})
	}
	return m
}

// Start checks again and again until ctx ends, each check at its own pace.
func (m *Monitor) Start(ctx context.Context) error {
	var all sync.WaitGroup
	for i := range m.checks {
		all.Go(func() { m.repeat(ctx, i) })
	}
	all.Wait()
	return nil
}

// repeat repeats one check until ctx ends.
func (m *Monitor) repeat(ctx context.Context, i int) {
	failures := 0
	for {
		within, cancel := context.WithTimeout(ctx, checkTimeout)
		problems, err := m.checks[i].Run(within)
		cancel()
		if ctx.Err() != nil {
			return // the check was cut off
		}
		if failures++; m.found(i, problems, err) {
			failures = 0
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(m.checks[i].pause(failures, m.Every)):
		}
	}
}

// NeedLeaderElection returns false: standby replicas must be ready too.
func (m *Monitor) NeedLeaderElection() bool { return false }

// Results returns what each check found last, in the order of the checks.
func (m *Monitor) Results() []Result {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.results)
}

// Failure returns the first failure of the checks that make a replica unready; nil if it is ready.
func (m *Monitor) Failure() error {
	for _, r := range m.Results() {
		if err := r.Failure(); err != nil && !r.Warns {
			return err
		}
	}
	return nil
}

// found stores the result of a check, logs what is new, and reports whether there is no problem.
func (m *Monitor) found(i int, problems []Problem, err error) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := &m.results[i]
	before := *r
	if r.Err = err; err == nil {
		r.Problems, r.Known = problems, true
	}
	was, is := before.Failure(), r.Failure()
	switch {
	case err != nil && before.Err == nil:
		m.log.Warn("the installation could not be checked; what was found before counts", "check", r.Name, "error", err)
	case err == nil && is != nil && (was == nil || was.Error() != is.Error()):
		message := "the installation lacks something"
		if !r.Warns {
			message += ": not ready"
		}
		m.log.Error(message, "check", r.Name, "problem", is.Error())
	case err == nil && is == nil && len(before.Problems) > 0:
		m.log.Info("the installation is as it should be again", "check", r.Name)
	}
	return err == nil && is == nil
}
