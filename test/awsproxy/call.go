package awsproxy

import (
	"context"
	"slices"
)

// Filter chooses calls; a call must pass all filters given.
type Filter func(Call) bool

// By passes an actor's calls.
func By(a Actor) Filter { return func(c Call) bool { return c.Actor == a } }

// To passes a service's calls of one of the operations, or of any if none is given.
func To(service string, operations ...string) Filter {
	return func(c Call) bool {
		return c.Service == service && (len(operations) == 0 || slices.Contains(operations, c.Operation))
	}
}

// About passes the calls that name the resource.
func About(resource string) Filter { return func(c Call) bool { return c.Names(resource) } }

// Writes passes writes, refused and lost ones included.
func Writes(c Call) bool { return c.Write }

// Reads passes the calls that are not writes.
func Reads(c Call) bool { return !c.Write }

// Phase says when a hook is called.
type Phase int

const (
	// Before means that nothing has reached the simulator yet.
	Before Phase = iota
	// After means that the simulator has committed, and the client has no response yet.
	After
)

// Hook is called before and after each of the operator's calls, in its goroutine, also for calls that a rule fails
// afterwards. An error cuts the connection without a response; in phase Before the call then does not reach the
// simulator.
type Hook func(ctx context.Context, c Call, phase Phase) error
