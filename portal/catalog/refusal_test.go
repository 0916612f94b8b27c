package catalog

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	apifield "k8s.io/apimachinery/pkg/util/validation/field"
)

// raw matches the terms of Kubernetes and of JSON schemas, which mean nothing to users of a form.
var raw = regexp.MustCompile(
	`in body|RFC|DNS-1|regex|alphanumeric|inclusive|chars|schema\b.*(Of)|\bitems?\b|propert|must consist|FieldValue|be of type|non-empty|generateName|cost budget`)

// The messages of schema validation, from the API server's source: the name of the constant, its arguments, and our
// words.
var ofSource = map[string]struct {
	args []any
	want string
}{
	"invalidType":              {[]any{"spec.x"}, "has a type that its schema does not know: tell a platform admin"},
	"typeFail":                 {[]any{"spec.x", "body", "integer"}, "must be a whole number"},
	"typeFailWithData":         {[]any{"spec.x", "body", "boolean", `yes: "and no"`}, "must be true or false"},
	"typeFailWithError":        {[]any{"spec.x", "body", "date-time", "no: such time"}, "must be a time, such as 2026-01-31T12:00:00Z"},
	"requiredFail":             {[]any{"spec.x", "body"}, "is required"},
	"tooLongMessage":           {[]any{"spec.x", "body", 63}, "use at most 63 characters"},
	"tooShortMessage":          {[]any{"spec.tags.my key", "body", 3}, "use at least 3 characters"},
	"patternFail":              {[]any{"spec.x", "body", "^[0-9]{12}$"}, "use the 12 digits of an AWS account"},
	"enumFail":                 {[]any{"spec.x", "body", []string{"A", "B"}}, "choose one of: A B"},
	"multipleOfFail":           {[]any{"spec.x", "body", 60}, "use a multiple of 60"},
	"maxIncFail":               {[]any{"spec.x", "body", 10}, "use 10 or less"},
	"maxExcFail":               {[]any{"spec.x", "body", 10}, "use less than 10"},
	"minIncFail":               {[]any{"spec.x", "body", -1}, "use -1 or more"},
	"minExcFail":               {[]any{"spec.x", "body", 0.5}, "use more than 0.5"},
	"uniqueFail":               {[]any{"spec.x", "body"}, "has an entry twice: keep one"},
	"maxItemsFail":             {[]any{"spec.x", "body", 5}, "use at most 5 entries"},
	"minItemsFail":             {[]any{"spec.x", "body", 1}, "add at least one entry"},
	"noAdditionalItems":        {[]any{"spec.x", "body"}, "has more entries than allowed"},
	"tooFewProperties":         {[]any{"spec.x", "body", 2}, "add at least 2 entries"},
	"tooManyProperties":        {[]any{"spec.x", "body", 34}, "use at most 34 entries"},
	"unallowedProperty":        {[]any{"spec.x", "y", "body"}, "no such field: check the spelling"},
	"failedAllPatternProps":    {[]any{"spec.x", "y", "body"}, "no such field: check the spelling"},
	"multipleOfMustBePositive": {[]any{"spec.x", -1}, "has a schema that cannot be used: tell a platform admin"},

	"ArrayDoesNotAllowAdditionalItemsError": {nil, "has more entries than allowed"},
	"HasDependencyError":                    {[]any{"spec.x", "y"}, "needs y too"},
	"InvalidTypeConversionError":            {[]any{"spec.x", "no"}, "is no number that can be read"},
	"MustValidateAtLeastOneSchemaError":     {[]any{"spec.x"}, oneShape},
	"MustValidateOnlyOneSchemaError":        {[]any{"spec.x", "Found none valid"}, oneShape},
	"MustValidateAllSchemasError":           {[]any{"spec.x", "."}, oneShape},
	"MustNotValidateSchemaError":            {[]any{"spec.x"}, oneShape},

	"dns1123LabelErrMsg":               {nil, "use lower-case letters, digits and hyphens; start and end with a letter or a digit"},
	"dns1123SubdomainErrorMsg":         {nil, "use lower-case letters, digits, hyphens and dots; start and end with a letter or a digit"},
	"dns1123SubdomainCaselessErrorMsg": {nil, "use letters, digits, hyphens and dots; start and end with a letter or a digit"},
	"dns1123SubdomainErrorMsgFG":       {nil, "use lower-case letters, digits, hyphens, dots and underscores; start and end with a letter or a digit"},
	"dns1035LabelErrMsg":               {nil, "use lower-case letters, digits and hyphens; start with a letter, and end with a letter or a digit"},
	"wildcardDNS1123SubdomainErrMsg":   {nil, "use lower-case letters, digits, hyphens and dots after *., such as *.example.com"},
	"percentErrMsg":                    {nil, "use a percentage, such as 50%"},
	"httpHeaderNameErrMsg":             {nil, "use letters, digits and hyphens"},
	"envVarNameFmtErrMsg":              {nil, "use letters, digits, underscores, hyphens and dots; do not start with a digit"},
	"relaxedEnvVarNameFmtErrMsg":       {nil, "use printable ASCII characters, but no ="},
	"configMapKeyErrMsg":               {nil, "use letters, digits, hyphens, underscores and dots"},
	"labelKeyErrMsg":                   {nil, "use letters, digits, hyphens, underscores and dots; start and end with a letter or a digit"},
	"labelValueErrMsg":                 {nil, "use letters, digits, hyphens, underscores and dots; start and end with a letter or a digit"},
	"identifierErrMsg":                 {nil, "use letters, digits and underscores; do not start with a digit"},
	"decimalIntegerErrMsg":             {nil, "must be a whole number"},
}

// TestEveryMessageOfTheValidationHasOurWords reads the constants from the source of the compiled-in modules, so that a
// new one after an update fails.
func TestEveryMessageOfTheValidationHasOurWords(t *testing.T) {
	seen := map[string]bool{}
	for pkg, names := range map[string]string{
		"k8s.io/kube-openapi/pkg/validation/errors":    `.`,
		"k8s.io/kube-openapi/pkg/validation/validate":  `Error$`,
		"k8s.io/apimachinery/pkg/util/validation":      `(Err|Error)Msg`,
		"k8s.io/apimachinery/pkg/api/validate/content": `(Err|Error)Msg`,
	} {
		wanted := regexp.MustCompile(names)
		found := 0
		for name, message := range constants(t, pkg) {
			// always: in body
			if !wanted.MatchString(name) || !strings.ContainsAny(message, " ") || strings.HasSuffix(name, "NoIn") {
				continue
			}
			found++
			seen[name] = true
			row, ok := ofSource[name]
			if !ok {
				t.Errorf("%s in %s has no words of ours: %q", name, pkg, message)
				continue
			}
			if row.args != nil {
				message = fmt.Sprintf(message, row.args...)
			}
			got := inPlainWords(message)
			if got != row.want || raw.MatchString(got) {
				t.Errorf("%q becomes %q, want %q", message, got, row.want)
			}
		}
		if found == 0 {
			t.Errorf("%s has no messages any more: look where they went", pkg)
		}
	}
	for name := range ofSource {
		if !seen[name] {
			t.Errorf("no message is called %s any more", name)
		}
	}
}

// constants returns the string constants of a package, by name.
func constants(t *testing.T, pkg string) map[string]string {
	t.Helper()
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.Dir}}", pkg).Output()
	if err != nil {
		t.Fatalf("find the source of %s: %v", pkg, err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has no files: %v", pkg, err)
	}
	all := map[string]string{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			for i, v := range spec.Values {
				if lit, ok := v.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					all[spec.Names[i].Name], _ = strconv.Unquote(lit.Value)
				}
			}
			return true
		})
	}
	return all
}

// TestTheComplaintsOfKubernetesAreInOurWords provokes each error of the functions that check names and metadata.
func TestTheComplaintsOfKubernetesAreInOurWords(t *testing.T) {
	long := strings.Repeat("a", 300)
	var all []string
	for _, check := range []func(string) []string{
		utilvalidation.IsDNS1123Label, utilvalidation.IsDNS1123Subdomain,
		utilvalidation.IsDNS1123SubdomainWithUnderscore, utilvalidation.IsDNS1035Label,
		utilvalidation.IsWildcardDNS1123Subdomain, utilvalidation.IsValidPortName, utilvalidation.IsValidPercent,
		utilvalidation.IsHTTPHeaderName,
		utilvalidation.IsEnvVarName, utilvalidation.IsRelaxedEnvVarName, utilvalidation.IsConfigMapKey,
		content.IsLabelKey, content.IsLabelValue, content.IsPrefixedLabelKey,
		content.IsCIdentifier, content.IsPathSegmentName, content.IsDecimalInteger,
	} {
		for _, value := range []string{
			"", " ", "A_", "-", "a.b", ".", "..", "..a", "a=b", "9 9", long, "a/b/c", "/a",
			"_/a", long + "/a", "a--b", "-a", "99", "a%", "a/b", "ü",
		} {
			all = append(all, check(value)...)
		}
	}
	all = append(all, utilvalidation.IsValidPortNum(0)...)
	path := apifield.NewPath("spec")
	for _, value := range []string{"", "a", "a.b", "_", "a/", "a/ü", "/b", "a/b/c"} {
		for _, check := range []func(*apifield.Path, string) apifield.ErrorList{
			utilvalidation.IsFullyQualifiedName, utilvalidation.IsFullyQualifiedDomainName,
			utilvalidation.IsDomainPrefixedPath, utilvalidation.IsDomainPrefixedKey,
		} {
			for _, e := range check(path, value) {
				all = append(all, strings.Split(e.Detail, ",must")[0])
			}
		}
	}
	now := metav1.Now()
	old := &metav1.ObjectMeta{Name: "a", Namespace: "n", UID: "1", Generation: 2, DeletionTimestamp: &now}
	changed := &metav1.ObjectMeta{
		Name: "b", Namespace: "m", UID: "2", Generation: -1, Finalizers: []string{"x/y"},
		Labels: map[string]string{"a b": "c d", "/": "e"},
	}
	broken := &metav1.ObjectMeta{
		Annotations: map[string]string{"a b": strings.Repeat(long, 1000)}, Finalizers: []string{
			"a b", metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents,
		},
		OwnerReferences: []metav1.OwnerReference{
			{APIVersion: "a/b/c"},
			{APIVersion: "v1", Kind: "Event", Controller: new(true)},
			{Kind: "A", Controller: new(true)},
		},
	}
	errs := validation.ValidateObjectMetaUpdate(changed, old, path)
	errs = append(errs, validation.ValidateObjectMeta(broken, true, validation.NameIsDNSSubdomain, path)...)
	errs = append(errs, validation.ValidateObjectMeta(&metav1.ObjectMeta{Name: "A_", Namespace: "n"}, false,
		validation.NameIsDNSSubdomain, path)...)
	for _, op := range []metav1.LabelSelectorOperator{"In", "Exists", "Sometimes"} {
		values := map[metav1.LabelSelectorOperator][]string{"Exists": {"a b"}}[op]
		errs = append(errs, metavalidation.ValidateLabelSelectorRequirement(
			metav1.LabelSelectorRequirement{Key: "a b", Operator: op, Values: values},
			metavalidation.LabelSelectorValidationOptions{}, path)...)
	}
	errs = append(errs, metavalidation.ValidateFieldManager("a\x01", path)...)
	errs = append(errs,
		apifield.TooLong(path, "", 63), apifield.TooLong(path, "", 1), apifield.TooLong(path, "", -1),
		apifield.TooLongCharacters(path, "", 63), apifield.TooMany(path, 3, 2), apifield.TooMany(path, 3, 1),
		apifield.TooMany(path, 3, -1), apifield.Required(path, ""), apifield.Duplicate(path, "a"),
		apifield.NotFound(path, "a"), apifield.NotSupported(path, "a", []string{"b", "c"}),
		apifield.Forbidden(path, ""), apifield.Invalid(path, 1, ""), apifield.TypeInvalid(path, 1, ""))
	for _, e := range errs {
		got := fromCause(metav1.StatusCause{Type: metav1.CauseType(e.Type), Field: "spec.x", Message: e.ErrorBody()})
		if got.Message == "" || raw.MatchString(got.Message) || strings.Contains(got.Message, e.Type.String()) {
			t.Errorf("%q becomes %q", e.ErrorBody(), got.Message)
		}
		if e.Detail != "" && !strings.HasPrefix(e.Detail, "supported values") && got.Message == e.Detail {
			t.Errorf("%q has no words of ours", e.Detail)
		}
	}
	if len(all) < 80 || len(errs) < 30 {
		t.Errorf("only %d names and %d objects were complained about", len(all), len(errs))
	}
	for _, message := range all {
		if message == "" {
			continue
		}
		if got := inPlainWords(message); got == message || raw.MatchString(got) {
			t.Errorf("%q becomes %q", message, got)
		}
	}
}
