package fakeaws

import (
	"maps"
	"strings"
	"sync"
)

// Count is the number of calls of one operation, and how many of them failed.
type Count struct{ Calls, Errors int }

// Counts are keyed by service and operation, such as "s3 CreateBucket".
type Counts map[string]Count

// Since returns the calls in c that are not in earlier.
func (c Counts) Since(earlier Counts) Counts {
	rest := Counts{}
	for name, n := range c {
		if d := (Count{n.Calls - earlier[name].Calls, n.Errors - earlier[name].Errors}); d.Calls > 0 {
			rest[name] = d
		}
	}
	return rest
}

// Of returns the calls to one service.
func (c Counts) Of(service string) Counts {
	some := maps.Clone(c)
	maps.DeleteFunc(some, func(name string, _ Count) bool { return !strings.HasPrefix(name, service+" ") })
	return some
}

// Total returns the number of calls.
func (c Counts) Total() int {
	total := 0
	for _, n := range c {
		total += n.Calls
	}
	return total
}

// Writes returns the number of calls that can change state.
func (c Counts) Writes() int {
	total := 0
	for name, n := range c {
		if _, operation, _ := strings.Cut(name, " "); isWrite(operation) {
			total += n.Calls
		}
	}
	return total
}

type counter struct {
	mu  sync.Mutex
	all Counts
}

func (c *counter) add(name string, failed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil {
		c.all = Counts{}
	}
	n := c.all[name]
	n.Calls++
	if failed {
		n.Errors++
	}
	c.all[name] = n
}

func (c *counter) snapshot() Counts {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.all)
}
