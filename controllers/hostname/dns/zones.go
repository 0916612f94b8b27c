// Package dns reads and changes hosted zones of Route 53, sparingly: an account may make five requests a second, for
// everything that it does.
package dns

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"
	"golang.org/x/sync/singleflight"

	"github.com/portico-platform/portico/api/dnsname"
	"github.com/portico-platform/portico/controllers/cloud"
)

// API is what is used of Route 53.
type API interface {
	GetHostedZone(context.Context, *route53.GetHostedZoneInput, ...func(*route53.Options)) (*route53.GetHostedZoneOutput, error)
	ListResourceRecordSets(context.Context, *route53.ListResourceRecordSetsInput, ...func(*route53.Options)) (*route53.ListResourceRecordSetsOutput, error)
	ChangeResourceRecordSets(context.Context, *route53.ChangeResourceRecordSetsInput, ...func(*route53.Options)) (*route53.ChangeResourceRecordSetsOutput, error)
	GetChange(context.Context, *route53.GetChangeInput, ...func(*route53.Options)) (*route53.GetChangeOutput, error)
}

// Set is what Route 53 holds for one name and type.
type Set = types.ResourceRecordSet

// Zone is a hosted zone.
type Zone struct {
	ID      string
	Name    string // canonical; see dnsname.Canonical
	Private bool
}

// Zones is the DNS of one session. Reads are remembered for a while and shared; what is changed through it is read anew.
// Safe for concurrent use.
type Zones struct {
	api     API
	queues  *Queues
	now     func() time.Time
	age     time.Duration
	flights singleflight.Group

	mu    sync.Mutex
	zones map[string]memory[Zone]
	names map[place][]Set
	read  map[place]time.Time
	// forgotten is when a change of ours made what was read before useless: a read that began earlier tells nothing.
	forgotten map[place]time.Time
	spans     []span
	changes   map[string]*change
}

type place struct{ zone, name string }

type memory[V any] struct {
	value V
	at    time.Time
}

// change is one on its way.
type change struct {
	first, looked time.Time // when it was first asked for, and last looked at
	arrived       bool
}

// pause is how long it is not looked at again: the longer, the longer it takes.
func (c change) pause() time.Duration {
	return min(max(c.looked.Sub(c.first)/4, firstPoll), lastPoll)
}

// zoneAge is how long a zone's own facts are remembered: they hardly ever change.
const zoneAge = 5 * time.Minute

// The time between two looks at the same change; it takes up to a minute as a rule.
const firstPoll, lastPoll = time.Second, 10 * time.Second

// New returns an empty memory in front of api. age is how old a record may be that is taken for the present one.
func New(api API, queues *Queues, now func() time.Time, age time.Duration) *Zones {
	return &Zones{
		api: api, queues: queues, now: now, age: age,
		zones: map[string]memory[Zone]{}, names: map[place][]Set{}, read: map[place]time.Time{}, forgotten: map[place]time.Time{}, changes: map[string]*change{},
	}
}

// Zone reads what the zone is.
func (z *Zones) Zone(ctx context.Context, id string) (Zone, error) {
	z.mu.Lock()
	known, ok := z.zones[id]
	z.mu.Unlock()
	if ok && z.now().Sub(known.at) < zoneAge {
		return known.value, nil
	}
	return together(ctx, &z.flights, id, func(ctx context.Context) (Zone, error) { return z.describe(ctx, id) })
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
	z.zones[id] = memory[Zone]{zone, z.now()}
	return zone, nil
}

// page is how many record sets one read asks for: those of the name, and those after it that are often wanted next.
const page = 30

// At returns the record sets of exactly this name. That there are none may be known from a read of a name before it: the
// caller must not take it for certain, and creating what is there is refused.
func (z *Zones) At(ctx context.Context, zone, name string) ([]Set, error) {
	at := place{zone, name}
	z.mu.Lock()
	sets, seen := z.names[at], z.seen(at)
	z.mu.Unlock()
	if !seen.IsZero() {
		return sets, nil
	}
	return z.Exactly(ctx, zone, name)
}

// Exactly is At that reads the name itself, if that was not done a moment ago.
func (z *Zones) Exactly(ctx context.Context, zone, name string) ([]Set, error) {
	at := place{zone, name}
	z.mu.Lock()
	sets, fresh := z.names[at], z.fresh(at)
	z.mu.Unlock()
	if fresh {
		return sets, nil
	}
	return together(ctx, &z.flights, zone+" "+name, func(ctx context.Context) ([]Set, error) { return z.look(ctx, at) })
}

// together makes those who ask for the same at the same time share one call, which no single caller's time bounds.
func together[V any](ctx context.Context, flights *singleflight.Group, key string, call func(context.Context) (V, error)) (none V, err error) {
	flight := flights.DoChan(key, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sendTimeout)
		defer cancel()
		return call(ctx)
	})
	select {
	case landed := <-flight:
		if landed.Err != nil {
			return none, landed.Err
		}
		return landed.Val.(V), nil
	case <-ctx.Done():
		return none, ctx.Err()
	}
}

func (z *Zones) look(ctx context.Context, at place) ([]Set, error) {
	asked := z.now()
	found, last, err := z.list(ctx, at)
	if err != nil {
		return nil, err
	}
	z.mu.Lock()
	defer z.mu.Unlock()
	z.forgetOld()
	part := span{zone: at.zone, from: order(at.name), to: last, at: asked}
	for p := range z.names { // what was there, and was not found again
		if _, again := found[p.name]; !again && part.covers(p) && z.read[p].Before(asked) {
			delete(z.names, p)
			delete(z.read, p)
		}
	}
	for n, sets := range found {
		p := place{at.zone, n}
		if z.forgotten[p].Before(asked) {
			z.names[p], z.read[p] = sets, asked
		}
	}
	z.spans = append(z.spans, part)
	return found[at.name], nil
}

// span is a part of a zone that was read whole, in the order of Route 53.
type span struct {
	zone, from, to string
	at             time.Time
}

func (s span) covers(p place) bool {
	key := order(p.name)
	return s.zone == p.zone && s.from <= key && key <= s.to
}

// end is after every name.
const end = "\xff"

// seen is when a name was read, itself or by a read that went past it; zero, if that is not the present any more. Of a name
// that was passed and not found it is known that it has no sets. z.mu is held.
func (z *Zones) seen(p place) time.Time {
	if z.fresh(p) {
		return z.read[p]
	}
	for _, s := range z.spans {
		if s.covers(p) && z.now().Sub(s.at) < z.age && z.forgotten[p].Before(s.at) {
			return s.at
		}
	}
	return time.Time{}
}

// order is what Route 53 sorts names by: com.example.www. with the dot at the end, in ASCII.
func order(name string) string {
	labels := strings.Split(name, ".")
	slices.Reverse(labels)
	return strings.Join(labels, ".") + "."
}

// list reads from the name on: the result has the name, with all its sets or none, and the names after it that came
// whole, up to the one whose order is last.
func (z *Zones) list(ctx context.Context, at place) (found map[string][]Set, last string, err error) {
	found = map[string][]Set{at.name: nil}
	in := &route53.ListResourceRecordSetsInput{HostedZoneId: &at.zone, StartRecordName: &at.name, MaxItems: aws.Int32(page)}
	last = order(at.name)
	for {
		out, err := z.api.ListResourceRecordSets(ctx, in)
		if err != nil {
			return nil, "", err
		}
		for _, s := range out.ResourceRecordSets {
			n := dnsname.Canonical(aws.ToString(s.Name))
			found[n] = append(found[n], s)
		}
		if !out.IsTruncated {
			return found, end, nil
		}
		next := dnsname.Canonical(aws.ToString(out.NextRecordName))
		if next != at.name {
			delete(found, next) // it may be cut in the middle
			for n := range found {
				last = max(last, order(n))
			}
			return found, last, nil
		}
		in.StartRecordName, in.StartRecordType, in.StartRecordIdentifier = out.NextRecordName, out.NextRecordType, out.NextRecordIdentifier
	}
}

// forgetOld keeps the memory from growing without end. z.mu is held.
func (z *Zones) forgetOld() {
	for p, at := range z.read {
		if z.now().Sub(at) >= z.age {
			delete(z.read, p)
			delete(z.names, p)
		}
	}
	z.spans = slices.DeleteFunc(z.spans, func(s span) bool { return z.now().Sub(s.at) >= z.age })
	for p, at := range z.forgotten {
		if z.now().Sub(at) >= zoneAge {
			delete(z.forgotten, p)
		}
	}
	for id, c := range z.changes {
		if z.now().Sub(c.looked) >= zoneAge {
			delete(z.changes, id)
		}
	}
}

// fresh tells that a name was read a moment ago. z.mu is held.
func (z *Zones) fresh(p place) bool {
	read, ok := z.read[p]
	return ok && z.now().Sub(read) < z.age
}

// forget makes the next read of a name a real one. z.mu is held.
func (z *Zones) forget(p place) {
	delete(z.read, p)
	delete(z.names, p)
	z.outdate(p)
}

// outdate keeps reads that are under way from being believed. z.mu is held.
func (z *Zones) outdate(p place) {
	z.forgotten[p] = z.now()
	z.flights.Forget(p.zone + " " + p.name)
}

// Change makes all the changes or none, together with those of others in one request, and returns the ID by which to ask
// whether they have arrived.
func (z *Zones) Change(ctx context.Context, zone string, changes ...types.Change) (string, error) {
	id, err := z.queues.of(zone).submit(ctx, z.api, changes)
	z.mu.Lock()
	defer z.mu.Unlock()
	for _, c := range changes {
		name := dnsname.Canonical(aws.ToString(c.ResourceRecordSet.Name))
		p := place{zone, name}
		if seen := z.seen(p); err != nil || seen.IsZero() {
			z.forget(p)
		} else {
			z.names[p], z.read[p] = changed(z.names[p], c), seen
			z.outdate(p)
		}
	}
	return id, err
}

// changed is sets after a change that was made; it is as if they had been read.
func changed(sets []Set, c types.Change) []Set {
	s := *c.ResourceRecordSet
	sets = slices.DeleteFunc(slices.Clone(sets), func(have Set) bool {
		return have.Type == s.Type && aws.ToString(have.SetIdentifier) == aws.ToString(s.SetIdentifier)
	})
	if c.Action != types.ChangeActionDelete {
		sets = append(sets, s)
	}
	return sets
}

// Arrived tells whether a change has reached every name server, and if not, when to ask again. Many may ask: Route 53 is
// asked once in a while.
func (z *Zones) Arrived(ctx context.Context, id string) (arrived bool, again time.Duration, err error) {
	now := z.now()
	z.mu.Lock()
	c := z.changes[id]
	if c == nil {
		c = &change{first: now}
		z.changes[id] = c
	}
	known, pause := *c, c.pause()
	if !known.looked.IsZero() && (known.arrived || now.Sub(known.looked) < pause) {
		z.mu.Unlock()
		return known.arrived, pause, nil
	}
	c.looked = now // others need not ask meanwhile
	z.mu.Unlock()
	out, err := z.api.GetChange(ctx, &route53.GetChangeInput{Id: &id})
	if err != nil && !cloud.IsNotFound(err) { // Route 53 forgets changes long after they have arrived
		return false, pause, err
	}
	z.mu.Lock()
	defer z.mu.Unlock()
	c.arrived = err != nil || out.ChangeInfo.Status == types.ChangeStatusInsync
	return c.arrived, c.pause(), nil
}

// Refused tells an answer that is about the records themselves: none of the changes was made.
func Refused(err error) bool { return cloud.HasCode(err, "InvalidChangeBatch") }

// Create is the change that makes a set, and fails if there is one of its name and type.
func Create(s Set) types.Change {
	return types.Change{Action: types.ChangeActionCreate, ResourceRecordSet: &s}
}

// Delete is the change that removes exactly this set as it was read, and fails if it is another by now.
func Delete(s Set) types.Change {
	return types.Change{Action: types.ChangeActionDelete, ResourceRecordSet: &s}
}

// Alias is an A or AAAA record that leads to a load balancer.
func Alias(name string, kind types.RRType, zone, target string) Set {
	return Set{Name: aws.String(name + "."), Type: kind, AliasTarget: &types.AliasTarget{
		HostedZoneId: &zone, DNSName: aws.String("dualstack." + canonicalTarget(target) + "."), EvaluateTargetHealth: false,
	}}
}

// Text is a TXT record of one value.
func Text(name, value string) Set { return record(name, types.RRTypeTxt, `"`+value+`"`) }

// CNAME leads from one name to another.
func CNAME(name, target string) Set {
	return record(name, types.RRTypeCname, dnsname.Canonical(target)+".")
}

// ttl of our records, in seconds: short enough that a mistake is soon over.
const ttl = 300

func record(name string, kind types.RRType, value string) Set {
	return Set{Name: aws.String(name + "."), Type: kind, TTL: aws.Int64(ttl), ResourceRecords: []types.ResourceRecord{{Value: &value}}}
}

// Of returns the set of a type among sets.
func Of(sets []Set, kind types.RRType) (Set, bool) {
	for _, s := range sets {
		if s.Type == kind {
			return s, true
		}
	}
	return Set{}, false
}

// Values are a set's, with the quotes of TXT records taken off.
func Values(s Set) []string {
	all := make([]string, 0, len(s.ResourceRecords))
	for _, r := range s.ResourceRecords {
		v := aws.ToString(r.Value)
		if s.Type == types.RRTypeTxt {
			v = strings.Trim(v, `"`)
		}
		all = append(all, v)
	}
	return all
}

// canonicalTarget is a load balancer's name as it is compared: Route 53's console puts dualstack. in front.
func canonicalTarget(name string) string {
	return strings.TrimPrefix(dnsname.Canonical(name), "dualstack.")
}

// Same tells whether two sets mean the same to whoever asks for the name.
func Same(a, b Set) bool {
	if dnsname.Canonical(aws.ToString(a.Name)) != dnsname.Canonical(aws.ToString(b.Name)) || a.Type != b.Type || a.SetIdentifier != nil || b.SetIdentifier != nil {
		return false
	}
	if a.AliasTarget != nil && b.AliasTarget != nil {
		return aws.ToString(a.AliasTarget.HostedZoneId) == aws.ToString(b.AliasTarget.HostedZoneId) &&
			canonicalTarget(aws.ToString(a.AliasTarget.DNSName)) == canonicalTarget(aws.ToString(b.AliasTarget.DNSName)) &&
			a.AliasTarget.EvaluateTargetHealth == b.AliasTarget.EvaluateTargetHealth
	}
	if (a.AliasTarget == nil) != (b.AliasTarget == nil) {
		return false
	}
	return aws.ToInt64(a.TTL) == aws.ToInt64(b.TTL) && sameValues(a, b)
}

// SameTarget is Same for CNAMEs whatever their TTL is.
func SameTarget(s Set, target string) bool {
	v := Values(s)
	return len(v) == 1 && dnsname.Canonical(v[0]) == dnsname.Canonical(target)
}

func sameValues(a, b Set) bool {
	return fmt.Sprint(Values(a)) == fmt.Sprint(Values(b))
}
