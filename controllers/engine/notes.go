package engine

import (
	"context"
	"fmt"
	"slices"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Pass is one run of Work over one object.
type Pass struct {
	Notes
	save  func(context.Context) error
	plan  []string
	marks []mark

	before, unkept unkept
}

// unkept is an act that the other side accepts and that does not show, and how many passes in a row it was so. It lives in
// memory: a restart costs a few tries more, and a count in the status would be one more write for each.
type unkept struct {
	what  string
	times int
}

// Unkept notes that what was done in this pass does not show, and returns in how many passes in a row that was so. A pass
// that ends before it comes to know ends no row; one that finds everything in sync does.
func (p *Pass) Unkept(what string) int {
	p.unkept = unkept{what, 1}
	p.unkept.times += p.Tried(what)
	return p.unkept.times
}

// Tried is what Unkept returned in the last pass of such a row; 0 if there is none of what.
func (p *Pass) Tried(what string) int {
	if p.before.what != what {
		return 0
	}
	return p.before.times
}

// mark is what a pass found of one condition; no status takes the condition away.
type mark struct {
	kind            string
	status          metav1.ConditionStatus
	reason, message string
}

// Mark notes a condition of the kind's own; finish writes it, ahead of the Ready family.
func (p *Pass) Mark(kind string, status metav1.ConditionStatus, reason, message string) {
	p.marks = append(p.marks, mark{kind, status, reason, message})
}

// Unmark takes a condition of the kind's own away.
func (p *Pass) Unmark(kind string) { p.marks = append(p.marks, mark{kind: kind}) }

// Marked is the status that the pass gave the condition, empty if it gave none.
func (p *Pass) Marked(kind string) (status metav1.ConditionStatus, reason, message string) {
	for _, m := range p.marks {
		if m.kind == kind {
			status, reason, message = m.status, m.reason, m.message
		}
	}
	return status, reason, message
}

// Planned notes what the pass found to do, one line a step; see Record.
func (p *Pass) Planned(steps []string) { p.plan = append(p.plan, steps...) }

// NewPass returns a pass whose Save calls save; nil saves nothing. Only tests of Work need it.
func NewPass(save func(context.Context) error) *Pass { return &Pass{save: save} }

// Save writes the object's status now, in the middle of the work, under its resourceVersion. nil proves that the object
// is the latest, still exists and is not being deleted since it was read: what must be written down before an act
// outside goes through here, and so does the act itself if nobody could find its result for an object that is gone. The
// object holds the server's answer afterwards: pointers into its status from before lead nowhere.
func (p *Pass) Save(ctx context.Context) error {
	if p.save == nil {
		return nil
	}
	return p.save(ctx)
}

// Notes collects what a pass did that its owner should hear of. Each becomes one event, sent by finish.
type Notes struct{ list []note }

type note struct {
	kind, reason, action, message string
	repair                        bool
}

// Normal notes something that went as wanted. action is what was done, such as the name of a call: Kubernetes merges
// events of the same object, reason and action, whatever their text.
func (n *Notes) Normal(reason, action, format string, args ...any) {
	n.list = append(n.list, note{kind: corev1.EventTypeNormal, reason: reason, action: action, message: brief(fmt.Sprintf(format, args...))})
}

// Warning notes something that somebody should look at; see Normal.
func (n *Notes) Warning(reason, action, format string, args ...any) {
	n.list = append(n.list, note{kind: corev1.EventTypeWarning, reason: reason, action: action, message: brief(fmt.Sprintf(format, args...))})
}

// Repaired is Warning for a change made outside Portico that was put right; it is counted.
func (n *Notes) Repaired(reason, action, format string, args ...any) {
	n.Warning(reason, action, format, args...)
	n.list[len(n.list)-1].repair = true
}

// dropNormal drops what went as wanted. It is for the first pass over an object that ends with everything in sync: the status
// tells that from the beginning, and each event would be one more write. See docs/adr/0026-first-pass.md.
func (n *Notes) dropNormal() {
	n.list = slices.DeleteFunc(n.list, func(x note) bool { return x.kind == corev1.EventTypeNormal })
}

// longestNote is what the API server takes as an event's note, in bytes; a longer one would be lost whole.
const longestNote = 1024

// brief cuts text to what an event can carry, at the border of a character.
func brief(text string) string {
	const mark = "…"
	if len(text) <= longestNote {
		return text
	}
	cut := longestNote - len(mark)
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + mark
}

// Strings returns the notes as "Reason: message", for tests.
func (n *Notes) Strings() []string {
	out := make([]string, 0, len(n.list))
	for _, x := range n.list {
		out = append(out, x.reason+": "+x.message)
	}
	return out
}
