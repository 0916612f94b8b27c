package main

import (
	"reflect"
	"testing"
)

func TestActionsSendOneAnnotation(t *testing.T) {
	p := newPortal(t)
	p.on("PATCH "+buckets+"/a", 200, bucket("a", "True", ""))
	p.on("PATCH /namespaces/payments/webapps/shop", 200, bucket("a", "True", ""))
	for _, c := range []struct {
		args       []string
		path, name string
		value      any
	}{
		{[]string{"pause", "bucket", "a"}, buckets + "/a", "portico.dev/paused", "true"},
		{[]string{"resume", "bucket", "a"}, buckets + "/a", "portico.dev/paused", nil},
		{[]string{"reconcile", "bucket/a"}, buckets + "/a", "portico.dev/reconcile-requested-at", "2026-01-02T03:04:05Z"},
		{[]string{"restart", "shop"}, "/namespaces/payments/webapps/shop", "portico.dev/restart-requested-at", "2026-01-02T03:04:05Z"},
	} {
		newTerminal(t, p.url).run(0, c.args...)
		want := map[string]any{"metadata": map[string]any{"annotations": map[string]any{c.name: c.value}}}
		if got := p.bodies["PATCH "+c.path]; !reflect.DeepEqual(got, want) {
			t.Errorf("%v sends %v", c.args, got)
		}
	}
}
