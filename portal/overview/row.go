package overview

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/phase"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/status"
)

// Row is the data by which lists filter and sort an object, computed once for each change of it. Rows are shared and
// must not be changed.
type Row struct {
	Object    *unstructured.Unstructured // shared with the cache: DeepCopy first
	Namespace string
	Name      string
	Phase     phase.Phase
	Endpoint  string
	Provider  string // name of the AWSProvider, "" if there is none
	Requester string // username of the requester, "" if unknown
	Created   time.Time
	Took      time.Duration // to become ready the first time, negative if it never was
}

// NewRow makes the row of obj.
func NewRow(k catalog.Kind, obj *unstructured.Unstructured) *Row {
	row, _ := newRow(k, status.FactsIn(k, obj), obj)
	return row
}

func newRow(k catalog.Kind, f status.Facts, obj *unstructured.Unstructured) (row *Row, why string) {
	row = &Row{
		Object: obj, Namespace: obj.GetNamespace(), Name: obj.GetName(), Endpoint: k.EndpointOf(obj),
		Requester: obj.GetAnnotations()[v1alpha1.AnnotationRequestedBy], Created: obj.GetCreationTimestamp().Time,
		Took: took(obj),
	}
	row.Provider, _, _ = unstructured.NestedString(obj.Object, "spec", "providerRef", "name")
	row.Phase, why = f.Phase()
	return row, why
}

// Rows returns the rows of a place, unsorted. If its namespace is "", they are those of all namespaces for which shown
// returns true.
func (s *Store) Rows(at Place, shown func(namespace string) bool) []*Row {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var out []*Row
	if at.Namespace != "" {
		if c := s.cells[at]; c != nil {
			out = slices.Clone(c.rows)
		}
		return out
	}
	n := 0
	for p, c := range s.cells {
		if p.Kind == at.Kind {
			n += len(c.rows)
		}
	}
	out = make([]*Row, 0, n)
	for p, c := range s.cells {
		if p.Kind == at.Kind && shown(p.Namespace) {
			out = append(out, c.rows...)
		}
	}
	return out
}

// Empty reports whether a namespace has no objects of a kind.
func (s *Store) Empty(at Place) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	c := s.cells[at]
	return c == nil || len(c.rows) == 0
}

// took returns the time from the request until the object was first ready, or -1 if it never was. It is at least 0,
// although the clocks of API server and operator may differ.
func took(obj *unstructured.Unstructured) time.Duration {
	text, _, _ := unstructured.NestedString(obj.Object, "status", "firstReadyTime")
	ready, err := time.Parse(time.RFC3339, text)
	made := obj.GetCreationTimestamp()
	if err != nil || made.IsZero() {
		return -1
	}
	return max(0, ready.Sub(made.Time))
}
