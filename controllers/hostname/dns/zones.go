// Package dns reads and changes hosted zones of Route 53, sparingly: an account can make five requests a second in
// total.
package dns

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"
	"golang.org/x/sync/singleflight"

	"github.com/portico-platform/portico/api/dnsname"
	"github.com/portico-platform/portico/controllers/cloud"
)

// API is the part of the Route 53 client that is used.
type API interface {
	GetHostedZone(context.Context, *route53.GetHostedZoneInput, ...func(*route53.Options)) (
		*route53.GetHostedZoneOutput, error)
	ListResourceRecordSets(context.Context, *route53.ListResourceRecordSetsInput, ...func(*route53.Options)) (
		*route53.ListResourceRecordSetsOutput, error)
	ChangeResourceRecordSets(context.Context, *route53.ChangeResourceRecordSetsInput, ...func(*route53.Options)) (
		*route53.ChangeResourceRecordSetsOutput, error)
	GetChange(context.Context, *route53.GetChangeInput, ...func(*route53.Options)) (*route53.GetChangeOutput, error)
}

// Set is a record set: the records of one name and type.
type Set = types.ResourceRecordSet

// Zone is a hosted zone.
type Zone struct {
	ID      string
	Name    string // canonical; see dnsname.Canonical
	Private bool
}

// Zones reads and changes DNS for one session. Reads are cached for a while and shared; changed names are read again.
// Safe for concurrent use.
type Zones struct {
	api     API
	queues  *Queues
	now     func() time.Time
	age     time.Duration
	flights singleflight.Group

	mu    sync.Mutex
	zones map[string]cached[Zone]
	names map[recordName][]Set
	read  map[recordName]time.Time
	// forgotten is when a change of ours invalidated a name: reads that began earlier are discarded.
	forgotten map[recordName]time.Time
	spans     []span
	changes   map[string]*pendingChange
}

type recordName struct{ zone, name string }

type cached[V any] struct {
	value V
	at    time.Time
}

// pendingChange is a change that has not reached all name servers yet.
type pendingChange struct {
	first, looked time.Time // when it was first and last checked
	arrived       bool
}

// pollInterval returns how long to wait before the change is checked again; it grows with the age of the change.
func (c pendingChange) pollInterval() time.Duration {
	return min(max(c.looked.Sub(c.first)/4, firstPoll), lastPoll)
}

// zoneAge is how long a zone's properties are cached; they rarely change.
const zoneAge = 5 * time.Minute

// The interval between two checks of the same change; a change usually takes up to a minute.
const firstPoll, lastPoll = time.Second, 10 * time.Second

// New returns a Zones with an empty cache in front of api. age is how long a cached read counts as current.
func New(api API, queues *Queues, now func() time.Time, age time.Duration) *Zones {
	return &Zones{
		api: api, queues: queues, now: now, age: age,
		zones: map[string]cached[Zone]{}, names: map[recordName][]Set{}, read: map[recordName]time.Time{},
		forgotten: map[recordName]time.Time{}, changes: map[string]*pendingChange{},
	}
}

// Zone returns the zone, at most zoneAge old.
func (z *Zones) Zone(ctx context.Context, id string) (Zone, error) {
	z.mu.Lock()
	known, ok := z.zones[id]
	z.mu.Unlock()
	if ok && z.now().Sub(known.at) < zoneAge {
		return known.value, nil
	}
	return cloud.ShareCall(ctx, &z.flights, id, sendTimeout, func(ctx context.Context) (Zone, error) {
		return z.describe(ctx, id)
	})
}

func (z *Zones) describe(ctx context.Context, id string) (Zone, error) {
	out, err := z.api.GetHostedZone(ctx, &route53.GetHostedZoneInput{Id: &id})
	if err != nil {
		return Zone{}, err
	}
	zone := Zone{ID: id, Name: dnsname.Canonical(aws.ToString(out.HostedZone.Name))}
	if c := out.HostedZone.Config; c != nil {
		zone.Private = c.PrivateZone
	}
	z.mu.Lock()
	defer z.mu.Unlock()
	z.zones[id] = cached[Zone]{zone, z.now()}
	return zone, nil
}

// Change applies all the changes or none, batched with those of others, and returns the change ID for ChangeInSync.
func (z *Zones) Change(ctx context.Context, zone string, changes ...types.Change) (string, error) {
	id, err := z.queues.of(zone).submit(ctx, z.api, changes)
	z.mu.Lock()
	defer z.mu.Unlock()
	for _, c := range changes {
		name := dnsname.Canonical(aws.ToString(c.ResourceRecordSet.Name))
		p := recordName{zone, name}
		if seen := z.knownSince(p); err != nil || seen.IsZero() {
			z.forget(p)
		} else {
			z.names[p], z.read[p] = applyChange(z.names[p], c), seen
			z.invalidateReads(p)
		}
	}
	return id, err
}

// applyChange returns the cached sets with a successful change applied.
func applyChange(sets []Set, c types.Change) []Set {
	s := *c.ResourceRecordSet
	sets = slices.DeleteFunc(slices.Clone(sets), func(have Set) bool {
		return have.Type == s.Type && aws.ToString(have.SetIdentifier) == aws.ToString(s.SetIdentifier)
	})
	if c.Action != types.ChangeActionDelete {
		sets = append(sets, s)
	}
	return sets
}

// ChangeInSync reports whether a change has reached every name server, and if not, when to check again. Concurrent
// callers share the calls to Route 53.
func (z *Zones) ChangeInSync(ctx context.Context, id string) (arrived bool, again time.Duration, err error) {
	now := z.now()
	z.mu.Lock()
	c := z.changes[id]
	if c == nil {
		c = &pendingChange{first: now}
		z.changes[id] = c
	}
	known, pause := *c, c.pollInterval()
	if !known.looked.IsZero() && (known.arrived || now.Sub(known.looked) < pause) {
		z.mu.Unlock()
		return known.arrived, pause, nil
	}
	c.looked = now // other callers use this result meanwhile
	z.mu.Unlock()
	out, err := z.api.GetChange(ctx, &route53.GetChangeInput{Id: &id})
	if err != nil && !cloud.IsNotFound(err) { // Route 53 forgets changes only long after they have propagated
		return false, pause, err
	}
	z.mu.Lock()
	defer z.mu.Unlock()
	c.arrived = err != nil || out.ChangeInfo.Status == types.ChangeStatusInsync
	return c.arrived, c.pollInterval(), nil
}
