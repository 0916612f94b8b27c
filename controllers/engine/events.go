package engine

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/portico-platform/portico/api/spoken"
)

// Events collects the events of a pass; finish sends them.
type Events struct{ list []pendingEvent }

type pendingEvent struct {
	kind, reason, action, message string
	repair                        bool
}

// Normal notes something that went as wanted. action is what was done, such as the name of a call: Kubernetes merges
// events of the same object, reason and action, whatever their text.
func (e *Events) Normal(reason, action, format string, args ...any) {
	e.list = append(e.list, pendingEvent{kind: corev1.EventTypeNormal, reason: reason, action: action, message: truncate(fmt.Sprintf(format, args...))})
}

// Warning notes something that somebody should look at; see Normal.
func (e *Events) Warning(reason, action, format string, args ...any) {
	e.list = append(e.list, pendingEvent{kind: corev1.EventTypeWarning, reason: reason, action: action, message: truncate(fmt.Sprintf(format, args...))})
}

// Repaired notes a Warning for a change made outside Portico that was put right; it is counted.
func (e *Events) Repaired(reason, action, format string, args ...any) {
	e.Warning(reason, action, format, args...)
	e.list[len(e.list)-1].repair = true
}

// dropNormal drops what went as wanted. It is for the first pass over an object that ends with everything in sync: the
// status tells that from the beginning, and each event would be one more write. See docs/adr/0026-first-pass.md.
func (e *Events) dropNormal() {
	e.list = slices.DeleteFunc(e.list, func(x pendingEvent) bool { return x.kind == corev1.EventTypeNormal })
}

// merged returns the events with the messages of those joined that Kubernetes would merge: it keeps the text of one of
// them, and not always of the first.
func (e *Events) merged() []pendingEvent {
	var out []pendingEvent
	for _, x := range e.list {
		same := func(y pendingEvent) bool { return y.kind == x.kind && y.reason == x.reason && y.action == x.action }
		if i := slices.IndexFunc(out, same); i >= 0 {
			out[i].message = truncate(out[i].message + "; " + x.message)
			continue
		}
		out = append(out, x)
	}
	return out
}

// maxNoteBytes is what the API server takes as an event's note, in bytes; a longer one would be lost whole.
const maxNoteBytes = 1024

// truncate cuts text to what an event can carry.
func truncate(text string) string { return spoken.Cut(text, maxNoteBytes) }

// Strings returns the notes as "Reason: message", for tests.
func (e *Events) Strings() []string {
	out := make([]string, 0, len(e.list))
	for _, x := range e.list {
		out = append(out, x.reason+": "+x.message)
	}
	return out
}
