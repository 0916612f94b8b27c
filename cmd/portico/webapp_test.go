package main

import (
	"reflect"
	"strings"
	"testing"
)

// webapp returns the web app shop with a spec. Its revisions 1 to 3 have the images shop:2, shop:1 and shop:2; revision
// 7, with shop:7, was never available.
func webapp(spec string) string {
	return `{"apiVersion": "portico.dev/v1alpha1", "kind": "WebApp", "metadata": {"name": "shop", "namespace": "payments", "uid": "u", "generation": 2},
		"spec": {` + spec + `}, "status": {"observedGeneration": 2, "conditions": [{"type": "Ready", "status": "True"}], "revisions": [
		{"revision": 3, "image": "shop:2", "created": "2026-01-02T02:04:05Z", "available": 2},
		{"revision": 2, "image": "shop:1", "created": "2026-01-01T03:04:05Z", "available": 0},
		{"revision": 1, "image": "shop:2", "created": "2026-01-01T02:04:05Z", "available": 0},
		{"revision": 7, "image": "shop:7", "created": "2026-01-01T01:04:05Z", "available": 0, "neverAvailable": true}]}}`
}

func TestScalingAWebApp(t *testing.T) {
	const plain, asleep = `"image": "shop:2", "replicas": 2`, `"image": "shop:2"`
	for _, c := range []struct {
		name, spec string
		args       []string
		code       int
		sent       any
		said       string
	}{
		{"up", plain, []string{"shop", "3"}, 0, 3.0, "web app shop in payments: replicas 2 → 3.\n"},
		{"to nothing", asleep, []string{"web-app/shop", "0"}, 0, 0.0, "web app shop in payments: replicas 1 → 0.\n"},
		{"and waiting", plain, []string{"shop", "3", "--wait"}, 0, 3.0, "replicas 2 → 3.\nReady\nweb app shop in payments is ready.\n"},
		{
			"that scales by itself", plain + `, "autoscaling": {"min": 2, "max": 9}`,
			[]string{"shop", "3"},
			1, nil,
			"portico: web app shop in payments scales by itself, from 2 to 9 replicas: nothing was changed\n  Change " +
				"spec.autoscaling with portico edit web-app shop.\n",
		},
		{"to no number", plain, []string{"shop", "many"}, 2, nil, "portico: \"many\" is not a number of replicas: give a whole number, such as 3\n"},
		{"below nothing", plain, []string{"shop", "--", "-1"}, 2, nil, "portico: \"-1\" is not a number of replicas: give a whole number, such as 3\n"},
		{"that is a bucket", plain, []string{"bucket/a", "3"}, 2, nil, "portico: this is for a WebApp only, not for an S3Bucket\n"},
		{"without a number", plain, []string{"shop"}, 2, nil, "portico: portico scale needs NAME NUMBER behind it\n  See portico scale --help.\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPortal(t)
			p.on("GET "+shop, 200, webapp(c.spec), "ETag", etag)
			p.on("PATCH "+shop, 200, webapp(c.spec))
			p.on("GET "+shop+"?watch=true", 200, snapshot(webapp(c.spec)))
			_, said := newTerminal(t, p.url).run(c.code, append([]string{"scale"}, c.args...)...)
			if !strings.HasSuffix(said, c.said) {
				t.Errorf("said %q, want %q", said, c.said)
			}
			var want map[string]any
			if c.sent != nil {
				want = map[string]any{"spec": map[string]any{"replicas": c.sent}}
			}
			if got := p.bodies["PATCH "+shop]; !reflect.DeepEqual(got, want) {
				t.Errorf("sent %v, want %v", got, want)
			}
		})
	}
}

func TestRollingBackAWebApp(t *testing.T) {
	for _, c := range []struct {
		name, image string
		args        []string
		code        int
		sent, said  string
	}{
		{"to the last other image", "shop:2", nil, 0, "2", "web app shop in payments returns to version 2, image shop:1.\n"},
		{"to a version", "shop:3", []string{"--to-revision", "1"}, 0, "1", "web app shop in payments returns to version 1, image shop:2.\n"},
		{
			"to what never served", "shop:3",
			[]string{"--to-revision", "7"},
			1, "",
			"portico: web app shop in payments: version 7 never served: none of its replicas became available: " +
				"nothing was changed\n  See its versions with portico describe web-app shop.\n",
		},
		{
			"to what it uses", "shop:2",
			[]string{"--to-revision", "1"},
			1, "",
			"portico: web app shop in payments: version 1 has the image that it uses already: nothing was changed\n  " +
				"See its versions with portico describe web-app shop.\n",
		},
		{
			"to what is gone", "shop:2",
			[]string{"--to-revision", "9"},
			1, "",
			"portico: web app shop in payments: the cluster does not keep a version 9: nothing was changed\n  See " +
				"its versions with portico describe web-app shop.\n",
		},
		{"to no version", "shop:2", []string{"--to-revision", "0"}, 2, "", "portico: --to-revision 0: versions are numbered from 1\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPortal(t)
			p.on("GET "+shop, 200, webapp(`"image": "`+c.image+`"`), "ETag", etag)
			p.on("PATCH "+shop, 200, webapp(`"image": "`+c.image+`"`))
			if _, said := newTerminal(t, p.url).run(
				c.code, append([]string{"rollback", "shop"}, c.args...)...); said != c.said {
				t.Errorf("said %q, want %q", said, c.said)
			}
			var want map[string]any
			if c.sent != "" {
				want = map[string]any{"metadata": map[string]any{
					"annotations": map[string]any{"portico.dev/rollback": c.sent},
				}}
			}
			if got := p.bodies["PATCH "+shop]; !reflect.DeepEqual(got, want) {
				t.Errorf("sent %v, want %v", got, want)
			}
		})
	}
	t.Run("without an earlier version", func(t *testing.T) {
		p := newPortal(t)
		p.on(
			"GET "+shop, 200,
			`{"kind": "WebApp", "metadata": {"name": "shop", "namespace": "payments"}, "spec": {"image": "shop:1"}}`,
			"ETag", etag)
		if _, said := newTerminal(t, p.url).run(1, "rollback", "shop"); !strings.Contains(
			said, "there is no earlier version with another image") {
			t.Errorf("said %q", said)
		}
	})
	t.Run("Tab offers what differs", func(t *testing.T) {
		p := newPortal(t)
		p.on("GET "+shop, 200, webapp(`"image": "shop:2"`), "ETag", etag)
		if out, _ := newTerminal(t, p.url).run(0, "__complete", "rollback", "shop", "--to-revision",
			""); out != "2\tshop:1\n:4\n" {
			t.Errorf("offers %q", out)
		}
	})
}
