package operatorapi

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/portico-platform/portico/api/expiring"
	"github.com/portico-platform/portico/api/operatorapi"
)

// ReadLive reads, from AWS, values that change by themselves and are therefore not in the status of an object. It
// returns nil without an error if the kind has no such values or the object has no resource yet. Errors are shown to
// users.
type ReadLive func(ctx context.Context, kind string, of types.NamespacedName) (map[string]string, error)

const (
	// liveTimeout limits one read from AWS.
	liveTimeout = 5 * time.Second
	// liveFor is how long a result is cached, liveKept how many results are.
	liveFor  = 10 * time.Second
	liveKept = 4096
	// longestError limits an error to a sentence or two.
	longestError = 500
)

// liveNotYet is the error while a read takes longer.
const liveNotYet = "AWS has not answered yet; look again in a moment"

type liveKey struct {
	kind string
	types.NamespacedName
	uid string // an object of the same name created later has another resource
}

func (k liveKey) String() string { return k.kind + "\x00" + k.NamespacedName.String() + "\x00" + k.uid }

// liveCache shares reads from AWS among all requests for the same object.
type liveCache struct {
	read  ReadLive // nil: nothing is read
	looks looks[liveKey, liveResult]
}

type liveResult struct {
	values map[string]string
	err    string
}

func newLiveCache(read ReadLive, now func() time.Time) *liveCache {
	return &liveCache{read: read, looks: looks[liveKey, liveResult]{
		timeout: liveTimeout, recent: expiring.New[liveKey, liveResult](liveKept, now),
	}}
}

// get returns the live values of the resource of r.
func (l *liveCache) get(ctx context.Context, r operatorapi.Record) liveResult {
	if l.read == nil {
		return liveResult{}
	}
	key := liveKey{r.Kind, types.NamespacedName{Namespace: r.Namespace, Name: r.Name}, r.UID}
	one, answered := l.looks.get(ctx, key, func(ctx context.Context) liveResult { return l.readNow(ctx, key) })
	if !answered {
		return liveResult{err: liveNotYet}
	}
	return one
}

func (l *liveCache) readNow(ctx context.Context, key liveKey) liveResult {
	values, err := l.read(ctx, key.kind, key.NamespacedName)
	if err != nil {
		return liveResult{err: truncate(err.Error())}
	}
	return liveResult{values: values}
}

func truncate(text string) string {
	if runes := []rune(text); len(runes) > longestError {
		return string(runes[:longestError]) + "…"
	}
	return text
}
