package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/portico-platform/portico/test/awsproxy"
	"github.com/portico-platform/portico/test/stack"
)

const (
	// poll is the interval for states that cannot be watched.
	poll = 100 * time.Millisecond
	// patience is the timeout of each wait. It is no goal for the duration.
	patience = 5 * time.Minute
	// word is the interval of the progress messages about a wait.
	word = 20 * time.Second
)

// campaign is an installation that is upgraded and rolled back.
type campaign struct {
	stack     *stack.Stack
	installer *installer
	clients   kubernetes.Interface
	objects   dynamic.Interface
	discovery discovery.DiscoveryInterface
	old, new  tree
	rounds    int
	kinds     map[string]string // the baseline's kinds, with their resource names
	visitor   *visitor
	progress  io.Writer
	table     table

	before  snapshot // the users' objects before the first step
	settled time.Time
}

// begin starts the stack with the baseline installed.
func begin(ctx context.Context, root string, old tree, with string, rounds int, progress io.Writer) (*campaign, error) {
	if with != "helm" && with != "kubectl" {
		return nil, fmt.Errorf("-with %s: want helm or kubectl", with)
	}
	c := &campaign{
		installer: &installer{root: root, with: with}, old: old, new: tree{dir: root, tag: "tree"}, rounds: rounds,
		progress: progress,
	}
	var err error
	c.stack, err = stack.Start(ctx, stack.Options{
		Root: root, Parts: stack.Everything, Progress: progress, Versions: binaries(c.old, c.new),
		WorkloadIdentity: givesRights(c.old.dir),
		Install: func(ctx context.Context, s *stack.Stack) error {
			if err := c.installer.prepare(ctx, s); err != nil {
				return err
			}
			return c.installer.install(ctx, c.old, false)
		},
	})
	if err != nil {
		return nil, err
	}
	if err := c.connect(); err != nil {
		c.stack.KeepLogs()
		return nil, errors.Join(err, c.stack.Close())
	}
	return c, nil
}

func (c *campaign) connect() (err error) {
	if c.clients, err = kubernetes.NewForConfig(c.stack.Admin); err != nil {
		return err
	}
	c.discovery = c.clients.Discovery()
	c.objects, err = dynamic.NewForConfig(c.stack.Admin)
	return err
}

// phase is one step of the campaign. runs is the version that the Pods run after it.
type phase struct {
	name string
	do   func(context.Context) error
	runs tree
}

// campaign upgrades from the baseline to this tree and rolls back.
func (c *campaign) campaign(ctx context.Context) error {
	if err := c.fill(ctx); err != nil {
		return err
	}
	defer c.visitor.visiting(ctx)()
	fix := func(t tree) func(context.Context) error {
		return func(ctx context.Context) error {
			steps, err := c.installer.fix(ctx, t)
			c.say("portico check --fix of the %s changed %d objects", t, steps)
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
func (c *campaign) fill(ctx context.Context) error {
	began := time.Now()
	if err := c.request(ctx); err != nil {
		return err
	}
	if err := c.allReady(ctx); err != nil {
		return err
	}
	c.say("everything is Ready after %.1f s", time.Since(began).Seconds())
	if err := c.rest(ctx); err != nil {
		return err
	}
	all, err := c.ours(ctx)
	if err == nil {
		err = c.openQueues(ctx, all)
	}
	if err == nil {
		c.table.counts, err = countsOf(all, c.kinds)
	}
	if err != nil {
		return err
	}
	if c.visitor, err = signIn(ctx, c.stack); err != nil {
		return fmt.Errorf("sign in: %w", err)
	}
	c.settled = time.Now()
	c.before, err = c.look(ctx)
	return err
}

// rest waits for a reconcile of all objects during which nothing is written in AWS.
func (c *campaign) rest(ctx context.Context) error {
	return c.until(ctx, "AWS to see no more writes", func() error {
		mark := c.stack.Proxy.Mark()
		if err := c.lookedAt(ctx); err != nil {
			return err
		}
		if calls := c.stack.Proxy.CallsSince(mark, awsproxy.Writes); len(calls) > 0 {
			return fmt.Errorf("%s of %s", calls[0].Operation, calls[0].Resource)
		}
		return nil
	})
}

// run does one step, requests a reconcile of all objects, and records the results.
func (c *campaign) run(ctx context.Context, p phase) error {
	mark, began := c.stack.Proxy.Mark(), time.Now()
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
	c.table.rows = append(c.table.rows, r)
	c.say("%s: all is Ready after %.1f s", p.name, r.took.Seconds())
	return r.verdict()
}

// found records everything that must be empty: writes, plans, changes and lost requests.
func (c *campaign) found(ctx context.Context, mark awsproxy.Mark, r *row) (err error) {
	r.reads = len(c.stack.Proxy.CallsSince(mark, awsproxy.By(awsproxy.Operator), awsproxy.Reads))
	for _, call := range c.stack.Proxy.CallsSince(mark, awsproxy.Writes) { // of the load balancer controller, too
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
func (c *campaign) swept(ctx context.Context, mark awsproxy.Mark) error {
	return c.until(ctx, "two sweeps", func() error {
		if n := len(c.stack.Proxy.CallsSince(mark, awsproxy.By(awsproxy.Operator), awsproxy.To(
			"sqs", "ListQueues"))); n < 2 {
			return fmt.Errorf("%d until now", n)
		}
		return nil
	})
}

// pods returns the UIDs of the operator's and the portal's Pods.
func (c *campaign) pods(ctx context.Context) (uids []string, err error) {
	list, err := c.clients.CoreV1().Pods(stack.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for i := range list.Items {
		uids = append(uids, string(list.Items[i].UID))
	}
	return uids, nil
}

// runs waits until all Pods run the version and are ready.
func (c *campaign) runs(ctx context.Context, t tree) error {
	return c.until(ctx, "the Pods of the "+t.tag+" to be ready, and no others", func() error {
		list, err := c.clients.CoreV1().Pods(stack.Namespace).List(ctx, metav1.ListOptions{})
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

func (c *campaign) say(format string, args ...any) {
	_, _ = fmt.Fprintf(c.progress, format+"\n", args...)
}

// until polls until done returns nil. On timeout its error includes done's last error.
func (c *campaign) until(ctx context.Context, what string, done func() error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	still := time.NewTicker(word)
	defer still.Stop()
	for {
		err := done()
		if err == nil {
			return nil
		}
		select {
		case <-still.C:
			c.say("still waiting for %s: %v", what, err)
		case <-c.stack.Failed():
			return fmt.Errorf("waiting for %s: %w", what, c.stack.Err())
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w: %w", what, ctx.Err(), err)
		case <-time.After(poll):
		}
	}
}
