package operatorapi

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/portico-platform/portico/api/operatorapi"
)

// remains is a fake Deleted whose answers can be delayed.
type remains struct {
	list  operatorapi.DeletedList
	takes time.Duration
	err   error
	asked atomic.Int32
}

func (r *remains) List(_ context.Context, namespace string) (operatorapi.DeletedList, error) {
	r.asked.Add(1)
	time.Sleep(r.takes)
	if namespace != "payments" {
		return operatorapi.DeletedList{}, nil
	}
	return r.list, r.err
}

func TestWhatIsLeftOfANamespace(t *testing.T) {
	one := operatorapi.Deleted{Kind: "S3Bucket", Name: "reports"}
	for name, c := range map[string]struct {
		account *remains
		want    operatorapi.DeletedList
	}{
		"a list":  {&remains{list: operatorapi.DeletedList{Items: []operatorapi.Deleted{one}}}, operatorapi.DeletedList{Items: []operatorapi.Deleted{one}}},
		"nothing": {&remains{}, operatorapi.DeletedList{}},
		"a part":  {&remains{list: operatorapi.DeletedList{Problems: []string{"denied"}}}, operatorapi.DeletedList{Problems: []string{"denied"}}},
		"a long story": {
			&remains{list: operatorapi.DeletedList{Problems: []string{strings.Repeat("x", 9999)}}},
			operatorapi.DeletedList{Problems: []string{strings.Repeat("x", longestError) + "…"}},
		},
		"the cache is away":  {&remains{err: errors.New("no cache")}, operatorapi.DeletedList{Problems: []string{"no cache"}}},
		"AWS takes its time": {&remains{takes: time.Minute}, operatorapi.DeletedList{Pending: true}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHandlers(Source{Deleted: c.account.List, Now: time.Now}).routes()
				for range 2 { // the second comes from the cache, or waits together with the first
					var got operatorapi.DeletedList
					status := get(t, h, operatorapi.NamespaceDeletedPath("payments"), &got)
					if status != 200 || got.Pending != c.want.Pending || len(got.Items) != len(c.want.Items) {
						t.Errorf("%d %+v, want 200 %+v", status, got, c.want)
					}
					if diff := cmp.Diff(strings.Join(c.want.Problems, ""), strings.Join(got.Problems, "")); diff != "" {
						t.Errorf("problems (-want +got):\n%s", diff)
					}
				}
				if n := c.account.asked.Load(); n != 1 {
					t.Errorf("asked %d times", n)
				}
				time.Sleep(2 * time.Minute)
			})
		})
	}
	without := newHandlers(Source{Now: time.Now}).routes()
	if w := call(without, operatorapi.NamespaceDeletedPath("payments"), ""); w.Code != 404 {
		t.Errorf("without lists: %d", w.Code)
	}
}

// A namespace that is created again, perhaps for another team, does not get the list of the former one, even if that is
// still being read.
func TestANamespaceThatIsCreatedAgainGetsItsOwnList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var uid atomic.Value
		uid.Store(types.UID("former"))
		account := &remains{takes: 5 * time.Second}
		h := newHandlers(Source{
			Deleted: account.List, Now: time.Now,
			NamespaceUID: func(context.Context, string) (types.UID, error) { return uid.Load().(types.UID), nil },
		}).routes()
		for want := int32(1); want <= 2; want++ {
			var got operatorapi.DeletedList
			get(t, h, operatorapi.NamespaceDeletedPath("payments"), &got)
			if n := account.asked.Load(); n != want {
				t.Errorf("%d lists were read, want %d", n, want)
			}
			uid.Store(types.UID("new"))
		}
		time.Sleep(time.Minute)
	})
}

// Nobody waits for ever behind slow lists.
func TestListsWaitForTheirTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHandlers(Source{Deleted: (&remains{takes: time.Hour}).List, Now: time.Now})
		for range mostLists {
			go h.deleted.cachedOrRead(t.Context(), "payments", "a")
		}
		synctest.Wait()
		var got operatorapi.DeletedList
		if get(t, h.routes(), operatorapi.NamespaceDeletedPath("payments"), &got); !got.Pending {
			t.Errorf("%+v", got)
		}
		time.Sleep(deletedTimeout)
		got = operatorapi.DeletedList{}
		if get(t, h.routes(), operatorapi.NamespaceDeletedPath("payments"), &got); len(got.Problems) != 1 ||
			got.Problems[0] != errListsBusy.Error() {
			t.Errorf("%+v", got)
		}
		time.Sleep(2 * time.Hour)
	})
}
