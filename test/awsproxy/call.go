package awsproxy

import (
	"context"
	"slices"
	"strings"
	"time"
)

// Actor names the entrance that a call came through.
type Actor string

// The entrances.
const (
	Operator Actor = "operator"
	Outside  Actor = "outside"
	Workload Actor = "workload"
)

// Call is one request as the journal records it.
type Call struct {
	// ID increases by one with each request, in the order of arrival.
	ID    uint64
	Time  time.Time
	Actor Actor

	// Service is the signing name, as in services.go.
	Service string
	// Operation is the API's name of the operation, such as CreateBucket.
	Operation string
	Region    string
	// Account owns the access key; empty if the request was refused for its credentials, or is one of the few without
	// credentials.
	Account string
	// Resource is the bucket, queue or topic name, DB instance, instance ID, ARN or
	// hosted zone that the request names; several are joined by commas.
	Resource string
	// Write is false for calls that change nothing a user could see.
	Write bool
	// Continued is true for a further page of a listing.
	Continued bool

	// Status is the HTTP status of the response: 0 while the call is in progress, and permanently if the connection
	// was cut.
	Status    int
	ErrorCode string
	// Fault is the kind of the rule that applied, or "hook" when a hook cut the connection.
	Fault string
}

// Names reports whether the call is about the resource.
func (c Call) Names(resource string) bool {
	return slices.Contains(strings.Split(c.Resource, ","), resource)
}

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
