package backup

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// orders are annotations that request something once: a restore would repeat it.
var orders = []string{
	v1alpha1.AnnotationReconcileRequestedAt, v1alpha1.AnnotationAcknowledgeRecreate, v1alpha1.AnnotationRotatePassword,
	v1alpha1.AnnotationRollback,
}

// cleaned returns what people declared of an object, and under which UID its own was made.
func cleaned(live *object) *object {
	made := &object{Object: map[string]any{}}
	for _, field := range []string{"apiVersion", "kind", "spec", "roleRef", "subjects"} {
		if value, ok := live.Object[field]; ok {
			made.Object[field] = value
		}
	}
	if live.GetKind() == "Namespace" {
		delete(made.Object, "spec") // finalizers of Kubernetes
	}
	made = made.DeepCopy()
	made.SetName(live.GetName())
	made.SetNamespace(live.GetNamespace())
	labels, notes := maps.Clone(live.GetLabels()), maps.Clone(live.GetAnnotations())
	delete(labels, corev1.LabelMetadataName) // the API server writes it
	delete(notes, corev1.LastAppliedConfigAnnotation)
	for _, order := range orders {
		delete(notes, order)
	}
	if former := formerOf(live); former != "" {
		if notes == nil {
			notes = map[string]string{}
		}
		notes[v1alpha1.AnnotationFormerUID] = former
	}
	if len(labels) > 0 {
		made.SetLabels(labels)
	}
	if len(notes) > 0 {
		made.SetAnnotations(notes)
	}
	return made
}

// formerOf returns the value of portico.dev/former-uid for the object in another cluster, or "" for kinds that do not
// use it.
func formerOf(live *object) string {
	uid, before := string(live.GetUID()), live.GetAnnotations()[v1alpha1.AnnotationFormerUID]
	switch live.GetKind() {
	case "Namespace":
		all := strings.FieldsFunc(before, func(r rune) bool { return r == ',' || r == ' ' })
		if !slices.Contains(all, uid) {
			all = append([]string{uid}, all...)
		}
		return strings.Join(all, ",")
	case "GatewayHostnameRequest":
		if before != "" {
			return before
		}
		return uid
	}
	return ""
}

// secretsOf returns the Secrets that an object refers to, as <namespace>/<name>, sorted.
func secretsOf(o *object, system string) []string {
	var all []string
	namespace := o.GetNamespace()
	if namespace == "" {
		namespace = system
	}
	spec, _, _ := unstructured.NestedMap(o.Object, "spec")
	eachSecret(spec, func(name string) { all = append(all, namespace+"/"+name) })
	slices.Sort(all)
	return slices.Compact(all)
}

func eachSecret(value any, found func(name string)) {
	switch v := value.(type) {
	case map[string]any:
		for key, member := range v {
			ref, _ := member.(map[string]any)
			if name, ok := ref["name"].(string); ok && isSecretRef(key) {
				found(name)
			}
			eachSecret(member, found)
		}
	case []any:
		for _, member := range v {
			eachSecret(member, found)
		}
	}
}

// isSecretRef reports whether a field of our kinds refers to a Secret: secretRef, masterUserPasswordSecretRef and a
// provider's keys.
func isSecretRef(field string) bool {
	return strings.HasSuffix(strings.ToLower(field), "secretref") ||
		slices.Contains([]string{"accessKeyIDRef", "secretAccessKeyRef", "sessionTokenRef"}, field)
}
