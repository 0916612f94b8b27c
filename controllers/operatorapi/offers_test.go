package operatorapi

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/controllers/fair"
	"github.com/portico-platform/portico/controllers/offers"
)

// listing is a fake account whose answers can be delayed.
type listing struct {
	takes time.Duration
	err   error

	mu    sync.Mutex
	asked []operatorapi.OfferQuery
}

// questions returns the queries so far.
func (l *listing) questions() []operatorapi.OfferQuery {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.asked)
}

func (l *listing) List(_ context.Context, q operatorapi.OfferQuery) ([]operatorapi.Offer, error) {
	l.mu.Lock()
	l.asked = append(l.asked, q)
	l.mu.Unlock()
	time.Sleep(l.takes)
	return []operatorapi.Offer{{Value: "t3.micro", Label: "2 vCPU"}}, l.err
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
				h := handlers{
					offers: c.account, offerLooks: newOfferLooks(time.Now),
					listSlots: fair.NewSlots(1, time.Now),
				}.routes()
				for range 2 { // the second comes from the cache, or waits together with the first
					var got operatorapi.Offers
					if status := get(t, h, q.Path(), &got); status != c.status || got.Pending != c.want.Pending ||
						got.Error != c.want.Error || len(got.Items) != len(c.want.Items) {
						t.Errorf("%d %+v, want %+v", status, got, c.want)
					}
				}
				if asked := c.account.questions(); len(asked) != 1 || asked[0].Path() != q.Path() {
					t.Errorf("asked %+v", asked)
				}
				time.Sleep(2 * time.Minute)
			})
		})
	}
	h := handlers{
		offers: &listing{}, offerLooks: newOfferLooks(time.Now),
		listSlots: fair.NewSlots(1, time.Now),
	}.routes()
	if w := call(h, q.Path()+"&x="+strings.Repeat("x", longestOfferQuery), ""); w.Code != http.StatusBadRequest {
		t.Errorf("a query that is too long: %d", w.Code)
	}
	if w := call(handlers{}.routes(), q.Path(), ""); w.Code != http.StatusNotFound {
		t.Errorf("without lists: %d", w.Code)
	}
}

// A team that reads many lists from AWS does not keep other teams waiting.
func TestATeamWithManyListsKeepsNoOtherWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := &listing{takes: time.Hour}
		h := handlers{
			offers: slow, listSlots: fair.NewSlots(mostLists, time.Now),
			teamOf: func(namespace string) string { return namespace[:1] },
		}
		for n := range 3 * mostLists { // in two namespaces of one team
			go h.offersOf(t.Context(), operatorapi.OfferQuery{Namespace: []string{"a-1", "a-2"}[n%2]})
		}
		synctest.Wait()
		if n := len(slow.questions()); n != mostLists {
			t.Errorf("one team reads %d lists at once, and %d are for all", n, mostLists)
		}
		go h.offersOf(t.Context(), operatorapi.OfferQuery{Namespace: "b-1"})
		synctest.Wait()
		if asked := slow.questions(); len(asked) != mostLists+1 || asked[mostLists].Namespace != "b-1" {
			t.Errorf("another team waits: %d lists are read", len(asked))
		}
		time.Sleep(24 * time.Hour)
	})
}
