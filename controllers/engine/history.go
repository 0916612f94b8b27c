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

// maxRecorded is the size of the largest recorded spec, in bytes of JSON. An object's history has at most HistoryLimit
// times this size.
const maxRecorded = 64 << 10

// scale is the subresource that can change a spec without the policy that records who changed it.
const scale = "scale"

// History records objects' earlier specs, and who wrote them: one ControllerRevision for each observed generation, in
// the namespace of the object, which owns it. nil records nothing.
type History struct {
	Client    client.Client
	APIReader client.Reader // past every cache, because the cache drops managed fields
	// Run returns the run of a pipeline that has a credential, "" if it is not known.
	Run func(ctx context.Context, credential string) (string, error)
}

// recordHistory records the generation of obj in its history. A failure is reported, and retried by the next pass: it
// blocks nothing.
func (r *Reconciler[T]) recordHistory(ctx context.Context, obj T, pass *Pass) {
	err := r.History.record(ctx, r.Kind, obj)
	if err == nil || ctx.Err() != nil {
		return
	}
	historyFailures.WithLabelValues(r.Kind).Inc()
	pass.Warning(v1alpha1.ReasonHistoryNotRecorded, "Record", "this version is not in the history of the resource "+
		"yet: %v; Portico tries again at the next check", err)
}

// record records the generation of obj, unless its status says that this was done. The next pass retries a failed
// write: the error is for people, and blocks nothing.
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
		if err != nil && !apierrors.IsAlreadyExists(err) { // else an earlier pass created it
			return err
		}
	}
	status.RecordedGeneration = obj.GetGeneration()
	return nil
}

// entryOf returns the record of obj; nil without an error if obj must not be recorded.
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
	if run, err := h.runOf(ctx, obj); err != nil {
		return nil, err
	} else if run != "" {
		notes[v1alpha1.AnnotationChangedRun] = run
		if obj.GetGeneration() == 1 {
			obj.Common().RequestedRun = run
		}
	}
	return &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: obj.GetNamespace(), Name: fmt.Sprintf("portico-%s-%d", obj.GetUID(), obj.GetGeneration()),
			Annotations: notes,
			Labels: map[string]string{
				v1alpha1.LabelHistoryOf:        string(obj.GetUID()),
				"app.kubernetes.io/managed-by": "portico",
			},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: v1alpha1.GroupVersion.String(), Kind: kind, Name: obj.GetName(), UID: obj.GetUID(),
				Controller: new(true),
			}},
		},
		Data: runtime.RawExtension{Raw: data}, Revision: obj.GetGeneration(),
	}, nil
}

// runOf returns the run of the pipeline that wrote the generation of obj, "" if none did or it is not known.
func (h *History) runOf(ctx context.Context, obj Object) (string, error) {
	credential := obj.GetAnnotations()[v1alpha1.AnnotationChangedCredential]
	if credential == "" || !stamped(obj) || h.Run == nil {
		return "", nil
	}
	return h.Run(ctx, credential)
}

// notesOf returns what is known about the change to the generation of obj; nil if obj is not the latest, so that this
// is unknown.
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

// notesBy returns what the managed fields of obj show about the change to its generation; notes are those of admission,
// nil for none.
func notesBy(obj Object, notes map[string]string, last *metav1.ManagedFieldsEntry, scaled bool) map[string]string {
	if notes != nil { // has everything except the time
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

// notedByAdmission returns what admission recorded about the change to the generation of obj; nil unless that includes
// who made it, and with what. It has no time. Managed fields would not show who removed a field.
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

// stamped reports whether admission has recorded who wrote the generation of obj.
func stamped(obj client.Object) bool {
	return obj.GetAnnotations()[v1alpha1.AnnotationChangedGeneration] == strconv.FormatInt(obj.GetGeneration(), 10)
}

// changedBy returns who wrote the generation of obj, "" if unknown. The requester wrote the first, also where admission
// did not record changes yet.
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
// scale ever changed it, for which Kubernetes has no time. If several changed it within one second, the last one is
// unknown, and the result has no name.
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

// trim deletes the oldest records of obj above the limit.
func (h *History) trim(ctx context.Context, obj client.Object) error {
	if obj.GetGeneration() <= v1alpha1.HistoryLimit {
		return nil // there cannot be more
	}
	all := &metav1.PartialObjectMetadataList{}
	all.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("ControllerRevisionList"))
	err := h.APIReader.List(ctx, all, client.InNamespace(obj.GetNamespace()), client.MatchingLabels{
		v1alpha1.LabelHistoryOf: string(obj.GetUID()),
	})
	if err != nil {
		return fmt.Errorf("list the history: %w", err)
	}
	slices.SortFunc(all.Items, func(a, b metav1.PartialObjectMetadata) int {
		return cmp.Or(cmp.Compare(len(b.Name), len(a.Name)), cmp.Compare(b.Name, a.Name)) // names end in the generation
	})
	for _, old := range all.Items[min(v1alpha1.HistoryLimit, len(all.Items)):] {
		gone := &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Namespace: old.Namespace, Name: old.Name}}
		if err := client.IgnoreNotFound(h.Client.Delete(ctx, gone)); err != nil {
			return fmt.Errorf("delete the oldest of the history: %w", err)
		}
	}
	return nil
}
