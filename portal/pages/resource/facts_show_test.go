package resource

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/catalog/catalogtest"
	"github.com/portico-platform/portico/web/views"
)

// TestAnObjectsPageTellsWhatItIs: the page shows the details of an instance; values that are not known yet have their
// place.
func TestAnObjectsPageTellsWhatItIs(t *testing.T) {
	kinds, err := catalogtest.Load()
	if err != nil {
		t.Fatal(err)
	}
	k, _ := kinds.ByName("EC2Instance")
	obj := &unstructured.Unstructured{Object: map[string]any{
		"status": map[string]any{"instanceState": "stopped", "instanceType": "t3.micro", "privateIP": "10.0.0.7"},
	}}
	var got []string
	for _, f := range factsList(obj, k, views.Resource{Endpoint: "10.0.0.7"}, time.Now()) {
		got = append(got, f.Label+": "+cmp.Or(f.Value, "not yet"))
	}
	want := []string{
		"State: stopped", "Type: t3.micro", "Image: not yet", "Endpoint: 10.0.0.7", "ARN: not yet", "Region: not yet",
		"Account ID: not yet", "Secret: not yet", "First ready: not yet", "Last change: not yet",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
