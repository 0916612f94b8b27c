package cloud

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/fair"
)

// journal records the order of turns.
type journal struct {
	mu    sync.Mutex
	teams []string
}

func (j *journal) calls(t *testing.T, l *limiter, ctx context.Context, team string, n int) { //nolint:revive // the context is what is tested
	t.Helper()
	ctx = fair.WithTeam(ctx, team)
	for range n {
		go func() {
			if err := l.wait(ctx); err != nil {
				return
			}
			j.mu.Lock()
			defer j.mu.Unlock()
			j.teams = append(j.teams, team)
		}()
	}
	synctest.Wait() // they wait for their turns
}

func (j *journal) until(t *testing.T, n int) []string {
	t.Helper()
	for {
		time.Sleep(time.Second)
		j.mu.Lock()
		all := slices.Clone(j.teams)
		j.mu.Unlock()
		if len(all) >= n {
			return all[:n]
		}
	}
}

func TestTeamsCallInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, j := newLimiter(1, time.Now()), &journal{}
		if err := l.wait(t.Context()); err != nil { // the burst
			t.Fatal(err)
		}
		j.calls(t, l, t.Context(), "many", 1000)
		j.calls(t, l, t.Context(), "few", 2)
		j.calls(t, l, t.Context(), "one", 1)
		got := j.until(t, 7)
		if want := []string{"many", "few", "one", "many", "few", "many", "many"}; !slices.Equal(got, want) {
			t.Errorf("the turns went to %v, want %v", got, want)
		}
		if all := j.until(t, 1003); len(all) != 1003 {
			t.Errorf("%d calls were made", len(all))
		}
	})
}

// A team with one object need not wait for a token three times in a row, but the rate is not exceeded for it.
func TestATeamThatCallsLittleDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, j, start := newLimiter(20, time.Now()), &journal{}, time.Now()
		j.calls(t, l, t.Context(), "many", 1000) // 40 of them, the burst, are made
		one := fair.WithTeam(t.Context(), "one")
		for object := range 5 {
			began := time.Now()
			for range 4 {
				if err := l.wait(one); err != nil {
					t.Fatal(err)
				}
			}
			if waited := time.Since(began); waited > 0 {
				t.Errorf("object %d waited %s", object, waited)
			}
			time.Sleep(time.Second)
		}
		synctest.Wait()
		j.mu.Lock()
		all := len(j.teams) + 20
		j.mu.Unlock()
		if most := 40 + 20*int(time.Since(start).Seconds()) + 4; all < most-8 || all > most {
			t.Errorf("%d calls in %s at 20 a second", all, time.Since(start))
		}
	})
}

// Many such teams at once do not exceed the rate: they take turns again.
func TestTeamsThatCallLittleTogetherKeepTheRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, j, start := newLimiter(20, time.Now()), &journal{}, time.Now()
		for i := range 100 {
			j.calls(t, l, t.Context(), string(rune('a'+i)), 4)
		}
		j.until(t, 400)
		// 40 calls are the burst, and 4 more can be ahead.
		if took := time.Since(start); took < 17*time.Second || took > 19*time.Second {
			t.Errorf("400 calls at 20 a second took %s", took)
		}
	})
}

func TestATeamAloneGetsTheWholeRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, j, start := newLimiter(10, time.Now()), &journal{}, time.Now()
		j.calls(t, l, t.Context(), "alone", 120) // 20 of them are the burst
		j.until(t, 120)
		if took := time.Since(start); took < 10*time.Second || took > 11*time.Second {
			t.Errorf("100 calls at 10 a second took %s", took)
		}
	})
}

func TestRoutineWorkOfOneTeamTakesTurnsToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, j := newLimiter(2, time.Now()), &journal{}
		routine := engine.WithRoutine(t.Context(), true)
		j.calls(t, l, routine, "many", 1000)
		j.calls(t, l, routine, "few", 1)
		got := j.until(t, 5)
		if at := slices.Index(got, "few"); at < 0 || at > 3 {
			t.Errorf("the other team's audit came at %d of %v", at, got)
		}
	})
}

func TestWhoGivesUpTakesNoTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, j := newLimiter(1, time.Now()), &journal{}
		if err := l.wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		j.calls(t, l, ctx, "many", 100)
		cancel()
		synctest.Wait()
		j.calls(t, l, t.Context(), "one", 1)
		start := time.Now()
		if got := j.until(t, 1); got[0] != "one" || time.Since(start) > 2*time.Second || l.all.ring.Len() != 0 {
			t.Errorf("%v after %s", got, time.Since(start))
		}
	})
}

// A pass that cannot get its turn in time must not occupy a worker until its deadline.
func TestWhoCannotComeToATurnIsToldAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, j := newLimiter(1, time.Now()), &journal{}
		j.calls(t, l, t.Context(), "many", 100)
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		start := time.Now()
		if err := l.wait(fair.WithTeam(ctx, "many")); !errors.Is(err, errRateLimited) || time.Since(start) != 0 {
			t.Errorf("the hundredth of a team: %v after %s", err, time.Since(start))
		}
		if err := l.wait(fair.WithTeam(ctx, "one")); err != nil || time.Since(start) > 3*time.Second {
			t.Errorf("the first of another: %v after %s", err, time.Since(start))
		}
		j.until(t, 99)
	})
}

// A rate lowered by throttling is shared as before, and a team that called little does not wait.
func TestTeamsCallInTurnAtALoweredRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, j := newLimiter(10, time.Now()), &journal{}
		j.calls(t, l, t.Context(), "many", 20) // the burst
		for i := range 20 {
			l.answered(true, l.since.Add(time.Duration(i)*time.Second))
		}
		j.calls(t, l, t.Context(), "many", 50)
		j.calls(t, l, t.Context(), "one", 1)
		if got := j.until(t, 23)[20:]; got[0] != "one" {
			t.Errorf("the turns went to %v", got)
		}
		j.until(t, 71)
	})
}

func TestABatchIsInTheShareOfItsTeam(t *testing.T) {
	for name, row := range map[string]struct {
		teams []string
		want  string
	}{"of one": {[]string{"a", "a"}, "a"}, "of several": {[]string{"a", "b", "a"}, fair.Several}} {
		synctest.Test(t, func(t *testing.T) {
			var whose string
			b := &Batch[int, int]{Window: time.Second, Most: 10, Read: func(ctx context.Context, _ []int) (
				map[int]int, error,
			) {
				whose = fair.TeamOf(ctx)
				return nil, nil
			}}
			var all sync.WaitGroup
			for i, team := range row.teams {
				all.Go(func() { _, _, _ = b.Get(fair.WithTeam(t.Context(), team), i) })
			}
			all.Wait()
			if whose != row.want {
				t.Errorf("%s: in the share of %q, want %q", name, whose, row.want)
			}
		})
	}
}
