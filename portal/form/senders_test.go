package form

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestAReviewSaysWhoIsLetInAndOut(t *testing.T) {
	of := func(topics ...string) *unstructured.Unstructured {
		var all []any
		for _, name := range topics {
			all = append(all, map[string]any{"topicRef": map[string]any{"name": name}})
		}
		return &unstructured.Unstructured{Object: map[string]any{
			"kind": "SQSQueue",
			"spec": map[string]any{"allowFrom": all},
		}}
	}
	for name, row := range map[string]struct {
		was, will *unstructured.Unstructured
		want      []string
	}{
		"a request": {nil, of("orders"), []string{"Anybody with access to topic orders can send."}},
		"another": {of("orders"), of("news"), []string{
			"Anybody with access to topic news can send.", "Topic orders can no longer send: what it sends is dropped.",
		}},
		"the same": {of("orders", "news"), of("news", "orders"), nil},
	} {
		var got []string
		for _, e := range senderEffects(row.was, row.will) {
			got = append(got, e.Text)
		}
		if !slices.Equal(got, row.want) {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
}
