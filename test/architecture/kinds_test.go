package architecture

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/config/catalog/kinds"
	"github.com/portico-platform/portico/config/crd"
	"github.com/portico-platform/portico/controllers"
)

const root = "../.."

// TestEveryKindIsComplete checks that everything exists that a kind needs in addition to its CRD.
func TestEveryKindIsComplete(t *testing.T) {
	crds := crds(t)
	for i := range crds {
		name := crds[i].Spec.Names.Kind
		t.Run(name, func(t *testing.T) {
			if !slices.Contains(controllers.Kinds(), name) {
				t.Errorf("no controller runs it: add a line to controllers/kinds.go")
			}
			for _, problem := range missing(os.DirFS(root), &crds[i], kinds.Of(&crds[i])) {
				t.Error(problem)
			}
		})
	}
}

// without is the tree without a file, or without a text in a file.
type without struct {
	fs.FS
	path, text string
}

func (w without) ReadFile(path string) ([]byte, error) {
	text, err := fs.ReadFile(w.FS, path)
	switch {
	case path != w.path || err != nil:
		return text, err
	case w.text == "":
		return nil, fs.ErrNotExist
	}
	return []byte(strings.ReplaceAll(string(text), w.text, "")), nil
}

// TestWhatAKindLacksIsNamed removes each part of a kind that CONTRIBUTING.md lists with a tick, and some that are
// generated.
func TestWhatAKindLacksIsNamed(t *testing.T) {
	topic := crds(t)[slices.IndexFunc(crds(t), func(k apiextensionsv1.CustomResourceDefinition) bool {
		return k.Spec.Names.Kind == "SNSTopic"
	})]
	entry := kinds.Of(&topic)
	for _, row := range []struct{ path, text, want string }{
		{"config/catalog/entries/snstopics.yaml", "", "config/catalog/entries/snstopics.yaml is missing"},
		{"api/v1alpha1/snstopic_types.go", "", "api/v1alpha1/snstopic_types.go is missing"},
		{"controllers/kinds.go", "KindSNSTopic", "controllers/kinds.go"},
		{"controllers/aws/sns/topic_test.go", "externaltest.Case[*v1alpha1.SNSTopic,", "externaltest.Laws"},
		{"controllers/aws/sns/topic_test.go", "docs/iam/snstopic.json", "cloudtest.Policy"},
		{"controllers/cloud/error_class.go", `"NotFound": notFound, `, "controllers/cloud/error_class.go does not class NotFound"},
		{"controllers/cloud/error_class.go", `"KMSNotFound": invalid, `, "does not class KMSNotFound"},
		{"controllers/cloud/error_class.go", `"TopicLimitExceeded": quota,`, "does not class TopicLimitExceeded"},
		{"docs/iam/snstopic.json", "", "docs/iam/snstopic.json is missing"},
		{"config/samples/snstopic.yaml", "", "config/samples/snstopic.yaml is missing"},
		{"config/samples/snstopic.yaml", "kind: SNSTopic", "config/samples/snstopic.yaml holds no SNSTopic"},
		{"docs/kinds/snstopic.md", "", "docs/kinds/snstopic.md is missing"},
		{"docs/kinds/snstopic.md", "`displayName`", "`displayName`"},
		{"docs/kinds/snstopic.md", "`SubscribedTo`", "`SubscribedTo`"},
		{"docs/kinds/snstopic.md", "## Calls to AWS", "## Calls to AWS"},
		{"test/awsproxy/services.go", "\t\"sns\": {", "test/awsproxy/services.go"},
		{"test/integration/topic_test.go", `kind: "SNSTopic"`, "test/integration"},
		{"portal/pages/testdata/form-snstopic.golden", "", "go test ./portal/pages -update"},
		{"config/crd/bases/portico.dev_webapps.yaml", "- SNSTopic\n", "a WebApp cannot bind it"},
		{"docs/install.md", "snstopics,", "docs/install.md"},
		{"config/rbac/operator.yaml", "snstopics,", "operator's role"},
		{"config/rbac/roles.yaml", "snstopics,", "portico-admin does not know snstopics"},
	} {
		if problems := missing(without{os.DirFS(root), row.path, row.text}, &topic, entry); !named(problems, row.want) {
			t.Errorf("without %q of %s: %q, want %q", row.text, row.path, problems, row.want)
		}
	}
	for part, remove := range map[string]func(*v1alpha1.CatalogEntrySpec){
		"Icon":          func(e *v1alpha1.CatalogEntrySpec) { e.Icon = "" },
		"Form.First":    func(e *v1alpha1.CatalogEntrySpec) { e.Form.First = nil },
		"Page.Endpoint": func(e *v1alpha1.CatalogEntrySpec) { e.Page.Endpoint = "" },
		"Deletion.Loss": func(e *v1alpha1.CatalogEntrySpec) { e.Deletion.Loss = "" },
	} {
		changed := entry.DeepCopy()
		remove(changed)
		if problems := missing(os.DirFS(root), &topic, changed); !named(problems, part) {
			t.Errorf("without %s of its entry: %q", part, problems)
		}
	}
	if problems := missing(os.DirFS(root), &topic, nil); !named(problems, "config/catalog/kinds/snstopic.go") {
		t.Errorf("without its entry: %q", problems)
	}
}

func named(problems []string, text string) bool {
	return slices.ContainsFunc(problems, func(problem string) bool { return strings.Contains(problem, text) })
}

func crds(t *testing.T) []apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	all, err := crd.All()
	if err != nil || len(all) == 0 {
		t.Fatalf("%d CRDs, %v", len(all), err)
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

// TestTheSettlingTimeOfAServiceCounts checks that a service with a settling time is run with it, and has a test that
// waits for it.
func TestTheSettlingTimeOfAServiceCounts(t *testing.T) {
	said, err := filepath.Glob(filepath.Join(root, "controllers/aws/*/*.go"))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, path := range said {
		text, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(text), "\nconst Settling = ") {
			continue
		}
		found++
		service := filepath.Base(filepath.Dir(path))
		if !strings.Contains(read(t, "controllers/kinds.go"), service+".Settling}") {
			t.Errorf("controllers/kinds.go does not name %s.Settling", service)
		}
		if !strings.Contains(read(t, "controllers/aws/"+service+"/settling_test.go"), "Settling: Settling,") {
			t.Errorf("no test of %s passes a clock over its Settling", service)
		}
	}
	if found < 2 {
		t.Errorf("%d services say how long their answers may be old: EC2 and S3 do", found)
	}
}
