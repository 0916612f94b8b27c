package chart

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/chart/v2/lint"
	"helm.sh/helm/v4/pkg/chart/v2/lint/support"
)

func TestHelmLintFindsNothing(t *testing.T) {
	for _, set := range []string{"minimal", "production", "air-gapped", "private", "default", "config"} {
		found := lint.RunAll(chartOf(set), values(t, set), "portico-system")
		for _, m := range found.Messages {
			if m.Severity > support.InfoSev {
				t.Errorf("%s: %v", set, m)
			}
		}
	}
}

// TestWrongValuesAreRefused checks that the error for a common mistake names the value.
func TestWrongValuesAreRefused(t *testing.T) {
	for says, path := range map[string][]any{
		"portal.publicURL is needed":                 {"portal", "publicURL", ""},
		"'/portal/publicURL'":                        {"portal", "publicURL", "portal.example.com"},
		"'/portal/publicURL': 'https://p.example?":   {"portal", "publicURL", "https://p.example?x"},
		"portal.oidc.issuerURL and portal.oidc.cl":   {"portal", "oidc", "issuerURL", ""},
		"'/portal/oidc/issuerURL'":                   {"portal", "oidc", "issuerURL", "https://me:hidden@login.example.com"},
		"'/portal/oidc/scopes'":                      {"portal", "oidc", "scopes", "profile email"},
		"'/portal/oidc/groupNames/0760b6cf'":         {"portal", "oidc", "groupNames", map[string]any{"0760b6cf": ""}},
		"additional properties 'replica' not":        {"operator", "replica", 3},
		"'/operator/replicas'":                       {"operator", "replicas", 0},
		"'/operator/aws/roleARN'":                    {"operator", "aws", "roleARN", "portico-operator"},
		"'/operator/image/digest'":                   {"operator", "image", "digest", "latest"},
		"'--workers' does not match pattern":         {"operator", "settings", "--workers", 3},
		"'/networkPolicy/egressPorts/0'":             {"networkPolicy", "egressPorts", []any{"https"}},
		"'/ca/existingConfigMap'":                    {"ca", "existingConfigMap", "Company CA"},
		"'/portal/extraEnv/0/name'":                  {"portal", "extraEnv", []any{map[string]any{"name": "POD_IP"}}},
		"'/operator/extraVolumes/0'":                 {"operator", "extraVolumes", []any{map[string]any{"emptyDir": map[string]any{}}}},
		"'/portal/service/nodePort'":                 {"portal", "service", "nodePort", 70000},
		"'/networkPolicy/egress/0'":                  {"networkPolicy", "egress", []any{map[string]any{}}},
		"'/networkPolicy/operatorEgress/0/to'":       {"networkPolicy", "operatorEgress", []any{map[string]any{"to": []any{}}}},
		"'/portal/service/type'":                     {"portal", "service", "type", "External"},
		"a memory limit of 1.5Gi: write it as a who": {"portal", "resources", "limits", map[string]any{"memory": "1.5Gi"}},
	} {
		set := values(t, "minimal")
		change(set, path)
		if _, err := renderWith(t, folder, set); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v: %v, want %q", path, err, says)
		}
	}
}

func TestWrongConfigIsRefused(t *testing.T) {
	for says, path := range map[string][]any{
		"missing property 'region'":   {"awsProviders", "aws-prod", map[string]any{}},
		"missing property 'suffixes'": {"hostnameGrants", "payments", map[string]any{}},
		"'provider' not allowed":      {"provider", map[string]any{}},
	} {
		set := values(t, "config")
		change(set, path)
		if _, err := renderWith(t, configFolder, set); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v: %v, want %q", path, err, says)
		}
	}
}

// change sets the value at the end of a path.
func change(set map[string]any, path []any) {
	for len(path) > 2 {
		inner, ok := set[path[0].(string)].(map[string]any)
		if !ok {
			inner = map[string]any{}
			set[path[0].(string)] = inner
		}
		set, path = inner, path[1:]
	}
	set[path[0].(string)] = path[1]
}

// TestEveryObjectIsOurs checks that all objects have the labels with which users find the chart's objects.
func TestEveryObjectIsOurs(t *testing.T) {
	files, err := renderWith(t, folder, values(t, "production"))
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, file := range slices.Sorted(maps.Keys(files)) {
		if !strings.HasSuffix(file, ".yaml") {
			continue
		}
		for _, object := range documents(t, files[file]) {
			seen++
			if !strings.Contains(object, "kind: CustomResourceDefinition") &&
				!strings.Contains(object, "app.kubernetes.io/name: portico") {
				t.Errorf("%s has an object without labels:\n%.300s", file, object)
			}
		}
	}
	if seen < 50 {
		t.Errorf("only %d objects", seen)
	}
}

func TestSessionKeysAreMadeIfNoneAreNamed(t *testing.T) {
	set := values(t, "minimal")
	change(set, []any{"portal", "sessionKeys", "existingSecret", ""})
	var keys []string
	for range 2 {
		files, err := renderWith(t, folder, set)
		if err != nil {
			t.Fatal(err)
		}
		_, rest, found := strings.Cut(files["portico/templates/portal.yaml"], "\n  keys: ")
		if !found {
			t.Fatal("no keys")
		}
		key, _, _ := strings.Cut(rest, "\n")
		keys = append(keys, key)
	}
	if len(keys[0]) < 50 || keys[0] == keys[1] {
		t.Errorf("keys %q", keys)
	}
}

// TestWhatIsOffLeavesNothingBehind checks the objects of helm test without network policies, and the notes of a portal
// with TLS, to which the command for plain HTTP does not lead.
func TestWhatIsOffLeavesNothingBehind(t *testing.T) {
	for _, c := range []struct {
		path           []any
		file, mentions string
	}{
		{[]any{"networkPolicy", "enabled", false}, "templates/tests/check.yaml", "kind: NetworkPolicy"},
		{[]any{"portal", "tls", map[string]any{"existingSecret": "portal-tls"}}, "templates/NOTES.txt", "port-forward"},
	} {
		for _, off := range []bool{false, true} {
			set := values(t, "minimal")
			if off {
				change(set, c.path)
			}
			files, err := renderWith(t, folder, set)
			if err != nil {
				t.Fatal(err)
			}
			text, found := "", false
			for name, content := range files {
				if strings.HasSuffix(name, c.file) {
					text, found = content, true
				}
			}
			if !found || strings.Contains(text, c.mentions) == off {
				t.Errorf("%v: %t: %s is there: %t:\n%s", c.path, off, c.file, found, text)
			}
		}
	}
}
