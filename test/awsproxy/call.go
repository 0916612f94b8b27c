package awsproxy

import (
	"context"
	"slices"
	"strings"
	"time"
)

// Actor says by which way a call came in.
type Actor string

// The ways in.
const (
	Operator Actor = "operator"
	Outside  Actor = "outside"
	Workload Actor = "workload"
)

// Call is one request as the journal keeps it.
type Call struct {
	// ID rises by one with each request, in the order of arrival.
	ID    uint64
	Time  time.Time
	Actor Actor

	// Service is the signing name, as in services.go.
	Service string
	// Operation is the API's name of it, such as CreateBucket.
	Operation string
	Region    string
	// Account owns the access key; empty if the request was refused for its
	// credentials, or is one of the few that carry none.
	Account string
	// Resource is the bucket, queue or topic name, DB instance, instance ID, ARN or
	// hosted zone that the request names; several are joined by commas.
	Resource string
	// Write is false for what changes nothing that a user could see.
	Write bool
	// Continued is true for a further page of a listing.
	Continued bool

	// Status is what the client was answered: 0 while the call is under way,
	// and for good when it was cut.
	Status    int
	ErrorCode string
	// Fault is the rule's kind, or "hook" when a hook cut the connection.
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

// Reads passes what is no write.
func Reads(c Call) bool { return !c.Write }

// Phase says when a hook is called.
type Phase int

const (
	// Before says that nothing has reached the simulator yet.
	Before Phase = iota
	// After says that the simulator has committed, the client knows nothing yet.
	After
)

// Hook is called around each of the operator's calls, in its goroutine, also
// for those that a rule then fails. An error cuts the connection without an
// answer; in phase Before the simulator is then not reached.
type Hook func(ctx context.Context, c Call, phase Phase) error
