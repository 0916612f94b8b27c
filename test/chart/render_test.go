// Package chart tests charts/portico with the libraries of Helm.
package chart

import (
	"errors"
	"flag"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pmezard/go-difflib/difflib"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/loader"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/engine"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

const (
	folder       = "../../charts/portico"
	configFolder = "../../charts/portico-config"
	// installed is the folder that kubectl and kustomize apply, instead of Helm.
	installed = "../../config/default"
	// manifests is the template of the objects that other folders of config have.
	manifests = "templates/manifests.yaml"
)

var update = flag.Bool("update", false, "write what the charts render over what is checked in")

// TestRenders compares the charts' output for several sets of values with the files in the repository: what the default
// adds to the other folders of config, Helm's hooks, and for other sets of the same chart the difference from the
// default.
func TestRenders(t *testing.T) {
	whole := render(t, "default")
	isNoHook := func(object string) bool { return !isHook(object) }
	added := slices.DeleteFunc(renderWithout(t, manifests, "default"), isHook)
	for golden, got := range map[string]string{
		installed + "/workloads.yaml": "---\n" + ofHelm.ReplaceAllString(strings.Join(added, "---\n"), ""),
		"testdata/hooks.yaml":         "---\n" + strings.Join(slices.DeleteFunc(slices.Clone(whole), isNoHook), "---\n"),
		"testdata/config.yaml":        "---\n" + strings.Join(render(t, "config"), "---\n"),
		"testdata/minimal.diff":       differences(t, whole, render(t, "minimal")),
		"testdata/production.diff":    differences(t, whole, abridged(t, render(t, "production"))),
		"testdata/air-gapped.diff":    differences(t, whole, render(t, "air-gapped")),
		"testdata/private.diff":       differences(t, whole, render(t, "private")),
	} {
		t.Run(strings.TrimSuffix(path.Base(golden), path.Ext(golden)), func(t *testing.T) {
			got = header + got
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

// abridged returns the objects without alerts and dashboards: TestAlertsAndDashboardsShipAsTheyAre compares those.
func abridged(t *testing.T, objects []string) (all []string) {
	t.Helper()
	for _, text := range objects {
		var object struct {
			metav1.PartialObjectMetadata `json:",inline"`
			Data                         map[string]string `json:"data"`
		}
		whole := map[string]any{}
		if err := errors.Join(yaml.Unmarshal([]byte(text), &object), yaml.Unmarshal([]byte(text), &whole)); err != nil {
			t.Fatal(err)
		}
		switch {
		case object.Kind == "PrometheusRule":
			whole["spec"] = "config/monitoring/alerts.yaml"
		case strings.HasPrefix(object.Name, "portico-dashboard-"):
			for name := range object.Data {
				whole["data"] = map[string]string{name: "config/monitoring/dashboards"}
			}
		default:
			all = append(all, text)
			continue
		}
		short, err := yaml.Marshal(whole)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(short))
	}
	return all
}

// TestKustomizeRendersTheDefault checks that kubectl apply -k config/default installs what Helm installs by default.
func TestKustomizeRendersTheDefault(t *testing.T) {
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), installed)
	if err != nil {
		t.Fatal(err)
	}
	text, err := resources.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	var byHelm []string
	for _, object := range slices.DeleteFunc(render(t, "default"), isHook) {
		byHelm = append(byHelm, ofHelm.ReplaceAllString(object, ""))
	}
	if diff := differences(t, byHelm, documents(t, string(text))); diff != "" {
		t.Errorf("config/default is not what the chart renders:\n%s", diff)
	}
}

const header = "# Rendered from charts/portico by make generate. Edit that.\n"

// differences returns a unified diff of the objects that differ between two renders, sorted by name.
func differences(t *testing.T, from, to []string) string {
	t.Helper()
	was, is := byName(t, from), byName(t, to)
	names := maps.Clone(was)
	maps.Copy(names, is)
	var all strings.Builder
	for _, name := range slices.Sorted(maps.Keys(names)) {
		text, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
			A: lines(was[name]), B: lines(is[name]), FromFile: "default " + name, ToFile: name, Context: 2,
		})
		if err != nil {
			t.Fatal(err)
		}
		all.WriteString(text)
	}
	return all.String()
}

// lines returns the lines of a text; nil for an empty one.
func lines(text string) []string {
	if text == "" {
		return nil
	}
	return difflib.SplitLines(text)
}

// byName returns objects by kind/namespace/name.
func byName(t *testing.T, objects []string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, object := range objects {
		var is metav1.PartialObjectMetadata
		if err := yaml.Unmarshal([]byte(object), &is); err != nil {
			t.Fatal(err)
		}
		name := strings.Join([]string{is.Kind, is.Namespace, is.Name}, "/")
		if all[name] != "" {
			t.Fatalf("%s is rendered twice", name)
		}
		all[name] = object
	}
	return all
}

// chartOf returns the folder of the chart that a set of values belongs to.
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

// values reads a set of values from testdata.
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

// isHook reports whether an object is a hook, which only Helm creates.
func isHook(object string) bool { return strings.Contains(object, "helm.sh/hook: ") }

// render returns the objects rendered for a set of values, sorted by the names of their templates.
func render(t *testing.T, name string) []string {
	t.Helper()
	return renderWithout(t, "", name)
}

// renderWithout returns them without those of a template.
func renderWithout(t *testing.T, template, name string) []string {
	t.Helper()
	files, err := renderWith(t, chartOf(name), values(t, name))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, file := range slices.Sorted(maps.Keys(files)) {
		if path.Ext(file) != ".yaml" || template != "" && strings.HasSuffix(file, template) {
			continue
		}
		all = append(all, documents(t, files[file])...)
	}
	return all
}

// ofHelm matches lines that are only for Helm, and the keys of maps that are empty without them.
var ofHelm = regexp.MustCompile(
	`(?m)^ *(app\.kubernetes\.io/managed-by: Helm|helm\.sh/chart: .*|annotations:\n *helm\.sh/resource-policy: keep\b|helm\.sh/resource-policy: keep)\n`)

// documents returns the objects of a file as Helm reads them, each in normalised form.
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
