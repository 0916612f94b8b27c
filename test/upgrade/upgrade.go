// Package upgrade upgrades a whole installation and rolls it back. It installs the baseline with an object of every
// kind but DatabaseUser and Team, upgrades to this tree with only portico check --fix in between, and returns to the
// baseline. It fails unless throughout AWS receives no write, everything stays Ready, no user's object changes, and
// the portal answers every request.
package upgrade

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

	"github.com/portico-platform/portico/test/awsproxy"
	"github.com/portico-platform/portico/test/campaign"
	"github.com/portico-platform/portico/test/stack"
)

// poll is the interval for states that cannot be watched.
const poll = 100 * time.Millisecond

// settings are the campaign's flags.
type settings struct {
	from, with string
	rounds     int
}

// Campaign returns the upgrade and rollback of an installation.
func Campaign() campaign.Campaign {
	var s settings
	return campaign.Campaign{
		Name: "upgrade",
		Scenarios: []campaign.Scenario{{
			Does:  "An upgrade and the rollback write nothing in AWS, change nothing and lose no request",
			Takes: 6 * time.Minute,
		}},
		Flags: func(flags *flag.FlagSet) {
			flags.StringVar(&s.from, "from", "", "the `commit` to upgrade from; default: that of test/upgrade/baseline")
			flags.StringVar(&s.with, "with", "helm", "what installs: helm or kubectl")
			flags.IntVar(&s.rounds, "rounds", 3, "how `often` every object is looked at after each step")
		},
		Run: s.run,
	}
}

// run starts the stack with the baseline installed, upgrades it and rolls back.
func (s *settings) run(ctx context.Context, r campaign.Run) error {
	if s.with != "helm" && s.with != "kubectl" {
		return fmt.Errorf("-upgrade.with %s: want helm or kubectl", s.with)
	}
	old, err := baseline(ctx, r.Root, s.from, r.Progress)
	if err != nil {
		return err
	}
	c := &installation{
		installer: &installer{root: r.Root, with: s.with}, old: old, new: tree{dir: r.Root, tag: "tree"},
		rounds: s.rounds, title: fmt.Sprintf("From %s to this tree and back, with %s", old.commit, s.with),
	}
	return r.In(ctx, stack.Options{
		Parts:    stack.Everything &^ stack.Traffic,
		Versions: binaries(c.old, c.new), WorkloadIdentity: givesRights(c.old.dir),
		Install: func(ctx context.Context, s *stack.Stack) error {
			if err := c.installer.prepare(ctx, s); err != nil {
				return err
			}
			return c.installer.install(ctx, c.old, false)
		},
	}, func(ctx context.Context, w *campaign.World) (err error) {
		c.World = w
		if c.objects, err = dynamic.NewForConfig(w.Admin); err != nil {
			return err
		}
		err = c.steps(ctx)
		c.results().Print(r.Out)
		return err
	})
}

// installation is what is upgraded and rolled back.
type installation struct {
	*campaign.World
	installer *installer
	objects   dynamic.Interface
	old, new  tree
	rounds    int
	kinds     map[string]string // the baseline's kinds, with their resource names
	visitor   *visitor
	title     string
	counts    map[string]int // objects by kind
	rows      []row

	before  snapshot // the users' objects before the first step
	settled time.Time
}

// phase is one step of the campaign. runs is the version that the Pods run after it.
type phase struct {
	name string
	do   func(context.Context) error
	runs tree
}

// steps upgrades from the baseline to this tree and rolls back.
func (c *installation) steps(ctx context.Context) error {
	if err := c.fill(ctx); err != nil {
		return err
	}
	defer c.visitor.visiting(ctx)()
	fix := func(t tree) func(context.Context) error {
		return func(ctx context.Context) error {
			steps, err := c.installer.fix(ctx, t)
			c.Say("portico check --fix of the %s changed %d objects", t, steps)
			return err
		}
	}
	for _, p := range []phase{
		{"nothing is done", func(context.Context) error { return nil }, c.old},
		{"portico check --fix", fix(c.new), c.old},
		{"upgrade", func(ctx context.Context) error {
			return errors.Join(c.installer.install(ctx, c.new, true), c.installer.lacks(ctx, c.new))
		}, c.new},
		{"portico check --fix of before", fix(c.old), c.new},
		{"back", func(ctx context.Context) error {
			return errors.Join(c.installer.back(ctx, c.old), c.installer.lacks(ctx, c.old))
		}, c.old},
	} {
		if err := c.run(ctx, p); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}

// fill creates an object of every kind, and waits until everything is done.
func (c *installation) fill(ctx context.Context) error {
	began := time.Now()
	if err := c.request(ctx); err != nil {
		return err
	}
	if err := c.allReady(ctx); err != nil {
		return err
	}
	c.Say("everything is Ready after %.1f s", time.Since(began).Seconds())
	if err := c.rest(ctx); err != nil {
		return err
	}
	all, err := c.ours(ctx)
	if err == nil {
		err = c.openQueues(ctx, all)
	}
	if err == nil {
		c.counts, err = countsOf(all, c.kinds)
	}
	if err != nil {
		return err
	}
	if c.visitor, err = signIn(ctx, c.Stack); err != nil {
		return fmt.Errorf("sign in: %w", err)
	}
	c.settled = time.Now()
	c.before, err = c.look(ctx)
	return err
}

// rest waits for a reconcile of all objects during which nothing is written in AWS.
func (c *installation) rest(ctx context.Context) error {
	return c.Until(ctx, poll, "AWS to see no more writes", func() error {
		mark := c.Proxy.Mark()
		if err := c.lookedAt(ctx); err != nil {
			return err
		}
		if calls := c.Proxy.CallsSince(mark, awsproxy.Writes); len(calls) > 0 {
			return fmt.Errorf("%s of %s", calls[0].Operation, calls[0].Resource)
		}
		return nil
	})
}

// run does one step, requests a reconcile of all objects, and records the results.
func (c *installation) run(ctx context.Context, p phase) error {
	mark, began := c.Proxy.Mark(), time.Now()
	pods, err := c.pods(ctx)
	if err != nil {
		return err
	}
	if err := p.do(ctx); err != nil {
		return err
	}
	if err := c.runs(ctx, p.runs); err != nil {
		return err
	}
	for range c.rounds {
		if err := c.lookedAt(ctx); err != nil {
			return err
		}
	}
	r := row{phase: p.name, runs: p.runs.tag, took: time.Since(began)}
	if err := c.swept(ctx, mark); err != nil {
		return err
	}
	if err := c.allReady(ctx); err != nil {
		return err
	}
	now, err := c.pods(ctx)
	if err != nil {
		return err
	}
	r.replaced = len(slices.DeleteFunc(now, func(uid string) bool { return slices.Contains(pods, uid) }))
	if err := c.found(ctx, mark, &r); err != nil {
		return err
	}
	c.rows = append(c.rows, r)
	c.Say("%s: all is Ready after %.1f s", p.name, r.took.Seconds())
	return r.verdict()
}

// found records everything that must be empty: writes, plans, changes and lost requests.
func (c *installation) found(ctx context.Context, mark awsproxy.Mark, r *row) (err error) {
	r.reads = len(c.Proxy.CallsSince(mark, awsproxy.By(awsproxy.Operator), awsproxy.Reads))
	for _, call := range c.Proxy.CallsSince(mark, awsproxy.Writes) { // of the load balancer controller, too
		r.writes = append(r.writes, fmt.Sprintf("%s %s %s of %s", call.Actor, call.Service, call.Operation,
			call.Resource))
	}
	r.visits, r.lost = c.visitor.report()
	now, err := c.look(ctx)
	if err != nil {
		return err
	}
	r.changed = c.before.changed(now)
	r.planned, err = c.planned(ctx, c.settled)
	return err
}

// swept waits until the operator has done two sweeps.
func (c *installation) swept(ctx context.Context, mark awsproxy.Mark) error {
	return c.Until(ctx, poll, "two sweeps", func() error {
		if n := len(c.Proxy.CallsSince(mark, awsproxy.By(awsproxy.Operator), awsproxy.To(
			"sqs", "ListQueues"))); n < 2 {
			return fmt.Errorf("%d until now", n)
		}
		return nil
	})
}

// pods returns the UIDs of the operator's and the portal's Pods.
func (c *installation) pods(ctx context.Context) (uids []string, err error) {
	list, err := c.Clients.CoreV1().Pods(stack.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for i := range list.Items {
		uids = append(uids, string(list.Items[i].UID))
	}
	return uids, nil
}

// runs waits until all Pods run the version and are ready.
func (c *installation) runs(ctx context.Context, t tree) error {
	return c.Until(ctx, poll, "the Pods of the "+t.tag+" to be ready, and no others", func() error {
		list, err := c.Clients.CoreV1().Pods(stack.Namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		if n := len(list.Items); n != 2*replicas {
			return fmt.Errorf("there are %d Pods", n)
		}
		for i := range list.Items {
			p := &list.Items[i]
			isReady := slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
				return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
			})
			if !isReady || p.DeletionTimestamp != nil || !strings.HasSuffix(p.Spec.Containers[0].Image, ":"+t.tag) {
				return fmt.Errorf("%s runs %s", p.Name, p.Spec.Containers[0].Image)
			}
		}
		return nil
	})
}
