package pages

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/catalog/catalogtest"
)

// What deletion costs is told for each kind as it is: a wrong word here loses data.
func TestDeletionIsToldAsItIs(t *testing.T) {
	kinds := catalogtest.Kinds(t)
	for _, row := range []struct {
		kind   string
		spec   map[string]any
		short  string
		effect string
	}{
		{"S3Bucket", map[string]any{"deletionPolicy": "Delete"}, "if empty", "it is not deleted"},
		{"S3Bucket", map[string]any{"deletionPolicy": "Delete", "forceDestroy": true}, "with all data", "no way back"},
		{"SQSQueue", map[string]any{"deletionPolicy": "Delete"}, "with all data", "messages in it are lost"},
		{"SQSQueue", map[string]any{"deletionPolicy": "Retain"}, "stays", "its data stay"},
		{"RDSInstance", map[string]any{"deletionPolicy": "Delete"}, "final snapshot", "final snapshot is taken first"},
		{"RDSInstance", map[string]any{"deletionPolicy": "Delete", "skipFinalSnapshot": true}, "with all data", "no way back"},
		{"EC2Instance", map[string]any{"deletionPolicy": "Delete"}, "with all data", "terminated"},
		{"EC2Instance", map[string]any{"deletionPolicy": "Delete", "disableApiTermination": true}, "with all data", "Nothing is deleted while disableApiTermination is on"},
		{"EC2Instance", map[string]any{"deletionPolicy": "Delete", "disableApiTermination": false}, "with all data", "terminated"},
		{"EC2Instance", map[string]any{"deletionPolicy": "Stop"}, "stopped", "is stopped and stays"},
		{"EC2Instance", map[string]any{"deletionPolicy": "Orphan"}, "lets go", "without Portico's tags"},
		{"WebApp", map[string]any{}, "", "The application stops"},
	} {
		k, ok := kinds.ByName(row.kind)
		if !ok {
			t.Fatalf("no kind %s", row.kind)
		}
		obj := &unstructured.Unstructured{Object: map[string]any{"spec": row.spec}}
		if got := policyWords(obj, k.Deletion); !strings.Contains(got, row.short) {
			t.Errorf("%s %v: in short %q, want %q", row.kind, row.spec, got, row.short)
		}
		var all []string
		for _, e := range effects(obj, k) {
			all = append(all, e.Text)
		}
		if got := strings.Join(all, " "); !strings.Contains(got, row.effect) {
			t.Errorf("%s %v: %q does not say %q", row.kind, row.spec, got, row.effect)
		}
	}
}

// A lower number deletes recovery points, and one that takes the place of none may: a review warns. Others only inform.
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
	}{{int64(35), int64(1), true}, {int64(7), 0.0, true}, {nil, int64(7), true}, {int64(7), int64(35), false}, {int64(35), nil, false}, {int64(7), int64(7), false}} {
		var got []string
		for _, e := range (asking{kind: k}).effects(of(row.was), of(row.will)) {
			got = append(got, e.Tone+": "+e.Text)
		}
		if text := strings.Join(got, " "); strings.Contains(text, "warn: Recovery points that are older") != row.warns || (!row.warns && text != "") {
			t.Errorf("%v → %v: %q", row.was, row.will, text)
		}
	}
}
