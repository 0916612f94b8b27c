package overview

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"pgregory.net/rapid"

	"github.com/portico-platform/portico/api/phase"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/status"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// sample is an object in the words of the test.
type sample struct {
	Place
	name     string
	is       phase.Phase
	deleting bool // of a phase that allows either
	since    time.Duration
	took     time.Duration // negative if it never was ready
}

func (s sample) object() *unstructured.Unstructured {
	at := func(d time.Duration) string { return noon.Add(d).Format(time.RFC3339) }
	meta := map[string]any{"name": s.name, "generation": int64(2), "creationTimestamp": at(0)}
	if s.Namespace != "" {
		meta["namespace"] = s.Namespace
	}
	ready := map[string]any{
		"type": "Ready", "status": "False", "reason": "Creating", "message": "soon",
		"lastTransitionTime": at(s.since),
	}
	status := map[string]any{"observedGeneration": int64(2), "conditions": []any{ready}}
	switch s.is {
	case phase.Ready:
		ready["status"] = "True"
	case phase.NeedsYou:
		ready["reason"] = "Failed"
		if s.deleting {
			ready["type"], ready["status"] = "Stalled", "True"
		}
	case phase.InProgress, phase.Deleting:
	case phase.Paused:
		meta["annotations"] = map[string]any{"portico.dev/paused": "true"}
	}
	if s.leaves() {
		meta["deletionTimestamp"] = at(s.since)
	}
	if s.took >= 0 {
		status["firstReadyTime"] = at(s.took)
	}
	return &unstructured.Unstructured{Object: map[string]any{"metadata": meta, "status": status}}
}

func (s sample) leaves() bool {
	return s.is == phase.Deleting || s.is == phase.NeedsYou && s.deleting
}

func samples() *rapid.Generator[sample] {
	return rapid.Custom(func(t *rapid.T) sample {
		s := sample{name: rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "name")}
		s.Kind = rapid.SampledFrom([]string{"buckets", "queues", "accounts"}).Draw(t, "kind")
		if s.Kind != "accounts" {
			s.Namespace = rapid.SampledFrom([]string{"payments", "search"}).Draw(t, "namespace")
		}
		s.is = rapid.SampledFrom(phase.All()).Draw(t, "phase")
		s.deleting = rapid.Bool().Draw(t, "deleting")
		s.since = time.Duration(rapid.IntRange(0, 5).Draw(t, "since")) * time.Minute
		s.took = time.Duration(rapid.IntRange(-1, 7200).Draw(t, "took")) * time.Second
		return s
	})
}

// recount counts the overview of all samples from scratch.
func recount(all map[key]sample, shown func(Place) bool) Overview {
	var o Overview
	cells := map[Place]Counts{}
	for _, s := range all {
		if !shown(s.Place) {
			continue
		}
		if cells[s.Place] == nil {
			cells[s.Place] = Counts{}
		}
		cells[s.Place][s.is]++
		_, why := status.FactsOf(s.object()).Phase()
		trouble := Trouble{Place: s.Place, Name: s.name, Phase: s.is, Why: why, Since: noon.Add(s.since)}
		if s.is == phase.NeedsYou {
			o.Failing = append(o.Failing, trouble)
		}
		if s.leaves() {
			o.Leaving = append(o.Leaving, trouble)
		}
	}
	for p, c := range cells {
		o.Cells = append(o.Cells, Cell{p, c})
	}
	slices.SortFunc(o.Cells, func(a, b Cell) int { return byPlace(a.Place, b.Place) })
	for _, all := range [][]Trouble{o.Failing, o.Leaving} {
		slices.SortFunc(all, func(a, b Trouble) int {
			if c := a.Since.Compare(b.Since); c != 0 {
				return c
			}
			if c := byPlace(a.Place, b.Place); c != 0 {
				return c
			}
			return slices.Compare([]byte(a.Name), []byte(b.Name))
		})
	}
	return o
}

// retime computes the times to ready of a kind from scratch.
func retime(all map[key]sample, kind string) Times {
	var took []time.Duration
	for _, s := range all {
		if s.Kind == kind && s.took >= 0 {
			took = append(took, s.took)
		}
	}
	slices.Sort(took)
	t := Times{N: len(took)}
	for i, upTo := range append(slices.Clone(bounds), 0) {
		b := Bucket{UpTo: upTo}
		for _, d := range took {
			below, above := upTo == 0 || d <= upTo, i == 0 || d > bounds[i-1]
			if below && above {
				b.N++
			}
		}
		t.Buckets = append(t.Buckets, b)
	}
	least := func(percent int) time.Duration {
		for i, d := range took {
			if (i+1)*100 >= percent*len(took) {
				return d
			}
		}
		return 0
	}
	t.P50, t.P95 = least(50), least(95)
	return t
}

// names lists the objects of a place; the namespace "" means every namespace.
func names(all map[key]sample, at Place) []string {
	var out []string
	for _, s := range all {
		if s.Kind == at.Kind && (at.Namespace == "" || s.Namespace == at.Namespace) {
			out = append(out, s.Namespace+"/"+s.name+" "+string(s.is))
		}
	}
	slices.Sort(out)
	return out
}

func rowNames(rows []*Row) []string {
	var out []string
	for _, r := range rows {
		out = append(out, r.Namespace+"/"+r.Name+" "+string(r.Phase))
	}
	slices.Sort(out)
	return out
}

func TestAfterAnyChangesTheOverviewIsWhatCountingGives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		store, all := NewStore(), map[key]sample{}
		everything := func(Place) bool { return true }
		payments := func(p Place) bool { return p.Namespace == "payments" }
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				s := samples().Draw(t, "object")
				store.Put(catalog.Kind{Plural: s.Kind}, s.object())
				all[key{s.Place, s.name}] = s
			},
			"remove": func(t *rapid.T) {
				s := samples().Draw(t, "object")
				store.Remove(s.Kind, s.Namespace, s.name)
				delete(all, key{s.Place, s.name})
			},
			"": func(t *rapid.T) {
				for name, shown := range map[string]func(Place) bool{"everything": everything, "payments": payments} {
					if want, got := recount(all, shown), store.Of(shown); !reflect.DeepEqual(got, want) {
						t.Fatalf("%s is kept as\n%+v\nand counted as\n%+v", name, got, want)
					}
				}
				for _, kind := range []string{"buckets", "queues", "accounts", "unheard-of"} {
					if want, got := retime(all, kind), store.TimesToReady(kind); !reflect.DeepEqual(got, want) {
						t.Fatalf("times of %s are kept as\n%+v\nand counted as\n%+v", kind, got, want)
					}
				}
				for _, at := range []Place{{"buckets", "search"}, {"buckets", ""}, {"accounts", ""}} {
					if want, got := names(all, at),
						rowNames(store.Rows(at, func(string) bool { return true })); !slices.Equal(got, want) {
						t.Fatalf("rows of %v are %v, want %v", at, got, want)
					}
				}
				var places []Place
				for _, c := range store.Of(everything).Cells {
					places = append(places, c.Place)
				}
				if !slices.Equal(places, store.Places()) {
					t.Fatalf("places are %v, the cells' %v", store.Places(), places)
				}
			},
		})
	})
}

func TestNothingIsKeptOfWhatIsGone(t *testing.T) {
	s := NewStore()
	for i := range 100 {
		one := sample{
			Place: Place{"buckets", fmt.Sprint("n", i)}, name: "x", is: phase.NeedsYou, deleting: true,
			took: time.Second,
		}
		s.Put(catalog.Kind{Plural: one.Kind}, one.object())
		s.Remove(one.Kind, one.Namespace, one.name)
	}
	if n := len(s.cells) + len(s.failing) + len(s.leaving) + len(s.times["buckets"].all); n > 0 {
		t.Errorf("%d things are left", n)
	}
}

func TestTroublesStandInTheOrderOfTheirAge(t *testing.T) {
	s := NewStore()
	for i := range 60 {
		one := sample{
			Place: Place{"buckets", "payments"}, name: fmt.Sprintf("b%03d", i), is: phase.NeedsYou, deleting: true,
			took:  -1,
			since: -time.Duration(i) * time.Hour,
		}
		s.Put(catalog.Kind{Plural: one.Kind}, one.object())
		one.Kind = "claims"
		s.Put(catalog.Kind{Plural: one.Kind, KeptBy: "operator"}, one.object())
	}
	o := s.Of(func(Place) bool { return true })
	if len(o.Failing) != 60 || len(o.Leaving) != 60 {
		t.Errorf("%d failing, %d leaving: those that are kept for others are no troubles of teams", len(o.Failing),
			len(o.Leaving))
	}
	if o.Failing[0].Name != "b059" {
		t.Errorf("the longest failing is %s", o.Failing[0].Name)
	}
}

func TestSumAddsUpWhatMatches(t *testing.T) {
	o := Overview{Cells: []Cell{
		{Place{"buckets", "payments"}, Counts{phase.Ready: 2, phase.NeedsYou: 1}},
		{Place{"buckets", "search"}, Counts{phase.Ready: 3}},
		{Place{"queues", "search"}, Counts{phase.Paused: 5}},
	}}
	buckets := o.Sum(func(p Place) bool { return p.Kind == "buckets" })
	if want := (Counts{phase.Ready: 5, phase.NeedsYou: 1}); !reflect.DeepEqual(buckets, want) || buckets.Total() != 6 {
		t.Errorf("%d buckets: %v", buckets.Total(), buckets)
	}
}

func TestClocksThatDifferGiveNoNegativeTimes(t *testing.T) {
	s, one := NewStore(), sample{Place: Place{"buckets", "payments"}, name: "x", is: phase.Ready, took: 0}
	obj := one.object()
	if err := unstructured.SetNestedField(obj.Object, noon.Add(-time.Hour).Format(time.RFC3339), "status",
		"firstReadyTime"); err != nil {
		t.Fatal(err)
	}
	s.Put(catalog.Kind{Plural: one.Kind}, obj)
	if got := s.TimesToReady("buckets"); got.N != 1 || got.P95 != 0 {
		t.Errorf("%+v", got)
	}
}
