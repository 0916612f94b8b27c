package main

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/portico-platform/portico/test/awsproxy"
	"github.com/portico-platform/portico/test/bench/measure"
)

// AWS's own times here, and what the operator takes them to be. It leaves room for a pass of passTimeout between the
// note of a creation and the creation, which no scale shortens.
const (
	awsScale      = 1.0 / 30
	operatorScale = 1.0 / 10
)

// longestLag is how long AWS may not show something here: EC2's five minutes.
const longestLag = 10 * time.Second

// strain is a sort of fault of AWS.
type strain struct {
	awsproxy.Fault
	weight int
	longMS int // how long it lasts at most
	lag    int // of Latency, in ms
}

var strains = []strain{
	{Fault: awsproxy.Fault{Kind: awsproxy.LostReply, OnlyWrites: true, Probability: 0.5}, weight: 5, longMS: 8000},
	{Fault: awsproxy.Fault{Kind: awsproxy.LostReply, OnlyWrites: true, Times: 1}, weight: 3, longMS: 8000},
	{Fault: awsproxy.Fault{Kind: awsproxy.Throttle, Probability: 0.4}, weight: 4, longMS: 10000},
	{Fault: awsproxy.Fault{Kind: awsproxy.ServerError, Probability: 0.4}, weight: 4, longMS: 8000},
	{Fault: awsproxy.Fault{Kind: awsproxy.PartialPage, Probability: 0.5, Match: showsLate}, weight: 4, longMS: 10000},
	{Fault: awsproxy.Fault{Kind: awsproxy.Denied}, weight: 3, longMS: 5000},
	{Fault: awsproxy.Fault{Kind: awsproxy.Denied, OnlyWrites: true, Probability: 0.5}, weight: 2, longMS: 8000},
	{Fault: awsproxy.Fault{Kind: awsproxy.Hang, Times: 3}, weight: 2, longMS: 8000},
	{Fault: awsproxy.Fault{Kind: awsproxy.Latency, Probability: 0.6}, weight: 3, longMS: 12000, lag: 1500},
}

// showsLate excepts the one listing by which a resource is looked for whose name is not its own. EC2 leaves instances
// out of it for minutes after their launch, as the simulator does by itself, and no others.
func showsLate(c awsproxy.Call) bool { return c.Operation != "DescribeInstances" }

// struck are the services that a fault may strike alone; the empty one stands for all of them.
var struck = []string{"", "", "s3", "sqs", "sns", "rds", "ec2", "sts", "route53", "acm", "tagging"}

// betweenFaults is how long after the begin of a fault the next one comes, at most.
const betweenFaults = 4 * time.Second

// faultUntil has AWS fail in one way or another until ctx ends.
func (w *world) faultUntil(ctx context.Context) {
	lot := rand.New(rand.NewPCG(w.seed, 1<<40))
	var under sync.WaitGroup
	for ctx.Err() == nil {
		s := strains[weighted(lot, len(strains), func(i int) int { return strains[i].weight })]
		s.Service = pick(lot, struck)
		if s.lag > 0 {
			s.Delay = time.Duration(100+lot.IntN(s.lag)) * time.Millisecond
		}
		lasts, after := time.Duration(500+lot.IntN(s.longMS))*time.Millisecond, rand.N(betweenFaults)
		under.Go(func() {
			end := w.stack.Proxy.Inject(s.Fault)
			defer end()
			w.counts.add("faults", string(s.Kind))
			_ = measure.Pause(ctx, lasts)
		})
		_ = measure.Pause(ctx, after)
	}
	under.Wait()
}

// calm has AWS show everything at once, until end is called.
func (w *world) calm() (end func()) { return w.stack.Proxy.Calm() }
