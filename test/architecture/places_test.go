package architecture

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/config/catalog/kinds"
	"github.com/portico-platform/portico/config/crd"
)

// places checks every part of a kind that is written by hand, and most of those that are generated.
type places struct {
	files    fs.FS
	kind     *apiextensionsv1.CustomResourceDefinition
	entry    *v1alpha1.CatalogEntrySpec // nil if there is none
	file     string                     // the kind in lower case, as in file names
	problems []string
}

// missing returns which parts the kind lacks, and where they belong.
func missing(files fs.FS, kind *apiextensionsv1.CustomResourceDefinition, entry *v1alpha1.CatalogEntrySpec) []string {
	p := &places{files: files, kind: kind, entry: entry, file: strings.ToLower(kind.Spec.Names.Kind)}
	p.read("api/v1alpha1/" + p.file + "_types.go")
	if sample := "config/samples/" + p.file + ".yaml"; !strings.Contains(
		p.read(sample), "kind: "+kind.Spec.Names.Kind) {
		p.add("%s holds no %s", sample, kind.Spec.Names.Kind)
	}
	p.shown()
	p.page()
	p.roles()
	p.category()
	if kinds.Requested(kind) {
		p.request()
	}
	if crd.OfAWS(kind) {
		p.adapter()
	}
	return p.problems
}

func (p *places) add(format string, args ...any) {
	p.problems = append(p.problems, fmt.Sprintf(format, args...))
}

func (p *places) read(path string) string {
	text, err := fs.ReadFile(p.files, path)
	if err != nil {
		p.add("%s is missing", path)
	}
	return string(text)
}

// all returns the concatenated files that match a pattern.
func (p *places) all(pattern string) string {
	names, err := fs.Glob(p.files, pattern)
	if err != nil || len(names) == 0 {
		p.add("%s is missing", pattern)
	}
	var text strings.Builder
	for _, name := range names {
		text.WriteString(p.read(name))
	}
	return text.String()
}

// shown checks what the portal and kubectl show of the kind.
func (p *places) shown() {
	file := "config/catalog/kinds/" + p.file + ".go"
	if p.entry == nil {
		p.add("%s has no entry of it that config/catalog/kinds/kinds.go lists", file)
		return
	}
	for part, is := range map[string]bool{
		"Icon": p.entry.Icon != "", "Form.First": len(p.entry.Form.First) > 0, "Page.Endpoint": p.entry.Page.Endpoint != "",
	} {
		if !is {
			p.add("%s: %s is missing", file, part)
		}
	}
	if _, policy := crd.Spec(p.kind).Properties["deletionPolicy"]; policy && p.entry.Deletion.Loss == "" {
		p.add("%s: Deletion.Loss is missing: the portal must say what deletion loses", file)
	}
	p.read("config/catalog/entries/" + p.kind.Spec.Names.Plural + ".yaml")
	if len(p.kind.Spec.Names.ShortNames) == 0 {
		p.add("a short name is missing")
	}
	version := p.kind.Spec.Versions[0]
	for _, column := range []string{"Ready", "Reason", "Age"} {
		if !slices.ContainsFunc(version.AdditionalPrinterColumns,
			func(c apiextensionsv1.CustomResourceColumnDefinition) bool { return c.Name == column }) {
			p.add("kubectl get shows no column %s", column)
		}
	}
	if def := version.Schema.OpenAPIV3Schema.Properties["status"].Default; def == nil ||
		!strings.Contains(string(def.Raw), `"observedGeneration":-1`) {
		p.add("status does not default to observedGeneration -1: a fresh object would count as current")
	}
	p.explained("", *version.Schema.OpenAPIV3Schema)
}

// explained checks that every field has a description for kubectl explain.
func (p *places) explained(path string, schema apiextensionsv1.JSONSchemaProps) {
	for name, field := range schema.Properties {
		at := path + "." + name
		if field.Description == "" && at != ".metadata" {
			p.add("kubectl explain has no text for %s", at)
		}
		p.explained(at, field)
		if field.Items != nil && field.Items.Schema != nil {
			p.explained(at+"[]", *field.Items.Schema)
		}
	}
}

var constant = regexp.MustCompile(`(?m)^\tReason\w+ += "(\w+)"`)

// page checks that the kind's page describes every field of its spec and every reason of its own.
func (p *places) page() {
	path := "docs/kinds/" + p.file + ".md"
	page := p.read(path)
	for field := range crd.Spec(p.kind).Properties {
		if !strings.Contains(page, "`"+field+"`") {
			p.add("%s does not speak of `%s`", path, field)
		}
	}
	for _, reason := range constant.FindAllStringSubmatch(p.read("api/v1alpha1/"+p.file+"_types.go"), -1) {
		if !strings.Contains(page, "`"+reason[1]+"`") {
			p.add("%s does not speak of the reason `%s`", path, reason[1])
		}
	}
	for _, chapter := range []string{"## Fields", "## Delete it", "## When it is not Ready", "## Calls to AWS"} {
		if crd.OfAWS(p.kind) && !strings.Contains(page, chapter+"\n") {
			p.add("%s has no chapter %q", path, chapter)
		}
	}
}

// clusterRoles returns the rules of Portico's ClusterRoles, by name.
func (p *places) clusterRoles() map[string][]rbacv1.PolicyRule {
	all := map[string][]rbacv1.PolicyRule{}
	for doc := range strings.SplitSeq(p.read("config/rbac/operator.yaml")+"\n---\n"+p.read("config/rbac/roles.yaml"),
		"\n---\n") {
		var role rbacv1.ClusterRole
		if err := yaml.Unmarshal([]byte(doc), &role); err == nil && role.Kind == "ClusterRole" {
			name := strings.Replace(role.Name, "portico-base-", "portico-", 1) // which it becomes part of
			all[name] = append(all[name], role.Rules...)
		}
	}
	return all
}

// roles checks that the operator's role and the admins' role include the resource.
func (p *places) roles() {
	known, plural := p.clusterRoles(), p.kind.Spec.Names.Plural
	names := func(role string) (all []string) {
		for _, rule := range known[role] {
			all = append(all, rule.Resources...)
		}
		return all
	}
	if !slices.Contains(names("portico-operator"), plural) ||
		!slices.Contains(names("portico-operator"), plural+"/status") {
		p.add("the operator's role does not know %s and %s/status", plural, plural)
	}
	if !slices.Contains(names("portico-admin"), plural) {
		p.add("portico-admin does not know %s", plural)
	}
}

// category checks the kind's category. kubectl get of a category lists every kind in it, and fails for kinds that the
// caller cannot list. So the category portico has the kinds that every team member can list, and portico-admin the
// rest.
func (p *places) category() {
	plural, roles := p.kind.Spec.Names.Plural, p.clusterRoles()
	lists := func(role string) bool {
		return slices.ContainsFunc(roles[role], func(r rbacv1.PolicyRule) bool {
			return slices.Contains(r.Resources, plural) && slices.Contains(r.Verbs, "list")
		})
	}
	want := "portico-admin"
	if lists("portico-viewer") && lists("portico-developer") {
		want = "portico"
	}
	if got := p.kind.Spec.Names.Categories; !slices.Equal(got, []string{want}) || !lists("portico-admin") {
		p.add("%s is in the categories %q; by what the roles may list it belongs in %s", plural, got, want)
	}
}

var removal = regexp.MustCompile(`(?m)^kubectl delete (\S+) -A --all # kinds`)

// request checks the parts of a kind that teams request.
func (p *places) request() {
	plural := p.kind.Spec.Names.Plural
	if _, ofAWS := crd.Spec(p.kind).Properties["providerRef"]; ofAWS {
		p.read("docs/iam/" + p.file + ".json")
	}
	if _, err := fs.ReadFile(p.files, "portal/pages/testdata/form-"+p.file+".golden"); err != nil {
		p.add("there is no golden page of its form: go test ./portal/pages -update")
	}
	kinds := removal.FindStringSubmatch(p.read("docs/install.md"))
	if kinds == nil || !slices.Contains(strings.Split(kinds[1], ","), plural) {
		p.add("who removes Portico by docs/install.md does not delete %s", plural)
	}
}

// adapter checks the parts of a kind with a resource in AWS.
func (p *places) adapter() {
	name := p.kind.Spec.Names.Kind
	row := regexp.MustCompile(`(?m)^\tv1alpha1\.Kind` + name + `: +bind\((\w+)\.`).FindStringSubmatch(
		p.read("controllers/kinds.go"))
	if row == nil {
		p.add("no controller runs it: add a line to controllers/kinds.go")
		return
	}
	service := row[1]
	tests := p.all("controllers/aws/" + service + "/*_test.go")
	if !strings.Contains(tests, "externaltest.Case[*v1alpha1."+name+",") {
		p.add("no test of controllers/aws/%s runs externaltest.Laws for it", service)
	}
	if !strings.Contains(tests, `cloudtest.Policy(t, "../../../docs/iam/`+p.file+`.json"`) {
		p.add("no test of controllers/aws/%s compares docs/iam/%s.json with its calls: cloudtest.Policy", service,
			p.file)
	}
	if !strings.Contains(p.read("test/awsproxy/services.go"), "\n\t\""+service+"\": {") {
		p.add("test/awsproxy/services.go does not know %s", service)
	}
	if !regexp.MustCompile(`register\(specimen\{\n\tkind: "` + name + `"`).MatchString(
		p.all("test/integration/*_test.go")) {
		p.add("there is no specimen of it in test/integration: the tests of all kinds do not run for it")
	}
	if webapps := "config/crd/bases/portico.dev_webapps.yaml"; !strings.Contains(p.read(webapps), "- "+name+"\n") {
		p.add("a WebApp cannot bind it: %s lacks it, run make generate", webapps)
	}
	p.errors(service)
}

var moduleDirs sync.Map // folders, by module path

// moduleDir returns the source folder of a module. It asks the go command, because a test built with -trimpath does not
// know GOROOT.
func moduleDir(module string) (string, error) {
	if dir, known := moduleDirs.Load(module); known {
		return dir.(string), nil
	}
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	dir := strings.TrimSpace(string(out))
	if err == nil {
		moduleDirs.Store(module, dir)
	}
	return dir, err
}

var errorCode = regexp.MustCompile(`return "([^"]+)"\n\t}\n\treturn \*e\.ErrorCodeOverride`)

// errors checks that the error codes of the service which any call can return are classed: about the key, the rate, a
// permission, or a resource of the kind that is missing or exceeds a quota. EC2's SDK has no list of errors.
func (p *places) errors(service string) {
	sdk, err := moduleDir("github.com/aws/aws-sdk-go-v2/service/" + service)
	if err != nil {
		p.add("the SDK of %s: %v", service, err)
		return
	}
	text, err := os.ReadFile(filepath.Join(sdk, "types/errors.go"))
	if err != nil {
		return
	}
	noun := regexp.MustCompile(`^[A-Z0-9]+([A-Z])`).ReplaceAllString(p.kind.Spec.Names.Kind, "$1")
	common := regexp.MustCompile(`^(KMS|Kms)|Throttl|AccessDenied|^AuthorizationError|^(Resource)?NotFound$|^NoSuch` +
		noun + `|^(DB)?` +
		noun + `(NotFound|DoesNotExist|LimitExceeded|QuotaExceeded)(Fault)?$`)
	classes := p.read("controllers/cloud/error_class.go")
	for _, code := range errorCode.FindAllStringSubmatch(string(text), -1) {
		if common.MatchString(code[1]) && !strings.Contains(classes, `"`+code[1]+`":`) {
			p.add("controllers/cloud/error_class.go does not class %s of %s", code[1], service)
		}
	}
}
