package awsproxy

import "context"

// strict is what a service does more, or otherwise, than the simulator. It may
// change x before it calls next, which passes x on; act after it; or answer
// without it. Its own calls to the simulator are not journaled: AWS would do
// that work inside.
type strict func(ctx context.Context, x *exchange, next forward) (*reply, error)

// forward passes the exchange on as it then is.
type forward func(ctx context.Context) (*reply, error)
