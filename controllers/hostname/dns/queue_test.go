package dns

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"
	"github.com/aws/smithy-go"

	"github.com/portico-platform/portico/api/dnsname"
)

// zone fakes one hosted zone of Route 53: batches are applied completely or not at all.
type zone struct {
	mu      sync.Mutex
	sets    map[string]Set // by name and type
	sent    []int          // number of changes in each request
	lists   int
	asks    int
	open    int
	most    int // concurrent requests
	took    time.Duration
	slow    time.Duration // a read returns the state from when it began
	arrives time.Time
	fails   error
	hangs   bool // changes get no response
}

func newZone() *zone { return &zone{sets: map[string]Set{}} }

func key(s Set) string {
	return dnsname.Canonical(aws.ToString(s.Name)) + " " + string(s.Type) + aws.ToString(s.SetIdentifier)
}

func (z *zone) GetHostedZone(context.Context, *route53.GetHostedZoneInput, ...func(*route53.Options)) (
	*route53.GetHostedZoneOutput, error,
) {
	return &route53.GetHostedZoneOutput{
		HostedZone: &types.HostedZone{Name: aws.String("Example.com."), Config: &types.HostedZoneConfig{
			PrivateZone: true,
		}},
	}, z.fails
}

func (z *zone) ListResourceRecordSets(_ context.Context, in *route53.ListResourceRecordSetsInput,
	_ ...func(*route53.Options),
) (*route53.ListResourceRecordSetsOutput, error) {
	z.mu.Lock()
	z.lists++
	defer time.Sleep(z.slow)
	defer z.mu.Unlock()
	if z.fails != nil {
		return nil, z.fails
	}
	all := make([]Set, 0, len(z.sets))
	for _, s := range z.sets {
		all = append(all, s)
	}
	order := func(name string, kind types.RRType) string {
		low, _ := order(dnsname.Canonical(name))
		return low + " " + string(kind)
	}
	slices.SortFunc(all, func(a, b Set) int {
		return strings.Compare(order(aws.ToString(a.Name), a.Type), order(aws.ToString(b.Name), b.Type))
	})
	from := order(aws.ToString(in.StartRecordName), in.StartRecordType)
	all = slices.DeleteFunc(all, func(s Set) bool { return order(aws.ToString(s.Name), s.Type) < from })
	out := &route53.ListResourceRecordSetsOutput{ResourceRecordSets: all}
	if n := int(aws.ToInt32(in.MaxItems)); len(all) > n {
		out.ResourceRecordSets, out.IsTruncated, out.NextRecordName, out.NextRecordType = all[:n], true, all[n].Name,
			all[n].Type
	}
	return out, nil
}

func (z *zone) ChangeResourceRecordSets(ctx context.Context, in *route53.ChangeResourceRecordSetsInput,
	_ ...func(*route53.Options),
) (*route53.ChangeResourceRecordSetsOutput, error) {
	if z.hangs {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	z.mu.Lock()
	z.open++
	z.most = max(z.most, z.open)
	z.mu.Unlock()
	time.Sleep(z.took)
	z.mu.Lock()
	defer z.mu.Unlock()
	z.open--
	z.sent = append(z.sent, len(in.ChangeBatch.Changes))
	if z.fails != nil {
		return nil, z.fails
	}
	after := maps.Clone(z.sets)
	for _, c := range in.ChangeBatch.Changes {
		k := key(*c.ResourceRecordSet)
		_, there := after[k]
		if there == (c.Action == types.ChangeActionCreate) {
			return nil, &smithy.OperationError{ServiceID: "Route 53", Err: &smithy.GenericAPIError{
				Code: "InvalidChangeBatch", Message: k,
			}}
		}
		if after[k] = *c.ResourceRecordSet; c.Action == types.ChangeActionDelete {
			delete(after, k)
		}
	}
	z.sets = after
	return &route53.ChangeResourceRecordSetsOutput{
		ChangeInfo: &types.ChangeInfo{Id: aws.String(fmt.Sprintf("/change/C%d", len(z.sent)))},
	}, nil
}

func (z *zone) GetChange(context.Context, *route53.GetChangeInput, ...func(*route53.Options)) (
	*route53.GetChangeOutput, error,
) {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.asks++
	status := types.ChangeStatusPending
	if !time.Now().Before(z.arrives) {
		status = types.ChangeStatusInsync
	}
	return &route53.GetChangeOutput{ChangeInfo: &types.ChangeInfo{Status: status}}, z.fails
}

func zones(z *zone) *Zones {
	return New(z, &Queues{Window: 200 * time.Millisecond}, time.Now, time.Minute)
}

// all submits n groups concurrently and returns their errors.
func all(t *testing.T, z *Zones, n int, of func(i int) []types.Change) []error {
	t.Helper()
	errs := make([]error, n)
	var wait sync.WaitGroup
	for i := range n {
		wait.Go(func() { _, errs[i] = z.Change(t.Context(), "Z1", of(i)...) })
	}
	wait.Wait()
	return errs
}

func host(i int) string { return fmt.Sprintf("h%03d.example.com", i) }

func TestChangesThatComeTogetherGoTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z := newZone()
		for i, err := range all(t, zones(z), 200, func(i int) []types.Change {
			return []types.Change{
				Create(Alias(host(i), types.RRTypeA, "Z9", "lb.example.com")),
				Create(Text("_portico."+host(i), "x")),
			}
		}) {
			if err != nil {
				t.Errorf("%d: %v", i, err)
			}
		}
		if !slices.Equal(z.sent, []int{400}) || len(z.sets) != 400 {
			t.Errorf("requests %v, %d sets", z.sent, len(z.sets))
		}
	})
}

func TestARequestKeepsWithinTheLimitsOfRoute53(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z := newZone()
		long := strings.Repeat("x", 200)
		for _, err := range all(t, zones(z), 400, func(i int) []types.Change {
			return []types.Change{
				Create(Text(host(i), long)), Create(Alias(host(i), types.RRTypeA, "Z9", "lb")),
				Create(Alias(host(i), types.RRTypeAaaa, "Z9", "lb")),
			}
		}) {
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, n := range z.sent {
			if n > mostRecords || n/3*202 > mostCharacters {
				t.Errorf("a request of %d changes", n)
			}
		}
		if len(z.sent) > 4 {
			t.Errorf("requests %v", z.sent)
		}
	})
}

func TestUpsertsCountTwice(t *testing.T) {
	s := Text("a", "1234567890")
	if r, c := size([]types.Change{Create(s), {Action: types.ChangeActionUpsert, ResourceRecordSet: &s}}); r != 3 ||
		c != 36 {
		t.Errorf("%d records, %d characters", r, c)
	}
}

// One change in flight per zone: the others are batched meanwhile.
func TestOneRequestAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z := newZone()
		z.took = time.Second
		zs := zones(z)
		var wait sync.WaitGroup
		for i := range 50 {
			wait.Go(func() {
				time.Sleep(time.Duration(i) * 50 * time.Millisecond)
				if _, err := zs.Change(t.Context(), "Z1", Create(Text(host(i), "x"))); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		if z.most != 1 || len(z.sent) > 5 {
			t.Errorf("%d at a time, requests %v", z.most, z.sent)
		}
	})
}

func TestOnlyTheChangeThatIsWrongIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z := newZone()
		there := Text(host(13), "of somebody else")
		z.sets[key(there)] = there
		for i, err := range all(t, zones(z), 40, func(i int) []types.Change {
			return []types.Change{Create(Text(host(i), "ours")), Create(Text("_portico."+host(i), "ours"))}
		}) {
			if IsRefused(err) != (i == 13) || (err != nil) != (i == 13) {
				t.Errorf("%d: %v", i, err)
			}
		}
		if got := Values(z.sets[key(there)]); !slices.Equal(got, []string{"of somebody else"}) ||
			len(z.sets) != 39*2+1 {
			t.Errorf("%v, %d sets", got, len(z.sets))
		}
		if len(z.sent) > 2*6+1 {
			t.Errorf("%d requests to find one of 40", len(z.sent))
		}
	})
}

func TestAFailureIsEverybodys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z := newZone()
		z.fails = errors.New("boom")
		for _, err := range all(t, zones(z), 3, func(i int) []types.Change {
			return []types.Change{Create(Text(host(i), "x"))}
		}) {
			if !errors.Is(err, z.fails) {
				t.Errorf("%v", err)
			}
		}
		if len(z.sent) != 1 {
			t.Errorf("requests %v", z.sent)
		}
	})
}

// A group whose caller has left is not sent: it would be in addition to the caller's next changes. A request in flight
// is completed.
func TestWhoLeavesDoesNotStopTheOthers(t *testing.T) {
	for name, row := range map[string]struct {
		leaves time.Duration
		sets   int
	}{"before it is sent": {0, 1}, "while it is under way": {time.Second, 2}} {
		synctest.Test(t, func(t *testing.T) {
			z := newZone()
			z.took = 10 * time.Second
			zs := zones(z)
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() {
				_, err := zs.Change(ctx, "Z1", Create(Text(host(1), "x")))
				done <- err
			}()
			time.Sleep(row.leaves)
			synctest.Wait()
			cancel()
			if err := <-done; !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v", name, err)
			}
			if _, err := zs.Change(t.Context(), "Z1", Create(Text(host(2), "x"))); err != nil ||
				len(z.sets) != row.sets {
				t.Errorf("%s: %v, %d sets", name, err, len(z.sets))
			}
		})
	}
}

// When the operator ends, requests in flight are cancelled and nothing is sent again: another operator may have taken
// over.
func TestNothingIsSentAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z := newZone()
		until := make(chan struct{})
		zs := New(z, &Queues{Until: until}, time.Now, time.Minute)
		if _, err := zs.Change(t.Context(), "Z1", Create(Text(host(1), "x"))); err != nil {
			t.Fatal(err)
		}
		close(until)
		if _, err := zs.Change(t.Context(), "Z1", Create(Text(host(2), "x"))); !errors.Is(err, context.Canceled) ||
			len(z.sent) != 1 {
			t.Errorf("%v, requests %v", err, z.sent)
		}
		z.hangs = true
		until = make(chan struct{})
		zs = New(z, &Queues{Until: until}, time.Now, time.Minute)
		done := make(chan error, 1)
		go func() {
			_, err := zs.Change(t.Context(), "Z1", Create(Text(host(3), "x")))
			done <- err
		}()
		synctest.Wait()
		time.Sleep(time.Second)
		close(until)
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}
