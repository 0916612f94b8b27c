package awsproxy

import "context"

// strict implements what a service does in addition to the simulator, or differently. It may change x before it calls
// next, which passes x on; act after it; or reply without it. Its own calls to the simulator are not in the journal:
// in AWS they would be internal.
type strict func(ctx context.Context, x *exchange, next forward) (*reply, error)

// forward passes on the exchange in its current state.
type forward func(ctx context.Context) (*reply, error)
