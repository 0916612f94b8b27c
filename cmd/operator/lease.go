package main

import (
	"fmt"
	"time"

	"k8s.io/client-go/tools/leaderelection"
)

// lease holds the durations of leader election. After a leader's death the next one starts after the Lease's duration
// and two waits of the standby replicas: until they see the last renewal, and until their next attempt. A wait is up to
// 2.2 times retry.
type lease struct{ duration, deadline, retry time.Duration }

func (l lease) check() error {
	const leastRetry = 100 * time.Millisecond
	switch {
	case l.retry < leastRetry:
		return fmt.Errorf("--leader-elect-retry-period %s: at least %s", l.retry, leastRetry)
	case float64(l.deadline) <= leaderelection.JitterFactor*float64(l.retry):
		return fmt.Errorf("--leader-elect-renew-deadline %s with --leader-elect-retry-period %s: a leader needs time "+
			"for more than one try; want more than %g times the retry period", l.deadline, l.retry,
			leaderelection.JitterFactor)
	case l.duration < l.deadline+time.Second:
		return fmt.Errorf("--leader-elect-lease-duration %s with --leader-elect-renew-deadline %s: a leader that "+
			"cannot renew must have ended before another one begins; want at least 1s more", l.duration, l.deadline)
	}
	return nil
}
