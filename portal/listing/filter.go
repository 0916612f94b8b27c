package listing

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/portico-platform/portico/api/phase"
	"github.com/portico-platform/portico/portal/humanize"
)

// Filter selects items; an empty field matches any.
type Filter struct {
	Kind      string // plural
	Namespace string
	Phase     phase.Phase
	Provider  string          // name of the AWSProvider
	Requester string          // username
	Labels    labels.Selector // nil is any
	// Words must all be in the item's visible text: name, kind, endpoint, provider, requester, and with Across the
	// namespace.
	Words  string
	Across bool
}

// Matches reports whether the item matches.
func (f *Filter) Matches(l Item) bool {
	return (f.Kind == "" || f.Kind == l.Kind.Plural) && (f.Namespace == "" || f.Namespace == l.Namespace) &&
		(f.Phase == "" || f.Phase == l.Phase) && (f.Provider == "" || f.Provider == l.Provider) &&
		(f.Requester == "" || f.Requester == l.Requester) &&
		(f.Labels == nil || f.Labels.Matches(labels.Set(l.Object.GetLabels()))) &&
		(f.Words == "" || humanize.HasWords(f.Words, f.text(l)))
}

// text returns the text of an item that a search matches.
func (f *Filter) text(l Item) string {
	who := humanize.Person(l.Requester)
	if strings.Contains(f.Words, ":") { // a whole username: its prefix is not shown, and would match too much
		who = l.Requester
	}
	text := l.Name + " " + l.Kind.Title + " " + l.Kind.Name + " " + l.Endpoint + " " + who + " " + l.Provider
	if f.Across {
		text += " " + l.Namespace
	}
	return text
}

// Of returns the matching items, reusing the array of all.
func (f *Filter) Of(all []Item) []Item {
	return slices.DeleteFunc(all, func(l Item) bool { return !f.Matches(l) })
}
