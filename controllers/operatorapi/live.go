package operatorapi

import (
	"context"
	"time"

	"golang.org/x/sync/singleflight"
	"k8s.io/apimachinery/pkg/types"

	"github.com/portico-platform/portico/api/expiring"
	"github.com/portico-platform/portico/api/operatorapi"
)

// ReadLive reads what moves by itself and is therefore not in the status of an object: from AWS, at that moment. nil without
// an error means that the kind has nothing of that sort, or that the object is not there yet. The error is for users.
type ReadLive func(ctx context.Context, kind string, of types.NamespacedName) (map[string]string, error)

const (
	// liveTimeout bounds one look at AWS.
	liveTimeout = 5 * time.Second
	// liveWait is how long an answer waits for it: callers give up after two seconds, and the rest of the answer is
	// there at once. A look that takes longer goes on, for the next one who asks.
	liveWait = time.Second
	// liveFor is how long a look is shared, and liveKept how many are kept.
	liveFor  = 10 * time.Second
	liveKept = 4096
	// longestError keeps a failure to the length of a sentence or two.
	longestError = 500
)

// liveNotYet is the error of a look that takes its time.
const liveNotYet = "AWS has not answered yet; look again in a moment"

type liveKey struct {
	kind string
	types.NamespacedName
	uid string // a namesake made later is another resource
}

// liveCache shares looks at AWS among all who ask for the same object.
type liveCache struct {
	read    ReadLive // nil: nothing is ever read
	recent  *expiring.Cache[liveKey, liveResult]
	flights singleflight.Group
}

type liveResult struct {
	values map[string]string
	err    string
}

func newLiveCache(read ReadLive, now func() time.Time) *liveCache {
	return &liveCache{read: read, recent: expiring.New[liveKey, liveResult](liveFor, liveKept, now)}
}

// get the resource that r is about.
func (l *liveCache) get(ctx context.Context, r operatorapi.Record) liveResult {
	if l.read == nil {
		return liveResult{}
	}
	key := liveKey{r.Kind, types.NamespacedName{Namespace: r.Namespace, Name: r.Name}, r.UID}
	if one, ok := l.recent.Get(key); ok {
		return one
	}
	flight := l.flights.DoChan(r.Kind+"\x00"+key.String()+"\x00"+r.UID, func() (any, error) {
		detached, cancel := context.WithTimeout(context.WithoutCancel(ctx), liveTimeout)
		defer cancel()
		one := l.readNow(detached, key)
		l.recent.Put(key, one)
		return one, nil
	})
	patience := time.NewTimer(liveWait)
	defer patience.Stop()
	select {
	case done := <-flight:
		return done.Val.(liveResult)
	case <-patience.C:
		return liveResult{err: liveNotYet}
	case <-ctx.Done():
		return liveResult{err: liveNotYet}
	}
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
