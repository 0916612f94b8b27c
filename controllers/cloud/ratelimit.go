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

// Rates are Portico's maximum calls a second, by the SDK's service ID, to one service of one account in one region.
// They leave room below AWS's published limits: EC2 refills 20 describing calls a second (API request throttling), S3
// accepts 3,500 writing requests a second on objects and far fewer on buckets, Route 53 accepts five requests a second
// per account, and the tagging API fifteen.
type Rates map[string]float64

// DefaultRates returns the default rates; the empty name applies to every other service.
func DefaultRates() Rates {
	return Rates{
		"S3": 200, "SQS": 200, "EC2": 20, "RDS": 20, route53: 4, "ACM": 5, "IAM": 10,
		"Resource Groups Tagging API": 10, "": 20,
	}
}

// route53 is the service with one endpoint, and one limit, for all regions.
const route53 = "Route 53"

const (
	bursts        = 2           // seconds' worth of calls that can be made at once after a pause
	slowest       = 10          // throttling lowers a rate to no less than this fraction
	recovery      = 20          // a limiter regains this fraction of its rate each second
	window        = time.Second // in which throttled calls are counted
	throttledFor  = 5 * time.Minute
	routineShare  = 2 // routine work gets this fraction; the rest is kept for users' work
	enoughToJudge = 4 // calls in a window; fewer are not significant
	noBurstUpTo   = 5 // calls a second: up to this rate there are no bursts: at most one call a second too many
)

// Limiters holds one limiter for each account, region and service. Safe for concurrent use.
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

// Throttled returns the services and regions of an account that AWS has throttled recently, sorted.
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

// limiter limits the rate of calls to one service; teams take turns. Routine work is limited to a share of the rate,
// the rest is for users' work. Throttling lowers the rate, and quiet raises it again.
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

// wait returns when it is the turn of ctx's team.
func (l *limiter) wait(ctx context.Context) error {
	if engine.IsRoutine(ctx) {
		if err := l.routine.wait(ctx); err != nil {
			return err
		}
	}
	return l.all.wait(ctx)
}

// answered counts a call's response and adjusts the rate once per window: down by half the fraction of throttled calls,
// up by a fixed step.
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
		quiet = min(quiet, window.Seconds()/recovery) // a time without calls does not show what AWS would accept
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
			func(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (
				middleware.FinalizeOutput, middleware.Metadata, error,
			) {
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
