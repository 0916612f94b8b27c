package operatorapi

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"sync"

	"github.com/portico-platform/portico/api/operatorapi"
)

// Features records which parts of the operator are off, and why. Safe for concurrent use; the zero value is ready.
type Features struct {
	mu  sync.RWMutex
	all map[string]operatorapi.Feature
}

// Set records why a feature is off; empty: it is on.
func (f *Features) Set(name, why string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.all == nil {
		f.all = map[string]operatorapi.Feature{}
	}
	f.all[name] = operatorapi.Feature{Name: name, On: why == "", Why: why}
}

// ReasonOff returns why a feature is off; empty if it is on or was never set.
func (f *Features) ReasonOff(name string) string {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.all[name].Why
}

// list returns the features, sorted; none for a nil Features.
func (f *Features) list() operatorapi.Features {
	out := operatorapi.Features{Items: []operatorapi.Feature{}}
	if f == nil {
		return out
	}
	f.mu.RLock()
	defer f.mu.RUnlock()
	out.Items = slices.SortedFunc(maps.Values(f.all), func(a, b operatorapi.Feature) int {
		return cmp.Compare(a.Name, b.Name)
	})
	return out
}

func (h *handlers) listFeatures(*http.Request) (any, error) { return h.Features.list(), nil }
