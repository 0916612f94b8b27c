package form

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/deletion"
	"github.com/portico-platform/portico/web/views"
)

// DeletingWarning returns what an edit of an object that is being deleted can still do.
func DeletingWarning(kind catalog.Kind, name string) string {
	all := kind.Deletion.Counts
	switch {
	case len(all) == 0:
		return name + " is being deleted. An edit changes nothing any more."
	case slices.Contains(all, deletion.EveryField):
		return name + " is being deleted. An edit does not cancel that, but still applies until it is gone."
	}
	return name + " is being deleted. An edit does not cancel that. These still decide what happens: " +
		labels(kind, all) + "."
}

// labels returns the form's labels of fields of spec.
func labels(kind catalog.Kind, names []string) string {
	all := make([]string, 0, len(names))
	for _, n := range names {
		all = append(all, labelOf(kind, []string{"spec", n}))
	}
	return strings.Join(all, ", ")
}

// deletingEffects returns the effects of a change of an object that is being deleted: how the new spec affects the
// deletion.
func (s subject) deletingEffects(will *unstructured.Unstructured, changed []string) []views.Effect {
	name, k := s.Edit.Name, s.kind
	if slices.Contains(k.Deletion.Counts, deletion.EveryField) {
		return []views.Effect{{Icon: "alert", Tone: "warn", Text: DeletingWarning(k, name)}}
	}
	idle := slices.DeleteFunc(slices.Clone(changed), func(f string) bool { return deletion.Counts(k, f) })
	lead := name + " is being deleted, and an edit does not cancel that. Applied, this decides at once what happens:"
	if len(idle) == len(changed) {
		lead = name + " is being deleted, and this changes nothing about it. What happens:"
	}
	all := []views.Effect{{Icon: "alert", Tone: "warn", Text: lead}}
	fate, atOnce := deletion.Fate(will, k)
	all = append(all, fate...)
	when := "when that is done."
	if atOnce {
		when = "at once."
	}
	all = append(all, views.Effect{Icon: "info", Tone: "idle", Text: name + " disappears from Portico and from the " +
		"cluster " + when})
	if len(idle) > 0 {
		all = append(all, views.Effect{Icon: "info", Tone: "idle", Text: "No effect any more: " + labels(k, idle) +
			"."})
	}
	return all
}
