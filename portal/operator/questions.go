package operator

import (
	"context"
	"time"

	"github.com/portico-platform/portico/api/operatorapi"
)

// question is one thing that the operator knows. Callers must have checked who may see the answer.
type question[A any] struct {
	path string // where the answer is
	// about distinguishes answers at the same path, such as those about earlier objects of a name.
	about string
	// shared is how long an answer is cached for all callers of this replica. It is zero for what the operator reads
	// from AWS, and caches itself for all replicas.
	shared time.Duration
	// none is the answer of an operator that has none, because it is of another version.
	none A
	// given completes an answer that was read.
	given func(a *A)
}

// State says whether the checks are known.
type State string

const (
	// Checked means that the operator has checked the object since it started.
	Checked State = "checked"
	// Unchecked means that it has not.
	Unchecked State = "unchecked"
	// Unknown means that the operator does not answer.
	Unknown State = "unknown"
)

// Checks are the operator's checks of one object; all fields but State are set only if it has checked it.
type Checks struct {
	State State `json:"-"`
	operatorapi.Resource
}

// Object identifies the checked object. UID distinguishes it from earlier objects of the name. Version is the
// resourceVersion that the caller has seen: the operator records a check before it writes the status, so a later answer
// is never older than that status.
type Object struct{ Kind, Namespace, Name, UID, Version string }

// Of returns the checks of one object. It takes Patience at most, and no time while the operator is known to be down.
// The caller must have checked access to the object.
func (c *Client) Of(ctx context.Context, of Object) Checks {
	unchecked := Checks{State: Unchecked}
	checks, ok := ask(ctx, c, question[Checks]{
		path:  operatorapi.ResourcePath(of.Kind, of.Namespace, of.Name),
		about: of.UID + "#" + of.Version, shared: shared, none: unchecked, given: func(c *Checks) {
			c.State = Checked
			if c.UID != of.UID { // it has not checked this object yet, only an earlier one of the name
				*c = unchecked
			}
		},
	})
	if !ok {
		return Checks{State: Unknown}
	}
	return checks
}

// Features are the optional parts of the operator, which depend on the cluster.
type Features struct {
	Known bool `json:"-"` // else the operator does not answer
	operatorapi.Features
}

// Features returns which parts of the operator are on, with the same time limit as Of.
func (c *Client) Features(ctx context.Context) Features {
	features, _ := ask(ctx, c, question[Features]{
		path: operatorapi.FeaturesPath, shared: shared, given: func(f *Features) { f.Known = true },
	})
	return features
}

// Work is the state of the operator's controllers.
type Work struct {
	Known  bool   `json:"-"` // else the operator does not answer, or is too old
	Leader string `json:"-"` // holder of the Lease, when it was last read
	operatorapi.Activity
}

// Work returns the state of the controllers, with the same time limit as Of.
func (c *Client) Work(ctx context.Context) Work {
	work, _ := ask(ctx, c, question[Work]{
		path: operatorapi.ActivityPath, shared: shared, given: func(w *Work) { w.Known = true },
	})
	if work.Known {
		work.Leader = c.leader()
	}
	return work
}

// Offers are the values that can be entered in a field of a request.
type Offers struct {
	Known bool `json:"-"` // else the operator does not answer, or has no list for the field
	operatorapi.Offers
}

// Offers returns an AWS account's values for a field of a request, with the same time limit as Of. The caller must have
// checked that such an object can be requested.
func (c *Client) Offers(ctx context.Context, q operatorapi.OfferQuery) Offers {
	offers, _ := ask(ctx, c, question[Offers]{path: q.Path(), given: func(o *Offers) { o.Known = true }})
	return offers
}

// Deleted is what remains in AWS of the deleted objects of a namespace.
type Deleted struct {
	Known bool `json:"-"` // else the operator does not answer, or lists nothing
	operatorapi.DeletedList
}

// Deleted returns what remains in AWS of the deleted objects of a namespace, with the same time limit as Of. The caller
// must have checked which kinds can be listed.
func (c *Client) Deleted(ctx context.Context, namespace string) Deleted {
	deleted, _ := ask(ctx, c, question[Deleted]{
		path: operatorapi.NamespaceDeletedPath(namespace), given: func(d *Deleted) { d.Known = true },
	})
	return deleted
}
