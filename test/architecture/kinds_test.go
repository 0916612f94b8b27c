package architecture

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/portico-platform/portico/config/crd"
	"github.com/portico-platform/portico/controllers"
)

const root = "../.."

// TestEveryKindIsComplete compares CRDs with everything that must exist for a kind.
func TestEveryKindIsComplete(t *testing.T) {
	for _, kind := range crds(t) {
		name := kind.Spec.Names.Kind
		t.Run(name, func(t *testing.T) {
			if !slices.Contains(controllers.Kinds(), name) {
				t.Errorf("no controller runs it: add a line to controllers/kinds.go")
			}
			file := strings.ToLower(name)
			sample := read(t, "config/samples/"+file+".yaml")
			if !strings.Contains(sample, "kind: "+name) {
				t.Errorf("config/samples/%s.yaml holds no %s", file, name)
			}
			page := read(t, "docs/kinds/"+file+".md")
			assertMarkers(t, &kind)
			assertDocumented(t, &kind, page)
			assertRBAC(t, kind.Spec.Names.Plural)
			assertCategory(t, &kind)
			if kind.Annotations["portico.dev/kept-by"] == "" && kind.Spec.Scope == apiextensionsv1.NamespaceScoped {
				assertRequested(t, &kind)
			}
		})
	}
}

func crds(t *testing.T) []apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	names, err := fs.Glob(crd.Files, "bases/*.yaml")
	if err != nil || len(names) == 0 {
		t.Fatalf("%d CRDs, %v", len(names), err)
	}
	var all []apiextensionsv1.CustomResourceDefinition
	for _, name := range names {
		text, err := fs.ReadFile(crd.Files, name)
		if err != nil {
			t.Fatal(err)
		}
		var one apiextensionsv1.CustomResourceDefinition
		if err := yaml.UnmarshalStrict(text, &one); err != nil {
			t.Fatal(err)
		}
		all = append(all, one)
	}
	return all
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Errorf("%s is missing", path)
	}
	return string(text)
}

// assertMarkers checks what the portal and kubectl show.
func assertMarkers(t *testing.T, kind *apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	for _, key := range []string{"title", "icon", "form", "endpoint"} {
		if kind.Annotations["portico.dev/"+key] == "" {
			t.Errorf("the annotation portico.dev/%s is missing", key)
		}
	}
	if _, policy := kind.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties["deletionPolicy"]; policy && kind.Annotations["portico.dev/lossy-effect"] == "" {
		t.Error("the annotation portico.dev/lossy-effect is missing: the portal must say what deletion loses")
	}
	if len(kind.Spec.Names.ShortNames) == 0 {
		t.Error("a short name is missing")
	}
	version := kind.Spec.Versions[0]
	for _, column := range []string{"Ready", "Reason", "Age"} {
		if !slices.ContainsFunc(version.AdditionalPrinterColumns, func(c apiextensionsv1.CustomResourceColumnDefinition) bool { return c.Name == column }) {
			t.Errorf("kubectl get shows no column %s", column)
		}
	}
	if def := version.Schema.OpenAPIV3Schema.Properties["status"].Default; def == nil || !strings.Contains(string(def.Raw), `"observedGeneration":-1`) {
		t.Error("status does not default to observedGeneration -1: a fresh object would count as current")
	}
	explained(t, "", *version.Schema.OpenAPIV3Schema)
}

// explained checks that kubectl explain has a text for every field of ours.
func explained(t *testing.T, path string, schema apiextensionsv1.JSONSchemaProps) {
	t.Helper()
	for name, field := range schema.Properties {
		at := path + "." + name
		if field.Description == "" && at != ".metadata" {
			t.Errorf("kubectl explain has no text for %s", at)
		}
		explained(t, at, field)
		if field.Items != nil && field.Items.Schema != nil {
			explained(t, at+"[]", *field.Items.Schema)
		}
	}
}

// assertDocumented checks that the page speaks of every spec field.
func assertDocumented(t *testing.T, kind *apiextensionsv1.CustomResourceDefinition, page string) {
	t.Helper()
	for field := range kind.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties {
		if !strings.Contains(page, "`"+field+"`") {
			t.Errorf("its page does not speak of `%s`", field)
		}
	}
}

// assertRBAC checks that the operator and the roles of people know the resource.
func assertRBAC(t *testing.T, plural string) {
	t.Helper()
	known := clusterRoles(t)
	names := func(role string) (all []string) {
		for _, rule := range known[role] {
			all = append(all, rule.Resources...)
		}
		return all
	}
	if !slices.Contains(names("portico-operator"), plural) || !slices.Contains(names("portico-operator"), plural+"/status") {
		t.Errorf("the operator's role does not know %s and %s/status", plural, plural)
	}
	if !slices.Contains(names("portico-admin"), plural) {
		t.Errorf("portico-admin does not know %s", plural)
	}
}

// assertRequested checks what there must be of a kind that teams ask for.
func assertRequested(t *testing.T, kind *apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	name, plural := kind.Spec.Names.Kind, kind.Spec.Names.Plural
	schema := kind.Spec.Versions[0].Schema.OpenAPIV3Schema
	if _, ofAWS := schema.Properties["spec"].Properties["providerRef"]; ofAWS {
		read(t, "docs/iam/"+strings.ToLower(name)+".json")
	}
	removal := regexp.MustCompile(`(?m)^kubectl delete (\S+) -A --all$`).FindStringSubmatch(read(t, "docs/install.md"))
	if removal == nil || !slices.Contains(strings.Split(removal[1], ","), plural) {
		t.Errorf("who removes Portico by docs/install.md does not delete %s", plural)
	}
	if _, binds := schema.Properties["status"].Properties["binding"]; binds && name != "WebApp" && !slices.Contains(bindable(t), name) {
		t.Errorf("a WebApp cannot bind it: add %s to the enum in api/v1alpha1/webapp_spec.go", name)
	}
}

// bindable returns the kinds that a WebApp may bind.
func bindable(t *testing.T) (names []string) {
	t.Helper()
	for _, kind := range crds(t) {
		if kind.Spec.Names.Kind != "WebApp" {
			continue
		}
		bindings := kind.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties["bindings"]
		for _, value := range bindings.Items.Schema.Properties["kind"].Enum {
			names = append(names, strings.Trim(string(value.Raw), `"`))
		}
	}
	return names
}

// clusterRoles returns the rules of the roles that come with Portico, by name.
func clusterRoles(t *testing.T) map[string][]rbacv1.PolicyRule {
	t.Helper()
	all := map[string][]rbacv1.PolicyRule{}
	for doc := range strings.SplitSeq(read(t, "config/rbac/operator.yaml")+"\n---\n"+read(t, "config/rbac/roles.yaml"), "\n---\n") {
		var role rbacv1.ClusterRole
		if err := yaml.Unmarshal([]byte(doc), &role); err == nil && role.Kind == "ClusterRole" {
			all[role.Name] = role.Rules
		}
	}
	return all
}

// assertCategory: kubectl get of a category asks for every kind in it, and ends in an error for each that the caller may not
// list. So portico holds what everybody in a team may list, and portico-admin the rest.
func assertCategory(t *testing.T, kind *apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	plural, roles := kind.Spec.Names.Plural, clusterRoles(t)
	lists := func(role string) bool {
		return slices.ContainsFunc(roles[role], func(r rbacv1.PolicyRule) bool {
			return slices.Contains(r.Resources, plural) && slices.Contains(r.Verbs, "list")
		})
	}
	want := "portico-admin"
	if lists("portico-viewer") && lists("portico-developer") {
		want = "portico"
	}
	if got := kind.Spec.Names.Categories; !slices.Equal(got, []string{want}) || !lists("portico-admin") {
		t.Errorf("%s is in the categories %q; by what the roles may list it belongs in %s", plural, got, want)
	}
}
