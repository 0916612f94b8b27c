package catalog

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

func TestFill(t *testing.T) {
	kinds := load(t)
	for name, row := range map[string]struct {
		kind, spec, path string
		want             string // of spec; "" cannot be filled
	}{
		"a text":                      {"EC2Instance", `{}`, "spec.instanceType", `{instanceType: a}`},
		"a text of some length":       {"S3Bucket", `{bucketName: x}`, "spec.bucketName", `{bucketName: aaa}`},
		"one of a few":                {"S3Bucket", `{versioning: "On"}`, "spec.versioning", `{versioning: Enabled}`},
		"a number, at least":          {"RDSInstance", `{allocatedStorage: many}`, "spec.allocatedStorage", `{allocatedStorage: 20}`},
		"a boolean":                   {"S3Bucket", `{forceDestroy: "1"}`, "spec.forceDestroy", `{forceDestroy: false}`},
		"an object with what it must": {"S3Bucket", `{}`, "spec.providerRef", `{providerRef: {name: a}}`},
		"within a row":                {"S3Bucket", `{lifecycleRules: [{}, {expirationDays: x}]}`, "spec.lifecycleRules[1].expirationDays", `{lifecycleRules: [{}, {expirationDays: 1}]}`},
		"all of spec":                 {"S3Bucket", `null`, "spec", `{providerRef: {name: a}}`},
		"a row that is not there":     {"S3Bucket", `{}`, "spec.lifecycleRules[1].expirationDays", ""},
		"a key of a map":              {"S3Bucket", `{tags: {a: 1}}`, "spec.tags.a", ""},
		"what is no field":            {"S3Bucket", `{}`, "spec.none", ""},
		"the name":                    {"S3Bucket", `{}`, "metadata.name", ""},
		"the whole object":            {"S3Bucket", `{}`, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			k, _ := kinds.ByName(row.kind)
			obj := &unstructured.Unstructured{Object: map[string]any{"spec": read(t, row.spec)}}
			if ok := k.Fill(obj, row.path); ok != (row.want != "") {
				t.Fatalf("filled is %t", ok)
			}
			if row.want == "" {
				row.want = row.spec
			}
			got, _ := yaml.Marshal(obj.Object["spec"])
			want, _ := yaml.Marshal(read(t, row.want))
			if string(got) != string(want) {
				t.Errorf("spec is\n%swant\n%s", got, want)
			}
		})
	}
}

func read(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestDueTo(t *testing.T) {
	kinds := load(t)
	for name, row := range map[string]struct {
		kind  string
		err   FieldError
		path  string
		dueTo bool
	}{
		"about it":                   {"EC2Instance", FieldError{Field: "spec.imageID", Message: "m"}, "spec.imageID", true},
		"about a part of it":         {"EC2Instance", FieldError{Field: "spec.providerRef.name", Message: "m"}, "spec.providerRef", true},
		"about something else":       {"EC2Instance", FieldError{Field: "spec.subnetID", Message: "m"}, "spec.imageID", false},
		"a name that only begins so": {"EC2Instance", FieldError{Field: "spec.image", Message: "m"}, "spec.imageID", false},
		"a rule that looks at it":    {"EC2Instance", FieldError{Field: "spec", Message: "name the image by exactly one of imageID and imageSSMParameter"}, "spec.imageID", true},
		"a rule that does not":       {"EC2Instance", FieldError{Field: "spec", Message: "name the image by exactly one of imageID and imageSSMParameter"}, "spec.instanceType", false},
		"a rule about a longer name": {"RDSInstance", FieldError{Field: "spec", Message: "kmsKeyID needs encryption: remove storageEncrypted: false"}, "spec.kmsKey", false},
		"a rule above, deeper": {
			"RDSInstance",
			FieldError{
				Field: "spec", Message: "choose one source of the password: masterUserPasswordSecretRef, " +
					"manageMasterUserPassword: true, or neither, and Portico generates one",
			},
			"spec.masterUserPasswordSecretRef.name", true,
		},
		"of the object, about spec":       {"RDSInstance", FieldError{Message: "m"}, "spec.engine", true},
		"what no rule says, above it":     {"S3Bucket", FieldError{Field: "spec", Message: "add at least one entry"}, "spec.versioning", true},
		"a list, of which one is filled":  {"S3Bucket", FieldError{Field: "spec.lifecycleRules", Message: "m"}, "spec.lifecycleRules[0].id", true},
		"within another row of that list": {"S3Bucket", FieldError{Field: "spec.lifecycleRules[1].id", Message: "m"}, "spec.lifecycleRules[0].id", false},
	} {
		t.Run(name, func(t *testing.T) {
			k, _ := kinds.ByName(row.kind)
			if got := k.DueTo(row.err, row.path); got != row.dueTo {
				t.Errorf("%+v is due to %s: %t", row.err, row.path, got)
			}
		})
	}
}
