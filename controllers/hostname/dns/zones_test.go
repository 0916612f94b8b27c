package dns

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"
)

func TestAZone(t *testing.T) {
	z := newZone()
	zs := zones(z)
	got, err := zs.Zone(t.Context(), "Z1")
	if err != nil || got != (Zone{ID: "Z1", Name: "example.com", Private: true}) {
		t.Errorf("%+v, %v", got, err)
	}
	z.fails = errors.New("boom")
	if again, err := zs.Zone(t.Context(), "Z1"); err != nil || again != got {
		t.Errorf("asked again: %+v, %v", again, err)
	}
	if _, err := zs.Zone(t.Context(), "Z2"); !errors.Is(err, z.fails) {
		t.Errorf("%v", err)
	}
}

// Only the records of exactly one name are returned, and its ownership record comes from the same read.
func TestRecordsOfOneName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z := newZone()
		for _, s := range []Set{
			Alias("shop.example.com", types.RRTypeA, "Z9", "lb"),
			Alias("shop.example.com", types.RRTypeAaaa, "Z9", "lb"), Text("_portico.shop.example.com", "x"),
			Text("example.com", "x"), Text("shopx.example.com", "x"), Text("a.shop.example.com", "x"),
		} {
			z.sets[key(s)] = s
		}
		zs := zones(z)
		read := func(name string, want int) {
			t.Helper()
			if got, err := zs.Records(t.Context(), "Z1", name); err != nil || len(got) != want {
				t.Errorf("%s: %v, %v", name, got, err)
			}
		}
		read("shop.example.com", 2)
		read("_portico.shop.example.com", 1)
		if read("shop.example.com", 2); z.lists != 1 {
			t.Errorf("%d reads for what came in one", z.lists)
		}
		read("_other.shop.example.com", 0) // the read that passed it found nothing
		if read("zzz.example.com", 0); z.lists != 1 {
			t.Errorf("%d reads for what was read past", z.lists)
		}
		if got, err := zs.ExactRecords(t.Context(), "Z1", "zzz.example.com"); err != nil || len(got) != 0 ||
			z.lists != 2 {
			t.Errorf("exactly: %v, %v after %d reads", got, err, z.lists)
		}
		if read("nothing.example.com", 0); z.lists != 3 {
			t.Errorf("%d reads: a name before what was read is not known", z.lists)
		}
		read("nothing.example.com", 0)
		if _, err := zs.Change(t.Context(), "Z1", Create(Text("nothing.example.com", "x"))); err != nil {
			t.Fatal(err)
		}
		read("nothing.example.com", 1) // our own change is known
		if _, err := zs.Change(t.Context(), "Z1", Delete(Text("nothing.example.com", "x")),
			Create(Text("nothing.example.com", "y"))); err != nil {
			t.Fatal(err)
		}
		if got, _ := zs.Records(t.Context(), "Z1", "nothing.example.com"); z.lists != 3 || Values(got[0])[0] != "y" {
			t.Errorf("%v after %d reads", got, z.lists)
		}
		if _, err := zs.Change(t.Context(), "Z1", Create(Text("nothing.example.com", "z"))); !IsRefused(err) {
			t.Fatal(err)
		}
		read("nothing.example.com", 1)
		if z.lists != 4 {
			t.Errorf("%d reads: after a refusal it must be looked at again", z.lists)
		}
		delete(z.sets, "shop.example.com A")
		read("shop.example.com", 2)
		time.Sleep(time.Minute)
		read("shop.example.com", 1) // and others' after a while
		z.fails = errors.New("boom")
		if got, err := zs.Records(t.Context(), "Z1", "other.example.com"); err == nil {
			t.Errorf("a failed read is %v", got)
		}
	})
}

// A cached set does not survive a later read that passed its name and did not find it.
func TestWhatIsGoneIsNotRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z := newZone()
		s := Text("b.example.com", "x")
		z.sets[key(s)] = s
		zs := zones(z)
		for _, step := range []struct {
			name string
			want int
		}{{"b.example.com", 1}, {"a.example.com", 0}, {"b.example.com", 0}} {
			got, err := zs.Records(t.Context(), "Z1", step.name)
			if err != nil || len(got) != step.want {
				t.Errorf("%s: %v, %v", step.name, got, err)
			}
			delete(z.sets, key(s))
			time.Sleep(40 * time.Second)
		}
	})
}

// Concurrent callers share one read, and a read that began before a change of ours is not used after it.
func TestReadsAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z := newZone()
		z.slow = time.Second
		zs := zones(z)
		for range 50 {
			go func() { _, _ = zs.Records(t.Context(), "Z1", "shop.example.com") }()
		}
		synctest.Wait()
		if _, err := zs.Change(t.Context(), "Z1", Create(Text("shop.example.com", "x"))); err != nil {
			t.Fatal(err)
		}
		got, err := zs.Records(t.Context(), "Z1", "shop.example.com")
		if err != nil || len(got) != 1 || z.lists != 2 {
			t.Errorf("%v, %v after %d reads", got, err, z.lists)
		}
		time.Sleep(10 * time.Second)
		if got, err = zs.Records(t.Context(), "Z1", "shop.example.com"); err != nil || len(got) != 1 {
			t.Errorf("the read that began before is believed: %v, %v", got, err)
		}
	})
}

// A name with more sets than a page is read completely, and one that a page cuts off is not taken for complete.
func TestANameThatIsLongerThanAPage(t *testing.T) {
	z := newZone()
	for i := range 3*page + 5 {
		s := Text("many.example.com", "x")
		s.SetIdentifier = aws.String(fmt.Sprintf("%03d", i))
		z.sets[key(s)] = s
	}
	zs := zones(z)
	if _, err := zs.Records(t.Context(), "Z1", "a.example.com"); err != nil {
		t.Fatal(err)
	}
	// The fake pages by name and type only, without identifiers: it is enough that the truncated name is read again.
	if _, known := zs.read[recordName{"Z1", "many.example.com"}]; known {
		t.Error("a name that was cut is taken for whole")
	}
}

func TestAChangeIsAskedForOnceInAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z := newZone()
		z.arrives = time.Now().Add(time.Minute)
		zs := zones(z)
		began := time.Now()
		for arrived := false; !arrived; {
			var again time.Duration
			for range 100 { // all callers in the same change
				var err error
				if arrived, again, err = zs.ChangeInSync(t.Context(), "C1"); err != nil {
					t.Fatal(err)
				}
			}
			if !arrived {
				time.Sleep(again)
			}
		}
		if took := time.Since(began); z.asks > 20 || took > 75*time.Second {
			t.Errorf("asked %d times, and knew after %s", z.asks, took)
		}
		z.fails = errors.New("boom")
		if arrived, _, err := zs.ChangeInSync(t.Context(), "C1"); !arrived || err != nil {
			t.Errorf("what has arrived is asked for again: %v, %v", arrived, err)
		}
		if arrived, _, err := zs.ChangeInSync(t.Context(), "C2"); arrived || err == nil {
			t.Errorf("an error is an arrival: %v, %v", arrived, err)
		}
	})
}

func TestTheOrderOfRoute53(t *testing.T) {
	names := []string{
		"example.com", "0.example.com", "_portico-wildcard.example.com", "a-b.example.com",
		"a.example.com", "_x.a.example.com", "x.a.example.com", "b.example.com",
	}
	for i := range len(names) - 1 {
		low, high := order(names[i])
		if next, _ := order(names[i+1]); low != high || low >= next {
			t.Errorf("%s is not before %s", names[i], names[i+1])
		}
	}
	low, high := order("*.example.com")
	digit, _ := order("0.example.com")
	note, _ := order("_portico-wildcard.example.com")
	if low >= digit || digit >= high || high >= note { // with an asterisk and with \052
		t.Errorf("a wildcard is from %q to %q", low, high)
	}
}

func TestSame(t *testing.T) {
	alias := Alias("shop.example.com", types.RRTypeA, "Z9", "LB-1.elb.amazonaws.com")
	for name, row := range map[string]struct {
		change func(*Set)
		want   bool
	}{
		"as Route 53 shows it": {func(s *Set) {
			s.Name = aws.String("Shop.Example.com")
			s.AliasTarget = &types.AliasTarget{
				HostedZoneId: aws.String("Z9"), DNSName: aws.String("lb-1.elb.amazonaws.com."),
			}
		}, true},
		"another target": {func(s *Set) {
			s.AliasTarget = &types.AliasTarget{
				HostedZoneId: aws.String("Z9"),
				DNSName:      aws.String("dualstack.lb-2.elb.amazonaws.com."),
			}
		}, false},
		"another zone of the target": {func(s *Set) {
			s.AliasTarget = &types.AliasTarget{
				HostedZoneId: aws.String("Z8"),
				DNSName:      aws.String("dualstack.lb-1.elb.amazonaws.com."),
			}
		}, false},
		"another type":   {func(s *Set) { s.Type = types.RRTypeAaaa }, false},
		"a weighted set": {func(s *Set) { s.SetIdentifier = aws.String("blue") }, false},
		"no alias":       {func(s *Set) { *s = record("shop.example.com", types.RRTypeA, "192.0.2.1") }, false},
		"another name":   {func(s *Set) { s.Name = aws.String("shop2.example.com.") }, false},
	} {
		other := alias
		row.change(&other)
		if Same(alias, other) != row.want || Same(other, alias) != row.want {
			t.Errorf("%s: %v", name, Same(alias, other))
		}
	}
	if a, b := Text("a", "x"), Text("a", "y"); Same(a, b) || !Same(a, a) {
		t.Error("texts")
	}
	if wild := Alias(`*.example.com`, types.RRTypeA, "Z9", "lb"); !Same(
		wild, Set{Name: aws.String(`\052.example.com.`), Type: types.RRTypeA, AliasTarget: wild.AliasTarget}) {
		t.Error("a wildcard as Route 53 writes it")
	}
	if !SameTarget(CNAME("a", "B.example."), "b.example") || SameTarget(CNAME("a", "c.example"), "b.example") {
		t.Error("targets of CNAMEs")
	}
}
