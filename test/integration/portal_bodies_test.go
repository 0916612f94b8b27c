//go:build integration

package integration

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"

	"k8s.io/client-go/kubernetes"
)

// cpuOfServer returns the CPU time that the API server has used, in seconds.
func cpuOfServer(t *testing.T) float64 {
	t.Helper()
	clients, err := kubernetes.NewForConfig(world.Admin)
	if err != nil {
		t.Fatal(err)
	}
	text, err := clients.RESTClient().Get().AbsPath("/metrics").DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var seconds float64
		if _, err := fmt.Sscanf(line, "process_cpu_seconds_total %g", &seconds); err == nil {
			return seconds
		}
	}
	t.Fatal("the API server does not tell its CPU")
	return 0
}

// manyOf returns a list of n items.
func manyOf(n int, item any) []any {
	all := make([]any, n)
	for i := range all {
		all[i] = item
	}
	return all
}

// appBody returns a WebApp with an image and these spec fields.
func appBody(name string, more map[string]any) map[string]any {
	spec := map[string]any{"image": "ghcr.io/shop/web:1", "port": 8080}
	maps.Copy(spec, more)
	return map[string]any{"apiVersion": "portico.dev/v1alpha1", "kind": "WebApp", "metadata": map[string]any{
		"name": name,
	}, "spec": spec}
}

// costlyBodies returns large invalid bodies: the API server searches for every error, which takes it seconds for 60 kB
// of env.
func costlyBodies() map[string]map[string]any {
	fields, labels := map[string]any{}, map[string]any{}
	for i := range 20_000 {
		fields[fmt.Sprint("f", i)] = map[string]any{}
		labels[fmt.Sprint("!", i)] = "x"
	}
	labelled := appBody("costly", nil)
	labelled["metadata"].(map[string]any)["labels"] = labels
	return map[string]map[string]any{
		"60 kB of env without names": appBody("costly", map[string]any{"env": manyOf(20_000, map[string]any{})}),
		"1 MiB of env without names": appBody("costly", map[string]any{"env": manyOf(340_000, map[string]any{})}),
		"1 MiB of one name": appBody(
			"costly", map[string]any{"env": manyOf(60_000, map[string]any{"name": "A"})}),
		"1 MiB of arguments":           appBody("costly", map[string]any{"args": manyOf(250_000, "x")}),
		"20,000 fields that are not":   appBody("costly", fields),
		"20,000 labels":                labelled,
		"a text of 1 MiB":              appBody("costly", map[string]any{"image": strings.Repeat("x", 1<<20-1000)}),
		"lists in the place of a text": appBody("costly", map[string]any{"image": manyOf(300_000, []any{})}),
	}
}

// TestACostlyBodyDoesNotReachTheAPIServer checks, for every way to send one, that the portal refuses it by its schema,
// with the first errors.
func TestACostlyBodyDoesNotReachTheAPIServer(t *testing.T) {
	p, ns := startPortal(t, "", sessionKeys(t)), "payments"
	token, name := userToken(t, "payments-dev"), unique("whole")
	path := "/namespaces/" + ns + "/webapps"
	remove(t, ns, name)
	made := p.call(t, token, "POST", path, appBody(name, nil)).want(t, http.StatusCreated)
	match := []string{"If-Match", made.header.Get("ETag")}
	before, sent := cpuOfServer(t), 0
	for what, body := range costlyBodies() {
		meta := maps.Clone(body["metadata"].(map[string]any))
		delete(meta, "name")
		patch := map[string]any{"spec": body["spec"], "metadata": meta}
		named := appBody(name, nil)
		named["spec"] = body["spec"]
		maps.Copy(named["metadata"].(map[string]any), meta)
		for way, send := range map[string]func() answer{
			"created": func() answer { return p.call(t, token, "POST", path, body) },
			"tried":   func() answer { return p.call(t, token, "POST", path+"?dryRun=All", body) },
			"created by name": func() answer {
				return p.call(t, token, "PUT", path+"/costly", body, "If-None-Match", "*")
			},
			"replaced": func() answer { return p.call(t, token, "PUT", path+"/"+name, named, match...) },
			"patched": func() answer {
				return p.call(t, token, "PATCH", path+"/"+name, patch, append(match, "Content-Type", mergePatch)...)
			},
			"patched to be seen": func() answer {
				return p.call(t, token, "PATCH", path+"/"+name+"?dryRun=All", patch,
					append(match, "Content-Type", mergePatch)...)
			},
		} {
			p.calls.take()
			a := send().want(t, http.StatusUnprocessableEntity)
			sent++
			for _, c := range p.calls.take() {
				if c.method != http.MethodGet && strings.Contains(c.path, "/webapps") {
					t.Errorf("%s, %s: sent %s %s", what, way, c.method, c.path)
				}
			}
			if errors, _ := a.body["errors"].([]any); len(errors) == 0 || len(errors) > 21 || len(a.raw) > 32<<10 {
				t.Errorf("%s, %s: %d errors in %d bytes: %.300s", what, way, len(errors), len(a.raw), a.raw)
			}
		}
	}
	t.Logf("%d bodies: %.2f s of the API server's CPU for all", sent, cpuOfServer(t)-before)
	p.call(t, token, "PATCH", path+"/"+name,
		map[string]any{"spec": map[string]any{"env": []any{map[string]any{"name": "A", "value": "b"}}}},
		append(match, "Content-Type", mergePatch)...).want(t, http.StatusOK)
}
