package architecture

import (
	"go/ast"
	"strconv"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/portico-platform/portico/config/policy"
)

// elsewhere are Portico's annotations on objects other than Portico's resources.
var elsewhere = map[string]string{
	"AnnotationTeamUID": "on namespaces", "AnnotationCreatedForTeam": "on namespaces",
	"AnnotationDefaultProvider": "on namespaces",
	"AnnotationGuardrails":      "on namespaces", "AnnotationKeptFor": "on Secrets",
	"AnnotationActor": "on Events", "AnnotationActorName": "on Events", "AnnotationValuesSet": "on Secrets",
	"AnnotationChangedRun": "on ControllerRevisions", "AnnotationConditions": "on ServiceAccounts of deployers",
	"AnnotationUsed": "on ServiceAccounts of deployers", "AnnotationUsedBy": "on ServiceAccounts of deployers",
	"AnnotationRefused": "on ServiceAccounts of deployers", "AnnotationRefusal": "on ServiceAccounts of deployers",
	"AnnotationRun": "on Leases of exchanges", "AnnotationUntil": "on Leases of exchanges",
	"AnnotationURL": "on the operator's Lease", "AnnotationCA": "on the operator's Lease",
}

// TestAdmissionKnowsEveryAnnotation checks that admission knows every annotation that the API has for resources.
// Otherwise nobody could set it, and its values would not be validated.
func TestAdmissionKnowsEveryAnnotation(t *testing.T) {
	text, err := policy.Files.ReadFile("annotations.yaml")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for name, key := range annotations(t) {
		known := strings.Contains(string(text), "'"+key+"': [")
		if found++; known == (elsewhere[name] != "") {
			t.Errorf("%s (%s): in config/policy/annotations.yaml %v, and %s", name, key, known, elsewhere[name])
		}
	}
	if found < 15 {
		t.Errorf("%d annotations", found)
	}
}

// annotations returns the keys below portico.dev/ that constants in the tree define, by the names of the constants.
func annotations(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, s := range sources(t) {
		if strings.HasSuffix(s.path, "_test.go") || strings.HasPrefix(s.path, "test/") {
			continue
		}
		ast.Inspect(s.File, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 || !strings.HasPrefix(spec.Names[0].Name, "Annotation") {
				return true
			}
			if text, ok := spec.Values[0].(*ast.BasicLit); ok {
				if key, err := strconv.Unquote(text.Value); err == nil && strings.HasPrefix(key, "portico.dev/") {
					all[spec.Names[0].Name] = key
				}
			}
			return true
		})
	}
	return all
}

// TestPoliciesHaveNamesOfTheirOwn checks that the names of policies are unique: the last of two with the same name
// replaces the other.
func TestPoliciesHaveNamesOfTheirOwn(t *testing.T) {
	files, err := policy.Files.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	for _, file := range files {
		text, err := policy.Files.ReadFile(file.Name())
		if err != nil {
			t.Fatal(err)
		}
		for doc := range strings.SplitSeq(string(text), "\n---\n") {
			var object struct {
				Kind     string
				Metadata struct{ Name string }
			}
			if err := yaml.Unmarshal([]byte(doc), &object); err != nil {
				t.Fatal(err)
			}
			key := object.Kind + " " + object.Metadata.Name
			if at := seen[key]; at != "" {
				t.Errorf("%s is in %s and in %s", key, at, file.Name())
			}
			seen[key] = file.Name()
		}
	}
	if len(seen) < 20 {
		t.Errorf("%d objects", len(seen))
	}
}
