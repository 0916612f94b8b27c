package fair

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// held takes slots for teams, and records which team got each.
type held struct {
	mu    sync.Mutex
	teams []string
	done  []func()
}

func (h *held) take(ctx context.Context, s *Slots, team string, n int) {
	for range n {
		go func() {
			done, err := s.Take(WithTeam(ctx, team))
			if err != nil {
				return
			}
			h.mu.Lock()
			defer h.mu.Unlock()
			h.teams, h.done = append(h.teams, team), append(h.done, done)
		}()
	}
	synctest.Wait() // each has a slot, or waits
}

// giveBack releases the slot that was held longest.
func (h *held) giveBack() {
	h.mu.Lock()
	done := h.done[0]
	h.done = h.done[1:]
	h.mu.Unlock()
	done()
	synctest.Wait()
}

func TestTeamsTakeSlotsInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, h := NewSlots(2, time.Now), &held{}
		h.take(t.Context(), s, "many", 1000)
		if want := []string{"many", "many"}; !slices.Equal(h.teams, want) {
			t.Fatalf("slots went to %v, want %v", h.teams, want)
		}
		h.take(t.Context(), s, "one", 1)
		h.take(t.Context(), s, "other", 1)
		if want := []string{"many", "many", "one"}; !slices.Equal(h.teams, want) {
			t.Fatalf("beside a busy team they went to %v, want %v", h.teams, want)
		}
		h.giveBack()
		if got := h.teams[3:]; !slices.Equal(got, []string{"other"}) {
			t.Errorf("the next went to %v", got)
		}
		for len(h.teams) < 1002 {
			h.giveBack()
		}
	})
}

// A team that writes occasionally would otherwise find all processor time of the API server taken by another team.
func TestATeamHasAllSlotsOnlyWhileNoOtherAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, h := NewSlots(3, time.Now), &held{}
		h.take(t.Context(), s, "many", 1000)
		if len(h.teams) != 3 {
			t.Fatalf("alone it has %d", len(h.teams))
		}
		h.take(t.Context(), s, "one", 1)
		for range 3 {
			h.giveBack()
		}
		if want := []string{"many", "many", "many", "one", "many"}; !slices.Equal(h.teams, want) {
			t.Fatalf("beside another they went to %v, want %v", h.teams, want)
		}
		h.giveBack() // the other's
		time.Sleep(active / 2)
		h.giveBack()
		if got := len(h.teams); got != 6 {
			t.Fatalf("between two writes of the other it got %d more", got-5)
		}
		time.Sleep(active)
		h.giveBack()
		if got := len(h.teams); got != 9 {
			t.Errorf("a while after the other's last it got %d, want all three", got-6)
		}
		for len(h.done) > 0 {
			h.giveBack()
		}
		if len(h.teams) != 1001 {
			t.Errorf("%d were served", len(h.teams))
		}
	})
}

func TestWhoGivesUpTakesNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, h := NewSlots(1, time.Now), &held{}
		h.take(t.Context(), s, "a", 1)
		ctx, cancel := context.WithCancel(t.Context())
		h.take(ctx, s, "a", 5)
		cancel()
		synctest.Wait()
		h.giveBack()
		h.take(t.Context(), s, "a", 1)
		if len(h.teams) != 2 || s.ring.Len() != 0 || s.running != 1 {
			t.Errorf("slots went to %v; %d wait", h.teams, s.ring.Len())
		}
		if _, err := s.Take(ctx); err == nil {
			t.Error("a slot was given to who had given up")
		}
	})
}

// Reads and the lease do not wait.
func TestOnlyWritesTakeSlots(t *testing.T) {
	answered := 0
	api := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { answered++ }))
	defer api.Close()
	s := NewSlots(1, time.Now)
	done, err := s.Take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: s.Transport(http.DefaultTransport)}
	send := func(ctx context.Context, method, path string) error {
		r, err := http.NewRequestWithContext(ctx, method, api.URL+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := client.Do(r)
		if err == nil {
			_ = answer.Body.Close()
		}
		return err
	}
	for _, free := range [][2]string{
		{http.MethodGet, "/api/v1/pods"},
		{http.MethodPut, "/apis/coordination.k8s.io/v1/namespaces/a/leases/b"},
	} {
		if err := send(t.Context(), free[0], free[1]); err != nil {
			t.Errorf("%v: %v", free, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := send(ctx, http.MethodPatch, "/api/v1/pods/a"); err == nil || answered != 2 {
		t.Errorf("a write without a slot: %v, %d requests were answered", err, answered)
	}
	done()
	if err := send(t.Context(), http.MethodPatch, "/api/v1/pods/a"); err != nil || s.running != 0 {
		t.Errorf("%v, %d slots are still taken", err, s.running)
	}
}
