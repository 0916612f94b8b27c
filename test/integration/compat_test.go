//go:build integration

package integration

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/external"
)

// setting is a setting of a resource, and a row of the table in docs/endpoints.md.
type setting struct {
	name        string
	set, change string // JSON of the spec
	// has returns the server's value of it; spoil changes that outside Portico.
	has   func(*trial, external.Object) string
	spoil func(*trial, external.Object) error
}

// The cells of the table.
const (
	carried    = "yes"
	stays      = "yes, and stays" // it cannot be undone
	atCreation = "at creation"    // it does not change afterwards
	refused    = "no"
)

// TestServersThatAreNotAWS manages buckets and queues on servers that people run instead of AWS, and compares the
// results with docs/endpoints.md: make test-compat.
func TestServersThatAreNotAWS(t *testing.T) {
	for _, s := range servers {
		t.Run(s.name, func(t *testing.T) {
			st := s.run(t)
			settings, object := bucketSettings, bucketAt
			if s.service == "sqs" {
				settings, object = queueSettings, queueAt
				st.deadLetters()
			}
			found := map[string]string{}
			for i, row := range settings {
				t.Run(row.name, func(t *testing.T) {
					same := *st
					same.T = t
					found[row.name] = same.try(row, object(&same, fmt.Sprintf("s%d", i)))
				})
			}
			st.deletes()
			count := map[string]int{}
			for _, outcome := range found {
				count[outcome]++
			}
			t.Logf("%s: %d settings tried, %d in sync, %d of them at creation only, %d refused clearly",
				s.name, len(settings), len(settings)-count[refused], count[atCreation], count[refused])
			st.compare(found)
		})
	}
}

// try creates, changes and deletes one resource with the setting.
func (s *trial) try(row setting, o external.Object) string {
	s.Helper()
	began := s.front.count()
	s.specify(o, row.set)
	create(s.T, s.Client, o)
	outcome, told := s.outcome(o)
	if outcome == refused {
		s.clear(row, told)
		s.atRest()
		if _, writes := s.front.since(began); len(writes) > 12 {
			s.Errorf("%d writes until it was refused: %v", len(writes), writes)
		}
	} else {
		outcome = s.keeps(row, o)
	}
	s.patch(o, withdrawn(row.set, row.change))
	if back, told := s.outcome(o); back != carried {
		s.clear(row, told)
		s.atRest()
		switch outcome {
		case carried:
			outcome = stays
		case refused:
			s.Errorf("without the setting: %s", told)
		}
	}
	s.goes(o)
	return outcome
}

// keeps changes a setting that the server supports, in the spec and outside Portico.
func (s *trial) keeps(row setting, o external.Object) string {
	s.Helper()
	before := row.has(s, o)
	s.patch(o, row.change)
	if got, told := s.outcome(o); got != carried {
		s.clear(row, told)
		s.atRest()
		return atCreation
	}
	after := row.has(s, o)
	if after == before || after == "" {
		s.Errorf("it is in sync with %s as with %s, and the server has %q", row.change, row.set, after)
	}
	if err := row.spoil(s, o); err != nil {
		s.Errorf("change it behind our back: %v", err)
		return carried
	}
	s.atRest()
	wakeNow(s.T, s.Client, o)
	await(s.T, "the repair", func() (bool, string) { return row.has(s, o) == after, row.has(s, o) })
	s.outcome(o)
	m := s.atRest()
	wakeNow(s.T, s.Client, o)
	await(s.T, "a look", func() (bool, string) { return s.front.count() > m, "none" })
	s.atRest()
	if _, writes := s.front.since(m); len(writes) > 0 {
		s.Errorf("a look at what is in sync writes %v", writes)
	}
	return carried
}

// outcome waits until the object is in sync or needs a person's action.
func (s *trial) outcome(o external.Object) (got, told string) {
	s.Helper()
	await(s.T, o.GetName()+" to come to an end", func() (bool, string) {
		if err := s.Get(s.Context(), client.ObjectKeyFromObject(o), o); err != nil {
			return false, err.Error()
		}
		ready := meta.FindStatusCondition(o.Common().Conditions, v1alpha1.ConditionReady)
		if ready == nil || ready.ObservedGeneration != o.GetGeneration() {
			return false, "not looked at"
		}
		told = ready.Reason + ": " + ready.Message
		switch {
		case ready.Status == metav1.ConditionTrue:
			got = carried
		case meta.IsStatusConditionTrue(o.Common().Conditions, v1alpha1.ConditionStalled):
			got = refused
		default:
			return false, told
		}
		return true, ""
	})
	return got, told
}

// clear checks that a refusal names the setting, and says what to do.
func (s *trial) clear(row setting, told string) {
	s.Helper()
	s.Logf("%s", told)
	path, _, _ := strings.Cut(row.name, " ")
	path, _, _ = strings.Cut(path, ".")
	if !strings.Contains(told, path) {
		s.Errorf("%q does not name %s", told, path)
	}
	if strings.Contains(told, "UnknownError") && !strings.Contains(told, "HTTP status") {
		s.Errorf("%q", told)
	}
}

// atRest waits until no more calls come, and returns their number. A loop never comes to rest.
func (s *trial) atRest() int {
	s.Helper()
	seen, since := -1, time.Now()
	await(s.T, "rest", func() (bool, string) {
		if n := s.front.count(); n != seen {
			seen, since = n, time.Now()
		}
		all, _ := s.front.since(max(0, seen-5))
		return time.Since(since) > 5*quiet, fmt.Sprint(all)
	})
	return seen
}

// goes deletes the object, and waits until it and its resource are deleted.
func (s *trial) goes(o external.Object) {
	s.Helper()
	gone(s.T, s.Client, o.DeepCopyObject().(client.Object))
	if left := s.lists(o); left != "" {
		s.Errorf("%s is still there", left)
	}
}

// specify merges JSON into an object's spec.
func (s *trial) specify(o external.Object, spec string) {
	s.Helper()
	if err := json.Unmarshal([]byte(`{"spec":`+spec+`}`), o); err != nil {
		s.Fatal(err)
	}
}

func (s *trial) patch(o external.Object, spec string) {
	s.Helper()
	if err := s.Patch(s.Context(), o, client.RawPatch(types.MergePatchType, []byte(`{"spec":`+spec+`}`))); err != nil {
		s.Fatal(err)
	}
}

// fixed are fields of a spec that cannot be removed.
var fixed = []string{"fifoQueue"}

// withdrawn returns JSON that removes the fields of these specs.
func withdrawn(specs ...string) string {
	none := map[string]any{}
	for _, spec := range specs {
		var fields map[string]any
		_ = json.Unmarshal([]byte(spec), &fields)
		for field := range maps.Keys(fields) {
			if !slices.Contains(fixed, field) {
				none[field] = nil
			}
		}
	}
	return external.JSON(none)
}

// compare compares the table of the documentation with the results.
func (s *trial) compare(found map[string]string) {
	s.Helper()
	page, err := os.ReadFile("../../docs/endpoints.md")
	if err != nil {
		s.Fatal(err)
	}
	said, column := map[string]string{}, -1
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.Trim(strings.TrimSpace(cells[i]), "`")
		}
		switch at := slices.Index(cells, s.name); {
		case at > 0:
			column = at
		case len(cells) < 2:
			column = -1
		case column > 0 && column < len(cells):
			said[cells[0]] = cells[column]
		}
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if said[name] != found[name] {
			s.Errorf("docs/endpoints.md says %q of %s, and it is %q", said[name], name, found[name])
		}
	}
}
