package main

import (
	"reflect"
	"strings"
	"testing"
)

func pausedBucket(is bool) string {
	if !is {
		return bucket("a", "True", "")
	}
	return strings.Replace(bucket("a", "True", ""), `"annotations": {`,
		`"annotations": {"portico.dev/paused": "true", `, 1)
}

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
		p.on("GET "+buckets+"/a", 200, pausedBucket(c.value == nil), "ETag", etag)
		newTerminal(t, p.url).run(0, c.args...)
		want := map[string]any{"metadata": map[string]any{"annotations": map[string]any{c.name: c.value}}}
		if got := p.bodies["PATCH "+c.path]; !reflect.DeepEqual(got, want) {
			t.Errorf("%v sends %v", c.args, got)
		}
	}
}

// TestActionsThatAreNotNeeded: nothing is sent if the object already is in the requested state, and the output says so.
func TestActionsThatAreNotNeeded(t *testing.T) {
	for verb, row := range map[string]struct {
		paused bool
		says   string
	}{
		"keep":   {false, "bucket a in payments is not being deleted: nothing was changed.\n"},
		"resume": {false, "bucket a in payments is not paused: nothing was changed.\n"},
		"pause":  {true, "bucket a in payments is paused already: nothing was changed.\n"},
	} {
		p := newPortal(t)
		p.on("GET "+buckets+"/a", 200, pausedBucket(row.paused), "ETag", etag)
		if _, said := newTerminal(t, p.url).run(0, verb, "bucket", "a"); !strings.EqualFold(said, row.says) ||
			len(p.bodies) > 0 {
			t.Errorf("%s says %q and sends %v, want %q", verb, said, p.bodies, row.says)
		}
	}
}
