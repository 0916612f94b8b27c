package external

import "context"

// Live is an Adapter of a kind of which something moves by itself, all the time, and is therefore in no status: the
// messages in a queue. Live reads it when somebody looks, by names in camelCase, and changes nothing, obj included. nil
// values: obj has nothing there yet. Its errors are for users.
type Live[T Object] interface {
	Live(ctx context.Context, obj T) (map[string]string, error)
}
