package operatorapi

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"golang.org/x/sync/singleflight"
	"k8s.io/apimachinery/pkg/types"

	"github.com/portico-platform/portico/api/expiring"
	"github.com/portico-platform/portico/controllers/fair"
)

const (
	// lookWait is how long a response waits for a read from AWS: clients time out after two seconds, and the rest of
	// the response is ready at once. A read that takes longer continues, and the next request gets its result.
	lookWait = time.Second
	// failedFor is how long an error is cached: a user who goes on typing does not repeat the call sooner.
	failedFor = 10 * time.Second
	// cachedReads and cachedBytes bound the cache, errors included.
	cachedReads = 4096
	cachedBytes = 32 << 20
	// longestError limits an error to a sentence or two.
	longestError = 500
	// mostLists is how many lists are read from AWS at once, so that reconciling has priority. Teams take turns, and a
	// team with no list under way never waits for one that uses all of them.
	mostLists = 4
)

var (
	errNotYet    = errors.New("AWS has not answered yet; look again in a moment")
	errListsBusy = errors.New("too many lists are being read from AWS: try again in a moment")
)

// readCache is the only cache of what is read from AWS for questions, for all replicas of the portal.
type readCache struct {
	recent  *expiring.Cache[any, outcome]
	flights singleflight.Group
	turns   *fair.Slots
	teamOf  func(namespace string) string // nil: each namespace is a team of its own
	uidOf   func(ctx context.Context, namespace string) (types.UID, error)
}

// outcome is the result of a read. An error is cached as an error, never as the absence of values.
type outcome struct {
	answer any
	err    error
}

// size returns the approximate size in bytes.
func (o outcome) size() int {
	text, _ := json.Marshal(o.answer) // what is written as JSON later
	if o.err != nil {
		text = append(text, o.err.Error()...)
	}
	return len(text)
}

func newReadCache(s Source) *readCache {
	return &readCache{
		recent: expiring.New[any, outcome](cachedReads, s.Now).Sized(cachedBytes, outcome.size),
		turns:  fair.NewSlots(mostLists, s.Now), teamOf: s.TeamOf, uidOf: s.NamespaceUID,
	}
}

// awsRead reads the answers to one question from AWS.
type awsRead[Q, A any] struct {
	cache   *readCache
	timeout time.Duration // of one read
	life    time.Duration // how long an answer is cached
	// name returns what distinguishes a question from all others.
	name func(q Q) string
	// namespace returns whose question it is: the namespace's team takes a turn at reading, and another namespace of
	// the same name gets other answers; nil: reads take no turns, and the name says whose question it is.
	namespace func(q Q) string
	// open checks whether the question can be asked. It returns the key of the answer, which has all that the answer
	// depends on, such as the rights of the namespace, and the function that reads the answer. A nil key means that the
	// answer depends on nothing but the question.
	open func(ctx context.Context, q Q) (key any, read func(context.Context) (A, error), err error)
}

// always returns the function open of a question that can always be asked.
func always[Q, A any](read func(context.Context, Q) (A, error)) func(context.Context, Q) (
	any, func(context.Context) (A, error), error,
) {
	return func(_ context.Context, q Q) (any, func(context.Context) (A, error), error) {
		return nil, func(ctx context.Context) (A, error) { return read(ctx, q) }, nil
	}
}

// id returns the name of a question, with the UID of the namespace that asks it.
func (a *awsRead[Q, A]) id(ctx context.Context, q Q) (string, error) {
	if a.namespace == nil || a.cache.uidOf == nil {
		return a.name(q), nil
	}
	uid, err := a.cache.uidOf(ctx, a.namespace(q))
	return a.name(q) + "#" + string(uid), err
}

// get returns the answer, cached or new. Concurrent requests for the same question share one read. The error is
// errNotYet if AWS does not answer within lookWait.
func (a *awsRead[Q, A]) get(ctx context.Context, q Q) (answer A, err error) {
	id, err := a.id(ctx, q)
	if err != nil {
		return answer, err
	}
	flight := a.cache.flights.DoChan(id, func() (any, error) {
		detached, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.timeout)
		defer cancel()
		return a.cachedOrRead(detached, q, id), nil
	})
	patience := time.NewTimer(lookWait)
	defer patience.Stop()
	select {
	case done := <-flight:
		out := done.Val.(outcome)
		answer, _ = out.answer.(A)
		return answer, out.err
	case <-patience.C:
	case <-ctx.Done():
	}
	return answer, errNotYet
}

// cachedOrRead caches an error of open under the ID of the question, and all else under the key of the answer. A cached
// answer takes no turn.
func (a *awsRead[Q, A]) cachedOrRead(ctx context.Context, q Q, id string) outcome {
	if known, ok := a.cache.recent.Get(id); ok {
		return known
	}
	if a.namespace != nil {
		ctx = a.cache.forTeam(ctx, a.namespace(q))
	}
	key, read, err := a.open(ctx, q)
	if err != nil {
		return a.cache.put(id, outcome{err: err}, failedFor)
	}
	if key == nil {
		key = id
	}
	if known, ok := a.cache.recent.Get(key); ok {
		return known
	}
	if a.namespace != nil {
		done, err := a.cache.turns.Take(ctx)
		if err != nil {
			return a.cache.put(key, outcome{err: errListsBusy}, failedFor)
		}
		defer done()
	}
	answer, err := read(ctx)
	if err != nil {
		return a.cache.put(key, outcome{answer, err}, failedFor)
	}
	return a.cache.put(key, outcome{answer, nil}, a.life)
}

func (c *readCache) put(key any, out outcome, life time.Duration) outcome {
	c.recent.Put(key, out, life)
	return out
}

// forTeam returns a context whose lists and calls to AWS are counted for the namespace's team.
func (c *readCache) forTeam(ctx context.Context, namespace string) context.Context {
	if c.teamOf != nil {
		namespace = c.teamOf(namespace)
	}
	return fair.WithTeam(ctx, namespace)
}

func truncate(text string) string {
	if runes := []rune(text); len(runes) > longestError {
		return string(runes[:longestError]) + "…"
	}
	return text
}
