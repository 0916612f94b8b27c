package wire

import (
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

	// Service is the signing name, as in services.go of the proxy.
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
