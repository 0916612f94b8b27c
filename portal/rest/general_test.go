package rest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/portico-platform/portico/portal/auth"
)

func TestMeSaysWhatTheCallerMayDo(t *testing.T) {
	f := newFake(t)
	f.denied = []string{"delete payments", "patch payments"}
	var me struct {
		Username   string
		Namespaces []string
		May        map[string][]string
	}
	read := func(path string, into any) {
		t.Helper()
		w := f.call("GET", path, "")
		if err := json.Unmarshal(w.Body.Bytes(), into); err != nil || w.Code != 200 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	}
	read("/me", &me)
	if me.Username != "system:serviceaccount:payments:ci" || !slices.Equal(me.Namespaces, []string{"payments"}) || me.May != nil {
		t.Errorf("%+v", me)
	}
	read("/me?namespace=payments", &me)
	want := []string{"get", "list", "create", "update"}
	if !slices.Equal(me.May["s3buckets"], want) || me.May["poolgateways"] == nil || me.May["awsproviders"] != nil {
		t.Errorf("may %v", me.May)
	}
	var kinds struct {
		Items []struct {
			Resource  string
			CanCreate *bool
			May       []string
		}
	}
	read("/catalog?namespace=payments", &kinds)
	for _, k := range kinds.Items {
		if k.CanCreate == nil || !*k.CanCreate || !slices.Equal(k.May, want) {
			t.Errorf("%+v", k)
		}
	}
	var spaces struct{ Items []struct{ Name string } }
	if read("/namespaces", &spaces); len(spaces.Items) != 1 || spaces.Items[0].Name != "payments" {
		t.Errorf("%+v", spaces)
	}
	wantProblem(t, f.call("GET", "/me?namespace=..", ""), 422)
}

func TestCallersThatAskTooOftenWait(t *testing.T) {
	f := newFake(t)
	clock := clocktesting.NewFakePassiveClock(time.Now())
	f.limits = Limits{PerSecond: 0.5, Burst: 2, Clock: clock}
	for range 2 {
		if w := f.call("GET", "/me", ""); w.Code != 200 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	}
	w := f.call("GET", "/me", "")
	if wantProblem(t, w, 429); w.Header().Get("Retry-After") != "2" || !strings.Contains(w.Body.String(), "Retry-After") {
		t.Errorf("asks for %q seconds: %s", w.Header().Get("Retry-After"), w.Body)
	}
	if w := f.call("GET", "/openapi.json", ""); w.Code != 200 {
		t.Errorf("the document: %d", w.Code)
	}
	clock.SetTime(clock.Now().Add(2 * time.Second))
	if w := f.call("GET", "/me", ""); w.Code != 200 {
		t.Errorf("after that time: %d", w.Code)
	}
	wantProblem(t, f.call("GET", "/me", ""), 429)
}

func TestOneCallerDoesNotSlowAnother(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Now())
	h := Limits{PerSecond: 1, Burst: 1, Clock: clock}.limit(ok)
	for name, want := range map[string]int{"a": 200, "b": 200} {
		if got := asCaller(t, h, name); got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
		if got := asCaller(t, h, name); got != 429 {
			t.Errorf("%s again: %d", name, got)
		}
	}
}

var ok = http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})

func asCaller(t *testing.T, h http.Handler, name string) int {
	t.Helper()
	w := httptest.NewRecorder()
	ctx := auth.WithIdentity(t.Context(), auth.Identity{Username: name})
	h.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/", http.NoBody))
	return w.Code
}

// TestTheFirstRequestsOfACallerShareOneLimit, however close together they come.
func TestTheFirstRequestsOfACallerShareOneLimit(t *testing.T) {
	h := Limits{PerSecond: 1, Burst: 1, Clock: clocktesting.NewFakePassiveClock(time.Now())}.limit(ok)
	const atOnce = 8
	for n := range 5000 {
		name := fmt.Sprintf("caller-%d", n)
		var passed atomic.Int32
		var all sync.WaitGroup
		begin := make(chan struct{})
		for range atOnce {
			all.Go(func() {
				<-begin
				if asCaller(t, h, name) == 200 {
					passed.Add(1)
				}
			})
		}
		close(begin)
		all.Wait()
		if passed.Load() != 1 {
			t.Fatalf("%d of %d requests of %s pass at once, want 1", passed.Load(), atOnce, name)
		}
	}
}

func TestCallersWhoWentAwayAreForgotten(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Now())
	all := newLimiters(Limits{PerSecond: 1, Burst: 4, Clock: clock})
	held := func() int { return len(all.young) + len(all.old) }
	busy := all.of("busy", clock.Now())
	for n := range 100 {
		all.of(fmt.Sprint(n), clock.Now())
	}
	for range 8 { // for twice as long as a burst takes
		clock.SetTime(clock.Now().Add(time.Second))
		if all.of("busy", clock.Now()) != busy {
			t.Error("one who goes on asking begins anew")
		}
	}
	if n := held(); n > 2 { // in both generations
		t.Errorf("%d limiters are held for 1 caller", n)
	}
	for n := range 3 * maxLimited {
		all.of(fmt.Sprint(n), clock.Now())
	}
	if n := held(); n > maxLimited {
		t.Errorf("%d limiters are held, want %d at most", n, maxLimited)
	}
}
