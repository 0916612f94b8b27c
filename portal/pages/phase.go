package pages

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/web/views"
)

// condition is one of an object's conditions.
type condition struct {
	Type, Status, Reason, Message, Since string
}

func (c condition) isTrue() bool { return c.Status == "True" }

// facts are what the phase of an object follows from.
type facts struct {
	generation int64
	observed   int64 // -1 before the first pass
	deleting   bool
	paused     bool
	conditions map[string]condition
	order      []string // of the conditions' types
}

func factsOf(obj *unstructured.Unstructured) facts {
	f := facts{
		generation: obj.GetGeneration(), deleting: obj.GetDeletionTimestamp() != nil, observed: -1,
		paused: obj.GetAnnotations()[v1alpha1.AnnotationPaused] == "true", conditions: map[string]condition{},
	}
	if n, ok, err := unstructured.NestedInt64(obj.Object, "status", "observedGeneration"); ok && err == nil {
		f.observed = n
	}
	raw, _, _ := unstructured.NestedFieldNoCopy(obj.Object, "status", "conditions")
	list, _ := raw.([]any)
	for _, item := range list {
		m, ok := item.(map[string]any)
		if !ok {
			continue
		}
		c := condition{
			Type: text(m["type"]), Status: text(m["status"]), Reason: text(m["reason"]),
			Message: text(m["message"]), Since: text(m["lastTransitionTime"]),
		}
		f.conditions[c.Type] = c
		f.order = append(f.order, c.Type)
	}
	return f
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

// failed are the reasons with which the engine says that an attempt failed and is tried again.
func failed(reason string) bool { return reason == "Failed" || reason == "TimedOut" }

// phase is the one word for how the object is, and the sentence that says why; the sentence is "" when nothing is in
// the way. It follows kstatus: a status about an older generation says nothing about this one.
func (f facts) phase() (views.Phase, string) {
	ready, stalled := f.conditions[v1alpha1.ConditionReady], f.conditions[v1alpha1.ConditionStalled]
	switch {
	case f.deleting && f.observed >= f.generation && stalled.isTrue():
		return views.NeedsYou, sentence("deleting is blocked: " + stalled.Message)
	case f.deleting:
		return views.Deleting, f.whileDeleting(ready)
	case f.paused || f.conditions[v1alpha1.ConditionPaused].isTrue():
		return views.Paused, "Portico leaves it alone until it is resumed."
	case f.observed < 0:
		return views.InProgress, "Requested; waiting for Portico to start."
	case f.observed < f.generation:
		return views.InProgress, "Change not applied yet."
	case stalled.isTrue():
		return views.NeedsYou, sentence(stalled.Message)
	case ready.isTrue():
		return views.Ready, ""
	case failed(ready.Reason):
		return views.NeedsYou, sentence(ready.Message)
	case ready.Message == "":
		return views.InProgress, sentence(f.conditions[v1alpha1.ConditionReconciling].Message)
	}
	return views.InProgress, sentence(ready.Message)
}

// whileDeleting prefers what the engine says of the deletion to what it said before it.
func (f facts) whileDeleting(ready condition) string {
	if ready.Status != "" && !ready.isTrue() && ready.Message != "" {
		return sentence(ready.Message)
	}
	return "Waiting for what was made for it to go."
}

// advice is what happens next, or what the reader can do.
func (f facts) advice(p views.Phase) string {
	switch {
	case p == views.NeedsYou && f.conditions[v1alpha1.ConditionStalled].isTrue():
		return "Portico tries again every 5 minutes, and at once after a change."
	case p == views.NeedsYou:
		return "Portico keeps trying, less and less often."
	case p == views.InProgress:
		return "This page follows by itself."
	}
	return ""
}

// progress compares the generation that the status speaks of with the object's, and counts the kind's steps.
func (f facts) progress(k catalog.Kind) string {
	switch {
	case f.observed < 0:
		return "not looked at yet"
	case f.observed < f.generation:
		return "change not applied yet"
	}
	return cmp.Or(f.stepsDone(k), "latest change applied")
}

// sentence makes a message of the API or of Kubernetes one: a capital letter in front, a full stop behind.
func sentence(s string) string {
	s = strings.TrimSpace(s)
	if s == "" {
		return ""
	}
	first, size := utf8.DecodeRuneInString(s)
	if word, _, _ := strings.Cut(s, " "); plainWord(word) {
		s = string(unicode.ToUpper(first)) + s[size:]
	}
	if !strings.ContainsRune(".!?", rune(s[len(s)-1])) {
		s += "."
	}
	return s
}

// plainWord reports whether a word may be capitalised: a field's name such as kmsKeyID may not.
func plainWord(word string) bool {
	return word == strings.ToLower(word) && !strings.ContainsAny(word, "./_[]=:")
}
