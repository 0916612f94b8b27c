package dns

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"

	"github.com/portico-platform/portico/controllers/fair"
)

// Limits of Route 53 for one request. A set counts as at least one record.
const (
	mostRecords    = 1000
	mostCharacters = 32000
)

// sendTimeout bounds a request shared by several callers, including its wait for the account's rate limit.
const sendTimeout = time.Minute

// Queues holds one queue for each zone. Safe for concurrent use.
type Queues struct {
	Window time.Duration // how long the first change of a request waits for others
	// Until is closed when the operator ends: requests in flight are cancelled and none is repeated, because another
	// operator may have taken over. nil: never.
	Until <-chan struct{}

	mu  sync.Mutex
	all map[string]*queue
}

func (q *Queues) of(zone string) *queue {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.all == nil {
		q.all = map[string]*queue{}
	}
	one := q.all[zone]
	if one == nil {
		one = &queue{zone: zone, window: q.Window, until: q.Until}
		q.all[zone] = one
	}
	return one
}

// queue sends one request at a time to a zone, and batches the changes that arrive meanwhile.
type queue struct {
	zone   string
	window time.Duration
	until  <-chan struct{}

	mu      sync.Mutex
	waiting []*changeGroup
	busy    bool
}

// changeGroup is a group of changes that are applied together or not at all.
type changeGroup struct {
	api     API
	team    string // whose share of the rate limit it uses
	changes []types.Change
	done    chan struct{}
	id      string
	err     error
}

// submit returns when the group's request was answered, or early when ctx ends: a request in flight goes on, but a
// group that still waits is dropped, because its caller will submit its current changes later.
func (q *queue) submit(ctx context.Context, api API, changes []types.Change) (string, error) {
	g := &changeGroup{api: api, team: fair.TeamOf(ctx), changes: changes, done: make(chan struct{})}
	q.mu.Lock()
	q.waiting = append(q.waiting, g)
	if !q.busy {
		q.busy = true
		time.AfterFunc(q.window, func() { q.drain(context.WithoutCancel(ctx)) })
	}
	q.mu.Unlock()
	select {
	case <-g.done:
		return g.id, g.err
	case <-ctx.Done():
		q.mu.Lock()
		defer q.mu.Unlock()
		q.waiting = slices.DeleteFunc(q.waiting, func(one *changeGroup) bool { return one == g })
		return "", ctx.Err()
	}
}

func (q *queue) drain(ctx context.Context) {
	for {
		batch := q.take()
		if len(batch) == 0 {
			return
		}
		q.send(ctx, batch)
	}
}

// take removes the groups that fit into one request with the same credentials; an empty batch ends the drain.
func (q *queue) take() []*changeGroup {
	q.mu.Lock()
	defer q.mu.Unlock()
	records, characters, n := 0, 0, 0
	for _, g := range q.waiting {
		r, c := size(g.changes)
		if n > 0 && (g.api != q.waiting[0].api || records+r > mostRecords || characters+c > mostCharacters) {
			break
		}
		records, characters, n = records+r, characters+c, n+1
	}
	batch := q.waiting[:n:n]
	q.waiting = q.waiting[n:]
	q.busy = n > 0
	return batch
}

// size counts as Route 53 does: records, and the characters of their values. An UPSERT counts twice.
func size(changes []types.Change) (records, characters int) {
	for _, c := range changes {
		r, v := max(1, len(c.ResourceRecordSet.ResourceRecords)), 0
		for _, one := range c.ResourceRecordSet.ResourceRecords {
			v += len(aws.ToString(one.Value))
		}
		if c.Action == types.ChangeActionUpsert {
			r, v = 2*r, 2*v
		}
		records, characters = records+r, characters+v
	}
	return records, characters
}

// send sends one request. If Route 53 refuses it, send splits the batch in halves, until only the groups at fault are
// refused.
func (q *queue) send(ctx context.Context, batch []*changeGroup) {
	var all []types.Change
	team := batch[0].team
	for _, g := range batch {
		all, team = append(all, g.changes...), fair.Joint(team, g.team)
	}
	id, err := q.request(fair.WithTeam(ctx, team), batch[0].api, all)
	if len(batch) > 1 && IsRefused(err) {
		q.send(ctx, batch[:len(batch)/2])
		q.send(ctx, batch[len(batch)/2:])
		return
	}
	for _, g := range batch {
		g.id, g.err = id, err
		close(g.done)
	}
}

func (q *queue) request(ctx context.Context, api API, changes []types.Change) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	select {
	case <-q.until:
		return "", context.Canceled
	default:
	}
	answered := make(chan struct{})
	defer close(answered)
	go func() {
		select {
		case <-q.until:
			cancel()
		case <-answered:
		}
	}()
	out, err := api.ChangeResourceRecordSets(ctx, &route53.ChangeResourceRecordSetsInput{
		HostedZoneId: &q.zone, ChangeBatch: &types.ChangeBatch{Changes: changes},
	})
	if err != nil {
		return "", err
	}
	return aws.ToString(out.ChangeInfo.Id), nil
}
