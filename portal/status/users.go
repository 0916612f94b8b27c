package status

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// UsersOf returns what uses the object, from its status: "WebApp shop, SNSTopic orders and 3 more". It is empty if
// nothing does; otherwise the object cannot be deleted.
func UsersOf(obj *unstructured.Unstructured) string {
	list, _, _ := unstructured.NestedSlice(obj.Object, "status", "usedBy")
	names := make([]string, 0, len(list))
	for _, one := range list {
		user, _ := one.(map[string]any)
		kind, _ := user["kind"].(string)
		name, _ := user["name"].(string)
		names = append(names, strings.TrimSpace(kind+" "+name))
	}
	all := strings.Join(names, ", ")
	if more, _, _ := unstructured.NestedInt64(obj.Object, "status", "moreUsers"); more > 0 {
		all += fmt.Sprintf(" and %d more", more)
	}
	return all
}
