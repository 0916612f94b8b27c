package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// maxRecorded is the largest spec that is recorded, in bytes of JSON. So an object's history has at most HistoryLimit
// times as much.
const maxRecorded = 64 << 10

// scale is the subresource through which a spec can be changed past the policy that stamps who changed it.
const scale = "scale"

// History records what objects' specs were, and who made them so: one ControllerRevision for each generation that is
// seen, in the namespace of the object, which owns it. nil records nothing.
type History struct {
	Client    client.Client
	APIReader client.Reader // past every cache, which has no managed fields
}

// recordHistory writes the generation of obj into its history. What fails is told, and tried by the next pass: it is no
// reason to wait.
func (r *Reconciler[T]) recordHistory(ctx context.Context, obj T, pass *Pass) {
	err := r.History.record(ctx, r.Kind, obj)
	if err == nil || ctx.Err() != nil {
		return
	}
	historyFailures.WithLabelValues(r.Kind).Inc()
	pass.Warning(v1alpha1.ReasonHistoryNotRecorded, "Record", "this version is not in the history of the resource yet: %v; Portico tries again at the next check", err)
}

// record writes down the generation of obj, unless its status says that this was done. What cannot be written now is
// tried by the next pass: the error is for people, and no reason to wait.
func (h *History) record(ctx context.Context, kind string, obj Object) error {
	status := obj.Common()
	if h == nil || obj.GetNamespace() == "" || status.RecordedGeneration == obj.GetGeneration() {
		return nil
	}
	entry, err := h.entryOf(ctx, kind, obj)
	if err != nil {
		return err
	}
	if entry != nil {
		err = h.Client.Create(ctx, entry)
		if apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
			return nil
		}
		if err == nil {
			err = h.trim(ctx, obj)
		}
		if err != nil && !apierrors.IsAlreadyExists(err) { // that was a pass which did not come to note it
			return err
		}
	}
	status.RecordedGeneration = obj.GetGeneration()
	return nil
}

// entryOf returns the record of obj; nil without an error if there is to be none.
func (h *History) entryOf(ctx context.Context, kind string, obj Object) (*appsv1.ControllerRevision, error) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(map[string]any{"spec": fields["spec"]})
	if err != nil || len(data) > maxRecorded {
		return nil, err
	}
	notes, err := h.notesOf(ctx, kind, obj)
	if err != nil || notes == nil {
		return nil, err
	}
	return &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: obj.GetNamespace(), Name: fmt.Sprintf("portico-%s-%d", obj.GetUID(), obj.GetGeneration()), Annotations: notes,
			Labels: map[string]string{v1alpha1.LabelHistoryOf: string(obj.GetUID()), "app.kubernetes.io/managed-by": "portico"},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: v1alpha1.GroupVersion.String(), Kind: kind, Name: obj.GetName(), UID: obj.GetUID(), Controller: new(true),
			}},
		},
		Data: runtime.RawExtension{Raw: data}, Revision: obj.GetGeneration(),
	}, nil
}

// notesOf returns what is known about the change to the generation of obj; nil if obj is not the latest, so that this
// cannot be said.
func (h *History) notesOf(ctx context.Context, kind string, obj Object) (map[string]string, error) {
	notes := notedByAdmission(obj)
	if notes != nil && obj.GetGeneration() == 1 {
		notes[v1alpha1.AnnotationChangedAt] = obj.GetCreationTimestamp().UTC().Format(time.RFC3339)
		return notes, nil
	}
	managed := obj.GetManagedFields()
	if len(managed) == 0 {
		live := &metav1.PartialObjectMetadata{}
		live.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(kind))
		if err := h.APIReader.Get(ctx, client.ObjectKeyFromObject(obj), live); err != nil {
			return nil, client.IgnoreNotFound(err)
		}
		if live.GetUID() != obj.GetUID() || live.GetGeneration() != obj.GetGeneration() {
			return nil, nil
		}
		managed = live.GetManagedFields()
	}
	last, scaled := lastOfSpec(managed)
	return notesBy(obj, notes, last, scaled), nil
}

// notesBy returns what is known of the change to the generation of obj by its managed fields; notes are those of
// admission, nil for none.
func notesBy(obj Object, notes map[string]string, last *metav1.ManagedFieldsEntry, scaled bool) map[string]string {
	if notes != nil { // it knows all but when
		if last != nil {
			notes[v1alpha1.AnnotationChangedAt] = last.Time.UTC().Format(time.RFC3339)
		}
		return notes
	}
	notes = map[string]string{}
	who := changedBy(obj)
	if who != "" {
		notes[v1alpha1.AnnotationChangedBy] = who
	}
	if last != nil && (who != "" || !scaled) {
		notes[v1alpha1.AnnotationChangedAt] = last.Time.UTC().Format(time.RFC3339)
		if last.Manager != "" {
			notes[v1alpha1.AnnotationChangedWith] = last.Manager
		}
	}
	return notes
}

// notedByAdmission returns what admission noted of the change to the generation of obj; nil unless it knows who made
// it, and with what. It does not know when. Managed fields would not tell who took a field away.
func notedByAdmission(obj client.Object) map[string]string {
	by, with := obj.GetAnnotations()[v1alpha1.AnnotationChangedBy], obj.GetAnnotations()[v1alpha1.AnnotationChangedWith]
	if !stamped(obj) || by == "" || with == "" {
		return nil
	}
	return map[string]string{
		v1alpha1.AnnotationChangedBy: by, v1alpha1.AnnotationChangedWith: with,
		v1alpha1.AnnotationChangedGeneration: strconv.FormatInt(obj.GetGeneration(), 10),
	}
}

// stamped reports whether admission has noted who made the generation of obj.
func stamped(obj client.Object) bool {
	return obj.GetAnnotations()[v1alpha1.AnnotationChangedGeneration] == strconv.FormatInt(obj.GetGeneration(), 10)
}

// changedBy returns who made the generation of obj, "" if that is not known. Who requested it made the first, also
// where admission did not stamp changes yet.
func changedBy(obj client.Object) string {
	notes := obj.GetAnnotations()
	switch {
	case stamped(obj):
		return notes[v1alpha1.AnnotationChangedBy]
	case obj.GetGeneration() == 1:
		return notes[v1alpha1.AnnotationRequestedBy]
	}
	return ""
}

// lastOfSpec returns the field manager that changed the spec last, nil if there is none, and whether the subresource
// scale changed it some time: of that, Kubernetes does not say when. Of several within one second it cannot be said
// which was the last: then it has no name.
func lastOfSpec(managed []metav1.ManagedFieldsEntry) (last *metav1.ManagedFieldsEntry, scaled bool) {
	for _, e := range managed {
		var owned map[string]json.RawMessage
		if e.FieldsV1 == nil || json.Unmarshal(e.FieldsV1.GetRawBytes(), &owned) != nil || owned["f:spec"] == nil {
			continue
		}
		switch {
		case e.Subresource == scale:
			scaled = true
		case e.Subresource == "" && e.Time != nil && (last == nil || e.Time.After(last.Time.Time)):
			last = &e
		case e.Subresource == "" && e.Time != nil && e.Time.Equal(last.Time) && e.Manager != last.Manager:
			last.Manager = ""
		}
	}
	return last, scaled
}

// trim deletes the oldest records of obj that are more than it may have.
func (h *History) trim(ctx context.Context, obj client.Object) error {
	if obj.GetGeneration() <= v1alpha1.HistoryLimit {
		return nil // there cannot be more
	}
	all := &metav1.PartialObjectMetadataList{}
	all.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("ControllerRevisionList"))
	err := h.APIReader.List(ctx, all, client.InNamespace(obj.GetNamespace()), client.MatchingLabels{v1alpha1.LabelHistoryOf: string(obj.GetUID())})
	if err != nil {
		return fmt.Errorf("list the history: %w", err)
	}
	slices.SortFunc(all.Items, func(a, b metav1.PartialObjectMetadata) int {
		return cmp.Or(cmp.Compare(len(b.Name), len(a.Name)), cmp.Compare(b.Name, a.Name)) // that ends in the generation
	})
	for _, old := range all.Items[min(v1alpha1.HistoryLimit, len(all.Items)):] {
		gone := &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Namespace: old.Namespace, Name: old.Name}}
		if err := client.IgnoreNotFound(h.Client.Delete(ctx, gone)); err != nil {
			return fmt.Errorf("delete the oldest of the history: %w", err)
		}
	}
	return nil
}
