package dns

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/route53"

	"github.com/portico-platform/portico/api/dnsname"
	"github.com/portico-platform/portico/controllers/cloud"
)

// page is how many record sets one read asks for: those of the name, and those after it that are often wanted next.
const page = 30

// Records returns the record sets of exactly this name. That there are none may be known from a read of a name before
// it: the caller must not take it for certain, and creating what is there is refused.
func (z *Zones) Records(ctx context.Context, zone, name string) ([]Set, error) {
	at := recordName{zone, name}
	z.mu.Lock()
	sets, seen := z.names[at], z.knownSince(at)
	z.mu.Unlock()
	if !seen.IsZero() {
		return sets, nil
	}
	return z.ExactRecords(ctx, zone, name)
}

// ExactRecords returns what Records does, for callers that need the name read itself: a read that only went past it
// does not count.
func (z *Zones) ExactRecords(ctx context.Context, zone, name string) ([]Set, error) {
	at := recordName{zone, name}
	z.mu.Lock()
	sets, fresh := z.names[at], z.fresh(at)
	z.mu.Unlock()
	if fresh {
		return sets, nil
	}
	return cloud.ShareCall(ctx, &z.flights, zone+" "+name, sendTimeout, func(ctx context.Context) ([]Set, error) { return z.readRecords(ctx, at) })
}

func (z *Zones) readRecords(ctx context.Context, at recordName) ([]Set, error) {
	asked := z.now()
	found, last, err := z.list(ctx, at)
	if err != nil {
		return nil, err
	}
	z.mu.Lock()
	defer z.mu.Unlock()
	z.dropExpired()
	_, from := order(at.name)
	part := span{zone: at.zone, from: from, to: last, at: asked}
	for p := range z.names { // what was there, and was not found again
		if _, again := found[p.name]; !again && part.covers(p) && z.read[p].Before(asked) {
			delete(z.names, p)
			delete(z.read, p)
		}
	}
	for n, sets := range found {
		p := recordName{at.zone, n}
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

func (s span) covers(p recordName) bool {
	low, high := order(p.name)
	return s.zone == p.zone && s.from <= low && high <= s.to
}

// end is after every name.
const end = "\xff"

// knownSince returns when a name was read, itself or by a read that went past it; zero, if that is not the present any
// more. Of a name that was passed and not found it is known that it has no sets. z.mu is held.
func (z *Zones) knownSince(p recordName) time.Time {
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

// order returns what Route 53 sorts names by: com.example.www. with the dot at the end, in ASCII. Whether an asterisk
// counts as one or as the \052 that Route 53 writes is not documented: such a name is somewhere from low to high.
func order(name string) (low, high string) {
	labels := strings.Split(name, ".")
	slices.Reverse(labels)
	low = strings.Join(labels, ".") + "."
	return low, strings.Replace(low, "*", `\052`, 1)
}

// list reads from the name on: the result has the name, with all its sets or none, and the names after it that came
// whole, up to the one whose order is last.
func (z *Zones) list(ctx context.Context, at recordName) (found map[string][]Set, last string, err error) {
	found = map[string][]Set{at.name: nil}
	in := &route53.ListResourceRecordSetsInput{HostedZoneId: &at.zone, StartRecordName: &at.name, MaxItems: aws.Int32(page)}
	last, _ = order(at.name)
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
				low, _ := order(n)
				last = max(last, low)
			}
			return found, last, nil
		}
		in.StartRecordName, in.StartRecordType, in.StartRecordIdentifier = out.NextRecordName, out.NextRecordType, out.NextRecordIdentifier
	}
}

// dropExpired keeps the memory from growing without end. z.mu is held.
func (z *Zones) dropExpired() {
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

// fresh reports whether a name was read a moment ago. z.mu is held.
func (z *Zones) fresh(p recordName) bool {
	read, ok := z.read[p]
	return ok && z.now().Sub(read) < z.age
}

// forget makes the next read of a name a real one. z.mu is held.
func (z *Zones) forget(p recordName) {
	delete(z.read, p)
	delete(z.names, p)
	z.invalidateReads(p)
}

// invalidateReads keeps reads that are under way from being believed. z.mu is held.
func (z *Zones) invalidateReads(p recordName) {
	z.forgotten[p] = z.now()
	z.flights.Forget(p.zone + " " + p.name)
}
