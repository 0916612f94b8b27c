package pages

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/config/crd"
	"github.com/portico-platform/portico/portal/catalog"
)

// What deletion costs is told for each kind as it is: a wrong word here loses data.
func TestDeletionIsToldAsItIs(t *testing.T) {
	kinds, err := catalog.Load(crd.Files)
	if err != nil {
		t.Fatal(err)
	}
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
