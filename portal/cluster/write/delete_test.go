package write

import (
	"context"
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster/failure"
)

// moving is an object whose status is written between our read and our delete, a few times.
type moving struct {
	resource
	generation int64
	version    string
	writes     int // remaining
	deleted    []metav1.Preconditions
}

func (m *moving) Get(context.Context, string, metav1.GetOptions, ...string) (*unstructured.Unstructured, error) {
	o := &unstructured.Unstructured{}
	o.SetUID("u1")
	o.SetGeneration(m.generation)
	o.SetResourceVersion(m.version)
	return o, nil
}

func (m *moving) Delete(_ context.Context, name string, o metav1.DeleteOptions, _ ...string) error {
	if m.writes > 0 {
		m.writes--
		m.version += "+"
		return apierrors.NewConflict(schema.GroupResource{Resource: "s3buckets"}, name, errors.New("another version"))
	}
	m.deleted = append(m.deleted, *o.Preconditions)
	return nil
}

func TestDeletionIsBoundToWhatWasCompared(t *testing.T) {
	ref := catalog.Ref{Kind: catalog.Kind{Plural: "s3buckets"}, Namespace: "n", Name: "b"}
	m := &moving{generation: 2, version: "7", writes: 2}
	live, _ := m.Get(t.Context(), "", metav1.GetOptions{})
	if err := deleteSeen(t.Context(), m, ref, Seen{UID: "u1", ETag: ETag(live)}, false); err != nil {
		t.Fatal(err)
	}
	if len(m.deleted) != 1 || *m.deleted[0].UID != "u1" || *m.deleted[0].ResourceVersion != "7++" {
		t.Errorf("deleted %+v: status writes do not matter, and the version compared is the one deleted", m.deleted)
	}
	m = &moving{generation: 3, version: "9"}
	err := deleteSeen(t.Context(), m, ref, Seen{UID: "u1", ETag: ETag(live)}, false)
	if changed := (*failure.ChangedError)(nil); !errors.As(err, &changed) || len(m.deleted) != 0 {
		t.Errorf("an edited object: %v, deleted %+v", err, m.deleted)
	}
	m = &moving{writes: 1}
	if err := deleteSeen(t.Context(), m, ref, Seen{UID: "u1"}, false); !apierrors.IsConflict(err) {
		t.Errorf("a namesake: %v", err)
	}
}
