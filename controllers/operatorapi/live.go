package operatorapi

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/portico-platform/portico/api/expiring"
	"github.com/portico-platform/portico/api/operatorapi"
)

// ReadLive reads what moves by itself and is therefore not in the status of an object: from AWS, at that moment. nil
// without an error means that the kind has nothing of that sort, or that the object is not there yet. The error is for
// users.
type ReadLive func(ctx context.Context, kind string, of types.NamespacedName) (map[string]string, error)

const (
	// liveTimeout bounds one look at AWS.
	liveTimeout = 5 * time.Second
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

func (k liveKey) String() string { return k.kind + "\x00" + k.NamespacedName.String() + "\x00" + k.uid }

// liveCache shares looks at AWS among all who ask for the same object.
type liveCache struct {
	read  ReadLive // nil: nothing is ever read
	looks looks[liveKey, liveResult]
}

type liveResult struct {
	values map[string]string
	err    string
}

func newLiveCache(read ReadLive, now func() time.Time) *liveCache {
	return &liveCache{read: read, looks: looks[liveKey, liveResult]{timeout: liveTimeout, recent: expiring.New[liveKey, liveResult](liveFor, liveKept, now)}}
}

// get the resource that r is about.
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
