package operatorapi

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/portico-platform/portico/api/operatorapi"
)

// ReadLive reads, from AWS, values that change by themselves and are therefore not in the status of an object. It
// returns nil without an error if the kind has no such values or the object has no resource yet. Errors are shown to
// users.
type ReadLive func(ctx context.Context, kind string, of types.NamespacedName) (map[string]string, error)

const (
	// liveTimeout limits one read from AWS.
	liveTimeout = 5 * time.Second
	// liveFor is how long values are cached.
	liveFor = 10 * time.Second
)

// liveQuery asks for the live values of an object. An object of the same name that is created later has another
// resource.
type liveQuery struct {
	kind string
	types.NamespacedName
	uid string
}

func (q liveQuery) name() string {
	return operatorapi.ResourcePath(q.kind, q.Namespace, q.Name) + "#" + q.uid
}

// liveRead returns the read of live values, which takes no turns.
func liveRead(cache *readCache, read ReadLive) *awsRead[liveQuery, map[string]string] {
	return &awsRead[liveQuery, map[string]string]{
		cache: cache, timeout: liveTimeout, life: liveFor, name: liveQuery.name,
		open: always(func(ctx context.Context, q liveQuery) (map[string]string, error) {
			if read == nil {
				return nil, nil
			}
			return read(ctx, q.kind, q.NamespacedName)
		}),
	}
}
