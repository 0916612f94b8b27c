package engine

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// Notes collects what a pass did that its owner should hear of. Each becomes one event, sent by finish.
type Notes struct{ list []note }

type note struct{ kind, reason, message string }

// Normal notes something that went as wanted.
func (n *Notes) Normal(reason, format string, args ...any) {
	n.add(corev1.EventTypeNormal, reason, format, args)
}

// Warning notes something that somebody should look at.
func (n *Notes) Warning(reason, format string, args ...any) {
	n.add(corev1.EventTypeWarning, reason, format, args)
}

func (n *Notes) add(kind, reason, format string, args []any) {
	n.list = append(n.list, note{kind, reason, fmt.Sprintf(format, args...)})
}

// Strings returns the notes as "Reason: message", for tests.
func (n *Notes) Strings() []string {
	out := make([]string, 0, len(n.list))
	for _, x := range n.list {
		out = append(out, x.reason+": "+x.message)
	}
	return out
}
