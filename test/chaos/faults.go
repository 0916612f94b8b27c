package chaos

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/portico-platform/portico/test/awsproxy"
	"github.com/portico-platform/portico/test/campaign"
)

// awsScale scales AWS's delays in this test, and operatorScale the operator's assumptions about them. The difference
// leaves room for one pass of passTimeout, which is not scaled, between the record of a creation and the creation.
const (
	awsScale      = 1.0 / 30
	operatorScale = 1.0 / 10
)

// longestLag is the longest time for which AWS may not show a change in this test: EC2's five minutes, scaled.
const longestLag = 10 * time.Second

// strain is a kind of fault of AWS.
type strain struct {
	awsproxy.Fault
	weight int
	longMS int // maximum duration
	lag    int // maximum delay of Latency, in ms
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

// showsLate returns false for DescribeInstances, the one listing that finds a resource by something other than its
// name. Like EC2, the simulator omits new instances from it for minutes; it must not omit others.
func showsLate(c awsproxy.Call) bool { return c.Operation != "DescribeInstances" }

// struck are the services that a fault can affect; the empty string means all services.
var struck = []string{"", "", "s3", "sqs", "sns", "rds", "ec2", "sts", "route53", "acm", "tagging"}

// betweenFaults is the maximum time between the starts of two faults.
const betweenFaults = 4 * time.Second

// faultUntil injects random faults into AWS until ctx ends.
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
			end := w.Proxy.Inject(s.Fault)
			defer end()
			w.counts.add("faults", string(s.Kind))
			_ = campaign.Pause(ctx, lasts)
		})
		_ = campaign.Pause(ctx, after)
	}
	under.Wait()
}

// calm makes AWS show every change at once, until end is called.
func (w *world) calm() (end func()) { return w.Proxy.Calm() }
