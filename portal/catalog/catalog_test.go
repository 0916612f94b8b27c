package catalog

import (
	"slices"
	"strings"
	"testing"

	apiext "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/jsonpath"

	"github.com/portico-platform/portico/config/catalog/kinds"
	"github.com/portico-platform/portico/config/crd"
)

// loaded reads the catalog of our kinds.
func loaded() (Catalog, error) {
	crds, err := crd.All()
	if err != nil {
		return nil, err
	}
	return New(crds, kinds.All())
}

func load(tb testing.TB) Catalog {
	tb.Helper()
	c, err := loaded()
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

func bucketKind(tb testing.TB) Kind {
	tb.Helper()
	k, ok := load(tb).ByName("S3Bucket")
	if !ok {
		tb.Fatal("no S3Bucket")
	}
	return k
}

func field(t *testing.T, fields []Field, path ...string) Field {
	t.Helper()
	i := slices.IndexFunc(fields, func(f Field) bool { return f.Name == path[0] })
	if i < 0 {
		t.Fatalf("no field %s", path[0])
	}
	switch f := fields[i]; {
	case len(path) == 1:
		return f
	case f.Items != nil:
		return field(t, f.Items.Fields, path[1:]...)
	default:
		return field(t, f.Fields, path[1:]...)
	}
}

func TestKindsComeFromTheCRDs(t *testing.T) {
	k := bucketKind(t)
	got := []string{k.Title, k.Icon, k.Plural}
	if want := []string{"Bucket", "bucket", "s3buckets"}; !slices.Equal(got, want) {
		t.Errorf("Title, Icon, Plural = %q, want %q", got, want)
	}
	if !k.Namespaced || !slices.Contains(k.ShortNames, "s3") {
		t.Errorf("Namespaced = %v, ShortNames = %q; want true, s3", k.Namespaced, k.ShortNames)
	}
	if got := k.GVK().String(); got != "portico.dev/v1alpha1, Kind=S3Bucket" {
		t.Errorf("GVK %s", got)
	}
	var names []string
	for _, f := range k.Fields()[:5] {
		names = append(names, f.Name)
		if f.Advanced {
			t.Errorf("%s is in the form annotation, and advanced", f.Name)
		}
	}
	if got := strings.Join(names, ","); got != "providerRef,bucketName,versioning,encryption,deletionPolicy" {
		t.Errorf("order %s", got)
	}
	if !k.Fields()[5].Advanced {
		t.Errorf("%s is not in the form annotation, and not advanced", k.Fields()[5].Name)
	}
	for _, c := range load(t).Requestable() {
		if !c.Namespaced {
			t.Errorf("%s can be requested, but is cluster-scoped", c.Name)
		}
	}
	if _, ok := load(t).ByPlural("awsproviders"); !ok {
		t.Error("no awsproviders")
	}
	if _, ok := load(t).ByPlural("secrets"); ok {
		t.Error("secrets are a kind of ours")
	}
}

func TestFieldsSayWhatTheSchemaSays(t *testing.T) {
	fields := bucketKind(t).Fields()
	if f := field(t, fields, "providerRef"); !f.IsRef() || !f.Required || f.Label != "AWS account" {
		t.Errorf("%+v", f)
	}
	if f := field(t, fields, "providerRef", "name"); field(t, fields, "providerRef").Fixed.Why == "" || !f.Required ||
		f.Path != "spec.providerRef.name" {
		t.Errorf("%+v", f)
	}
	f := field(t, fields, "bucketName")
	if f.Fixed.Why == "" || f.Required {
		t.Errorf("Fixed.Why = %q, Required = %v; want a reason, false", f.Fixed.Why, f.Required)
	}
	if *f.Limits.MinLength != 3 || *f.Limits.MaxLength != 63 {
		t.Errorf("length = %d to %d, want 3 to 63", *f.Limits.MinLength, *f.Limits.MaxLength)
	}
	if !strings.HasPrefix(f.Help, "The bucket's name") {
		t.Errorf("Help = %q, want The bucket's name", f.Help)
	}
	if f := field(t, fields, "deletionPolicy"); f.Default != "Delete" || len(f.Options) != 3 {
		t.Errorf("%+v", f)
	}
	if f := field(t, fields, "region"); f.Fixed.Why == "" || f.Pattern == "" {
		t.Errorf("%+v", f)
	}
	f = field(t, fields, "lifecycleRules", "expirationDays")
	if f.Type != Integer || f.Format != "int32" || *f.Limits.Min != 1 {
		t.Errorf("Type = %s, Format = %s, Min = %v, want %s, int32, 1", f.Type, f.Format, *f.Limits.Min, Integer)
	}
	if f.Path != "spec.lifecycleRules[].expirationDays" {
		t.Errorf("Path = %s, want spec.lifecycleRules[].expirationDays", f.Path)
	}
	if f := field(t, fields, "tags"); f.Type != Map || f.Items.Type != String || *f.Limits.MaxItems != 34 {
		t.Errorf("%+v", f)
	}
	if f := field(t, fields, "corsRules", "allowedMethods"); !f.ListOfScalars() || len(f.Items.Options) != 5 {
		t.Errorf("%+v", f)
	}
}

func TestLabels(t *testing.T) {
	for name, want := range map[string]string{
		"bucketName": "Bucket name", "kmsKeyID": "KMS key ID", "corsRules": "CORS rules", "providerRef": "AWS account",
		"blockPublicAcls": "Block public ACLs", "accessKeyIDRef": "Access key ID", "subnetIDs": "Subnet IDs",
		"id":            "ID",
		"assumeRoleARN": "Assume role ARN", "maxAgeSeconds": "Max age", "ref": "Ref",
	} {
		if got := label(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestColumnsAndEndpointAreRead(t *testing.T) {
	for _, k := range load(t) {
		for _, path := range append(paths(k.Columns), k.Endpoint) {
			if err := jsonpath.New("x").Parse("{" + path + "}"); err != nil {
				t.Errorf("%s: %s: %v", k.Name, path, err)
			}
		}
	}
	k := bucketKind(t)
	obj := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{
		"bucketName": "b-1", "conditions": []any{map[string]any{"type": "Ready", "status": "True", "reason": "InSync"}},
	}}}
	if got := k.EndpointOf(obj); got != "b-1" {
		t.Errorf("endpoint %q", got)
	}
	if got := k.Columns[1].Value(obj); got != "InSync" {
		t.Errorf("%s is %q", k.Columns[1].Name, got)
	}
	if got := k.Columns[1].Value(&unstructured.Unstructured{Object: map[string]any{}}); got != "" {
		t.Errorf("%s of an empty object is %q", k.Columns[1].Name, got)
	}
}

func paths(cols []Column) []string {
	var out []string
	for _, c := range cols {
		out = append(out, c.Path)
	}
	return out
}

func TestADefinitionThatCannotBeReadIsRefused(t *testing.T) {
	crds, err := crd.All()
	if err != nil {
		t.Fatal(err)
	}
	entries := kinds.All()
	for reason, broken := range map[string]func(*apiext.CustomResourceDefinition){
		"no definition": func(c *apiext.CustomResourceDefinition) { c.Name = "others.portico.dev" },
		"no version":    func(c *apiext.CustomResourceDefinition) { c.Spec.Versions = nil },
		"no schema":     func(c *apiext.CustomResourceDefinition) { c.Spec.Versions[0].Schema = nil },
	} {
		t.Run(reason, func(t *testing.T) {
			changed := slices.Clone(crds)
			changed[3] = *crds[3].DeepCopy()
			broken(&changed[3])
			if _, err := New(changed, entries); err == nil {
				t.Error("no error")
			}
		})
	}
}

// TestEntriesNameFieldsThatAre: the fields of Changes and Names exist in spec.
func TestEntriesNameFieldsThatAre(t *testing.T) {
	kinds, err := loaded()
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	for _, k := range kinds {
		for _, c := range k.Changes {
			for _, name := range c.Fields {
				if told++; !k.Has(name) {
					t.Errorf("%s tells of %s, which is no field", k.Name, name)
				}
			}
			if !strings.HasSuffix(c.Effect, ".") || len(c.Fields) == 0 {
				t.Errorf("%s says %q of %v", k.Name, c.Effect, c.Fields)
			}
		}
		for _, name := range k.Names {
			if told++; !k.Has(name) {
				t.Errorf("%s is named by %s, which is no field", k.Name, name)
			}
		}
	}
	if told < 20 {
		t.Errorf("only %d fields are told of", told)
	}
}
