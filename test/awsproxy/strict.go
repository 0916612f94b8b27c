package awsproxy

import "context"

// needs returns the permissions of a call, in the order in which AWS checks them. An unknown operation is an error, so
// that no call is served without a check.
type needs func(ctx context.Context, x *exchange) ([]need, error)

// behaviour is what the proxy does for a service.
type behaviour interface {
	// around implements what the service does in addition to the simulator, or differently. It may change x before it
	// calls next, which passes x on; act after it; or reply without it. Its own calls to the simulator are not in the
	// journal: in AWS they would be internal.
	around(ctx context.Context, x *exchange, next forward) (*reply, error)
	// needs returns the permissions of a call, as permit.Needs does.
	needs(ctx context.Context, x *exchange) ([]need, error)
}

// unchanged returns the permissions of the calls to a service that the simulator serves well enough.
type unchanged func(x *exchange) ([]need, error)

func (unchanged) around(ctx context.Context, _ *exchange, next forward) (*reply, error) {
	return next(ctx)
}

func (of unchanged) needs(_ context.Context, x *exchange) ([]need, error) { return of(x) }

// forward passes on the exchange in its current state.
type forward func(ctx context.Context) (*reply, error)
