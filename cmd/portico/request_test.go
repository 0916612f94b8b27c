package main

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

func TestARequestIsWhatTheFieldsSay(t *testing.T) {
	p := newPortal(t)
	p.on("POST "+buckets, 201, bucket("a", "Unknown", ""), "ETag", etag, "Warning", `299 - "careful"`)
	_, said := newTerminal(t, p.url).run(0, "request", "bucket", "a",
		"--set", "providerRef=aws", "--set", "tags.cost.center=4711", "--set", "tags.team=x",
		"--set", "forceDestroy=true", "--set", "lifecycleRules[0].id=old", "--set",
		"lifecycleRules.0.expirationDays=30")
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

func TestARequestBeginsAsTheTeamWants(t *testing.T) {
	const offers = `{"items": [], "defaults": {"provider": "aws", "deletionPolicy": "Retain"}}`
	for name, c := range map[string]struct {
		offers string
		args   []string
		want   any
	}{
		"it says nothing":          {offers, []string{"--set", "providerRef=aws"}, "Retain"},
		"it says what it wants":    {offers, []string{"--set", "deletionPolicy=Orphan"}, "Orphan"},
		"a file leaves it out":     {offers, []string{"-f", "bucket.yaml"}, nil},
		"the team wants nothing":   {`{"items": [], "defaults": {"provider": "aws"}}`, nil, nil},
		"the kind does it anyway":  {`{"items": [], "defaults": {"deletionPolicy": "Delete"}}`, nil, nil},
		"the kind has no such one": {`{"items": [], "defaults": {"deletionPolicy": "Burn"}}`, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPortal(t)
			p.on("GET /catalog?namespace=payments", 200, c.offers)
			p.on("POST "+buckets, 201, bucket("a", "Unknown", ""))
			term := newTerminal(t, p.url)
			file := filepath.Join(t.TempDir(), "bucket.yaml")
			if err := os.WriteFile(file, []byte("spec: {providerRef: {name: aws}}"), 0o600); err != nil {
				t.Fatal(err)
			}
			args := append([]string{"request", "bucket", "a"}, c.args...)
			if args[len(args)-1] == "bucket.yaml" {
				args[len(args)-1] = file
			}
			term.run(0, args...)
			spec, _ := p.bodies["POST "+buckets]["spec"].(map[string]any)
			if spec["deletionPolicy"] != c.want {
				t.Errorf("sent %v, want deletionPolicy %v", spec, c.want)
			}
		})
	}
}
