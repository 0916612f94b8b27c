package cloud

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go/middleware"
	"golang.org/x/time/rate"

	"github.com/portico-platform/portico/controllers/engine"
)

// Rates are calls a second, by service ID as the SDK has it, that Portico makes at most to one service of one account
// in one region. They leave room below AWS's own limits, as far as those are published: EC2 refills 20 describing calls
// a second (API request throttling), S3 takes 3,500 writing requests a second on objects and far fewer on buckets, and
// Route 53 takes five requests a second of a whole account, and the tagging API fifteen.
type Rates map[string]float64

// DefaultRates hold where a deployment says nothing else; the empty name is for every other service.
func DefaultRates() Rates {
	return Rates{"S3": 200, "SQS": 200, "EC2": 20, "RDS": 20, route53: 4, "ACM": 5, "IAM": 10, "Resource Groups Tagging API": 10, "": 20}
}

// route53 has one endpoint for all regions, and one limit.
const route53 = "Route 53"

const (
	bursts        = 2           // seconds of calls that may be made at once after a pause
	slowest       = 10          // throttling lowers a rate to no less than one part in so many
	recovery      = 20          // the part of its rate that a limiter regains each second
	window        = time.Second // in which throttled calls are counted
	throttledFor  = 5 * time.Minute
	routineShare  = 2 // routine work gets one part in so many; the rest is kept for what users wait for
	enoughToJudge = 4 // calls in a window; fewer say nothing about a rate
	noBurstUpTo   = 5 // calls a second: a rate up to this has no bursts, so that no second sees more than one call above it
)

// Limiters keeps one limiter for each account, region and service. Safe for concurrent use.
type Limiters struct {
	Rates Rates
	Now   func() time.Time

	mu  sync.Mutex
	all map[limiterKey]*limiter
}

type limiterKey struct{ account, region, service string }

func (l *Limiters) of(key limiterKey) *limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all == nil {
		l.all = map[limiterKey]*limiter{}
	}
	one := l.all[key]
	if one == nil {
		most, ok := l.Rates[key.service]
		if !ok {
			most = l.Rates[""]
		}
		one = newLimiter(rate.Limit(most), l.Now())
		l.all[key] = one
	}
	return one
}

// Throttled names the services and regions of an account that AWS has throttled lately, sorted.
func (l *Limiters) Throttled(account string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []string
	for key, one := range l.all {
		if key.account == account && one.throttledSince(l.Now().Add(-throttledFor)) {
			all = append(all, key.service+" in "+key.region)
		}
	}
	slices.Sort(all)
	return all
}

// limiter limits the rate of calls to one service, in which teams take turns. Routine work is limited to a share of the
// rate, so that the rest is there for what users wait for. Throttling lowers the rate, and quiet raises it again.
type limiter struct {
	most         rate.Limit
	all, routine *turns

	mu               sync.Mutex
	since            time.Time // when the window began
	calls, throttled int       // in the window
	last             time.Time // when AWS last throttled
}

func newLimiter(most rate.Limit, now time.Time) *limiter {
	burst := max(1, int(most*bursts))
	if most <= noBurstUpTo {
		burst = 1
	}
	return &limiter{
		most: most, since: now,
		all: newTurns(most, burst), routine: newTurns(most/routineShare, max(1, burst/routineShare)),
	}
}

// wait returns when it is the turn of the team's that ctx names.
func (l *limiter) wait(ctx context.Context) error {
	if engine.IsRoutine(ctx) {
		if err := l.routine.wait(ctx); err != nil {
			return err
		}
	}
	return l.all.wait(ctx)
}

// answered counts a call's answer and, once a window, sets the rate again: down by half the part of calls that were
// throttled, up by a fixed part.
func (l *limiter) answered(throttled bool, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls++
	if throttled {
		l.throttled++
		l.last = now
	}
	if now.Sub(l.since) < window || (l.throttled > 0 && l.calls < enoughToJudge) {
		return
	}
	part := float64(l.throttled) / float64(l.calls)
	quiet := now.Sub(l.since).Seconds() / recovery
	if l.throttled > 0 {
		quiet = min(quiet, window.Seconds()/recovery) // time without calls says nothing about what AWS would have taken
	}
	limit := float64(l.all.Limit())*(1-part/2) + float64(l.most)*min(quiet, 1)
	limit = min(float64(l.most), max(limit, float64(l.most)/slowest))
	l.all.SetLimit(rate.Limit(limit))
	l.routine.SetLimit(rate.Limit(limit) / routineShare)
	l.since, l.calls, l.throttled = now, 0, 0
}

func (l *limiter) throttledSince(t time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last.After(t)
}

// limitRate makes every attempt of every call wait for its turn.
func limitRate(limiters *Limiters, account, region string) func(*middleware.Stack) error {
	return func(stack *middleware.Stack) error {
		return stack.Finalize.Insert(middleware.FinalizeMiddlewareFunc("PorticoLimitRate",
			func(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (middleware.FinalizeOutput, middleware.Metadata, error) {
				service := awsmiddleware.GetServiceID(ctx)
				key := limiterKey{account, region, service}
				if service == route53 {
					key.region = "all regions"
				}
				l := limiters.of(key)
				if err := l.wait(ctx); err != nil {
					return middleware.FinalizeOutput{}, middleware.Metadata{}, fmt.Errorf("call %s: %w", service, err)
				}
				out, meta, err := next.HandleFinalize(ctx, in)
				l.answered(err != nil && classOf(err) == throttled, limiters.Now())
				return out, meta, err
			}), "Retry", middleware.After)
	}
}
