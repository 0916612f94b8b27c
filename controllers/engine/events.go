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

// Normal records a Normal event. action is what was done, such as the name of a call: Kubernetes merges events with the
// same object, reason and action, whatever their text.
func (e *Events) Normal(reason, action, format string, args ...any) {
	e.list = append(e.list, pendingEvent{
		kind: corev1.EventTypeNormal, reason: reason, action: action,
		message: truncate(fmt.Sprintf(format, args...)),
	})
}

// Warning records a Warning event that somebody should act on; see Normal.
func (e *Events) Warning(reason, action, format string, args ...any) {
	e.list = append(e.list, pendingEvent{
		kind: corev1.EventTypeWarning, reason: reason, action: action,
		message: truncate(fmt.Sprintf(format, args...)),
	})
}

// Repaired records a Warning event for a foreign change that was repaired, and counts it.
func (e *Events) Repaired(reason, action, format string, args ...any) {
	e.Warning(reason, action, format, args...)
	e.list[len(e.list)-1].repair = true
}

// dropNormal drops Normal events. It is for the first pass over an object if that ends in sync: the status already has
// the information, and each event would be one more write. See docs/adr/0026-first-pass.md.
func (e *Events) dropNormal() {
	e.list = slices.DeleteFunc(e.list, func(x pendingEvent) bool { return x.kind == corev1.EventTypeNormal })
}

// merged returns the events, with the messages joined of those that Kubernetes would merge: it keeps the text of only
// one of them, and not always the first.
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

// maxNoteBytes is the API server's limit for an event's note, in bytes; a longer event is rejected.
const maxNoteBytes = 1024

// truncate cuts text to the limit of an event's note.
func truncate(text string) string { return spoken.Cut(text, maxNoteBytes) }

// Strings returns the notes as "Reason: message", for tests.
func (e *Events) Strings() []string {
	out := make([]string, 0, len(e.list))
	for _, x := range e.list {
		out = append(out, x.reason+": "+x.message)
	}
	return out
}
