package operatorapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/controllers/offers"
)

// listing is a fake account whose answers can be delayed.
type listing struct {
	takes time.Duration
	err   error
	// generation is that of the rules that decide what a namespace can use.
	generation atomic.Int64

	mu    sync.Mutex
	asked []operatorapi.OfferQuery
}

// questions returns the queries so far.
func (l *listing) questions() []operatorapi.OfferQuery {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.asked)
}

func (l *listing) Open(_ context.Context, q operatorapi.OfferQuery) (
	any, func(context.Context) ([]operatorapi.Offer, error), error,
) {
	list := func(context.Context) ([]operatorapi.Offer, error) {
		l.mu.Lock()
		l.asked = append(l.asked, q)
		l.mu.Unlock()
		time.Sleep(l.takes)
		return []operatorapi.Offer{{Value: "t3.micro", Label: "2 vCPU"}}, l.err
	}
	return fmt.Sprint(q.Path(), " ", l.generation.Load()), list, nil
}

func TestOffersOfAnAccount(t *testing.T) {
	q := operatorapi.OfferQuery{
		Kind: "RDSInstance", Namespace: "payments", Provider: "main", Field: "dbInstanceClass",
		Region: "eu-west-1", With: map[string]string{"engine": "postgres"},
	}
	for name, c := range map[string]struct {
		account *listing
		want    operatorapi.Offers
		status  int
	}{
		"a list":             {&listing{}, operatorapi.Offers{Items: []operatorapi.Offer{{Value: "t3.micro", Label: "2 vCPU"}}}, 200},
		"AWS refuses":        {&listing{err: errors.New("denied")}, operatorapi.Offers{Error: "denied"}, 200},
		"AWS takes its time": {&listing{takes: time.Minute}, operatorapi.Offers{Pending: true}, 200},
		"no such field":      {&listing{err: offers.ErrUnknown}, operatorapi.Offers{}, 404},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHandlers(Source{Offers: c.account.Open, Now: time.Now}).routes()
				for range 2 { // the second comes from the cache, or waits together with the first
					var got operatorapi.Offers
					if status := get(t, h, q.Path(), &got); status != c.status {
						t.Errorf("status = %d, want %d", status, c.status)
					}
					if got.Pending != c.want.Pending || got.Error != c.want.Error {
						t.Errorf("Pending = %v, Error = %q, want %v, %q", got.Pending, got.Error, c.want.Pending,
							c.want.Error)
					}
					if len(got.Items) != len(c.want.Items) {
						t.Errorf("Items = %+v, want %+v", got.Items, c.want.Items)
					}
				}
				if asked := c.account.questions(); len(asked) != 1 || asked[0].Path() != q.Path() {
					t.Errorf("asked %+v", asked)
				}
				time.Sleep(2 * time.Minute)
			})
		})
	}
	h := newHandlers(Source{Offers: (&listing{}).Open, Now: time.Now}).routes()
	if w := call(h, q.Path()+"&x="+strings.Repeat("x", longestOfferQuery), ""); w.Code != http.StatusBadRequest {
		t.Errorf("a query that is too long: %d", w.Code)
	}
	if w := call(newHandlers(Source{Now: time.Now}).routes(), q.Path(), ""); w.Code != http.StatusNotFound {
		t.Errorf("without lists: %d", w.Code)
	}
}

// A team that reads many lists from AWS does not keep other teams waiting.
func TestATeamWithManyListsKeepsNoOtherWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := &listing{takes: time.Hour}
		read := offersRead(newReadCache(Source{
			Now: time.Now, TeamOf: func(namespace string) string { return namespace[:1] },
		}), slow.Open)
		for n := range 3 * mostLists { // in two namespaces of one team
			go read.cachedOrRead(t.Context(), operatorapi.OfferQuery{Namespace: []string{"a-1", "a-2"}[n%2]}, "a")
		}
		synctest.Wait()
		if n := len(slow.questions()); n != mostLists {
			t.Errorf("one team reads %d lists at once, and %d are for all", n, mostLists)
		}
		go read.cachedOrRead(t.Context(), operatorapi.OfferQuery{Namespace: "b-1"}, "b")
		synctest.Wait()
		if asked := slow.questions(); len(asked) != mostLists+1 || asked[mostLists].Namespace != "b-1" {
			t.Errorf("another team waits: %d lists are read", len(asked))
		}
		time.Sleep(24 * time.Hour)
	})
}

// A list is read once in five minutes for all replicas of the portal, and again as soon as the rules change that decide
// who can use what. Errors are kept for ten seconds, as errors.
func TestAListIsKeptAsLongAsItsRules(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		account := &listing{}
		h := newHandlers(Source{Offers: account.Open, Now: time.Now}).routes()
		ask := func(namespace string, lists int, failure string) {
			t.Helper()
			var got operatorapi.Offers
			q := operatorapi.OfferQuery{Kind: "RDSInstance", Namespace: namespace, Provider: "main", Field: "engine"}
			if status := get(t, h, q.Path(), &got); status != 200 || got.Error != failure ||
				len(account.questions()) != lists {
				t.Errorf("%d %+v after %d lists, want %q after %d", status, got, len(account.questions()), failure,
					lists)
			}
		}
		ask("payments", 1, "")
		ask("search", 2, "")
		time.Sleep(offersFor - time.Second)
		ask("payments", 2, "")
		account.generation.Add(1)
		ask("payments", 3, "")
		account.err = errors.New("denied")
		time.Sleep(offersFor)
		ask("payments", 4, "denied")
		time.Sleep(failedFor - time.Second)
		ask("payments", 4, "denied")
		account.err = nil
		time.Sleep(time.Second)
		ask("payments", 5, "")
	})
}

// The cache holds a number of bytes, however long the lists are.
func TestListsThatAreCachedAreBounded(t *testing.T) {
	const size = 1 << 20
	cache := newReadCache(Source{Now: time.Now})
	long := outcome{answer: []operatorapi.Offer{{Value: strings.Repeat("x", size)}}}
	kept := 0
	for n := range 3 * cachedBytes / size {
		cache.put(n, long, offersFor)
	}
	for n := range 3 * cachedBytes / size {
		if _, ok := cache.recent.Get(n); ok {
			kept++
		}
	}
	if kept == 0 || kept*size > cachedBytes {
		t.Errorf("%d lists of %d bytes are cached", kept, size)
	}
}
