package form

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/catalog/catalogtest"
)

// A review warns of a lower number, which deletes recovery points, and of one that was not set before, which may. Other
// changes only inform.
func TestAReviewWarnsOfALowerNumber(t *testing.T) {
	kinds := catalogtest.Kinds(t)
	k, ok := kinds.ByName("RDSInstance")
	if !ok {
		t.Fatal("no kind RDSInstance")
	}
	of := func(days any) *unstructured.Unstructured {
		spec := map[string]any{"engine": "postgres"}
		if days != nil {
			spec["backupRetentionPeriod"] = days
		}
		return &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	}
	for _, row := range []struct {
		was, will any
		warns     bool
	}{
		{int64(35), int64(1), true},
		{int64(7), 0.0, true},
		{nil, int64(7), true},
		{int64(7), int64(35), false},
		{int64(35), nil, false},
		{int64(7), int64(7), false},
	} {
		var got []string
		for _, e := range (subject{kind: k}).effects(of(row.was), of(row.will)) {
			got = append(got, e.Tone+": "+e.Text)
		}
		if text := strings.Join(got, " "); strings.Contains(
			text, "warn: Recovery points that are older") != row.warns || (!row.warns && text != "") {
			t.Errorf("%v → %v: %q", row.was, row.will, text)
		}
	}
}
