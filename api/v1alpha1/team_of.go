package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// TeamOf returns the team of a namespace: the value of LabelTeam, else the namespace's own name.
func TeamOf(namespace metav1.Object) string {
	if team := namespace.GetLabels()[LabelTeam]; team != "" {
		return team
	}
	return namespace.GetName()
}
