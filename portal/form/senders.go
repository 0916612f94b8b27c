package form

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/senders"
	"github.com/portico-platform/portico/web/views"
)

// senderEffects describes which senders the object newly lets in, and which no longer. was is nil for a request.
func senderEffects(was, will *unstructured.Unstructured) (all []views.Effect) {
	before, after := senders.Of(was), senders.Of(will)
	for _, s := range after {
		if !slices.Contains(before, s) {
			all = append(all, views.Effect{Icon: "lock", Tone: "busy", Text: s.Opens})
		}
	}
	for _, s := range before {
		if s.Closes != "" && !slices.Contains(after, s) {
			all = append(all, views.Effect{Icon: "lock", Tone: "warn", Text: s.Closes})
		}
	}
	return all
}
