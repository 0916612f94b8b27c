package status

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestUsersAreNamed(t *testing.T) {
	user := func(kind, name string) any { return map[string]any{"kind": kind, "name": name} }
	for want, status := range map[string]map[string]any{
		"":                       {},
		"WebApp shop":            {"usedBy": []any{user("WebApp", "shop")}},
		"SNSTopic a, WebApp b":   {"usedBy": []any{user("SNSTopic", "a"), user("WebApp", "b")}},
		"WebApp shop and 3 more": {"usedBy": []any{user("WebApp", "shop")}, "moreUsers": int64(3)},
	} {
		if got := UsersOf(&unstructured.Unstructured{Object: map[string]any{"status": status}}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
