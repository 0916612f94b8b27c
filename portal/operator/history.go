package operator

import (
	"context"
	"sync"
	"time"

	"github.com/portico-platform/portico/api/operatorapi"
)

const (
	// SampleEvery is the interval of samples of the operator's calls.
	SampleEvery = time.Minute
	// Samples is the number of kept samples: those of an hour.
	Samples = 60
)

// Span is the operator's AWS calls between two samples.
type Span struct {
	At time.Time // its end
	// Known is false if the operator did not answer at the beginning or at the end, or restarted in between.
	Known    bool
	Services map[string]operatorapi.Service // counts within the span, by name
}

// history keeps the latest spans in memory: each replica of the portal has its own, since its start. The zero value is
// ready; it is safe for concurrent use.
type history struct {
	mu     sync.Mutex
	spans  []Span
	last   Work
	lastAt time.Time
}

// Sample samples the operator's calls, at once and at every tick, until ctx ends.
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

// History returns the operator's AWS calls of the last hour, oldest first, as far as this process has sampled them.
func (c *Client) History() []Span {
	c.history.mu.Lock()
	defer c.history.mu.Unlock()
	return append([]Span(nil), c.history.spans...)
}

// note adds the span since the previous sample, if there is one.
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
	case now.Known && now.Since.After(lastAt): // a new process started from zero
		span.Known = true
	}
	if span.Known {
		span.Services = map[string]operatorapi.Service{}
		for _, s := range now.Services {
			before := began[s.Name]
			span.Services[s.Name] = operatorapi.Service{
				Name: s.Name, Calls: s.Calls - before.Calls, Failures: s.Failures - before.Failures,
				Throttled: s.Throttled - before.Throttled,
			}
		}
	}
	h.spans = append(h.spans, span)
	if len(h.spans) > Samples {
		h.spans = h.spans[len(h.spans)-Samples:]
	}
}
