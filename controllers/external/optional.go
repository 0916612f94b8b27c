package external

import "context"

// TagRestorer is an Adapter that can describe how lost tags are restored. RestoreCommand returns the command with which
// somebody with access to AWS gives seen obj's tags, keeping its others; empty if none are missing, or if it has
// foreign ones.
type TagRestorer[T Object, S any] interface {
	RestoreCommand(obj T, seen *S) (command string)
}

// Resolver is an Adapter of a kind whose spec refers to other objects. Resolve reads them, once in each Reconcile and
// before everything else; a WaitError says which one is missing. Finalize does not call it.
type Resolver[T Object] interface {
	Resolve(ctx context.Context, obj T) error
}

// SafePather is an Adapter of a kind with settings that have a value which keeps others out. SafePaths lists those that
// have it in seen, as far as they were read; all of them if seen is nil. status.safeFields lists those that Portico
// keeps at it.
type SafePather[T Object, S any] interface{ SafePaths(obj T, seen *S) []string }

// LiveReader is an Adapter of a kind with values that change all the time, such as the number of messages in a queue,
// and are therefore in no status. ReadLive returns them by their names in camelCase, nil if obj has no resource yet. It
// is called on request and changes nothing, including obj. Its errors are for users.
type LiveReader[T Object] interface {
	ReadLive(ctx context.Context, obj T) (map[string]string, error)
}

// Stopper is an Adapter of a kind that offers DeletionStop. Stop is called again until it reports that the resource has
// stopped.
type Stopper[T Object, S any] interface {
	Stop(ctx context.Context, obj T, seen *S) (stopped bool, err error)
}

// TerminationObserver is an Adapter of a kind that AWS still shows for a while after its termination. Terminated
// reports whether the latest Observe returned nil because it saw the termination, which proves absence however new the
// resource is.
type TerminationObserver interface{ Terminated() bool }

// DeletionObserver is an Adapter of a kind whose deletion takes AWS a while. Deleting reports whether it has begun:
// then it cannot be stopped.
type DeletionObserver[S any] interface{ Deleting(seen *S) bool }

// Retrier is an Adapter of a kind whose creations carry a token that AWS ties to their parameters, even if it refuses
// them. NextAttempt makes the next creation use another token. It is called only if no creation with the current one
// can have succeeded unseen.
type Retrier[T Object] interface{ NextAttempt(obj T) }
