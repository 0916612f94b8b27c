package rest

import (
	"context"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/phase"
	"github.com/portico-platform/portico/portal/prose"
)

// Filter narrows a list.
type Filter struct {
	LabelSelector string `query:"labelSelector" maxLength:"1000" example:"team=search,!trial" doc:"Only objects whose labels match, in the syntax of Kubernetes: team=search,!trial."`
	Status        string `query:"status" enum:"ready,in-progress,needs-you,paused,deleting" doc:"Only objects that are doing so. ready: all is done. in-progress: Portico is at work. needs-you: it failed, and is tried again. paused: Portico leaves it alone. deleting: it goes away."`
	Search        string `query:"q" maxLength:"200" doc:"Only objects with all these words in name, kind, endpoint or requester, in capital letters or small ones."`
}

// matcher is a Filter that has been read.
type matcher struct {
	kinds  catalog.Catalog
	labels labels.Selector // nil is any
	phase  phase.Phase     // "" is any
	words  string
}

// matcher reads the filter; the error is a problem.
func (f Filter) matcher(ctx context.Context, kinds catalog.Catalog) (matcher, error) {
	m := matcher{kinds: kinds, words: strings.TrimSpace(f.Search)}
	selector, err := labels.Parse(f.LabelSelector)
	if err != nil {
		return m, problem(ctx, http.StatusUnprocessableEntity, "the label selector cannot be read: write it as for kubectl, such as team=search,!trial",
			&huma.ErrorDetail{Location: "query.labelSelector", Message: err.Error(), Value: f.LabelSelector})
	}
	if !selector.Empty() {
		m.labels = selector
	}
	m.phase, _ = phase.Parse(f.Status) // huma has checked that it is one
	return m, nil
}

func (m matcher) matches(obj *unstructured.Unstructured) bool {
	if m.labels != nil && !m.labels.Matches(labels.Set(obj.GetLabels())) {
		return false
	}
	if m.phase != "" {
		if is, _ := phase.Of(obj); is != m.phase {
			return false
		}
	}
	return m.words == "" || prose.HasWords(m.words, m.text(obj))
}

// text is what a search looks at.
func (m matcher) text(obj *unstructured.Unstructured) string {
	k, _ := m.kinds.ByName(obj.GetKind())
	return strings.Join([]string{
		obj.GetName(), k.Title, obj.GetKind(), k.EndpointOf(obj), obj.GetAnnotations()[v1alpha1.AnnotationRequestedBy],
	}, " ")
}

// of are the objects that match.
func (m matcher) of(all []*unstructured.Unstructured) []*unstructured.Unstructured {
	if m.labels == nil && m.phase == "" && m.words == "" {
		return all
	}
	var kept []*unstructured.Unstructured
	for _, obj := range all {
		if m.matches(obj) {
			kept = append(kept, obj)
		}
	}
	return kept
}
