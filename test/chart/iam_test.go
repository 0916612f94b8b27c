package chart

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclparse"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"gopkg.in/yaml.v3"
)

// policies returns the documents of docs/iam, by kind in lower case.
func policies(t *testing.T) map[string]any {
	t.Helper()
	files, err := filepath.Glob("../../docs/iam/*.json")
	if err != nil || len(files) < 5 {
		t.Fatalf("%v, %v", files, err)
	}
	all := map[string]any{}
	for _, file := range files {
		text, err := os.ReadFile(filepath.Clean(file))
		if err != nil {
			t.Fatal(err)
		}
		var document any
		if err := json.Unmarshal(text, &document); err != nil {
			t.Fatal(err)
		}
		all[strings.TrimSuffix(filepath.Base(file), ".json")] = document
	}
	return all
}

// TestCloudFormationGrantsWhatTheDocsSay compares each managed policy of the template with its document, and finds a kind
// that was forgotten, or that is attached to nothing.
func TestCloudFormationGrantsWhatTheDocsSay(t *testing.T) {
	text, err := os.ReadFile("../../config/aws/cloudformation.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var template struct {
		Resources map[string]struct {
			Type       string `yaml:"Type"`
			Properties struct {
				PolicyDocument    any      `yaml:"PolicyDocument"`
				ManagedPolicyArns []string `yaml:"ManagedPolicyArns"`
			} `yaml:"Properties"`
		} `yaml:"Resources"`
	}
	if err := yaml.Unmarshal(text, &template); err != nil {
		t.Fatal(err)
	}
	attached := map[string]bool{}
	for _, name := range template.Resources["ResourcesRole"].Properties.ManagedPolicyArns {
		attached[name] = true
	}
	want := policies(t)
	for name, r := range template.Resources {
		if r.Type != "AWS::IAM::ManagedPolicy" {
			continue
		}
		kind := strings.ToLower(strings.TrimSuffix(name, "Policy"))
		if !reflect.DeepEqual(r.Properties.PolicyDocument, want[kind]) {
			t.Errorf("%s is not docs/iam/%s.json", name, kind)
		}
		if !attached[name] {
			t.Errorf("%s is attached to no role", name)
		}
		size, err := json.Marshal(r.Properties.PolicyDocument)
		if err != nil || len(size) > 6144 {
			t.Errorf("%s has %d characters; IAM takes 6144 (%v)", name, len(size), err)
		}
		delete(want, kind)
	}
	for kind := range want {
		t.Errorf("no policy for %s", kind)
	}
}

// TestTerraformGrantsWhatTheDocsSay parses the module, and finds a kind that its default forgets.
func TestTerraformGrantsWhatTheDocsSay(t *testing.T) {
	parser := hclparse.NewParser()
	blocks := map[string]*hclsyntax.Block{}
	for _, name := range []string{"main", "variables", "outputs"} {
		file, problems := parser.ParseHCLFile("../../config/aws/terraform/" + name + ".tf")
		if problems.HasErrors() {
			t.Fatal(problems)
		}
		for _, b := range file.Body.(*hclsyntax.Body).Blocks {
			blocks[strings.Join(append([]string{b.Type}, b.Labels...), ".")] = b
		}
	}
	offered, problems := blocks["variable.kinds"].Body.Attributes["default"].Expr.Value(nil)
	if problems.HasErrors() {
		t.Fatal(problems)
	}
	want := policies(t)
	for _, kind := range offered.AsValueSlice() {
		if want[kind.AsString()] == nil {
			t.Errorf("there is no document for %s", kind.AsString())
		}
		delete(want, kind.AsString())
	}
	for kind := range want {
		t.Errorf("%s is not offered by default", kind)
	}
	for name := range references(blocks) {
		if blocks["variable."+name] == nil {
			t.Errorf("there is no variable %s", name)
		}
	}
}

// references returns the names of the variables that are used.
func references(blocks map[string]*hclsyntax.Block) map[string]bool {
	used := map[string]bool{}
	for _, b := range blocks {
		_ = hclsyntax.VisitAll(b.Body, func(n hclsyntax.Node) hcl.Diagnostics {
			e, ok := n.(*hclsyntax.ScopeTraversalExpr)
			if ok && e.Traversal.RootName() == "var" {
				used[e.Traversal[1].(hcl.TraverseAttr).Name] = true
			}
			return nil
		})
	}
	return used
}
