package catalog

import "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

// TextAt returns the string at a path of obj, "" if there is none.
func TextAt(obj *unstructured.Unstructured, path ...string) string {
	s, _, _ := unstructured.NestedString(obj.Object, path...)
	return s
}
