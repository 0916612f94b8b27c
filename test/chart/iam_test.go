package chart

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclparse"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
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

// TestCloudFormationGrantsWhatTheDocsSay compares each managed policy of the template with its document, and checks
// that no kind is missing and that every policy is attached.
func TestCloudFormationGrantsWhatTheDocsSay(t *testing.T) {
	template := readTemplate(t)
	attached := template.attached(t)
	want := policies(t)
	for name, r := range template.Resources {
		if r.Type != "AWS::IAM::ManagedPolicy" || name == "PodsBoundary" {
			continue
		}
		kind := fileOf(strings.TrimSuffix(name, "Policy"), want)
		if !reflect.DeepEqual(r.Properties.PolicyDocument, want[kind]) {
			t.Errorf("%s is not docs/iam/%s.json", name, kind)
		}
		if condition, ok := attached[name]; !ok || condition != r.Condition {
			t.Errorf("%s is made if %q, and attached if %q: %v", name, r.Condition, condition, ok)
		}
		if optional := strings.Contains(kind, "-"); (r.Condition != "") != optional ||
			optional && !template.holdsByDefault(r.Condition) {
			t.Errorf("%s is made if %q", name, r.Condition)
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

// TestTheBoundaryOfPodsIsThatOfTheDocs compares the permissions boundary in both with its document.
func TestTheBoundaryOfPodsIsThatOfTheDocs(t *testing.T) {
	text, err := os.ReadFile("../../docs/iam/pods/boundary.json")
	if err != nil {
		t.Fatal(err)
	}
	var want any
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	template := readTemplate(t)
	if got := template.Resources["PodsBoundary"]; !reflect.DeepEqual(got.Properties.PolicyDocument, want) ||
		got.Properties.ManagedPolicyName != "portico-pods-boundary" {
		t.Errorf("PodsBoundary is %+v", got)
	}
	if _, ok := template.attached(t)["PodsBoundary"]; ok {
		t.Error("the boundary gives the operator rights")
	}
	module, err := os.ReadFile("../../config/aws/terraform/main.tf")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		`"portico-pods-boundary"`, `file("${path.module}/../../../docs/iam/pods/boundary.json")`,
	} {
		if !strings.Contains(string(module), part) {
			t.Errorf("the module lacks %s", part)
		}
	}
}

func readTemplate(t *testing.T) (template cloudFormation) {
	t.Helper()
	text, err := os.ReadFile("../../config/aws/cloudformation.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &template); err != nil {
		t.Fatal(err)
	}
	return template
}

// cloudFormation has the fields of the template that are checked.
type cloudFormation struct {
	Parameters map[string]struct {
		Default string `yaml:"Default"`
	} `yaml:"Parameters"`
	Conditions map[string][]string `yaml:"Conditions"` // each compares a parameter with a value
	Resources  map[string]struct {
		Type       string `yaml:"Type"`
		Condition  string `yaml:"Condition"`
		Properties struct {
			ManagedPolicyName string      `yaml:"ManagedPolicyName"`
			PolicyDocument    any         `yaml:"PolicyDocument"`
			ManagedPolicyArns []yaml.Node `yaml:"ManagedPolicyArns"`
		} `yaml:"Properties"`
	} `yaml:"Resources"`
}

// attached returns the policies that are attached to the role of resources, with their conditions; "" means always.
func (c cloudFormation) attached(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, arn := range c.Resources["ResourcesRole"].Properties.ManagedPolicyArns {
		switch arn.Tag {
		case "!Ref":
			all[arn.Value] = ""
		case "!If":
			if arn.Content[2].Value != "AWS::NoValue" {
				t.Errorf("%s is not left out by itself", arn.Content[1].Value)
			}
			all[arn.Content[1].Value] = arn.Content[0].Value
		default:
			t.Errorf("what is %s?", arn.Tag)
		}
	}
	return all
}

// holdsByDefault reports whether a condition is true with the parameters' defaults.
func (c cloudFormation) holdsByDefault(condition string) bool {
	compared := c.Conditions[condition]
	return len(compared) == 2 && c.Parameters[compared[0]].Default == compared[1]
}

// fileOf returns the name of a resource's document, such as s3bucket-chosen-names for S3BucketChosenNames.
func fileOf(resource string, documents map[string]any) string {
	for name := range documents {
		if strings.EqualFold(strings.ReplaceAll(name, "-", ""), resource) {
			return name
		}
	}
	return strings.ToLower(resource)
}

// TestTerraformGrantsWhatTheDocsSay parses the module, and checks that its default includes every kind.
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
	chosen, problems := blocks["variable.chosen_bucket_names"].Body.Attributes["default"].Expr.Value(nil)
	if problems.HasErrors() || chosen.False() {
		t.Fatal("chosen names are refused by default", problems)
	}
	granted := grants(t, blocks["locals"], offered, chosen)
	if !slices.Equal(granted, slices.Sorted(maps.Keys(want))) {
		t.Errorf("granted by default: %v", granted)
	}
	strict := grants(t, blocks["locals"], offered, cty.False)
	if i := slices.Index(granted, "s3bucket-chosen-names"); i < 0 ||
		!slices.Equal(strict, slices.Delete(granted, i, i+1)) {
		t.Errorf("granted without chosen names: %v", strict)
	}
	if queues := grants(t, blocks["locals"], cty.SetVal([]cty.Value{cty.StringVal("sqsqueue")}),
		cty.True); !slices.Equal(queues, []string{"sqsqueue"}) {
		t.Errorf("granted to who wants queues: %v", queues)
	}
	for name := range references(blocks) {
		if blocks["variable."+name] == nil {
			t.Errorf("there is no variable %s", name)
		}
	}
}

// grants returns the names of the documents that the module's locals read.
func grants(t *testing.T, locals *hclsyntax.Block, kinds, chosen cty.Value) []string {
	t.Helper()
	in := &hcl.EvalContext{
		Variables: map[string]cty.Value{
			"var":  cty.ObjectVal(map[string]cty.Value{"kinds": kinds, "chosen_bucket_names": chosen}),
			"path": cty.ObjectVal(map[string]cty.Value{"module": cty.StringVal("../../config/aws/terraform")}),
		},
		Functions: map[string]function.Function{
			"contains": stdlib.ContainsFunc, "concat": stdlib.ConcatFunc,
			"tolist": stdlib.MakeToFunc(cty.List(cty.DynamicPseudoType)),
			"file": function.New(&function.Spec{
				Params: []function.Parameter{{Name: "path", Type: cty.String}}, Type: function.StaticReturnType(
					cty.String),
				Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
					text, err := os.ReadFile(filepath.Clean(args[0].AsString()))
					return cty.StringVal(string(text)), err
				},
			}),
		},
	}
	optional, problems := locals.Body.Attributes["optional"].Expr.Value(in)
	if problems.HasErrors() {
		t.Fatal(problems)
	}
	in.Variables["local"] = cty.ObjectVal(map[string]cty.Value{"optional": optional})
	all, problems := locals.Body.Attributes["policies"].Expr.Value(in)
	if problems.HasErrors() {
		t.Fatal(problems)
	}
	var names []string
	for name, text := range all.AsValueMap() {
		if want, err := os.ReadFile("../../docs/iam/" + name + ".json"); err != nil || string(want) != text.AsString() {
			t.Errorf("%s is not docs/iam/%s.json: %v", name, name, err)
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// references returns the names of the variables that the module uses.
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
