package cloud

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/portico-platform/portico/controllers/engine"
)

// reads records the calls of a batch.
type reads struct {
	mu      sync.Mutex
	calls   [][]string
	routine []bool
	err     error
}

// made returns the calls made so far.
func (r *reads) made() [][]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.calls)
}

func (r *reads) read(ctx context.Context, keys []string) (map[string]string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls, r.routine = append(r.calls, slices.Sorted(slices.Values(keys))), append(r.routine, engine.IsRoutine(ctx))
	found := map[string]string{}
	for _, key := range keys {
		if key != "lost" {
			found[key] = "value of " + key
		}
	}
	return found, r.err
}

func TestReadsThatComeTogetherShareACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &reads{}
		b := &Batch[string, string]{Window: 20 * time.Millisecond, Most: 100, Read: r.read}
		for _, key := range []string{"a", "b", "b", "lost"} {
			go func() {
				found, ok, err := b.Get(engine.WithRoutine(t.Context(), key != "b"), key)
				if err != nil || ok != (key != "lost") {
					t.Errorf("Get(%s) = %v, %v, want it found: %v", key, ok, err, key != "lost")
				}
				if ok && found != "value of "+key {
					t.Errorf("Get(%s) = %q, want value of %s", key, found, key)
				}
			}()
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if made := r.made(); len(made) != 1 || !slices.Equal(made[0], []string{"a", "b", "lost"}) {
			t.Errorf("calls %v", made)
		}
		if r.routine[0] {
			t.Error("a call that somebody waits for was made as routine work")
		}
		if _, _, err := b.Get(engine.WithRoutine(t.Context(), true), "c"); err != nil || !r.routine[1] {
			t.Errorf("a later read: %v, routine %v", err, r.routine)
		}
	})
}

func TestABatchIsSentWhenItIsFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &reads{}
		b := &Batch[string, string]{Window: time.Hour, Most: 3, Read: r.read}
		for i := range 7 {
			go func() { _, _, _ = b.Get(t.Context(), fmt.Sprint(i)) }()
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if made := r.made(); len(made) != 2 || len(made[0]) != 3 || len(made[1]) != 3 {
			t.Errorf("calls %v", made)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if made := r.made(); len(made) != 3 {
			t.Errorf("the rest was never read: %v", made)
		}
	})
}

func TestAFailedBatchFailsForAll(t *testing.T) {
	r := &reads{err: errors.New("page 2 failed")}
	b := &Batch[string, string]{Window: time.Millisecond, Most: 3, Read: r.read}
	if _, ok, err := b.Get(t.Context(), "a"); err == nil {
		t.Errorf("got %v without an error", ok)
	}
}

func TestAPanicIsAnErrorOfTheBatch(t *testing.T) {
	b := &Batch[string, string]{Window: time.Millisecond, Most: 3, Read: func(context.Context, []string) (
		map[string]string, error,
	) {
		panic("x")
	}}
	if _, ok, err := b.Get(t.Context(), "a"); ok || err == nil {
		t.Errorf("got %v, %v", ok, err)
	}
}

func TestWhoLeavesDoesNotEndTheCallOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &reads{}
		b := &Batch[string, string]{Window: time.Second, Most: 9, Read: func(ctx context.Context, keys []string) (
			map[string]string, error,
		) {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return r.read(ctx, keys)
		}}
		first, leave := context.WithCancel(t.Context())
		go func() {
			if _, _, err := b.Get(first, "a"); !errors.Is(err, context.Canceled) {
				t.Errorf("who left got %v", err)
			}
		}()
		synctest.Wait()
		leave()
		if _, ok, err := b.Get(t.Context(), "b"); !ok || err != nil {
			t.Errorf("who stayed got %v, %v", ok, err)
		}
	})
}

func TestWhatASessionSharesIsByRegionAndType(t *testing.T) {
	s := &Session{
		Config: aws.Config{Region: "eu"}, shared: &sharedValues{}, listings: &sharedValues{},
		limiters: &Limiters{Now: time.Now},
	}
	eu, us := s.In("eu", "Kind", ""), s.In("us", "Kind", "")
	made := 0
	build := func() *int { made++; return new(int) }
	if Shared(eu, build) != Shared(s, build) || Shared(eu, build) == Shared(us, build) || made != 2 {
		t.Errorf("%d were made, want one a region", made)
	}
}

func TestAListingAnswersRoutineLooksWhileItIsYoung(t *testing.T) {
	now := time.Unix(10_000, 0)
	s := &Session{
		Config: aws.Config{Region: "eu"}, shared: &sharedValues{}, listings: &sharedValues{},
		limiters: &Limiters{Now: func() time.Time { return now }},
	}
	eu, us := s.In("eu", "Kind", ""), s.In("us", "Kind", "")
	routine := engine.WithRoutine(t.Context(), true)
	_, _ = ListingOf[string](eu).Replace(map[string]string{"arn": "picture"}, nil)
	if v, ok := ListingOf[string](s).Get(routine, "arn"); !ok || v != "picture" {
		t.Error("a session of the same provider and region does not see the listing")
	}
	if _, ok := ListingOf[string](us).Get(routine, "arn"); ok {
		t.Error("another region sees the listing")
	}
	if _, ok := ListingOf[string](eu).Get(t.Context(), "arn"); ok {
		t.Error("a look that somebody waits for is answered from a listing")
	}
	now = now.Add(listingMaxAge + time.Second)
	if _, ok := ListingOf[string](eu).Get(routine, "arn"); ok {
		t.Error("a listing answers though no sweep has come through for long")
	}
	_, _ = ListingOf[string](eu).Replace(map[string]string{"arn": "picture"}, nil)
	_, _ = ListingOf[string](eu).Replace(nil, errors.New("throttled"))
	if _, ok := ListingOf[string](eu).Get(routine, "arn"); ok {
		t.Error("a forgotten listing is still seen")
	}
}
