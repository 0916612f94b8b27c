// Package chart tests charts/portico with the libraries of Helm.
package chart

import (
	"flag"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/loader"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/engine"
	"sigs.k8s.io/yaml"
)

const (
	folder       = "../../charts/portico"
	configFolder = "../../charts/portico-config"
	// installed is what kubectl and kustomize apply in place of Helm.
	installed = "../../config/default/portico.yaml"
)

var update = flag.Bool("update", false, "write what the charts render over what is checked in")

// TestRenders compares what the chart renders for sets of values with what is checked in.
func TestRenders(t *testing.T) {
	for values, golden := range map[string]string{
		"minimal": "testdata/minimal.yaml", "production": "testdata/production.yaml", "air-gapped": "testdata/air-gapped.yaml",
		"default": installed, "config": "testdata/config.yaml",
	} {
		t.Run(values, func(t *testing.T) {
			got := render(t, values, golden == installed)
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(filepath.Clean(golden))
			if err != nil || got != string(want) {
				t.Errorf("%s is not what the chart renders: make generate, and look at what changed (%v)", golden, err)
			}
		})
	}
}

// chartOf returns the folder of the chart that a set of values is for.
func chartOf(set string) string {
	if set == "config" {
		return configFolder
	}
	return folder
}

func load(t *testing.T, folder string) *chart.Chart {
	t.Helper()
	c, err := loader.Load(folder)
	if err != nil {
		t.Fatal(err)
	}
	return c.(*chart.Chart)
}

// values reads a set of testdata.
func values(t *testing.T, name string) map[string]any {
	t.Helper()
	text, err := os.ReadFile(filepath.Clean("testdata/" + name + ".values.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]any{}
	if err := yaml.UnmarshalStrict(text, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// render returns the objects of a set of values: the templates in the order of their names. CRDs are in the one that is
// whole, which nothing but Helm knows of Helm.
func render(t *testing.T, name string, whole bool) string {
	t.Helper()
	set := values(t, name)
	if !whole && chartOf(name) == folder {
		set["crds"] = map[string]any{"install": false}
	}
	files, err := renderWith(t, chartOf(name), set)
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	all.WriteString("# Rendered from charts/portico by make generate. Edit that.\n")
	for _, file := range slices.Sorted(maps.Keys(files)) {
		if path.Ext(file) != ".yaml" {
			continue
		}
		for _, object := range documents(t, files[file]) {
			if whole && strings.Contains(object, "helm.sh/hook: ") {
				continue
			}
			if whole {
				object = ofHelm.ReplaceAllString(object, "")
			}
			all.WriteString("---\n" + object)
		}
	}
	return all.String()
}

// ofHelm are lines that tell Helm something, and the heads of maps that they leave empty.
var ofHelm = regexp.MustCompile(`(?m)^ *(app\.kubernetes\.io/managed-by: Helm|helm\.sh/chart: .*|annotations:\n *helm\.sh/resource-policy: keep\b|helm\.sh/resource-policy: keep)\n`)

// documents returns the objects of a file as Helm reads them, each in the same form.
func documents(t *testing.T, text string) []string {
	t.Helper()
	var all []string
	for part := range strings.SplitSeq("\n"+text, "\n---") {
		var object map[string]any
		if err := yaml.UnmarshalStrict([]byte(part), &object); err != nil {
			t.Fatalf("%v in\n%s", err, part)
		}
		if len(object) == 0 {
			continue
		}
		out, err := yaml.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(out))
	}
	return all
}

func renderWith(t *testing.T, folder string, values map[string]any) (map[string]string, error) {
	t.Helper()
	c := load(t, folder)
	release := common.ReleaseOptions{Name: "portico", Namespace: "portico-system", Revision: 1, IsInstall: true}
	capabilities := common.DefaultCapabilities.Copy()
	capabilities.KubeVersion = common.KubeVersion{Version: "v1.36.0", Major: "1", Minor: "36"}
	all, err := util.ToRenderValues(c, values, release, capabilities)
	if err != nil {
		return nil, err
	}
	return engine.Engine{Strict: true}.RenderWithContext(t.Context(), c, all)
}
