package inspect

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"sync"

	"github.com/portico-platform/portico/api/inspect"
)

// Features remembers which parts of the operator are off, and why. Safe for concurrent use; the zero value is ready.
type Features struct {
	mu  sync.RWMutex
	all map[string]inspect.Feature
}

// Set notes why a feature is off; empty, it is on.
func (f *Features) Set(name, why string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.all == nil {
		f.all = map[string]inspect.Feature{}
	}
	f.all[name] = inspect.Feature{Name: name, On: why == "", Why: why}
}

// Why a feature is off; empty, it is on or nobody has noted anything of it.
func (f *Features) Why(name string) string {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.all[name].Why
}

// list is sorted; of a nil Features it is empty.
func (f *Features) list() inspect.Features {
	out := inspect.Features{Items: []inspect.Feature{}}
	if f == nil {
		return out
	}
	f.mu.RLock()
	defer f.mu.RUnlock()
	out.Items = slices.SortedFunc(maps.Values(f.all), func(a, b inspect.Feature) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

func (v views) listFeatures(w http.ResponseWriter, _ *http.Request) { answer(w, v.features.list()) }
