package activity

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/spoken"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/catalog"
)

// Requests returns the Deed of a create.
func Requests() []Deed { return []Deed{{Created, "requested it"}} }

// Deletes returns the Deed of a delete.
func Deletes() []Deed { return []Deed{{Deleted, "deleted it"}} }

// ReadsLog returns the Deed of reading a Pod's log.
func ReadsLog(pod string) []Deed { return []Deed{{LogsRead, "read the log of Pod " + pod}} }

// Changes returns the Deeds of the changes that users made between two versions of an object, the older one first.
func Changes(was, is *unstructured.Unstructured) []Deed {
	if was == nil || is == nil {
		return nil
	}
	before, now := was.GetAnnotations(), is.GetAnnotations()
	notes := map[string]any{}
	for _, of := range []map[string]string{before, now} {
		for key := range of {
			if before[key] != now[key] {
				notes[key] = value(now, key)
			}
		}
	}
	var parts []string
	for _, d := range catalog.Differences(was, is, is) {
		parts = append(parts, part(d.Path))
	}
	return deeds(parts, notes)
}

// value returns the annotation, nil without it.
func value(annotations map[string]string, key string) any {
	if text, ok := annotations[key]; ok {
		return text
	}
	return nil
}

// Patches returns the Deeds of a merge patch.
func Patches(patch map[string]any) []Deed {
	var parts []string
	if spec, ok := patch["spec"].(map[string]any); ok {
		for field := range spec {
			parts = append(parts, part([]string{"spec", field}))
		}
	}
	metadata, _ := patch["metadata"].(map[string]any)
	if labels, _ := metadata["labels"].(map[string]any); len(labels) > 0 {
		parts = append(parts, "labels")
	}
	notes := map[string]any{}
	switch annotations := metadata["annotations"].(type) {
	case map[string]any:
		notes = annotations
	case map[string]*string:
		for key, text := range annotations {
			if notes[key] = nil; text != nil {
				notes[key] = *text
			}
		}
	}
	return deeds(parts, notes)
}

// part returns the part of a path: the field of spec, labels or annotations. Deeper names are users' own, and can
// contain anything.
func part(path []string) string {
	switch {
	case len(path) > 1 && path[0] == "metadata":
		return path[1]
	case len(path) > 1 && path[0] == "spec":
		return path[1]
	}
	return strings.Join(path, ".")
}

// asks are annotations that request actions; the value of a removed one is nil.
var asks = map[string]func(value any) Deed{
	v1alpha1.AnnotationKeep:                 always(Kept, "asked to keep it"),
	v1alpha1.AnnotationRestartRequestedAt:   always(Restarted, "restarted it"),
	v1alpha1.AnnotationRollback:             always(RolledBack, "went back to an earlier version"),
	v1alpha1.AnnotationReconcileRequestedAt: always(CheckRequested, "requested a check"),
	v1alpha1.AnnotationAcknowledgeRecreate: always(RecreateRequested, "requested a new one instead of the one that "+
		"is gone"),
	v1alpha1.AnnotationPaused: func(value any) Deed {
		if value == "true" {
			return Deed{Paused, "paused it"}
		}
		return Deed{Resumed, "resumed it"}
	},
}

func always(reason, words string) func(any) Deed {
	return func(any) Deed { return Deed{reason, words} }
}

// deeds returns the Deeds of changed parts, and of annotations by key.
func deeds(parts []string, notes map[string]any) []Deed {
	var out []Deed
	parts = slices.DeleteFunc(parts, func(p string) bool { return p == "annotations" })
	for _, key := range slices.Sorted(maps.Keys(notes)) {
		if ask, known := asks[key]; known {
			out = append(out, ask(notes[key]))
		} else if !v1alpha1.WrittenByAdmission(key) {
			parts = append(parts, "annotations")
		}
	}
	slices.Sort(parts)
	if parts = slices.Compact(parts); len(parts) > 0 {
		out = append(out, Deed{Changed, "changed " + listed(parts)})
	}
	return out
}

// maxParts is the maximum number of named parts.
const maxParts = 8

func listed(parts []string) string { return spoken.And(spoken.Some(parts, maxParts)) }
