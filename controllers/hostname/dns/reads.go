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

// page is how many record sets one read requests: those of the name, and the following ones, which are often read next.
const page = 30

// Records returns the record sets of exactly this name. That a name has none may come from a read of an earlier name,
// so the result may be out of date; creating an existing set is refused.
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

// ExactRecords returns the record sets of exactly this name from a read of the name itself, for callers that must not
// rely on a read that only passed it.
func (z *Zones) ExactRecords(ctx context.Context, zone, name string) ([]Set, error) {
	at := recordName{zone, name}
	z.mu.Lock()
	sets, fresh := z.names[at], z.fresh(at)
	z.mu.Unlock()
	if fresh {
		return sets, nil
	}
	return cloud.ShareCall(ctx, &z.flights, zone+" "+name, sendTimeout, func(ctx context.Context) ([]Set, error) {
		return z.readRecords(ctx, at)
	})
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
	for p := range z.names { // cached earlier, and not found again
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

// span is a range of a zone that was read completely, in Route 53's order.
type span struct {
	zone, from, to string
	at             time.Time
}

func (s span) covers(p recordName) bool {
	low, high := order(p.name)
	return s.zone == p.zone && s.from <= low && high <= s.to
}

// end sorts after every name.
const end = "\xff"

// knownSince returns when a name was read, itself or by a read that passed it; zero if that is too old. A name that was
// passed and not found has no sets. The caller holds z.mu.
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

// order returns the sort keys of Route 53: com.example.www. with a trailing dot, in ASCII. AWS does not document
// whether an asterisk sorts as itself or as the \052 that Route 53 returns, so such a name is somewhere from low to
// high.
func order(name string) (low, high string) {
	labels := strings.Split(name, ".")
	slices.Reverse(labels)
	low = strings.Join(labels, ".") + "."
	return low, strings.Replace(low, "*", `\052`, 1)
}

// list reads from the name on. found has the name with all its sets, perhaps none, and the following names that were
// read completely; last is the greatest order among them.
func (z *Zones) list(ctx context.Context, at recordName) (found map[string][]Set, last string, err error) {
	found = map[string][]Set{at.name: nil}
	in := &route53.ListResourceRecordSetsInput{HostedZoneId: &at.zone, StartRecordName: &at.name, MaxItems: aws.Int32(
		page)}
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
			delete(found, next) // it may be incomplete
			for n := range found {
				low, _ := order(n)
				last = max(last, low)
			}
			return found, last, nil
		}
		in.StartRecordName, in.StartRecordType, in.StartRecordIdentifier = out.NextRecordName, out.NextRecordType,
			out.NextRecordIdentifier
	}
}

// dropExpired bounds the size of the cache. The caller holds z.mu.
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

// fresh reports whether the cached read of a name is recent enough. The caller holds z.mu.
func (z *Zones) fresh(p recordName) bool {
	read, ok := z.read[p]
	return ok && z.now().Sub(read) < z.age
}

// forget drops a name from the cache, so that it is read again. The caller holds z.mu.
func (z *Zones) forget(p recordName) {
	delete(z.read, p)
	delete(z.names, p)
	z.invalidateReads(p)
}

// invalidateReads discards the results of reads in flight. The caller holds z.mu.
func (z *Zones) invalidateReads(p recordName) {
	z.forgotten[p] = z.now()
	z.flights.Forget(p.zone + " " + p.name)
}
