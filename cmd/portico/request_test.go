package main

import (
	"reflect"
	"testing"
)

func TestARequestIsWhatTheFieldsSay(t *testing.T) {
	p := newPortal(t)
	p.on("POST "+buckets, 201, bucket("a", "Unknown", ""), "ETag", etag, "Warning", `299 - "careful"`)
	_, said := newTerminal(t, p.url).run(0, "request", "bucket", "a",
		"--set", "providerRef=aws", "--set", "tags.cost.center=4711", "--set", "tags.team=x",
		"--set", "forceDestroy=true", "--set", "lifecycleRules[0].id=old", "--set", "lifecycleRules.0.expirationDays=30")
	want := map[string]any{
		"apiVersion": "portico.dev/v1alpha1", "kind": "S3Bucket", "metadata": map[string]any{"name": "a"},
		"spec": map[string]any{
			"providerRef": map[string]any{"name": "aws"}, "forceDestroy": true,
			"tags":           map[string]any{"cost.center": "4711", "team": "x"},
			"lifecycleRules": []any{map[string]any{"id": "old", "expirationDays": 30.0}},
		},
	}
	if got := p.bodies["POST "+buckets]; !reflect.DeepEqual(got, want) {
		t.Errorf("sent %v, want %v", got, want)
	}
	if said != "Warning: careful\nRequested bucket a in payments.\n" {
		t.Errorf("said %q", said)
	}
}
