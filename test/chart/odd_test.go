package chart

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/engine"
	"sigs.k8s.io/yaml"
)

// paths returns the paths of all values of the chart, including those of maps.
func paths(of map[string]any, at ...string) (all [][]string) {
	for _, key := range slices.Sorted(maps.Keys(of)) {
		path := append(slices.Clone(at), key)
		all = append(all, path)
		if inner, ok := of[key].(map[string]any); ok {
			all = append(all, paths(inner, path...)...)
		}
	}
	return all
}

func set(in map[string]any, value any, path ...string) {
	for _, key := range path[:len(path)-1] {
		inner, ok := in[key].(map[string]any)
		if !ok {
			inner = map[string]any{}
			in[key] = inner
		}
		in = inner
	}
	in[path[len(path)-1]] = value
}

// needed are the required values.
var needed = []string{"portal.publicURL", "portal.oidc.issuerURL", "portal.oidc.clientID", "portal.oidc", "portal"}

// TestWholeNumbersAreWhole checks that whole numbers render as such. Helm reads whole numbers of a values file as
// floats.
func TestWholeNumbersAreWhole(t *testing.T) {
	given := values(t, "minimal")
	text := "operator: {settings: {workers: 1000000}, resources: {limits: {memory: 1073741824}}}\nportal: {settings: " +
		"{max-streams: 20000000}}"
	more := map[string]any{}
	if err := yaml.Unmarshal([]byte(text), &more); err != nil {
		t.Fatal(err)
	}
	given["operator"] = more["operator"]
	set(given, more["portal"].(map[string]any)["settings"], "portal", "settings")
	files, err := renderWith(t, folder, given)
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(slices.Collect(maps.Values(files)), "\n")
	for _, want := range []string{
		`PORTICO_WORKERS: "1000000"`, `PORTICO_MAX_STREAMS: "20000000"`,
		`value: "966367641"`,
	} {
		if !strings.Contains(all, want) {
			t.Errorf("there is no %s", want)
		}
	}
}

// TestAValueThatIsEmptyOnPurposeIsHonoured checks that a value set to "" becomes an argument, because an empty
// environment variable is ignored.
func TestAValueThatIsEmptyOnPurposeIsHonoured(t *testing.T) {
	given := values(t, "minimal")
	set(given, "", "portal", "oidc", "prefix")
	set(given, map[string]any{"oidc-confirm-prompt": ""}, "portal", "settings")
	files, err := renderWith(t, folder, given)
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string][]string{
		"portal":   {"--oidc-prefix=", "--oidc-confirm-prompt="},
		"operator": {"--oidc-prefix="},
	} {
		got := deployed(t, files["portico/templates/"+file+".yaml"])
		slices.Sort(want)
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s has the arguments %q, want %q", file, got, want)
		}
	}
}

// deployed returns the arguments of the container of a Deployment.
func deployed(t *testing.T, text string) []string {
	t.Helper()
	for _, object := range documents(t, text) {
		var d struct {
			Kind string
			Spec struct {
				Template struct {
					Spec struct{ Containers []struct{ Args []string } }
				}
			}
		}
		if err := yaml.Unmarshal([]byte(object), &d); err != nil {
			t.Fatal(err)
		}
		if d.Kind == "Deployment" {
			return d.Spec.Template.Spec.Containers[0].Args
		}
	}
	t.Fatal("no Deployment")
	return nil
}

// TestNamesOfDigitsAreNames checks releases and namespaces whose names consist of digits, which YAML reads as numbers.
func TestNamesOfDigitsAreNames(t *testing.T) {
	c := load(t, folder)
	given := values(t, "production")
	set(given, true, "namespace", "create")
	files, err := renderAs(t, c, given, common.ReleaseOptions{
		Name: "42", Namespace: "007", Revision: 1, IsInstall: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for file, text := range files {
		if !strings.HasSuffix(file, ".yaml") {
			continue
		}
		for _, object := range documents(t, text) {
			var o struct{ Metadata map[string]any }
			if err := yaml.Unmarshal([]byte(object), &o); err != nil {
				t.Fatal(err)
			}
			labels, _ := o.Metadata["labels"].(map[string]any)
			for _, v := range []any{o.Metadata["namespace"], o.Metadata["name"], labels["app.kubernetes.io/instance"]} {
				if _, text := v.(string); v != nil && !text {
					t.Errorf("%s has %v of type %T:\n%s", file, v, v, object[:min(300, len(object))])
				}
			}
			if o.Metadata["namespace"] == "007" {
				n++
			}
		}
	}
	if n < 10 {
		t.Errorf("%d objects are in the namespace", n)
	}
}

// TestItCanBeASubchart checks that a parent chart can pass its condition and global values.
func TestItCanBeASubchart(t *testing.T) {
	parent := &chart.Chart{Metadata: &chart.Metadata{APIVersion: "v2", Name: "platform", Version: "1.0.0"}}
	parent.AddDependency(load(t, folder))
	given := values(t, "minimal")
	given["enabled"], given["global"] = true, map[string]any{"imageRegistry": "registry.example.com"}
	values := map[string]any{"portico": given, "global": map[string]any{"a": "b"}}
	files, err := renderAs(t, parent, values, common.ReleaseOptions{
		Name: "platform", Namespace: "portico-system", IsInstall: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	if text := files["platform/charts/portico/templates/portal.yaml"]; !strings.Contains(text, "portico-portal") {
		t.Errorf("nothing is rendered: %v", slices.Collect(maps.Keys(files)))
	}
}

// TestTheHostIsInLowerCase checks that a host in capitals is rendered as one that the API server accepts, and that
// portal and operator get the URL as browsers write it. portal/auth tests that the portal takes those.
func TestTheHostIsInLowerCase(t *testing.T) {
	text, err := os.ReadFile("testdata/public-urls.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var urls map[string]string
	if err := yaml.UnmarshalStrict(text, &urls); err != nil || len(urls) == 0 {
		t.Fatal(err)
	}
	for url, want := range urls {
		given := values(t, "production")
		set(given, url, "portal", "publicURL")
		files, err := renderWith(t, folder, given)
		if err != nil {
			t.Fatal(err)
		}
		for file, setting := range map[string]string{"portal": "PUBLIC_URL", "operator": "DEPLOY_AUDIENCE"} {
			line := fmt.Sprintf("\nPORTICO_%s: %q\n", setting, want)
			at := files["portico/templates/"+file+".yaml"]
			if !strings.Contains(strings.ReplaceAll(at, "\n  ", "\n"), line) {
				t.Errorf("%s: %s has no %s", url, file, line)
			}
		}
		all := fmt.Sprint(files)
		for _, part := range []string{"host: Portal", "[Portal"} {
			if strings.Contains(all, part) {
				t.Errorf("%s: the chart renders %q", url, part)
			}
		}
	}
}

// renderAs renders as the helm command does: without strict mode, so missing values are empty.
func renderAs(t *testing.T, c *chart.Chart, values map[string]any, release common.ReleaseOptions) (
	map[string]string, error,
) {
	t.Helper()
	capabilities := common.DefaultCapabilities.Copy()
	capabilities.KubeVersion = common.KubeVersion{Version: "v1.36.0", Major: "1", Minor: "36"}
	all, err := util.ToRenderValues(c, values, release, capabilities)
	if err != nil {
		return nil, err
	}
	return engine.Engine{}.RenderWithContext(t.Context(), c, all)
}
