package external

import "context"

// LiveReader is an Adapter of a kind with values that change all the time, such as the number of messages in a queue, and are
// therefore in no status. ReadLive returns them by their names in camelCase, nil if obj has no resource yet. It is called when somebody
// looks, and changes nothing, obj included. Its errors are for users.
type LiveReader[T Object] interface {
	ReadLive(ctx context.Context, obj T) (map[string]string, error)
}
