package operator

import (
	"context"
	"sync"
	"time"

	"github.com/portico-platform/portico/api/operatorapi"
)

const (
	// SampleEvery is how often it is noted what the operator has done.
	SampleEvery = time.Minute
	// Samples are kept: those of an hour.
	Samples = 60
)

// Span is what the operator asked AWS between two samples.
type Span struct {
	At time.Time // its end
	// Known is false if the operator did not answer at the beginning or at the end, or restarted in between and cannot
	// tell.
	Known    bool
	Services map[string]operatorapi.Service // counts within the span, by name
}

// history keeps the latest spans, in memory: each replica of the portal has its own, which begins with its process. The
// zero value is ready; it is safe for concurrent use.
type history struct {
	mu     sync.Mutex
	spans  []Span
	last   Work
	lastAt time.Time
}

// Sample notes what the operator has done, at once and at every tick, until ctx ends.
func (c *Client) Sample(ctx context.Context, ticks <-chan time.Time) {
	for {
		c.history.note(c.clock.Now(), c.Work(ctx))
		select {
		case <-ctx.Done():
			return
		case <-ticks:
		}
	}
}

// History returns what the operator asked AWS in the last hour, oldest first, as far as this process has seen it.
func (c *Client) History() []Span {
	c.history.mu.Lock()
	defer c.history.mu.Unlock()
	return append([]Span(nil), c.history.spans...)
}

// note adds the span since the sample before, of which there is none at first.
func (h *history) note(at time.Time, now Work) {
	h.mu.Lock()
	defer h.mu.Unlock()
	last, lastAt := h.last, h.lastAt
	h.last, h.lastAt = now, at
	if lastAt.IsZero() {
		return
	}
	span := Span{At: at}
	began := map[string]operatorapi.Service{}
	switch same := now.Since.Equal(last.Since); {
	case now.Known && last.Known && same:
		for _, s := range last.Services {
			began[s.Name] = s
		}
		span.Known = true
	case now.Known && now.Since.After(lastAt): // a process that is younger than the span has counted nothing before it
		span.Known = true
	}
	if span.Known {
		span.Services = map[string]operatorapi.Service{}
		for _, s := range now.Services {
			before := began[s.Name]
			span.Services[s.Name] = operatorapi.Service{
				Name: s.Name, Calls: s.Calls - before.Calls, Failures: s.Failures - before.Failures, Throttled: s.Throttled - before.Throttled,
			}
		}
	}
	h.spans = append(h.spans, span)
	if len(h.spans) > Samples {
		h.spans = h.spans[len(h.spans)-Samples:]
	}
}
